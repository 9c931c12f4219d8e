"""What a budget has to allow: the findings of a profile that have a line, one by one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.profile.functions import Functions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torchlint.profile.profile_result import RunFinding


@dataclass(frozen=True, slots=True)
class Use:
    """One thing that happens at one place.

    Args:
        code: of its kind of finding.
        shown: its path as the report has it.
        path: relative to the folder of the budget, with slashes.
        function: around the row; None if the file cannot be parsed.
        kind: of read; None if the finding has none.
        per_step: how often; None if nothing was counted.
    """

    code: str
    shown: str
    path: str
    row: int
    function: str | None
    kind: str | None
    per_step: float | None

    @property
    def words(self) -> str:
        """`train.py:88 TR201 item in Trainer.step, 3 a step`."""
        kind = f" {self.kind}" if self.kind else ""
        function = f" in {self.function}" if self.function else ""
        count = f", {self.per_step:.3g} a step" if self.per_step is not None else ""
        return f"{self.shown}:{self.row} {self.code}{kind}{function}{count}"


class Uses:
    """Gives the uses of findings.

    Args:
        folder: the one of the budget.
    """

    def __init__(self, folder: str) -> None:
        self._root = os.path.realpath(folder)
        self._functions = Functions()

    def of(self, findings: Iterable[RunFinding]) -> Iterator[Use]:
        """One for each kind of read of each finding, in their order. A finding without a line has
        none."""
        for each in findings:
            if not each.path:
                continue
            path = os.path.relpath(os.path.realpath(each.path), self._root).replace(os.sep, "/")
            function = self._functions.around(each.path, each.row)
            for kind, per_step in _kinds(each.values):
                yield Use(each.code, each.path, path, each.row, function, kind, per_step)


def _kinds(values: Mapping[str, object]) -> Iterator[tuple[str | None, float | None]]:
    """The kinds of read of a finding, and how often a step has each: kinds of findings that count
    say it under `kinds`."""
    kinds = values.get("kinds")
    if not isinstance(kinds, Mapping) or not kinds:
        yield None, None
        return
    for kind, count in kinds.items():
        yield str(kind), float(count) if isinstance(count, int | float) else None
