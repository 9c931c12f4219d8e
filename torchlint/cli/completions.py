"""Completes command lines, for the scripts that `torchlint completion` prints.

Click completes commands, options and choices. For other values, the placeholder in `--help` tells
the kind, so that a new option completes without being named here.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem, ShellComplete, get_completion_class

from torchlint.cli import COMPLETES, torchlint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    _Type = click.ParamType[Any]
else:
    _Type = click.ParamType


def script(shell: str) -> str:
    """The script that makes a shell complete `torchlint`."""
    completion = get_completion_class(shell)
    assert completion is not None
    return completion(torchlint, {}, "torchlint", COMPLETES).source()


def complete(instruction: str) -> int:
    """Print the completions; errors are hidden, since a shell would show them in the line."""
    with contextlib.suppress(Exception):
        context = click.Context(torchlint)
        for name in torchlint.list_commands(context):
            command = torchlint.get_command(context, name)
            for param in command.params if command is not None else ():
                _teach(param)
        shell, _, instruction = instruction.partition("_")
        completion = _words_and_values(shell)(torchlint, {}, "torchlint", COMPLETES)
        if instruction == "complete":
            click.echo(completion.complete())
            return 0
    return 1


def _words_and_values(shell: str) -> type[ShellComplete]:
    """The completion class of a shell, corrected for `--option=value`.

    bash passes the `=` as a separate word; others replace the whole word, option included.
    """
    known = get_completion_class(shell)
    assert known is not None

    class Extended(known):  # type: ignore[valid-type, misc]
        def get_completion_args(self) -> tuple[list[str], str]:
            args, incomplete = super().get_completion_args()
            return [arg for arg in args if arg != "="], incomplete

        def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
            items: list[CompletionItem] = super().get_completions(args, incomplete)
            option, sign, _ = incomplete.partition("=")
            if sign and option.startswith("--"):
                for item in items:
                    item.value = option + sign + item.value
            return items

    return Extended


def _teach(param: click.Parameter) -> None:
    metavar = param.metavar or ""
    if metavar == "RULES":
        param.type = _Rules(several=True)
    elif "CODE" in metavar:
        param.type = _Rules(several=False)
    elif "DIR" in metavar:
        param.type = click.Path(file_okay=False)
    elif metavar.endswith(".py") or any(
        word in metavar for word in ("FILE", "PATCH", "PATH", "SCRIPT")
    ):
        param.type = click.Path()


class _Rules(_Type):
    """Codes and names; `several` of them with commas, and then families and ALL as well."""

    name = "rules"

    def __init__(self, *, several: bool) -> None:
        self._several = several

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from torchlint.cli.options import Options
        from torchlint.cli.resources import store_from

        done, comma, word = incomplete.rpartition(",") if self._several else ("", "", incomplete)
        return [
            CompletionItem(done + comma + each, help=meaning)
            for each, meaning in _words(store_from(Options({})).rule_names(), several=self._several)
            if each.startswith((word.upper(), word.lower()))
        ]


def _words(names: Mapping[str, str], *, several: bool) -> Iterator[tuple[str, str]]:
    yield from names.items()
    yield from ((name, code) for code, name in names.items())
    if several:
        yield "ALL", "every rule"
        families = dict.fromkeys(code.rstrip("0123456789") + code[-3:-2] for code in names)
        yield from ((family, "a family of rules") for family in families)
