"""The outcome of a profile: plain frozen data that the reports read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torchlint.experiment.machine import Environment
    from torchlint.profile.evidence import Timing
    from torchlint.profile.layer_table import Row
    from torchlint.profile.ranks import Rank
    from torchlint.profile.step_timeline import Span
    from torchlint.profile.sweep import Sweep
    from torchlint.runtime.sandbox.side_effects import SideEffect

SCHEMA: Final = 1
NOT_REACHED: Final = "not reached"
"""Status of a finding in a line that the first steps did not reach; what comes later may."""


@dataclass(frozen=True, slots=True)
class Static:
    """A finding of `check` at a line that a run has told something of.

    `status` is `confirmed` (the run saw the same thing there), `ran`, `not reached` (in the first
    steps; an evaluation may run it later), or, after a rehearsal, `not in a step`, or
    `contradicted`: it ran, and does not do what it is said to do.
    """

    code: str
    name: str
    path: str
    row: int
    tier: str
    status: str
    has_fix: bool


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a file, whose path is as it is shown."""

    path: str
    row: int


@dataclass(frozen=True, slots=True)
class RunFinding:
    """What a run has shown, with its ceiling.

    Args:
        path: as it is shown; empty: it has no line.
        share: of the step that it costs at most; None if the run cannot tell.
        static: findings of `check` at the same place, or where the thing was made.
        rules: codes of the static rules that are about the same thing, found there or not.
        made: where the thing was made, as the loader that a loop waits for, if the run saw it.
        certain: it was tested against chance, so the noise of the step does not hide it.
    """

    code: str
    name: str
    path: str
    row: int
    fact: str
    action: str
    share: float | None
    census: bool
    static: tuple[Static, ...] = ()
    rules: tuple[str, ...] = ()
    values: Mapping[str, object] = field(default_factory=dict)
    made: Line | None = None
    certain: bool = False

    @property
    def ceiling(self) -> float | None:
        """The most that a step becomes faster, as a factor, if this costs nothing."""
        return None if self.share is None else 1.0 / (1.0 - self.share)


@dataclass(frozen=True, slots=True)
class RunFact:
    """What a run has shown that is not a finding: its label and one sentence."""

    code: str
    label: str
    text: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Change:
    """A finding that two profiles do not agree on, at its place in the later one that has it.

    `before` and `now` are its shares of the step; None: there is none, or the run cannot tell.
    """

    code: str
    path: str
    row: int
    before: float | None = None
    now: float | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """What has changed since an earlier profile.

    Args:
        date: of the earlier one; empty if it does not say.
        step_s: seconds of its step; None if it was not timed.
        noise: of its step, as a share of it.
        ratio: its step time over the one of now: above 1, a step has become faster.
        beyond_noise: the difference is larger than the noise of both.
        waits: of a step, before and now, if both are rehearsals.
        elsewhere: what else is different, `torch 2.12.0, now 2.13.0`.
        only_once: codes that one of the two did not watch; nothing is said about them.
        gone: what the earlier one had; `new` what it had not; `changed` what costs another share.
    """

    date: str
    step_s: float | None
    noise: float | None
    ratio: float | None
    beyond_noise: bool
    elsewhere: tuple[str, ...] = ()
    only_once: tuple[str, ...] = ()
    gone: tuple[Change, ...] = ()
    new: tuple[Change, ...] = ()
    changed: tuple[Change, ...] = ()
    waits: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Broken:
    """One way in which a profile does not keep to a budget.

    `problem` is `new`, `grown`, `stale`, `expired` or `unwatched`; `text` says it and what to do.
    """

    problem: str
    code: str
    path: str
    row: int
    text: str


@dataclass(frozen=True, slots=True)
class Budgeted:
    """What a budget says about a profile: which file, how much it allowed, and what breaks it."""

    file: str
    allowed: int
    broken: tuple[Broken, ...]


@dataclass(frozen=True, slots=True)
class RehearsedLine:
    """What one line asks a device for in a step, on average: operations, waits, copies and their
    bytes; `idle` are waits that find an empty queue, as another one comes just before."""

    path: str
    row: int
    launches: float
    waits: float
    copies: float
    bytes: float
    idle: float


@dataclass(frozen=True, slots=True)
class RehearsedPart:
    """So many operations, waits or copies in a row that one line asks for; `memory` is the most
    that lay on the GPU meanwhile, in bytes. Without a line, the path is empty."""

    what: str
    path: str
    row: int
    calls: int
    memory: int


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What a step asks of a GPU, counted on one that was played; averages of the counted steps.

    Args:
        card: name of the GPU, `devices` of which were played.
        steps: counted; `skipped` came before them.
        waits: of the host for the device; `before_backward` of them come before a backward pass of
            their step. `idle` others find nothing to wait for.
        copies: to the device, of `copied` bytes; the host waits in `awaited_copies` of them.
        launches: operations; `small` is the share that works on less than 4,096 elements.
        flops: arithmetic operations by type; only of matrix products, convolutions, attention.
        traffic: bytes that all operations read and write.
        exchanged: bytes in messages between ranks.
        bounds: seconds of a step by what would limit it; lower bounds and no times.
        memory: bytes: the `peak`, what `parameters`, `gradients` and `optimizer` have of it, the
            `rest`, and what the `card` has.
        fullest: the line that ran when the memory was fullest.
        lines: what each line asks for.
        ran: rows that ran in a step, by path.
        files: digests of the files in `ran`, as they were.
        used: the script has used the device at all.
        strip: the last of the steps, in order.
    """

    card: str
    devices: int
    steps: int
    skipped: int
    waits: float
    before_backward: float
    idle: float
    copies: float
    copied: float
    awaited_copies: float
    launches: float
    small: float
    flops: Mapping[str, float]
    traffic: float
    exchanged: float
    bounds: Mapping[str, float]
    memory: Mapping[str, int]
    fullest: Line | None
    lines: tuple[RehearsedLine, ...]
    ran: Mapping[str, tuple[int, ...]]
    files: Mapping[str, str]
    used: bool
    strip: tuple[RehearsedPart, ...] = ()


@dataclass(frozen=True, slots=True)
class Profile:
    """All that is known of a program after its runs.

    Args:
        argv: as the user typed it.
        command: `profile` or `rehearse`.
        options: words of the command's options that say how it is run.
        exit: of the command.
        summary: one sentence, if something went wrong.
        limit: what a step waits for, one sentence.
        findings: those that matter, worst first.
        census: counts without a ceiling, in the order of their places.
        small: how many findings are below the cut; `below` are those.
        together: the most that all of `findings` give together, as a factor; None if there are
            fewer than two, or they overlap by a whole step.
        cut: share of the step below which nothing is said.
        sweep: what a step takes with other workers or batch sizes, if that was asked for.
        costs: by run, how many times as long a step took under its instruments.
        not_measured: what, and why; a sentence part each.
        facts: what else the runs have shown, to be read; they cost nothing that is known.
        layers: the modules that cost most in `forward`.
        static: findings of `check` in lines that ran or did not, by place.
        lanes: shares of a step, by what the host did.
        typical: a step of median length, then its parts, in the order in which they begin; `trace`
            the first steps of a run in the same form.
        date: on which it ran, `2026-07-26`.
        watched: codes of the kinds that were judged; `unwatched` those that a failed run left out.
        suppressed: findings that a comment in the source silences.
        compared: with an earlier profile, if one was given.
        budget: the same for a budget.
        ranks: what each of several ranks did, by their numbers.
        rehearsal: what was counted on a played GPU, if there was one; then nothing was timed.
    """

    argv: tuple[str, ...]
    exit: int
    summary: str
    seconds: float
    command: str = "profile"
    options: tuple[str, ...] = ()
    environment: Environment | None = None
    timing: Timing | None = None
    step: str = ""
    limit: str = ""
    findings: tuple[RunFinding, ...] = ()
    census: tuple[RunFinding, ...] = ()
    small: int = 0
    together: float | None = None
    cut: float = 0.0
    costs: Mapping[str, float] = field(default_factory=dict)
    sweep: Sweep | None = None
    not_measured: tuple[str, ...] = ()
    facts: tuple[RunFact, ...] = ()
    layers: tuple[Row, ...] = ()
    static: tuple[Static, ...] = ()
    lanes: Mapping[str, float] = field(default_factory=dict)
    typical: tuple[Span, ...] = ()
    trace: tuple[Span, ...] = ()
    side_effects: tuple[SideEffect, ...] = ()
    notes: tuple[str, ...] = ()
    date: str = ""
    watched: tuple[str, ...] = ()
    unwatched: tuple[str, ...] = ()
    below: tuple[RunFinding, ...] = ()
    suppressed: int = 0
    compared: Compared | None = None
    budget: Budgeted | None = None
    ranks: tuple[Rank, ...] = ()
    rehearsal: Rehearsal | None = None

    @property
    def is_rehearsal(self) -> bool:
        """Whether a GPU was to be played, and nothing to be timed."""
        return self.command == "rehearse"
