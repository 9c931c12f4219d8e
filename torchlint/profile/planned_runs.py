"""Which runs a profile has, decided before the first of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from torchlint.experiment.errors import too_short

if TYPE_CHECKING:
    from collections.abc import Collection

    from torchlint.runtime.survey_reader import Survey

_WINDOW_S: Final = 2.5
_FEWEST, _MOST = 10, 300
"""Steps of a window."""
_LEAST: Final = 5
"""Steps of a script that ends by itself: what fewer show is chance."""
_EPOCH, _EPOCHS = 30, 3
"""Steps that an epoch is cut to, and how many of those are waited for."""


@dataclass(frozen=True, slots=True)
class DiagnosticRun:
    """A run of its own, with instruments that may share one.

    Args:
        name: what `--only` calls it.
        about: says it to people.
        instruments: of the probe; of those that alter, each is tried.
        most: steps that are enough for it, where other runs have more.
        alters: it changes what a step does, and is timed alternately with the program as it is.
        tested: what it saves is not known if it may be chance.
        from_start: its window begins with the first step, and ends when it has seen enough.
        own_malloc: without the settings that keep the C library from giving memory back.
    """

    name: str
    about: str
    instruments: tuple[str, ...]
    most: int | None = None
    alters: bool = False
    tested: bool = False
    own_malloc: bool = False
    from_start: bool = False

    def steps(self, of: int) -> int:
        """Steps of its window, where other runs have so many; of one from the start, those of an
        epoch."""
        of = min(of, _EPOCH) if self.from_start else of
        return of if self.most is None else min(of, self.most)


REPLAY: Final = "replay"
WITHOUT_RECOMPILING: Final = DiagnosticRun(
    "recompiles", "the step without compiling again", ("stance", "uncompiled"), alters=True
)
"""Only where something is compiled again and again."""
WITHOUT_CHECKPOINTS: Final = DiagnosticRun(
    "checkpoints", "the step without checkpoints", ("uncheckpointed",), alters=True
)
"""Only where modules run again."""
ONE_THREAD: Final = DiagnosticRun(
    "threads",
    "the step with one thread in each worker",
    ("one_thread",),
    alters=True,
    tested=True,
)
"""Only where the workers have more threads than there are processors."""
WITHOUT_SUBNORMALS: Final = DiagnosticRun(
    "subnormals", "the step without subnormal numbers", ("flush",), alters=True, tested=True
)
"""Only where there are some."""
COMMUNICATION: Final = "communication"
EPOCHS: Final = "epochs"

_INPUT: Final = DiagnosticRun("input", "input", ("input", "timeline"))
_PAUSES: Final = DiagnosticRun("pauses", "pauses", ("pauses", "growth"))
_OPERATIONS: Final = DiagnosticRun("operations", "kernels and FLOPs", ("kernels",), most=3)
_READS: Final = DiagnosticRun(
    "reads",
    "reads, shapes, gradients",
    (
        "reads",
        "shapes",
        "recompiles",
        "gradients",
        "evaluation",
        "padding",
        "floatbytes",
        "switches",
        "launch",
        "warnings",
    ),
)
_REPLAYED: Final = DiagnosticRun(
    REPLAY, "input, one batch again and again", ("replay",), alters=True
)
DIAGNOSTICS: Final = (
    _INPUT,
    _PAUSES,
    _REPLAYED,
    _OPERATIONS,
    _READS,
    DiagnosticRun(EPOCHS, "what comes between epochs", ("outside",), from_start=True),
    DiagnosticRun("layers", "layers", ("layers",)),
    DiagnosticRun("memory", "memory", ("memory",), most=50, own_malloc=True),
    DiagnosticRun(COMMUNICATION, COMMUNICATION, ("exchanges",)),
)
"""What is most often the limit comes first."""
_QUICK: Final = (
    replace(
        _INPUT,
        about="input and pauses",
        instruments=(*_INPUT.instruments, *_PAUSES.instruments),
    ),
    _REPLAYED,
    _OPERATIONS,
    _READS,
)
"""Runs for `--quick`; what two instruments cost each other is not in a ceiling."""
NAMES: Final = (
    "reads",
    "input",
    "layers",
    "operations",
    "memory",
    "pauses",
    EPOCHS,
    COMMUNICATION,
)
"""For `--only`; `input` means both of its runs."""


@dataclass(frozen=True, slots=True)
class ProfilePlan:
    """Steps of a window, those that pass before it, and the runs."""

    steps: int
    skip: int
    diagnostics: tuple[DiagnosticRun, ...]
    seconds: float
    """What all of them probably take, starts included."""
    impossible: tuple[str, ...] = ()
    """What was wanted and cannot be measured here, each with its reason in brackets."""


def plan(
    seen: Survey,
    only: Collection[str],
    *,
    steps: int | None,
    warmup: int,
    quick: bool = False,
) -> ProfilePlan:
    """The runs for a program whose first steps are known.

    Args:
        only: names of `NAMES`; all if it is empty.
        steps: of each window; None chooses.
        warmup: steps of the timing run before it measures.
        quick: the few runs that show most, instead.

    Raises:
        ExperimentError: the program ended after too few steps, and nobody asked for so few.
    """
    step_s = max(seen.step_s, 1e-6)
    chosen = steps or max(_FEWEST, min(_MOST, math.ceil(_WINDOW_S / step_s)))
    skip = warmup
    if seen.finished:
        usable = max(1, seen.steps - 1)
        skip = min(skip, usable // 4)
        chosen = max(1, min(chosen, usable - skip))
        if chosen < min(_LEAST, steps or _LEAST):
            raise too_short(seen.steps)
    asked, why_not = _QUICK if quick else wanted(only), _no_communication(seen)
    runs = tuple(run for run in asked if run.name != COMMUNICATION or not why_not)
    impossible = tuple(f"{run.about} ({why_not})" for run in asked if run not in runs)
    passed = sum(_passed(each, chosen, skip) for each in runs)
    seconds = seen.start_s * len(runs) + passed * step_s * 1.5
    return ProfilePlan(chosen, skip, runs, seconds, impossible)


def _passed(run: DiagnosticRun, steps: int, skip: int) -> int:
    return _EPOCHS * run.steps(steps) if run.from_start else skip + run.steps(steps)


def wanted(only: Collection[str]) -> tuple[DiagnosticRun, ...]:
    """The runs that these names mean."""
    names = set(only) or {each.name for each in DIAGNOSTICS}
    if "input" in names:
        names.add(REPLAY)
    return tuple(each for each in DIAGNOSTICS if each.name in names)


def left_out(only: Collection[str], *, quick: bool = False) -> list[str]:
    """The names of `NAMES` that these leave out."""
    watched = {name for each in (_QUICK if quick else wanted(only)) for name in each.instruments}
    there = {each.name for each in DIAGNOSTICS if watched.issuperset(each.instruments)}
    return [name for name in NAMES if name not in there]


def _no_communication(seen: Survey) -> str:
    """Why messages between the ranks cannot be measured; empty: they can."""
    if seen.processes < 2:
        return "one rank"
    # A wait for NCCL ends when the work is queued; what is here times the host.
    return "on a GPU it is not timed" if seen.device == "cuda" else ""
