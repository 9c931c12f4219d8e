"""A verification as one page: no network, no script, charts that fit a phone and a desktop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.report.measured import measured_page
from torchlint.report.measured.axes import ratio_ticks
from torchlint.report.terminal.diff import kinds
from torchlint.report.verify import charts
from torchlint.report.verify import verification_words as words
from torchlint.report.verify.verification_json import document

if TYPE_CHECKING:
    from torchlint.verify.result import Counters, Result

_LINES: Final = 600
_LISTED: Final = 100
"""Fixes that were not measured, for one reason; a project may have hundreds."""


def render(result: Result) -> str:
    """The page. All that comes from the program is escaped, and its hidden characters are shown."""
    measured = [fix for fix in result.fixes if fix.is_measured]
    unmeasured = words.unmeasured(result)
    listed = [fix for *_, fixes in unmeasured for fix in fixes[:_LISTED]]
    return measured_page.render(
        "verify",
        "verification.html.jinja",
        document(result),
        result=result,
        measured=True,
        measured_fixes=measured,
        unmeasured=unmeasured,
        following=words.apply_command(result),
        forest=charts.forest(result),
        blocks=charts.blocks(result.strips),
        lanes=charts.lanes(result.lanes),
        names=words.names(result),
        anchors={fix.id: f"fix-{number}" for number, fix in enumerate(measured + listed, start=1)},
        listed=_LISTED,
        words=words,
        looks={"original": "original", "original again": "again"},
        tone=charts.tone,
        ratio_ticks=ratio_ticks,
        losses=charts.losses,
        counted_columns=counted_columns,
        diff_lines=diff_lines,
    )


def counted_columns(result: Result) -> list[tuple[str, Counters]]:
    """The counters of the original, of each fix alone and of the whole change."""
    names = words.names(result)
    columns = [("original", result.counters)]
    if len(result.fixes) > 1:
        columns += [(names[fix.id], fix.alone.counters) for fix in result.fixes]
    if result.total is not None:
        columns.append(("changed", result.total.counters))
    return [(title, found) for title, found in columns if found is not None]


def diff_lines(diff: str) -> tuple[list[tuple[str, str]], int]:
    """The kind and the text of each line, and how many more lines there are."""
    lines = diff.split("\n")
    if not lines[-1]:
        lines.pop()
    shown = lines[:_LINES]
    texts = (line.removesuffix("\r").expandtabs(4) for line in shown)
    return list(zip(kinds(shown), texts, strict=True)), max(0, len(lines) - _LINES)
