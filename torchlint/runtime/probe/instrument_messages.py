"""What the instruments of a window tell the parent process: a dataclass for each of them.

As for all messages, places are those of the user's code, and seconds are those of a whole window
unless they are said to be of a step.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from torchlint.runtime.probe.messages import Place


@dataclass(slots=True)
class HostCall:
    """Reads of one kind at one place, or copies.

    Args:
        kind: of a read, `item`; of a copy, `pageable` or, from pinned memory, `blocking`.
        via: the function of a library that reads, if it is not the user's own line.
        seconds: of all calls.
        steps: with at least one call; the last one was `last`.
        graph: reads of what has a gradient.
        backward: calls inside a backward pass.
        size: bytes that were copied.
        loader: in a rehearsal, the line that made the loader of the batch that is copied; `same`
            copies had the content of the copy before.
        before: in a rehearsal, calls before a backward pass of their step; `queued` operations
            stood in the queue, over all calls.
    """

    place: Place | None
    kind: str
    via: str | None = None
    calls: int = 0
    seconds: float = 0.0
    steps: int = 0
    last: int = -1
    graph: int = 0
    backward: int = 0
    size: int = 0
    before: int = 0
    queued: int = 0
    loader: Place | None = None
    same: int = 0


@dataclass(slots=True)
class ReadsSeen:
    """Where the host reads values of tensors, and where it copies batches to a GPU."""

    reads: list[HostCall] = field(default_factory=list)
    copies: list[HostCall] = field(default_factory=list)


@dataclass(slots=True)
class ShapedModule:
    """A module in training mode, and the shapes that it got.

    Args:
        calls: in the window.
        shapes: calls by shape; those of further ones are `others`.
        fresh: steps that brought a shape not seen before.
    """

    name: str
    kind: str
    place: Place | None
    compiled: bool
    calls: int = 0
    shapes: dict[str, int] = field(default_factory=dict)
    others: int = 0
    fresh: int = 0

    @property
    def label(self) -> str:
        """Its name within its root; its class where it has none."""
        return self.name or self.kind


@dataclass(slots=True)
class ShapesSeen:
    """Shapes of the inputs of convolutions and compiled modules; `benchmark` is that of cuDNN."""

    benchmark: bool
    modules: list[ShapedModule] = field(default_factory=list)


@dataclass(slots=True)
class CompiledFunction:
    """A function that was compiled in the window, so many times."""

    place: Place | None
    name: str
    frames: int


@dataclass(slots=True)
class RecompilesSeen:
    """What `torch.compile` compiled in a window.

    Args:
        frames: compiled, in `in_steps` of the steps; the last one was `last` (from 0).
        seconds: that took, if dynamo says so.
        functions, guards: those that dynamo told of; guards are why the code that was there did
            not serve, with their numbers.
        breaks: reasons of graph breaks, with their numbers, since the start of the process.
        given_up: functions that run uncompiled since they were compiled too often.
    """

    frames: int = 0
    in_steps: int = 0
    last: int | None = None
    seconds: float | None = None
    functions: list[CompiledFunction] = field(default_factory=list)
    guards: list[tuple[str, int]] = field(default_factory=list)
    breaks: list[tuple[str, int]] = field(default_factory=list)
    given_up: list[Place | None] = field(default_factory=list)


@dataclass(slots=True)
class ParameterGroup:
    """Parameters of one module: how many tensors, how many values, and in how many steps they were
    looked at. `place` is the line of an optimizer."""

    module: str
    place: Place | None
    parameters: int
    values: int
    steps: int


@dataclass(slots=True)
class GradientsSeen:
    """`idle`: held by an optimizer, and without a gradient before each of its steps; `for_nothing`:
    with a gradient that no optimizer took. Not `known` where torch has no hooks for that."""

    known: bool
    idle: list[ParameterGroup] = field(default_factory=list)
    for_nothing: list[ParameterGroup] = field(default_factory=list)


@dataclass(slots=True)
class EvaluatedLine:
    """Calls of a root module in evaluation mode that recorded a graph, at one line: `used` by a
    backward pass, `unused`, or `kept` over several steps."""

    place: Place | None
    kind: str
    used: int = 0
    unused: int = 0
    unused_seconds: float = 0.0
    kept: int = 0
    kept_seconds: float = 0.0


UNUSED = "unused-parameters"
"""The name of DDP's warning of a search for them that finds none."""


@dataclass(slots=True)
class TorchWarning:
    """Something that torch has warned of.

    Args:
        name: of ours.
        text: of torch's.
        place: the user's line in which it was warned of; None: on a thread without one.
        count: how often.
        watched: steps in which it was looked for the line, and `ran` those in which it ran.
    """

    name: str
    text: str
    place: Place | None
    count: int = 0
    watched: int = 0
    ran: int = 0


@dataclass(slots=True)
class WarningsSeen:
    """What torch warned of that takes time, since the script began."""

    heard: list[TorchWarning] = field(default_factory=list)


@dataclass(slots=True)
class EvaluationSeen:
    """Evaluations that record graphs, by line."""

    lines: list[EvaluatedLine] = field(default_factory=list)


@dataclass(slots=True)
class PaddedPlace:
    """The batches that one place took, by their attention masks.

    Args:
        batches: with a mask that was counted.
        positions: in their masks.
        padded: positions of padding.
        beyond: those of them beyond the longest sample of their batch.
        odd: batches whose mask is not one block of ones in each row, or is on a device.
        unmasked: batches without any mask.
    """

    place: Place | None
    batches: int = 0
    positions: int = 0
    padded: int = 0
    beyond: int = 0
    odd: int = 0
    unmasked: int = 0


@dataclass(slots=True)
class PaddingSeen:
    """How much of the batches is padding."""

    places: list[PaddedPlace] = field(default_factory=list)


@dataclass(slots=True)
class ByteBatches:
    """Batches that one place took.

    Args:
        batches: in the window.
        size: bytes of a batch in floating-point tensors all of whose values fit into a byte; such
            a value takes `width` bytes there.
        written_s: seconds that a worker takes less to write a batch with one byte for each value
            into shared memory; `read_s`: that the process takes less which reads it there.
    """

    place: Place | None
    batches: int = 0
    size: int = 0
    width: int = 4
    written_s: float = 0.0
    read_s: float = 0.0


@dataclass(slots=True)
class FloatBytesSeen:
    """Batches whose values are whole bytes although they are floating-point numbers."""

    places: list[ByteBatches] = field(default_factory=list)


@dataclass(slots=True)
class SwitchesSeen:
    """Names of variables for debugging that are set; whether anomaly detection is on."""

    variables: list[str]
    anomaly: bool


@dataclass(slots=True)
class ModelCopies:
    """Copies of a model to several GPUs, at one line."""

    place: Place | None
    gpus: int
    calls: int


@dataclass(slots=True)
class LaunchSeen:
    """What a process got of the machine.

    Args:
        threads: torch's for one operation; `chosen`: as many as this run was started with.
        processors: numbers of those that it may use.
        quota: how many of them at a time a control group allows; None without a limit.
        gpus: ids of the visible ones; `used_gpus`: of those on which torch holds memory. None
            where they have no ids.
    """

    threads: int
    chosen: bool
    processors: list[int]
    quota: float | None = None
    gpus: list[str] | None = None
    used_gpus: list[str] | None = None
    copied: list[ModelCopies] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class LoaderOptions:
    """What a loader was told to do.

    Args:
        dataset: name of its class.
        workers: processes; 0: the training process loads.
        persistent: the workers outlive an epoch.
        length: batches of an epoch; None if nobody can tell.
        samples: where the user's code makes samples: the row of the `def`.
        collate: the same for the function that makes a batch of them.
    """

    dataset: str
    workers: int = 0
    persistent: bool = False
    length: int | None = None
    samples: Place | None = None
    collate: Place | None = None


@dataclass(slots=True)
class LoaderWaits:
    """A loader, as one place of the user's code asks it for batches.

    Args:
        made: where the user's code made the loader, if the run saw it.
        batches: handed out, the first ones of epochs too.
        wait_s: in `next`, without the first batches of epochs.
        firsts: first batches of epochs.
        first_s: until they were there, with the start of the iterator.
        samples_s: that the dataset took, in the training process.
        collate_s: that making batches of samples took, in the training process.
        held_s: in `next` in which the thread had no processor; not in the others.
    """

    place: Place | None
    made: Place | None
    loader: LoaderOptions
    batches: int = 0
    wait_s: float = 0.0
    firsts: int = 0
    first_s: float = 0.0
    samples_s: float = 0.0
    collate_s: float = 0.0
    held_s: float = 0.0

    @property
    def blocked_s(self) -> float:
        """Seconds that were spent waiting for batches. The first of an epoch is like the others
        unless it waits for workers."""
        return self.wait_s if self.loader.workers else self.wait_s + self.first_s


@dataclass(slots=True)
class InputSeen:
    """How long the training thread waits for batches."""

    loaders: list[LoaderWaits] = field(default_factory=list)


@dataclass(slots=True)
class TimelinePart:
    """What the stepping thread did from `start` to `stop`, in seconds since the window began;
    `kind` is `data`, `forward`, `backward`, `optimizer`, `read` or `collector`."""

    kind: str
    name: str
    start: float
    stop: float
    place: Place | None = None


@dataclass(slots=True)
class TimelineSeen:
    """The first steps of a window: when each ended, and what they consist of."""

    ends: list[float] = field(default_factory=list)
    spans: list[TimelinePart] = field(default_factory=list)


@dataclass(slots=True)
class GrowthSeen:
    """Seconds of each step of the window, in order; how many more objects and tensors Python holds
    after the last one than before the first; and how many MiB the process's highest peak of main
    memory has risen by."""

    seconds: list[float] = field(default_factory=list)
    objects: int = 0
    tensors: int = 0
    memory_mb: float = 0.0


@dataclass(slots=True)
class OutsidePart:
    """What one line of the user asks for between two steps.

    Args:
        call: the function that it has called; empty if there is none.
        does: `saves`, `computes`, `loads` or `other`.
        times: how often.
        seconds: in all, without what a usual step takes there.
    """

    place: Place
    call: str
    does: str
    times: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class OutsideSeen:
    """What comes before the first step, between epochs, and in a few steps only.

    Args:
        start_s: seconds from the start of the script to the end of its first step.
        step_s: of a usual step.
        ends: of epochs that were seen.
        between_s: seconds in all from the last step of an epoch to the first one of the next.
        within_s: seconds of all other steps.
        unfinished: what followed the last epoch took too long to wait for its end.
        epoch_steps: of a whole epoch; None if nobody can tell.
        parts: of `between_s`.
        seldom: the same of steps that take several times as long as usual.
    """

    start_s: float = 0.0
    step_s: float = 0.0
    ends: int = 0
    between_s: float = 0.0
    within_s: float = 0.0
    unfinished: bool = False
    epoch_steps: float | None = None
    parts: list[OutsidePart] = field(default_factory=list)
    seldom: list[OutsidePart] = field(default_factory=list)


@dataclass(slots=True)
class ModuleTimes:
    """A module, or several of one class and place that came and went.

    Args:
        own_seconds: without the modules inside it.
        parameters: values of its own parameters.
        shape: of its last output.
        again_calls, again_seconds: made by backward passes, which compute again what a checkpoint
            has not kept.
    """

    name: str
    kind: str
    place: Place | None = None
    calls: int = 0
    seconds: float = 0.0
    own_seconds: float = 0.0
    parameters: int = 0
    shape: tuple[int, ...] | None = None
    again_calls: int = 0
    again_seconds: float = 0.0

    @property
    def label(self) -> str:
        """Its name within its root; its class where it has none."""
        return self.name or self.kind


@dataclass(slots=True)
class SlicedCalls:
    """Calls of a module, each with the next slice of one tensor that none of them changes.

    Args:
        shape: of the tensor.
        cell: each call gets the state that the one before returned, and no other.
        norms: inside, batch norms are training.
        outside: no module calls it.
        runs: through the tensor; `calls` in all of them.
        seconds: in the calls.
        between_s: between them, without other modules.
    """

    name: str
    kind: str
    place: Place | None
    shape: tuple[int, ...] = ()
    cell: bool = False
    norms: bool = False
    outside: bool = False
    runs: int = 0
    calls: int = 0
    seconds: float = 0.0
    between_s: float = 0.0

    @property
    def label(self) -> str:
        """Its name within its root; its class where it has none."""
        return self.name or self.kind


@dataclass(slots=True)
class LayersSeen:
    """How long each module takes in `forward`, what backward passes compute again, and which
    modules get one slice after the other."""

    modules: list[ModuleTimes] = field(default_factory=list)
    forward_seconds: float = 0.0
    again_seconds: float = 0.0
    sliced: list[SlicedCalls] = field(default_factory=list)


@dataclass(slots=True)
class ModuleFlops:
    """Floating-point operations of one module; None where not all could be counted."""

    name: str
    kind: str
    place: Place | None
    flops: int | None


@dataclass(slots=True)
class FlopsSeen:
    """Floating-point operations of products: by part of the step, by type of number (None: this
    torch has no formulas), and by module.

    Args:
        uncounted: names of operations with products of unknown size.
        unattributed: operations that belong to modules that are not known.
    """

    parts: dict[str, int] | None = None
    types: dict[str, int] | None = None
    modules: list[ModuleFlops] = field(default_factory=list)
    uncounted: list[str] = field(default_factory=list)
    unattributed: int = 0


@dataclass(slots=True)
class OptimizerKernels:
    """Operations of all steps of an optimizer, by the path that they take."""

    name: str
    tensors: int
    fused: int = 0
    foreach: int = 0
    single: int = 0

    @property
    def paths(self) -> dict[str, int]:
        return {"fused": self.fused, "foreach": self.foreach, "single": self.single}


@dataclass(slots=True)
class TF32:
    """Whether float32 products may be computed in TF32; None where torch does not say."""

    products: bool | None
    convolutions: bool | None


@dataclass(slots=True)
class LineOperations:
    """Operations of torch that a line of the user asks for, without those of backward passes, and
    the host's seconds in them. In the first step without a GPU some of the values that they give
    are looked at: so many, of which so many are subnormal."""

    place: Place
    count: int = 0
    seconds: float = 0.0
    values: int = 0
    subnormal: int = 0


@dataclass(slots=True)
class EmbeddingTable:
    """The parameter of an embedding that gets a dense gradient.

    Args:
        place: where it is looked up first.
        rows, width: its shape.
        size: bytes of its gradient.
        gradients: computed by backward passes.
        touched: different rows that were looked up for them, of all gradients together.
        other_uses: operations that use it and are no look-ups, as the last layer of a language
            model.
        backward_s: seconds in the operations that fill the gradient.
        optimizer: class of the one that steps it; empty if none did.
        decays: with a decay of the weights.
        part: of the bytes of the optimizer's gradients.
        optimizer_s: that part of the seconds in the optimizer's operations.
        optimizers_s: seconds in those of all optimizers.
    """

    place: Place | None
    rows: int
    width: int
    size: int
    gradients: int = 0
    touched: int = 0
    other_uses: int = 0
    backward_s: float = 0.0
    optimizer: str = ""
    decays: bool = False
    part: float = 0.0
    optimizer_s: float = 0.0
    optimizers_s: float = 0.0


@dataclass(slots=True)
class KernelsSeen:
    """Which kernels ran: calls of attention by backend, without those of a backward pass; where
    operations are asked for; and tables of embeddings with dense gradients. If `why` is not empty,
    it says why nothing is known."""

    why: str = ""
    attention: dict[str, int] = field(default_factory=dict)
    optimizers: list[OptimizerKernels] = field(default_factory=list)
    tf32: TF32 | None = None
    flops: FlopsSeen = field(default_factory=FlopsSeen)
    lines: list[LineOperations] = field(default_factory=list)
    embeddings: list[EmbeddingTable] = field(default_factory=list)


@dataclass(slots=True)
class MemorySeen:
    """Peaks in MiB: by part of the step, and before the window.

    Args:
        exact: false if only the moments are known at which a part begins or ends.
        reserved_mib, outside_mib, retries: of a GPU: what torch's allocator holds, what is outside
            of it, and how often it had to give memory back to find room.
    """

    device: str
    phases: dict[str, float] = field(default_factory=dict)
    before_mib: float = 0.0
    exact: bool = True
    total_mib: float | None = None
    reserved_mib: float = 0.0
    outside_mib: float = 0.0
    retries: int = 0


@dataclass(slots=True)
class CollectorCalls:
    """Calls of `gc.collect` at one line."""

    place: Place | None
    calls: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class Residue:
    """What a line does apart from the training: `samples` are 0 if it was only timed, `calls` if it
    was only seen."""

    place: Place | None
    what: str
    samples: int
    calls: int
    seconds: float


@dataclass(slots=True)
class OwnTime:
    """Time of a line of the user's, without the lines that it calls and without what modules and
    optimizers of torch do for it.

    Args:
        function: its name.
        first: row where the function begins.
        part: of a step, as in `steps.events`; `other` between them.
        call: the function of a library that it has mostly called, `copy.deepcopy`; empty if it is
            written in C, or none.
    """

    place: Place
    function: str
    first: int
    part: str
    call: str
    samples: int
    seconds: float


@dataclass(slots=True)
class WorkerThreads:
    """Threads of the first worker of a loader that are at work, without those of Python.

    Args:
        dataset: name of its class.
        workers: of the loader.
        threads: at work in one of them.
        seconds: since it was started.
        ran_s: of all of its threads, in which they had a processor; `held_s`: in which they could
            have run and had none.
        pools: how many threads libraries may use, by their names.
    """

    dataset: str
    workers: int
    threads: int
    seconds: float
    ran_s: float
    held_s: float
    pools: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class PausesSeen:
    """Collections of garbage that came by themselves, but not while something was compiled; those
    that were asked for; what else there is between the computations; and the user's own lines."""

    collections: int = 0
    full_collections: int = 0
    gc_seconds: float = 0.0
    asked: list[CollectorCalls] = field(default_factory=list)
    residue: list[Residue] = field(default_factory=list)
    own: list[OwnTime] = field(default_factory=list)
    worker: list[OwnTime] = field(default_factory=list)
    """Of the first worker of each loader, which is at work for `worker_s`."""
    worker_s: float = 0.0
    threads: list[WorkerThreads] = field(default_factory=list)
    """Of each of these workers, where the system tells."""


@dataclass(slots=True)
class GradientExchanges:
    """Gradients that DDP exchanges in backward passes of one line, `again` of them for nothing."""

    place: Place | None
    model: str
    calls: int
    again: int
    again_seconds: float


@dataclass(slots=True)
class Collectives:
    """What Python sends or waits for at one line."""

    place: Place | None
    what: str = ""
    calls: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class BufferBroadcasts:
    """Buffers that DDP sends in forward passes of one line.

    Args:
        models: whose buffers are sent.
        size: bytes of all `calls` together.
        changed: they were not the same at the end of the window as when they were first sent, or
            that is not known.
    """

    place: Place | None
    models: int = 0
    calls: int = 0
    size: int = 0
    seconds: float = 0.0
    changed: bool = False


@dataclass(slots=True)
class ExchangesSeen:
    """How one rank spends its steps.

    Args:
        gloo: the process group sends tensors on a CPU with gloo.
        took: seconds of each step; `ran`: those in which the stepping thread had a processor;
            `held`: those in which it could have run and had none, empty where the system does not
            say; `blocked`: those in which it waited for messages, None where not all is known.
        between_two: messages from one rank to another.
    """

    gloo: bool = False
    took: list[float] = field(default_factory=list)
    ran: list[float] = field(default_factory=list)
    held: list[float] = field(default_factory=list)
    blocked: list[float | None] = field(default_factory=list)
    exchanges: list[GradientExchanges] = field(default_factory=list)
    collectives: list[Collectives] = field(default_factory=list)
    between_two: int = 0
    buffers: list[BufferBroadcasts] = field(default_factory=list)


@dataclass(slots=True)
class CountsSeen:
    """How much the steps of a window do, on the thread that takes them.

    Args:
        why: says why `operations`, `copied`, `collectives` and `flops`, and without a GPU the
            `allocations`, are not known; empty: they are.
        kernels: of a GPU; None without one, or if they could not be seen.
        allocations: asked of torch's allocator of the GPU; without one, tensors that operations
            have made. None: not known.
        copied: bytes from one device to another, the host among them.
        batches: that loaders have handed out.
        flops: of products; None if those of an operation are not known.
    """

    why: str = ""
    on_gpu: bool = False
    has_ranks: bool = False
    operations: int = 0
    kernels: int | None = None
    allocations: int | None = 0
    copied: int = 0
    collectives: int = 0
    batches: int = 0
    flops: int | None = 0


INSTRUMENTS: dict[str, type] = {
    each.__name__.removesuffix("Seen").lower(): each
    for each in (
        CountsSeen,
        ExchangesSeen,
        SwitchesSeen,
        EvaluationSeen,
        FloatBytesSeen,
        GradientsSeen,
        GrowthSeen,
        InputSeen,
        KernelsSeen,
        LaunchSeen,
        LayersSeen,
        MemorySeen,
        OutsideSeen,
        PaddingSeen,
        PausesSeen,
        ReadsSeen,
        RecompilesSeen,
        ShapesSeen,
        TimelineSeen,
        WarningsSeen,
    )
}
"""By the name of the instrument that returns it."""
