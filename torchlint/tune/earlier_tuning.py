"""What an earlier search found out, read from its JSON, so that it need not be tried again."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from torchlint.experiment.earlier_run import EarlierRun, read_earlier
from torchlint.experiment.errors import ExperimentError
from torchlint.tune.fate import Fate
from torchlint.tune.tune_result import SCHEMA

if TYPE_CHECKING:
    from torchlint.runtime.program import Program

_OPEN: Final = frozenset(
    {
        *(Fate.KEPT, Fate.UNSETTLED, Fate.FIRST_WAY, Fate.NOT_LIMITING, Fate.NO_TIME),
        *(Fate.NUMBERS, Fate.MEMORY, Fate.UNFIT),
    }
)
"""What is tried again: it may be kept, was not tried, or depends on the options and the others."""


class SettledChange(NamedTuple):
    """What became of a candidate: its fate, why, the diff that was tried, and the logarithm of how
    many times faster it was alone."""

    fate: Fate
    why: str
    diff: str
    alone: float | None


class _Change(Struct, frozen=True):
    id: str
    diff: str
    outcome: str
    why: str = ""
    alone: float | None = None


class _Earlier(EarlierRun, frozen=True):
    changes: tuple[_Change, ...]


def settled_by(path: str, program: Program) -> dict[str, SettledChange]:
    """What did not help in an earlier search of the same program on the same machine.

    Returns:
        id of the candidate → what became of it.

    Raises:
        ExperimentError: the file cannot be read, `tune --json` did not write it, or the program or
            the machine has changed since.
    """
    earlier = read_earlier(path, _Earlier, SCHEMA, "torchlint tune --json")
    changed = earlier.changed_since(program.words)
    if changed:
        raise ExperimentError(
            f"{path} does not hold here: {changed}; run `torchlint tune` without --from."
        )
    fates = {each.value: each for each in Fate if each not in _OPEN}
    return {
        each.id: SettledChange(
            fates[each.outcome], each.why, each.diff, math.log(each.alone) if each.alone else None
        )
        for each in earlier.changes
        if each.outcome in fates
    }
