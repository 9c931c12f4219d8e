"""Do not send buffers that never change to all ranks in each forward pass.

## What it does
Reports lines whose forward passes have `DistributedDataParallel` send the buffers of the model from
one rank to all others, although none of them changes.

## Why it is slow
With `broadcast_buffers=True`, the default, all buffers are sent before each forward pass with
gradients, and the ranks wait for them. Statistics of batch norms need it, if all ranks are to have
the same. Masks, tables of positions and other constants are the same on all ranks anyway.

## How it is seen
In the run that times messages, what sends the buffers is timed, and they are compared with a copy
of the first ones when the window ends, on each rank.

## What the ceiling means
The part of the step that they take on the rank on which it is least. Some of that may be waiting
for a slower rank, which then waits elsewhere.

## When it is silent
If one buffer has changed within the window on any rank, if a model has more than 1 GiB of them, and
where messages are not timed: with NCCL, and in a single process. A model of a GPU is therefore only
judged where it is run on processors.

## What to do
Make the model with `DistributedDataParallel(..., broadcast_buffers=False)`, or, where torch has it,
with `forward_sync_buffers=False`, which still sends them once at the start. Buffers that only some
steps change, after the window, must be sent then.

## References
- PyTorch documentation, `torch.nn.parallel.DistributedDataParallel`
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.profile.kind import FindingKind, Observed
from torchlint.runtime.probe.instrument_messages import ExchangesSeen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.evidence import Evidence
    from torchlint.runtime.probe.instrument_messages import BufferBroadcasts
    from torchlint.runtime.probe.messages import Place

kind = FindingKind(
    code="TR604",
    summary="ranks are sent buffers that never change",
    instruments=("exchanges",),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """One for each line that calls such models."""
    window = evidence.window(ExchangesSeen)
    ranks = [each.seen for each in window.ranks]
    if len(ranks) < 2 or not all(each.gloo for each in ranks):
        return
    places: dict[Place | None, list[BufferBroadcasts]] = {}
    for rank in ranks:
        for sent in rank.buffers:
            places.setdefault(sent.place, []).append(sent)
    for place, lines in places.items():
        if len(lines) < len(ranks) or any(each.changed for each in lines):
            continue
        sent = lines[0]
        seconds = min(each.seconds for each in lines)
        size = sent.size / sent.calls / 2**20
        calls = sent.calls / window.steps
        times = "once" if calls == 1 else f"{calls:.3g} times"
        yield Observed(
            place,
            f"DDP sends buffers of {size:.3g} MiB {times} a step, and none of them "
            f"changes in {window.steps} steps, {1e3 * seconds / window.steps:.3g} ms a step",
            "make the model with `broadcast_buffers=False`, or `forward_sync_buffers=False` where "
            "torch has it",
            evidence.at_most(seconds, window),
            (),
            {"broadcasts": sent.calls, "bytes": sent.size, "seconds": seconds},
        )
