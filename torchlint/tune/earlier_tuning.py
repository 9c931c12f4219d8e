"""What an earlier search found out, read from its JSON, so that it need not be tried again."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from torchlint.experiment.earlier_run import EarlierHardware, EarlierRun, read_earlier
from torchlint.experiment.errors import ExperimentError
from torchlint.tune.fate import Fate
from torchlint.tune.tune_result import SCHEMA

if TYPE_CHECKING:
    from torchlint.experiment.machine import Environment
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


class EarlierTuning(NamedTuple):
    """An earlier search of the same program.

    Attributes:
        path: of its JSON.
        ran_on: what its runs were set up with.
        settled: id of the candidate → what became of it, for those that did not help.
    """

    path: str
    ran_on: _RanOn
    settled: dict[str, SettledChange]

    def require_the_same(self, now: Environment) -> None:
        """
        Raises:
            ExperimentError: the program runs in another way here, so that nothing holds.
        """
        for name in ("device", "gpu", "threads", "processes"):
            before, here = getattr(self.ran_on, name), getattr(now, name)
            if before != here:
                raise _does_not_hold(
                    self.path, f"it was measured with {name} {before}, and here it is {here}"
                )


class _RanOn(EarlierHardware, frozen=True):
    device: str
    threads: int | None
    processes: int
    gpu: dict[str, str] | None = None


class _Change(Struct, frozen=True):
    id: str
    diff: str
    outcome: str
    why: str = ""
    alone: float | None = None


class _Earlier(EarlierRun, frozen=True):
    environment: _RanOn
    changes: tuple[_Change, ...]


def earlier_tuning(path: str, program: Program) -> EarlierTuning:
    """An earlier search of the same program on the same machine.

    Raises:
        ExperimentError: the file cannot be read, `tune --json` did not write it, or the program or
            the machine has changed since.
    """
    earlier = read_earlier(path, _Earlier, SCHEMA, "torchlint tune --json")
    changed = earlier.changed_since(program.words)
    if changed:
        raise _does_not_hold(path, changed)
    fates = {each.value: each for each in Fate if each not in _OPEN}
    settled = {
        each.id: SettledChange(
            fates[each.outcome], each.why, each.diff, math.log(each.alone) if each.alone else None
        )
        for each in earlier.changes
        if each.outcome in fates
    }
    return EarlierTuning(path, earlier.environment, settled)


def _does_not_hold(path: str, why: str) -> ExperimentError:
    return ExperimentError(
        f"{path} does not hold here: {why}; run `torchlint tune` without --from."
    )
