"""The result of a verification: plain frozen data that the reports read."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import TYPE_CHECKING, Final

from torchlint.runtime.probe.messages import Lanes

if TYPE_CHECKING:
    from torchlint.experiment.intervals import Estimate
    from torchlint.experiment.machine import Environment
    from torchlint.experiment.plan import DeclaredPlan
    from torchlint.experiment.rounds import BlockStrip
    from torchlint.runtime.sandbox.side_effects import SideEffect

SCHEMA: Final = 1


class Verdict(str, Enum):
    """What the measurement says about speed."""

    CONFIRMED = "CONFIRMED"
    """Faster by more than the margin."""
    NEUTRAL = "NEUTRAL"
    """Within the margin."""
    SLOWER = "SLOWER"
    """Slower by more than the margin."""
    UNRESOLVED = "UNRESOLVED"
    """The interval reaches over the margin's edge; more pairs would tell."""
    NOT_EXERCISED = "NOT EXERCISED"
    """None of its lines ran in the measured part."""
    NOT_MEASURABLE = "NOT MEASURABLE HERE"
    """What it saves cannot show on this machine or in this window."""


class Agreement(str, Enum):
    """What the comparison of the computed numbers says."""

    BITWISE = "bitwise equal"
    ROUNDING = "equal to rounding"
    DECLARED = "differs as declared"
    DIFFERS = "DIFFERS"
    UNKNOWN = "not compared"

    @property
    def is_good(self) -> bool:
        """Whether the numbers are right without a further look."""
        return self in (Agreement.BITWISE, Agreement.ROUNDING)


@dataclass(frozen=True, slots=True)
class Numerics:
    """How the numbers of the changed program compare with the original's.

    `steps` are judged, from the step `first` on, counted from 0: later ones too only if they are
    bitwise equal, since rounding grows with each step. `level` is how far random
    streams had to be realigned (0: only seeded). `first_step` is the
    first step that differs, `largest` the largest relative difference of a loss or a parameter
    projection within the judged steps, and `envelope_ratio` how many times the spread it is that
    a perturbation of one unit in the last place makes by itself.
    """

    agreement: Agreement
    why: str = ""
    steps: int = 0
    first: int = 0
    level: int = 0
    first_step: int | None = None
    largest: float = 0.0
    envelope_ratio: float | None = None
    losses: tuple[tuple[float, float], ...] = ()
    """Loss per step: original, changed."""
    envelope: tuple[tuple[float, float], ...] = ()
    """Per step: the lowest and highest loss among the perturbed originals."""


@dataclass(frozen=True, slots=True)
class Counters:
    """What one program does in a step, on average over `steps` steps after the warm-up; counted, so
    it has no noise.

    `reads` of values of tensors by the host; without a GPU those that would wait for one. `kernels`
    are those of a GPU, and `bytes` go between the host and devices; without a GPU, a played one is
    asked. `recompiles` are functions that
    `torch.compile` compiled. `allocations` are asked of torch's allocator of the GPU; without one,
    tensors that operations make. `batches` come from loaders. `flops` are floating-point operations
    of products. None: not counted, and `missing` says why, by name.
    """

    steps: int
    reads: float | None = None
    operations: float | None = None
    kernels: float | None = None
    bytes: float | None = None
    collectives: float | None = None
    recompiles: float | None = None
    allocations: float | None = None
    batches: float | None = None
    flops: float | None = None
    missing: dict[str, str] = field(default_factory=dict)

    def of(self, name: str) -> float | None:
        """The counter of this name, one of `COUNTERS`."""
        value: float | None = getattr(self, name)
        return value


COUNTERS: Final = tuple(
    each.name for each in fields(Counters) if each.name not in ("steps", "missing")
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One changed program against the original.

    `counters` are those of the changed program. `less_work` says what it leaves out, if it computes
    less than the original and its numbers do not show that this is right.
    """

    verdict: Verdict
    estimate: Estimate | None = None
    numerics: Numerics | None = None
    why: str = ""
    counters: Counters | None = None
    less_work: str = ""


@dataclass(frozen=True, slots=True)
class FixPlace:
    """Where a fix changes something, in the original file."""

    path: str
    row: int
    exercised: bool | None
    """None: it could not be seen whether the line ran."""


@dataclass(frozen=True, slots=True)
class FixMeasurement:
    """One fix: everything that one rule changes in one file.

    `alone` compares the original with this fix only; `after` all the other fixes with all of
    them: what the fix still adds when the others are in.
    """

    id: str
    code: str
    name: str
    applicability: str
    message: str
    places: tuple[FixPlace, ...]
    alone: Comparison
    after: Comparison | None = None
    hidden_by: str | None = None
    diff: str = ""

    @property
    def is_measured(self) -> bool:
        """Whether anything is known of it apart from the others: its time or its numbers."""
        known = [each for each in (self.alone, self.after) if each is not None]
        return any(each.estimate is not None or each.numerics is not None for each in known)

    @property
    def is_proven(self) -> bool:
        """Whether it is faster by itself, and computes the same numbers up to rounding."""
        numerics = self.alone.numerics
        is_right = numerics is not None and numerics.agreement.is_good
        return is_right and self.alone.verdict is Verdict.CONFIRMED


@dataclass(frozen=True, slots=True)
class Clocks:
    """The GPU's clock at the end of each block: `mhz` is the lowest and the highest, but for the
    odd block, `spread` how far they are apart as a share, and `apart` how much higher the clock was
    on the second side. None: not known, and `why` says why."""

    mhz: tuple[float, float] | None = None
    spread: float | None = None
    apart: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Noise:
    """The original against itself, in the same minutes: how much the machine varies.

    `floor` is the half-width of the 95 % interval, or how far from 1 the ratio is where that is
    more; `fit` whether claims can be made; `numerics` whether the original repeats its own numbers.
    """

    estimate: Estimate
    floor: float
    fit: bool
    why: str = ""
    numerics: Numerics | None = None
    clocks: Clocks = Clocks()


@dataclass(frozen=True, slots=True)
class Required:
    """A bound of `--require` on a counter of the changed program, or of the original if nothing is
    changed: `held`, unless it was not counted (None, and `why`)."""

    bound: str
    value: float | None
    held: bool | None
    why: str = ""

    @property
    def counter(self) -> str:
        """Its name, one of `COUNTERS`."""
        return re.split("[<>=]", self.bound)[0]


@dataclass(frozen=True, slots=True)
class Given:
    """The options of a verification, as far as `fix --verified` needs them to make the same fixes.

    `rules` choose the rules and `time` how long is measured: words of a command line that `fix`
    takes as well. `others` says whether there were options that it does not have. `json` is the
    file that has the result. `stdin` says whether the script was given something to read.
    """

    rules: tuple[str, ...] = ()
    time: tuple[str, ...] = ()
    others: bool = False
    json: str | None = None
    stdin: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """A whole verification."""

    argv: tuple[str, ...]
    environment: Environment
    plan: DeclaredPlan | None
    aa: Noise | None
    total: Comparison | None
    fixes: tuple[FixMeasurement, ...]
    exit: int
    summary: str = ""
    counters: Counters | None = None
    """Of the original."""
    required: tuple[Required, ...] = ()
    notes: tuple[str, ...] = ()
    unreached: tuple[str, ...] = ()
    """What the script has and the steps whose numbers were compared did not come to."""
    side_effects: tuple[SideEffect, ...] = ()
    strips: tuple[BlockStrip, ...] = ()
    lanes: Lanes = field(default_factory=Lanes)
    diff: str = ""
    sources: dict[str, str] = field(default_factory=dict)
    """Path of each Python file of the project that ran, as far as is known → its SHA-256."""
    seconds: float = 0.0
    given: Given | None = Given()
    """None: the command makes the fixes itself."""
