"""Functions that a command line runs although no call names them: those of Fire, Typer, click."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import libcst as cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.analysis.module import Module

PACKAGES: Final = frozenset(
    {"argparse", "hydra", "click", "fire", "absl", "tyro", "typer", "jsonargparse"}
)
"""The packages that a script imports to read its command line."""
_PARSERS: Final = ("fire.Fire", "jsonargparse.CLI", "jsonargparse.auto_cli")
"""They run the function that the command line names; without an argument, any of the file."""
_REGISTERS: Final = frozenset({"command", "callback"})
"""Methods of an application that register a function: `@app.command()`."""


def reads_command_line(call: cst.Call, module: Module) -> bool:
    """Whether a call runs what the command line names: `fire.Fire()`, `app()` of Typer."""
    if module.calls(call, *_PARSERS):
        return True
    return isinstance(call.func, cst.Name) and call.func.value in _applications(module)


def commands(module: Module) -> Iterator[cst.FunctionDef | cst.ClassDef]:
    """What such a call may run."""
    calls = [call for name in _PARSERS for call in module.calls_by_name.get(name, ())]
    if any(not call.args or call.args[0].keyword is not None for call in calls):
        for statement in module.tree.body:
            if isinstance(statement, cst.FunctionDef | cst.ClassDef):
                yield statement
    for functions in _applications(module).values():
        yield from functions


def _applications(module: Module) -> dict[str, list[cst.FunctionDef]]:
    """By the name of an application: the functions that are registered with it."""
    return module.once(_registered)


def _registered(module: Module) -> dict[str, list[cst.FunctionDef]]:
    found: dict[str, list[cst.FunctionDef]] = {}
    for decorator in module.nodes(cst.Decorator):
        by = decorator.decorator
        by = by.func if isinstance(by, cst.Call) else by
        function = module.parent(decorator)
        if (
            isinstance(by, cst.Attribute)
            and isinstance(by.value, cst.Name)
            and by.attr.value in _REGISTERS
            and isinstance(function, cst.FunctionDef)
        ):
            found.setdefault(by.value.value, []).append(function)
    return found
