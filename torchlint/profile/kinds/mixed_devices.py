"""An operation has tensors of the host and of the device.

## What it does
Reports lines at which an operation on the device gets a tensor of main memory that is no single
number. On a GPU this is an error: `Expected all tensors to be on the same device`.

## Why it is slow
It does not run. It is named since a rehearsal, which runs on the CPU, would otherwise hide it.

## How it is seen
A rehearsal knows where each tensor would lie. If such an operation runs on a real GPU, then the
rehearsal has lost track of a tensor, and its counts for what follows may be wrong.

## What the ceiling means
There is none.

## When it is silent
Where torch takes a tensor of main memory: a single number, an index, the lengths of sequences.

## What to do
Move the tensor to the device before the loop, or make it there. If the script runs on a GPU as it
is, report it to torchlint.

## References
- PyTorch documentation, "CUDA semantics"
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from torchlint.profile.evidence import REHEARSED
from torchlint.profile.kind import FindingKind, Observed
from torchlint.runtime.probe.messages import Rehearsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.evidence import Evidence
    from torchlint.runtime.probe.messages import CountedCall, Place

kind = FindingKind(
    code="TR204",
    summary="an operation has tensors of both devices, which fails on a GPU",
    instruments=(REHEARSED,),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """A finding for each line."""
    window = evidence.window(Rehearsed)
    lines: dict[Place | None, list[CountedCall]] = defaultdict(list)
    for call in window.seen.calls:
        if call.what == "mixed":
            lines[call.place].append(call)
    for place, calls in sorted(lines.items(), key=lambda each: each[0] or ("", 0)):
        names = sorted({each.kind for each in calls})
        yield Observed(
            place,
            f"{', '.join(f'`{name}`' for name in names)} gets a tensor of main memory, which fails "
            "on a GPU",
            "move it to the device; if this runs on a GPU, the counts here may be wrong",
            None,
            (),
            {"operations": names, "calls": sum(each.calls for each in calls) / window.steps},
        )
