"""Read no values of the device in the step.

## What it does
Reports lines at which the host reads values of tensors: `loss.item()`, `float(loss)`, `if loss:`,
`print(loss)`, `tensor.tolist()`, `.numpy()`, `.cpu()`, and what reads implicitly: `x[mask]`,
`nonzero`, `unique`, `masked_select`, `where` with one argument, `repeat_interleave` with a tensor.

## Why it is slow
The host queues work for the GPU and continues. To read a value, it has to wait until the GPU has
done everything that was queued before, and meanwhile it queues nothing. Then the GPU is idle.

## How it is seen
Each such call is counted at its line of your code, also inside `forward`, in helpers and in
callbacks of a framework. On a GPU, only tensors that are there count, and the call is timed. A read
and what follows it at the same line (`.cpu().numpy()`) count once.

`torchlint rehearse` counts them without a GPU, exactly, with what stood in the device's queue. A
read with nothing in the queue waits for nothing and is left out.

On a CPU there is no GPU to wait for, so for `profile` this is a list of the lines that would wait
on one, as far as is known; what the calls themselves take is not in it. Many at one line, as of
Python's own `min` or `sum` over a tensor, take time everywhere, and TR703 has the line then. What
datasets and torch's optimizers read is left out, since it would be in main memory there too;
`.to("cpu")` cannot be told from `.to(device)`, and is left out as well.

## What the ceiling means
The step time if the host did not wait at this line at all. A wait that is removed often moves to
the next read of the step, and the GPU's own work limits what can be gained.

## When it is silent
- At a line that reads in a single step of the window, or in one of fifty or fewer: a value that is
  logged now and then costs next to nothing.
- Where C++ code reads, as `torch.tensor` of a list of tensors does; or a method that a subclass of
  `Tensor` overrides.
- In a program that `torch.compile` has compiled, functions of `torch` such as `torch.nonzero(x)`
  are not watched; methods such as `x.nonzero()` are.

## What to do
Keep sums and metrics in tensors on the device, and read them once every hundred steps. Decide by
tensors with `torch.where` in place of `if`. Replace `x[mask]` by a product with the mask, or by
`masked_fill`, where the shape does not have to change. Pass `output_size` to `repeat_interleave`.

## References
- PyTorch documentation, "CUDA semantics: asynchronous execution"
- PyTorch performance tuning guide, "Avoid unnecessary CPU-GPU synchronization"
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import listed
from torchlint.profile.kind import FindingKind, Observed
from torchlint.runtime.probe.instrument_messages import HostCall, ReadsSeen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchlint.profile.evidence import Evidence, Window
    from torchlint.runtime.probe.messages import Place

_RULES: Final = ("TL201", "TL202", "TL204", "TL208", "TL209", "TL210", "TL215", "TL220", "TL221")
_RAREST: Final = 0.02
"""Of steps; what is read as rarely is not a finding, wherever the window begins."""
_MOST_SHARE: Final = 0.99
_BY_SHAPE: Final = frozenset(
    ("mask index", "nonzero", "unique", "masked_select", "where", "repeat_interleave")
)
"""What reads to learn the shape of a result."""
_OF_VALUES: Final = frozenset(
    "item float int bool complex index format tolist numpy array cpu to copy_ equal allclose "
    "tensor".split()
)
"""Reads of values that the script asks for; any other kind is one that an operation does."""
_NAMED: Final = 2
"""Functions of libraries in one sentence."""
_COMMANDS: Final = frozenset(("synchronize", "empty_cache", "barrier"))
"""What waits and reads nothing."""
_SCALERS: Final = ("torch.amp.", "torch.cuda.amp.")

kind = FindingKind(
    code="TR201",
    summary="the host reads values of tensors in the step",
    instruments=("reads",),
    census=True,
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """A finding for each line."""
    window = evidence.window(ReadsSeen)
    lines: dict[Place, list[HostCall]] = defaultdict(list)
    for read in window.seen.reads:
        if read.place is not None:
            lines[read.place].append(read)
    for place, reads in sorted(lines.items()):
        steps = max(read.steps for read in reads)
        if steps > math.ceil(_RAREST * window.steps):
            yield _line(place, reads, window, evidence)


def _line(
    place: Place, reads: Sequence[HostCall], window: Window[ReadsSeen], evidence: Evidence
) -> Observed:
    on_gpu = evidence.on_gpu
    calls: Counter[str] = Counter()
    for read in reads:
        calls[read.kind] += read.calls
    wait_s = sum(read.seconds for read in reads) / window.steps
    noun = "wait" if _COMMANDS.issuperset(calls) else "read"
    fact = f"{_times(sum(calls.values()), window.steps, noun)} ({_listed(calls)}){_where(reads)}"
    if on_gpu:
        fact += f", the host waits {1e3 * wait_s:.1f} ms"
    elif evidence.rehearsed:
        fact += _awaited(reads)
    return Observed(
        place,
        fact,
        _action(reads),
        min(wait_s / window.step_s, _MOST_SHARE) if on_gpu else None,
        _RULES,
        {
            "kinds": {kind: count / window.steps for kind, count in calls.items()},
            "wait_ms": 1e3 * wait_s if on_gpu else None,
            "with_gradient": sum(read.graph for read in reads) / window.steps,
            **(_counted(reads, window) if evidence.rehearsed else {}),
        },
    )


def _counted(reads: Sequence[HostCall], window: Window[ReadsSeen]) -> dict[str, float]:
    """Per step: reads before a backward pass, and operations in the queue."""
    return {
        "before_backward": sum(read.before for read in reads) / window.steps,
        "queued": sum(read.queued for read in reads) / window.steps,
    }


def _awaited(reads: Sequence[HostCall]) -> str:
    """`, before backward, with 120 operations in the queue`, on average."""
    calls, before = sum(read.calls for read in reads), sum(read.before for read in reads)
    when = (
        "" if not before else ", before backward" if before == calls else ", some before backward"
    )
    queued = round(sum(read.queued for read in reads) / calls)
    return f"{when}, with {queued} operation{'' if queued == 1 else 's'} in the queue"


def _times(calls: int, steps: int, noun: str) -> str:
    """`3 reads a step`, `1 read in 10 steps`."""
    per_step = calls / steps
    every = steps / calls
    if per_step <= 0.5 and abs(every - round(every)) < 0.1 * every:
        return f"1 {noun} in {every:.0f} steps"
    if per_step < 0.9:
        return f"{calls} {noun}s in {steps} steps"
    shown = f"{per_step:.0f}" if abs(per_step - round(per_step)) < 0.1 else f"{per_step:.1f}"
    return f"{shown} {noun}{'' if shown == '1' else 's'} a step"


def _listed(calls: dict[str, int]) -> str:
    """`item`, `bool`; the one that is called most comes first."""
    return ", ".join(f"`{kind}`" for kind in sorted(calls, key=lambda each: (-calls[each], each)))


def _where(reads: Sequence[HostCall]) -> str:
    within = ""
    if all(read.backward == read.calls for read in reads):
        within = " inside `backward`"
    hidden = sorted({read.via for read in reads if read.via is not None})
    return within + (f" in {listed(hidden, _NAMED)}" if hidden else "")


def _action(reads: Sequence[HostCall]) -> str:
    if all((read.via or "").startswith(_SCALERS) for read in reads):
        return "bfloat16 needs no scaler, which asks for infinite gradients"
    if all(read.kind in _COMMANDS for read in reads):
        return "leave it out where nothing needs it, or do it every hundred steps"
    if all(read.kind in _BY_SHAPE for read in reads):
        return "keep the shape, and mask what does not count"
    if not any(read.kind in _OF_VALUES for read in reads):
        return "the operation itself looks at its input; find another one, or use it less often"
    if all(read.kind == "bool" for read in reads):
        return "decide on the device (`torch.where`), or every hundred steps"
    return "keep the value on the device, and read it every hundred steps"
