"""What `--help` prints: within a terminal of 80 columns, with its examples and exit codes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click
import pytest

from torchlint.cli import torchlint as group
from torchlint.cli.epilog import write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Run = Callable[..., Any]


def commands(found: click.Command, *words: str) -> Iterator[tuple[str, ...]]:
    yield words
    if isinstance(found, click.Group):
        context = click.Context(found)
        for name in found.list_commands(context):
            inner = found.get_command(context, name)
            assert inner is not None
            yield from commands(inner, *words, name)


@pytest.mark.parametrize("words", list(commands(group)), ids=" ".join)
def test_help_fits_a_terminal_of_80_columns(
    torchlint: Run, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    outcome = torchlint(*words, "--help")
    assert outcome.code == 0
    assert [line for line in outcome.text.splitlines() if len(line) > 80] == []
    assert re.search(r"^  Exit codes", outcome.text, re.MULTILINE)


def laid_out(text: str) -> list[str]:
    formatter = click.HelpFormatter(width=40)
    write(text, formatter)
    return formatter.getvalue().splitlines()


def test_rows_of_an_epilog_are_columns_and_the_rest_is_filled() -> None:
    text = "Exit codes:\n  0  nothing\n  130  stopped\n       by Ctrl-C\n\nA line\nand another.\n"
    assert laid_out(text) == [
        "  Exit codes:",
        "    0    nothing",
        "    130  stopped by Ctrl-C",
        "",
        "  A line and another.",
    ]


def test_a_long_term_has_its_meaning_below() -> None:
    text = "Examples:\n  check --output-format sarif  for scanning\n  check  this folder\n"
    assert laid_out(text) == [
        "  Examples:",
        "    check --output-format sarif",
        "                          for scanning",
        "    check                 this folder",
    ]


def test_lines_to_copy_stay_as_they_are() -> None:
    text = "\b\nIn a file:\n  args = [\n    1]\n"
    assert laid_out(text) == ["  In a file:", "    args = [", "      1]"]
