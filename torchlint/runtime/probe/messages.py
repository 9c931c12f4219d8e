"""What a run tells the parent process: a dataclass for each message, and for each instrument.

A message is one line of JSON: `type`, and the fields of its dataclass. The parent reads it into the
same class again and takes nothing else. Places are those of the user's code; None: none was found.
Seconds are those of a whole window unless they are said to be of a step.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from torchlint.runtime.probe.run_settings import Anchor

Place = tuple[str, int]
"""Real path of a file of the project, and a row."""


# from each process ---------------------------------------------------------------------------


@dataclass(slots=True)
class Hello:
    """A process introduces itself. `role` is `main` for the one that the parent started, and
    `child` for those that the script starts; `world` is the size of its process group. An agent on
    another machine says how many `processors` it may use."""

    token: str = ""
    node: str = ""
    pid: int = 0
    rank: int = 0
    world: int = 1
    role: str = "main"
    torch: str = ""
    python: str = ""
    device: str = ""
    processors: int = 0


@dataclass(slots=True)
class Compiling:
    """`torch.compile` begins to compile in this process, or has ended."""

    begun: bool = True


@dataclass(slots=True)
class Raised:
    """What the script raised: where in the project or, if nothing of it was running, the innermost
    place; `oom`: memory ran out."""

    type: str = "Exception"
    text: str = ""
    traceback: str = ""
    oom: bool = False
    path: str | None = None
    row: int | None = None


@dataclass(slots=True)
class Ended:
    """The script has ended: `status` is `finished`, `exit` or `error`."""

    status: str = "finished"
    code: int = 0
    steps: int = 0
    error: Raised | None = None


# a rehearsal -----------------------------------------------------------------------------------


@dataclass(slots=True)
class CountedCall:
    """What a played device was asked for by one line, in all counted steps.

    Args:
        what: `launch`, `wait`, `copy`, `mixed` or `collective`; `flops` by types.
        kind: of a wait, `item`; of a copy, `pageable`; of a mix, the operation.
        via: the function of a library that asked, if it is not the user's own line.
        backward: a backward pass asked.
        calls: in the counted steps, `steps` of which had at least one.
        before: waits in a step before a backward pass of it.
        idle: waits with nothing in the queue; `queued`: operations in it, over all waits.
        size: bytes.
        same: copies of what the copy before had copied already.
        small: launches that work on few elements.
        flops: arithmetic operations.
        made: the line that made on the host what is copied; `loader`: the one that made the loader
            of the last batch.
    """

    what: str
    kind: str
    place: Place | None
    via: str | None = None
    backward: bool = False
    calls: int = 0
    steps: int = 0
    before: int = 0
    idle: int = 0
    queued: int = 0
    size: int = 0
    same: int = 0
    small: int = 0
    flops: int = 0
    made: Place | None = None
    loader: Place | None = None


@dataclass(slots=True)
class Stretch:
    """So many calls in a row of one line: `launch`, `wait` or `copy`; `memory` is the most that lay
    on the devices meanwhile, in bytes."""

    what: str
    place: Place | None
    calls: int = 1
    memory: int = 0


@dataclass(slots=True)
class Filled:
    """What lies on a played device, in bytes.

    Args:
        peak: the most at one time, while the line `place` ran.
        parameters, gradients, optimizer: what the optimizers hold at the end; the rest of the
            peak are activations and batches.
    """

    peak: int = 0
    parameters: int = 0
    gradients: int = 0
    optimizer: int = 0
    place: Place | None = None


@dataclass(slots=True)
class Rehearsed:
    """What the counted steps of one process asked of a played device.

    Args:
        steps: counted; `skipped` came before them.
        launches: in the whole process.
        ran: rows that ran in a step, by real path.
        compiles: the script has asked for a compiled function, which runs as it is written.
        strip: one of the steps, in order.
    """

    steps: int = 0
    skipped: int = 0
    launches: int = 0
    calls: list[CountedCall] = field(default_factory=list)
    memory: Filled = field(default_factory=Filled)
    ran: dict[str, list[int]] = field(default_factory=dict)
    strip: list[Stretch] = field(default_factory=list)
    compiles: bool = False


# the first look --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lanes:
    """Where the time of a step goes, in seconds, step by step."""

    data: tuple[float, ...] = ()
    forward: tuple[float, ...] = ()
    backward: tuple[float, ...] = ()
    optimizer: tuple[float, ...] = ()
    other: tuple[float, ...] = ()

    def medians(self, start: int = 0) -> dict[str, float]:
        """Seconds of a step by what they went into; of the steps from `start` on, if there are
        any."""
        return {
            name: median(times[start:] or times) for name, times in asdict(self).items() if times
        }


@dataclass(slots=True)
class Surveyed:
    """What one process of a program does; see `runtime.survey_reader.Survey`."""

    steps: int
    step_s: float
    finished: bool
    exercise_known: bool
    compiled: bool
    memory_mb: float
    device: str
    anchor: Anchor | None = None
    words: str = ""
    times: list[float] = field(default_factory=list)
    warm: int = 0
    counts: dict[str, int | tuple[int, ...]] = field(default_factory=dict)
    lanes: Lanes = field(default_factory=Lanes)
    exercised: list[str] = field(default_factory=list)
    served: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    ahead: int = 0
    stream_workers: int = 0
    gpu_name: str | None = None
    gpu_mb: float | None = None
    gpu_free_mb: float | None = None
    rehearsed: Rehearsed | None = None


# timed blocks of steps -------------------------------------------------------------------------


@dataclass(slots=True)
class Timed:
    """A block of steps; see `experiment.rotation.Block`."""

    steps: int
    wall: float
    cpu: float
    gpu: float | None
    memory_mb: float
    throttled: bool | None
    compiled: bool
    altered: bool = False
    clock_mhz: int | None = None


# recorded numbers ------------------------------------------------------------------------------


@dataclass(slots=True)
class History:
    """A parameter: digest, buckets and sum of squares at the start, and after the steps that were
    looked at. Floats are hexadecimal, so that no bit of them is lost."""

    size: int
    eps: str
    start: list[int | str]
    after: list[list[int | str] | None]


@dataclass(slots=True)
class Extent:
    """How far the recorded steps went.

    Args:
        passes: that were begun over the dataset that was read most often.
        batches: of one pass; None: unknown.
        schedules: classes of schedulers that have left the learning rate as it was.
        evaluates: a model that learns was put into evaluation mode.
        files: of the project, as far as they were imported; real paths.
    """

    passes: int = 0
    batches: int | None = None
    schedules: list[str] = field(default_factory=list)
    evaluates: bool = False
    files: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Recorded:
    """What the script computed in `steps` steps from the step `first` on.

    Args:
        own: size, mean and root mean square of parameters before they were taken over.
        held: the switches that were held back.
        finished: the script ended in these steps, so nothing comes after.
    """

    first: int
    steps: int
    losses: list[list[str]]
    loss_eps: str
    at: list[int]
    parameters: dict[str, History]
    outputs: list[list[list[int | str]]]
    output_eps: str
    own: dict[str, tuple[int, str, str]]
    held: list[str]
    finished: bool
    reached: Extent
    exercised: list[str]
    exercise_known: bool


# a window of steps -----------------------------------------------------------------------------


@dataclass(slots=True)
class WindowSeen:
    """A window of steps: `found` has what each instrument saw, by its name. `held_s` are seconds
    for which the thread that trains had no processor; None where the system does not say."""

    steps: int
    seconds: float
    held_s: float | None = None
    found: dict[str, Any] = field(default_factory=dict)
