"""Start no more workers than there are processors for them.

## What it does
Reports a `DataLoader` with many more worker processes than processors that this process may use, if
input matters for the step at all. With several ranks, each has its part of the processors.

## Why it is slow
Workers that compute share the processors with each other and with the training process. More of
them load no faster; each takes memory, time to start, and time from the process that trains.

## How it is seen
The number of workers is that of the loaders that handed out batches. The processors are those that
the process may use: containers and job schedulers often allow fewer than the machine has.

## What the ceiling means
There is none: nothing was measured with fewer workers.

## When it is silent
- If there are fewer workers than one and a half times the processors, or one more than processors.
- If steps take as long when each loader hands out one batch again and again: then neither waiting
  for workers nor their load costs anything.

## What to do
Try as many workers as processors, and fewer; `torchlint profile --sweep workers` does so. Workers
that mostly wait for a disk or a network may be more.

## References
- PyTorch documentation, `torch.utils.data.DataLoader`: `num_workers`
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.profile.evidence import CUT
from torchlint.profile.kind import FindingKind, Observed
from torchlint.profile.loader_waits import processors_of_a_rank, waited_s, waited_share
from torchlint.runtime.probe.instrument_messages import InputSeen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.evidence import Evidence

_TOO_MANY: Final = 1.5
_MORE: Final = 2

kind = FindingKind(
    code="TR102",
    summary="a loader has more workers than there are processors for them",
    instruments=("input", "replay"),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """A finding for each place whose loader has too many."""
    matters = max(CUT, evidence.timing.noise)
    cores = processors_of_a_rank(evidence)
    window = evidence.window(InputSeen).slowest(waited_s)
    for waits in window.seen.loaders:
        workers = waits.loader.workers
        few = workers < max(cores + _MORE, _TOO_MANY * cores)
        if few or waited_share(waits, evidence, window) < matters:
            continue
        noun = "processor" if cores == 1 else "processors"
        whose = "each rank" if evidence.ranks > 1 else "this process"
        yield Observed(
            waits.place,
            f"{workers} workers, but {cores} {noun} for {whose}",
            "try as many workers as processors (`--sweep workers`)",
            None,
            (),
            {"workers": workers, "processors": cores},
            waits.made,
        )
