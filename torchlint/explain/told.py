"""What a check tells while it runs: the sentences of `because`, and the places that it wanted to
report.

The check runs once more while Python tells of each of its calls
(https://docs.python.org/3/library/sys.html#sys.settrace), so a check of a project pays nothing.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from torchlint.because import because
from torchlint.finding import Tier
from torchlint.ruleapi.rule_definition import Rule

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    import libcst as cst

    from torchlint.analysis.training.syncs import Operand

_T = TypeVar("_T")
_BECAUSE: Final = because.__code__
_REPORT: Final = Rule.report.__code__


class ToldAnswer(NamedTuple):
    """An answer that a check got on its way, and why: see `because`."""

    answer: object
    sentence: str
    places: tuple[object, ...]


class WantedReport(NamedTuple):
    """A place that a check wanted to report, whatever the contexts of its rule say."""

    node: cst.CSTNode
    operand: Operand | None
    else_hint: tuple[Any, ...]


@dataclass
class WatchedCheck:
    """What was seen of a check."""

    told: list[ToldAnswer] = field(default_factory=list)
    wanted: list[WantedReport] = field(default_factory=list)

    @property
    def last(self) -> ToldAnswer | None:
        """The answer that decided, if the check fell silent."""
        return self.told[-1] if self.told else None

    @property
    def doubts(self) -> list[ToldAnswer]:
        """Why what it reported is a hint."""
        return [each for each in self.told if each.answer is Tier.HINT]


def watched(run: Callable[[], _T]) -> tuple[_T, WatchedCheck]:
    """Call a function, and watch what is told in it."""
    seen = WatchedCheck()

    def called(frame: FrameType, _event: str, _value: Any) -> None:
        if frame.f_code is _BECAUSE:
            local = frame.f_locals
            seen.told.append(ToldAnswer(local["answer"], local["sentence"], local["places"]))
        elif frame.f_code is _REPORT:
            local = frame.f_locals
            if all(each.node is not local["node"] for each in seen.wanted):
                seen.wanted.append(
                    WantedReport(local["node"], local["operand"], local["else_hint"])
                )

    before = sys.gettrace()
    sys.settrace(called)
    try:
        answer = run()
    finally:
        sys.settrace(before)
    return answer, seen
