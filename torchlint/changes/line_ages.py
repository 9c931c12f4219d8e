"""When lines were last changed, as `git blame` tells it of the last commit."""

from __future__ import annotations

import re
import time
from datetime import datetime
from typing import TYPE_CHECKING, Final

from torchlint.changes.changed_lines import object_of, partners
from torchlint.changes.git import GitError, Repository
from torchlint.files.reading import SourceError, most_bytes, read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from datetime import date

_MOST_RANGES: Final = 100
"""Rows that are named one by one; of more, git tells those of the whole file."""
_HEADER: Final = re.compile(rb"([0-9a-f]{40,64}) \d+ (\d+)")

Place = tuple[str, int]


def line_ages(
    rows: Mapping[str, Collection[int]],
    today: date,
    *,
    budget_s: float,
    progress: Callable[[int, int], None],
) -> dict[Place, int]:
    """How many days ago these lines were last changed, by path and row, as far as git can tell
    within this time; 0 if the change is not committed.

    Args:
        rows: rows from 1, by path.
        progress: called with the number of files done and the total.
    """
    try:
        ages = _Ages(today, budget_s)
    except GitError:
        return {}
    found: dict[Place, int] = {}
    for done, path in enumerate(rows):
        progress(done, len(rows))
        try:
            days = ages.of(path, rows[path])
        except (GitError, SourceError):
            continue
        found.update({(path, row): age for row, age in days.items()})
    return found


class _Ages:
    """
    Raises:
        GitError: there is no git, no repository, or no commit.
    """

    def __init__(self, today: date, budget_s: float) -> None:
        self._today = today
        self._repository = Repository(".")
        self._head = self._repository.commit("HEAD")
        self._tree = self._repository.tree(self._head)
        self._is_shallow = self._repository.is_shallow()
        self._ends = time.monotonic() + budget_s

    def of(self, path: str, rows: Collection[int]) -> dict[int, int]:
        """The days by row, without those that are not known.

        Raises:
            GitError: git cannot answer, or not in time.
            SourceError: the file cannot be read.
        """
        name = self._repository.name_of(path)
        entry = object_of(self._tree.get(name))
        if not entry:
            return dict.fromkeys(rows, 0)
        before = self._repository.blobs({entry}, most_bytes(path)).get(entry, b"").splitlines()
        old = partners(before, read_bytes(path).splitlines())
        known = {row: old[row - 1] + 1 for row in rows if row <= len(old)}
        changed = self._blamed(name, {each for each in known.values() if each})
        days = {row: 0 if not then else changed.get(then) for row, then in known.items()}
        return {row: age for row, age in days.items() if age is not None}

    def _blamed(self, name: bytes, rows: set[int]) -> dict[int, int]:
        """How many days ago these rows of the last commit were changed."""
        if not rows:
            return {}
        left = self._ends - time.monotonic()
        if left <= 0:
            raise GitError("There is no time left; ask about fewer files.")
        told: dict[int, int] = {}
        row = 0
        for line in self._repository.blame(
            self._head, name, sorted(rows) if len(rows) <= _MOST_RANGES else (), left
        ).split(b"\n"):
            if header := _HEADER.match(line):
                row = int(header[2])
            elif line.startswith(b"author-time "):
                days = self._days(line.partition(b" ")[2])
                told.update({} if days is None else {row: days})
            elif line == b"boundary" and self._is_shallow:
                told.pop(row, None)  # older than what was cloned
        return told

    def _days(self, seconds: bytes) -> int | None:
        try:
            return max(0, (self._today - datetime.fromtimestamp(int(seconds)).date()).days)
        except (ValueError, OverflowError, OSError):
            return None  # whoever makes a commit may write any number
