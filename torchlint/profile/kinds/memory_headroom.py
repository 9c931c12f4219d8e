"""Know how much memory is left.

## What it does
Tells how much memory a step takes at most, in which part of it, and how much there is. On a GPU
also what torch's allocator holds, what is outside of it, and how often it had to give back what
it kept. It is shown next to the findings and is never one.

## Why it matters
A batch that is larger uses a GPU better, if the memory is there. Checkpoints that save memory
nobody needs cost a second forward pass. An allocator that runs full gives back what it kept and
asks again, which makes the device wait.

## How it is seen
When a part of a step begins or ends (the next batch, forward, backward, the optimizer, and the
rest), the peak since the last such moment is read. On a GPU it is that of torch's allocator,
which the host knows without waiting; the total, and what is outside of the allocator, come from the
driver. On a CPU it is the part of this process that is in main memory, against the limit of its
control group or the machine's memory; where the system does not allow resetting the peak, as in
some containers, only the moments at which a part begins or ends are known. This has a run of its
own, of at most fifty steps, in which the C library gives memory back as usual.

## What the ceiling means
There is none.

## When it is silent
It is always shown. The workers of a loader are processes of their own, and their memory is not in
it, nor is that of other ranks. On a CPU, memory that was freed may still count, since the C
library keeps it for later.

## What to do
If much is left, try a larger batch with
`torchlint profile train.py --sweep batch-size=--batch-size:32,64,128`. Only activations grow with
the batch; weights, gradients and the optimizer's state do not. The longest batch decides, and it
may not have been among these steps. Retries mean that the memory is full: a smaller batch may be
faster.

## References
- PyTorch documentation, "CUDA semantics: memory management"
- Linux documentation, `proc(5)`: `VmHWM` and `clear_refs`
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import mebibytes
from torchlint.profile.kind import FindingKind, Told
from torchlint.runtime.probe.instrument_messages import MemorySeen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.evidence import Evidence

kind = FindingKind(
    code="TR503",
    summary="how much memory a step takes, part by part, and how much there is",
    instruments=("memory",),
)

_PHASES: Final = {
    "loader": "data",
    "forward": "forward",
    "backward": "backward",
    "optimizer": "optimizer",
    "other": "other",
}
"""In the order of a step, with the names of its lanes."""
_WHERE: Final = {"data": "in the loader", "other": "between its parts"}
_MORE: Final = 1.02
"""Times as much; what differs by less is the same."""


@kind.tells
def tell(evidence: Evidence) -> Iterator[Told]:
    """The largest peak, and where it was if one part has more than the others."""
    seen = evidence.window(MemorySeen).seen
    phases = {name: seen.phases[lane] for lane, name in _PHASES.items() if lane in seen.phases}
    if not phases:
        return
    peak = max(phases.values())
    largest = [name for name, each in phases.items() if each * _MORE >= peak]
    total, before = seen.total_mib, seen.before_mib
    on_gpu = seen.device == "cuda"
    text = mebibytes(peak) + (f" of {mebibytes(total)}" if total is not None else "") + " at most"
    if len(largest) == 1:
        text += f", {_WHERE.get(largest[0], f'in `{largest[0]}`')}"
    if not on_gpu:
        text += " (main memory of one process)"
    elif evidence.ranks > 1:
        text += " (one of the GPUs)"
    if before > _MORE * peak:
        text += f"; {mebibytes(before)} before these steps"
    values: dict[str, object] = {
        "peak_mib": peak,
        "total_mib": total,
        "phases": phases,
        "before_mib": before,
        "exact": seen.exact,
    }
    if on_gpu:
        reserved, outside, retries = seen.reserved_mib, seen.outside_mib, seen.retries
        unused = max(0.0, reserved - peak)
        text += f"; torch's allocator holds {mebibytes(reserved)}"
        text += f", {mebibytes(outside)} are outside of it"
        text += f"; {retries} {'retry' if retries == 1 else 'retries'}" if retries else ""
        values |= {
            "reserved_mib": reserved,
            "unused_mib": unused,
            "outside_mib": outside,
            "retries": retries,
        }
    yield Told("memory", text, values)
