"""Create tensors where they are needed.

## What it does
Reports lines of the step that make a tensor in main memory which then is copied to the GPU:
`torch.zeros(n).to(device)`, `torch.tensor([1.0], device=device)`, and an index in main memory for a
tensor on the GPU.

## Why it is slow
The copy comes from memory that is not pinned, so the host waits until it is done, and with it for
all that was queued before. A function such as `torch.zeros` with `device=` makes the tensor there
without a copy; a constant need not be made on each step at all.

## How it is seen
In a rehearsal, each tensor knows the line that has made it, and each copy to the device is counted.
What a loader makes is a batch, and is not reported here.

## What the ceiling means
There is none: a rehearsal counts, and measures no time.

## When it is silent
In a profile; for what happens in a single step of those that are counted.

## What to do
Pass `device=` to the function that makes the tensor. Make constants and indices once, before the
loop, or keep them in a buffer of the module.

## References
- PyTorch performance tuning guide, "Create tensors directly on the target device"
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import scaled
from torchlint.profile.evidence import REHEARSED
from torchlint.profile.kind import FindingKind, Observed
from torchlint.runtime.probe.messages import CountedCall, Rehearsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.evidence import Evidence
    from torchlint.runtime.probe.messages import Place

_FEWEST_STEPS: Final = 2
VALUES, INDEX = "values", "index"

kind = FindingKind(
    code="TR203",
    summary="a tensor is made on the host and copied to the GPU in the step",
    instruments=(REHEARSED,),
)


def is_made(call: CountedCall) -> bool:
    """Whether this copy is of something that a line of the step has made."""
    return call.made is not None or call.kind in (VALUES, INDEX)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """A finding for each line."""
    window = evidence.window(Rehearsed)
    lines: dict[Place, list[CountedCall]] = defaultdict(list)
    for call in window.seen.calls:
        often = call.what == "copy" and call.steps >= _FEWEST_STEPS
        if often and call.place is not None and is_made(call):
            lines[call.place].append(call)
    for place, copies in sorted(lines.items()):
        calls = sum(each.calls for each in copies) / window.steps
        size = sum(each.size for each in copies) / window.steps
        again = all(each.same * 2 > each.calls for each in copies)
        made = next((each.made for each in copies if each.made), None)
        what, action = _words({each.kind for each in copies}, again=again)
        yield Observed(
            place,
            f"{calls:.3g} cop{'y' if calls == 1 else 'ies'} a step of {what} ({scaled(size, 'B')})",
            action,
            None,
            ("TL105", "TL106", "TL205", "TL206", "TL211", "TL213", "TL217"),
            {"copies": calls, "bytes": size, "same": again},
            made=made,
        )


def _words(kinds: set[str], *, again: bool) -> tuple[str, str]:
    if kinds == {INDEX}:
        return "an index in main memory", "keep the index on the device"
    what = "a tensor that is made in main memory"
    if kinds == {VALUES}:
        what = "numbers of Python or NumPy"
    if again:
        return f"{what}, the same each time", "make it once, before the loop"
    if kinds == {VALUES}:
        return what, "compute it on the device, or make it fewer times; `device=` copies as well"
    return what, "make it with `device=`, or fewer times"
