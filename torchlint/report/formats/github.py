"""Findings as workflow commands, which GitHub shows as annotations in a pull request.

The escaping follows
https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.finding import Tier
from torchlint.report.formats.locations import with_cell
from torchlint.report.terminal.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torchlint.finding import Diagnostic, Finding, Position

_LEVELS: Final = {Tier.DEFAULT: "warning", Tier.PEDANTIC: "notice", Tier.HINT: "notice"}


def render(findings: Iterable[Finding], diagnostics: Iterable[Diagnostic]) -> Iterator[str]:
    """One command per finding, then one per diagnostic."""
    for finding in findings:
        place = {"file": finding.path, **_place(finding.start, finding.end)}
        place["title"] = f"{finding.code} {finding.name}"
        yield _command(_LEVELS[finding.tier], place, with_cell(finding.message, finding.start))
    for diagnostic in diagnostics:
        place = {"file": diagnostic.path}
        if diagnostic.position is not None:
            place |= _place(diagnostic.position)
        message = with_cell(diagnostic.message, diagnostic.position)
        yield _command("error", {**place, "title": "torchlint"}, message)


def notice(title: str, message: str) -> str:
    """A command that belongs to no file."""
    return _command("notice", {"title": title}, message)


def _place(start: Position, end: Position | None = None) -> dict[str, str]:
    if start.cell is not None:
        return {"line": "1"}
    place = {"line": str(start.row), "col": str(start.column)}
    if end is not None:
        place |= {"endLine": str(end.row), "endColumn": str(end.column)}
        if end.row != start.row:
            # GitHub drops an annotation that has columns over more than one line.
            del place["col"], place["endColumn"]
    return place


def _command(level: str, properties: dict[str, str], message: str) -> str:
    listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{level} {listed}::{_data(message)}"


def _data(text: str) -> str:
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return visible(escaped)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
