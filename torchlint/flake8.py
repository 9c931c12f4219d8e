"""The flake8 plugin: `TL` codes among flake8's own.

flake8 passes one file at a time, so a function is known to run on every training step only if its
own file shows it. `torchlint check` sees the whole project.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.project.target import mentions_torch

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator, Sequence

    from torchlint.finding import Position

TROUBLE = "TL000"
"""The code of errors: settings that cannot be used, a file that cannot be parsed."""

Reported = tuple[int, int, str, type]
"""Row from 1, column from 0, code and message, and a type that flake8 does not look at."""


class Checker:
    """Checks one file; flake8 calls this with the names of its parameters.

    Args:
        tree: not used, but tells flake8 to call once per file.
        lines: the text, from the disk or from standard input.
        filename: its name, or what `--stdin-display-name` says.
    """

    def __init__(self, tree: ast.AST, lines: Sequence[str], filename: str) -> None:
        self._text = "".join(lines)
        self._filename = filename

    def run(self) -> Iterator[Reported]:
        """The findings of the file; nothing is parsed or imported if it does not mention torch."""
        if mentions_torch(self._text.encode("utf-8", "replace")):
            yield from _reported(self._text, self._filename)


def _reported(source: str, filename: str) -> Iterator[Reported]:
    from torchlint.config.settings import ConfigError
    from torchlint.library import check_source

    try:
        result = check_source(source, filename)
    except ConfigError as error:
        yield _line(None, TROUBLE, str(error))
        return
    for wrong in result.diagnostics:
        place = "" if wrong.path == filename else f"{wrong.path}: "
        yield _line(wrong.position, TROUBLE, place + wrong.message)
    for finding in result.findings:
        yield _line(finding.start, finding.code, finding.message)


def _line(position: Position | None, code: str, message: str) -> Reported:
    from torchlint.report.terminal.safe_text import visible

    row, column = (position.row, position.column - 1) if position else (1, 0)
    return row, column, f"{code} {visible(message)}", Checker
