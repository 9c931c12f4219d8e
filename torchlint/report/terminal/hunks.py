"""What a fix does to the lines of a file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from torchlint.files.lines import LineIndex
from torchlint.finding import Edit, Position
from torchlint.fixes.splice import spans, spliced

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torchlint.finding import Finding
    from torchlint.report.terminal.excerpt import Excerpts

_NEAR: Final = 3
"""Edits that are no more lines apart share a hunk."""
_MOST_SIGNS: Final = 10_000
"""Of the lines of a hunk: a file can be one line of megabytes, with a finding at every word."""


class Hunk(NamedTuple):
    """Lines from the 1-based row `first` on, without their ends, and what they become.

    In a notebook, `cell` is the code cell, and the row counts in it.
    """

    cell: int | None
    first: int
    before: list[str]
    after: list[str]


def hunks(finding: Finding, excerpts: Excerpts) -> list[Hunk]:
    """What the fix changes, in the order of the file.

    Empty if there is no fix, if it does not fit the file as it is now, or if its lines are too
    long to show.
    """
    all_hunks = []
    for group in _groups(() if finding.fix is None else finding.fix.edits):
        hunk = _hunk(finding.path, group, excerpts)
        if hunk is None:
            return []
        all_hunks.append(hunk)
    return all_hunks


def _groups(edits: Iterable[Edit]) -> Iterator[list[Edit]]:
    group: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.start.cell or 0, edit.start, edit.end)):
        if group and (
            edit.start.cell != group[0].start.cell
            or edit.start.row - max(each.end.row for each in group) > _NEAR
        ):
            yield group
            group = []
        group.append(edit)
    if group:
        yield group


def _hunk(path: str, group: list[Edit], excerpts: Excerpts) -> Hunk | None:
    first, _, cell = group[0].start
    last = max(edit.end.row for edit in group)
    lines = [excerpts.line(path, row, cell) for row in range(first, last + 1)]
    before = [line for line in lines if line is not None]
    if len(before) < len(lines) or sum(map(len, before)) > _MOST_SIGNS:
        return None
    text = "\n".join(before)
    moved = [_moved(edit, 1 - first) for edit in group]
    try:
        after = spliced(text, spans(moved, LineIndex(text)))
    except ValueError:
        return None
    return None if after == text else Hunk(cell, first, before, after.split("\n"))


def _moved(edit: Edit, rows: int) -> Edit:
    start, end = (Position(each.row + rows, each.column) for each in edit[:2])
    return Edit(start, end, re.sub(r"\r\n?", "\n", edit.content))
