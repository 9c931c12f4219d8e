"""Bounds on counters: `reads<=0`."""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from torchlint.verify.counts.differences import UNITS, count_in_words
from torchlint.verify.result import COUNTERS, Required

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torchlint.verify.result import Counters, Result

_COMPARISONS: Final[dict[str, Callable[[float, float], bool]]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}
_BOUND: Final = re.compile(r"\s*([A-Za-z_]+)\s*(<=|>=|==|[<>](?!=))\s*(\S+)\s*")
_BROKEN: Final = 1
_UNKNOWN: Final = 3
_UNSETTLED: Final = (_UNKNOWN, 7)


class RequirementError(ValueError):
    """Words that are no bound on a counter."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A counter, how it is compared, and with which number."""

    counter: str
    comparison: str
    limit: float

    @property
    def words(self) -> str:
        """`reads<=0`."""
        return f"{self.counter}{self.comparison}{self.limit:g}"

    def judged(self, found: Counters | None) -> Required:
        """Whether it holds of these counters."""
        if found is None:
            return Required(self.words, None, None, "nothing was counted")
        value = found.of(self.counter)
        if value is None:
            return Required(self.words, None, None, found.missing.get(self.counter, ""))
        return Required(self.words, value, _COMPARISONS[self.comparison](value, self.limit))


def bounds(words: Iterable[str]) -> tuple[Bound, ...]:
    """The bounds that options name, each with one or several that commas separate.

    Raises:
        RequirementError: one of them is no bound; the message says what it should be.
    """
    return tuple(_bound(each) for word in words for each in word.split(","))


def _bound(word: str) -> Bound:
    match = _BOUND.fullmatch(word)
    if match is None:
        raise RequirementError(
            f"{word.strip()!r} is no bound on a counter; write it as 'reads<=0', with <=, <, ==, "
            "> or >=."
        )
    counter, comparison, number = match.groups()
    if counter not in COUNTERS:
        raise RequirementError(f"There is no counter {counter!r}; there are {', '.join(COUNTERS)}.")
    try:
        limit = float(number)
    except ValueError:
        limit = math.nan
    if not math.isfinite(limit):
        raise RequirementError(f"{number!r} in {word.strip()!r} is not a number.")
    return Bound(counter, comparison, limit)


def held_to(result: Result, wanted: Iterable[Bound]) -> Result:
    """The result with its bounds judged. A bound that does not hold makes the exit code 1, also
    where the speed is not settled; if all else was well, one whose counter is not known makes it
    3."""
    changed = result.total.counters if result.total is not None else result.counters
    judged = tuple(each.judged(changed) for each in wanted)
    result = replace(result, required=judged)
    broken = [each for each in judged if each.held is False]
    unknown = [each for each in judged if each.held is None]
    if not (broken or unknown):
        return result
    if result.exit and not (broken and result.exit in _UNSETTLED):
        return result
    who = "changed program" if result.total is not None else "original"
    said = broken or unknown
    summary = " ".join(_sentence(each, who) for each in said)
    return replace(result, summary=summary, exit=_BROKEN if broken else _UNKNOWN)


def _sentence(required: Required, who: str) -> str:
    if required.value is None:
        why = f": {required.why}" if required.why else ""
        return f"Whether {required.bound} holds is not known{why}."
    value = count_in_words(required.counter, required.value)
    unit = UNITS[required.counter]
    return f"{required.bound} does not hold: the {who} comes to {value} {unit} a step."
