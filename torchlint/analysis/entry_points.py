"""What a command line runs of a file: the functions and classes that a library such as Fire, Typer
or Hydra is given, and those that it finds by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import libcst as cst

from torchlint.analysis.literals import argument
from torchlint.analysis.names import How, dotted_text
from torchlint.analysis.once import once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.analysis.module import Module

_RUN: Final = frozenset(
    "absl.app.run cyclopts.run defopt.run fire.Fire jsonargparse.CLI jsonargparse.auto_cli "
    "plac.call tyro.cli tyro.extras.subcommand_cli_from_dict typer.run".split()
)
"""Functions that run one of those that they are given."""
_RUN_ANY: Final = frozenset({"fire.Fire", "jsonargparse.CLI", "jsonargparse.auto_cli"})
"""Those that without one run any of the file by its name, and of a class any method."""
_DECORATORS: Final = frozenset("automain callback command default group main".split())
"""The last part of decorators of functions that the command line runs: `@app.command()`."""


class EntryPoint(NamedTuple):
    """A call or decorator through which a command line runs something of the project.

    Args:
        names: the dotted names of what it may run.
        methods: of a class, each method may run as well.
    """

    node: cst.Call | cst.Decorator
    names: tuple[str, ...]
    methods: bool = False


@once
def entry_points(module: Module) -> list[EntryPoint]:
    """What command lines run, by the calls and decorators of a file, in no order."""
    return [*_given(module), *_decorated(module)] if module.reads_command_line else []


def definitions_run(module: Module) -> Iterator[cst.FunctionDef | cst.ClassDef]:
    """The functions, classes and methods of a file that a command line runs."""
    for entry in entry_points(module):
        for name in entry.names:
            definitions = module.definitions.named(name)
            if definitions is not None:
                yield definitions
            if isinstance(definitions, cst.ClassDef) and entry.methods:
                methods = module.definitions.methods(definitions)
                yield from (each for name, each in methods.items() if is_public(name))


def is_public(method: str) -> bool:
    """Whether a command line offers a method."""
    return not method.startswith("_")


def _given(module: Module) -> Iterator[EntryPoint]:
    for name in _RUN:
        for call in module.calls_by_name.get(name, ()):
            component = argument(call, "component", 0) or argument(call, "components", 0)
            if component is not None:
                names = tuple(dict.fromkeys(_named(component, module)))
                yield EntryPoint(call, names, name in _RUN_ANY)
            elif name in _RUN_ANY:
                yield EntryPoint(call, tuple(_all_of(module)), methods=True)


def _named(node: cst.BaseExpression, module: Module) -> Iterator[str]:
    """What an expression names: `train`, `Trainer()`, `[train, test]`, `{"train": train}`."""
    if isinstance(node, cst.Dict | cst.List | cst.Tuple):
        for element in node.elements:
            yield from _named(element.value, module)
    elif isinstance(node, cst.Call) and node.func and module.resolve(node.func):
        yield from module.resolve(node.func)
    else:
        yield from module.resolve(node)


def _all_of(module: Module) -> Iterator[str]:
    """The functions and classes at the top level of a file."""
    for name, bindings in module.names.module.bindings.items():
        if any(binding.how is How.DEFINITION for binding in bindings):
            yield f":{name}"


def _decorated(module: Module) -> Iterator[EntryPoint]:
    for decorator in module.nodes(cst.Decorator):
        made = decorator.decorator
        func = made.func if isinstance(made, cst.Call) else made
        owner = module.parent(decorator)
        if (
            isinstance(func, cst.Attribute)
            and func.attr.value in _DECORATORS
            and isinstance(owner, cst.FunctionDef)
            and dotted_text(func)
        ):
            yield EntryPoint(decorator, (f":{module.qualified_name(owner)}",))
