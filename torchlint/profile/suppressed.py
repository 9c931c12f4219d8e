"""Comments in the source that silence what a run has shown.

They are those of `check`, and mean the same: `# torchlint: ignore[TR201]` silences a finding of a
run, and so does a comment that names a static rule about the same thing, as TL201, or all rules.
A run tells only a row, so a comment anywhere in the statement of that row counts, and so does one
where the thing was made that the finding is about, as a loader.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from torchlint.finding import Finding, Position, Tier
from torchlint.profile.functions import parsed
from torchlint.ruleapi.registry import all_rules
from torchlint.silence.suppression_comments import CommentLayout, may_suppress
from torchlint.silence.suppressions import Suppressions
from torchlint.silence.until import has_ended, silenced_until
from torchlint.source.deep_stack import with_deep_stack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date

    from torchlint.profile.profile_result import RunFinding
    from torchlint.silence.suppression_comments import LogicalLine


class Comments:
    """The suppression comments of files; each file is read once, when it is asked about.

    Args:
        today: the day for which comments with an end are judged.
    """

    def __init__(self, today: date) -> None:
        self._today = today
        self._file = cache(_read)

    def of(self, finding: RunFinding) -> RunFinding | None:
        """The finding, None if a comment silences it. If one did until a day, it says so. A file
        that cannot be read has no comments."""
        made = finding.made
        days = [*self._days(finding, finding.path, finding.row)]
        if made is not None:
            days += self._days(finding, made.path, made.row)
        last = "" if "" in days else max(days, default=None)
        if last is None:
            return finding
        if not has_ended(last, self._today):
            return None
        return replace(finding, action=f"{finding.action} {silenced_until(last)}")

    def _days(self, finding: RunFinding, path: str, row: int) -> list[str]:
        if not path:
            return []
        file = self._file(path)
        return [] if file is None else file.days(_names(finding), path, row)


class _File:
    def __init__(self, suppressions: Suppressions, lines: list[LogicalLine]) -> None:
        self._suppressions = suppressions
        self._lines = lines
        self._firsts = [line.first for line in lines]

    def days(self, names: Iterable[tuple[str, str]], path: str, row: int) -> list[str]:
        """The last days of the comments that silence one of these at a row; empty: no end."""
        first, last = self._statement(row)
        start, end = Position(first, 1), Position(last, 1)
        dates = (
            self._suppressions.until(Finding(code, name, Tier.DEFAULT, "", path, start, end))
            for code, name in names
        )
        return [day for day in dates if day is not None]

    def _statement(self, row: int) -> tuple[int, int]:
        """The rows of the statement, or of the header of one, that a row is in."""
        index = bisect_right(self._firsts, row) - 1
        if index >= 0 and row <= self._lines[index].last:
            return self._lines[index].first, self._lines[index].last
        return row, row


def _names(finding: RunFinding) -> Iterator[tuple[str, str]]:
    """Code and name of the kind, and of each rule that is about the same thing."""
    yield finding.code, finding.name
    for code in finding.rules:
        rule = all_rules().get(code)
        yield code, code if rule is None else rule.name


def _read(path: str) -> _File | None:
    """The comments of a file; None without any, and without a parse."""
    module = parsed(path, wanted=may_suppress)
    if module is None:
        return None
    suppressions = with_deep_stack(lambda: Suppressions(module))
    return _File(suppressions, CommentLayout(module.text).lines)
