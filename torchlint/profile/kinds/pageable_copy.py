"""Copy batches to the GPU from pinned memory, without waiting.

## What it does
Reports lines that copy from main memory to the GPU while the host waits: from memory that is not
pinned, also with `non_blocking=True`, which still blocks then; and from pinned memory
without `non_blocking=True`.

## Why it is slow
The GPU can only fetch from memory that is pinned. Anything else is first copied into a buffer that
is, and the host takes part in that. A blocking copy waits until all is done, so that meanwhile
nothing is queued for the GPU.

## How it is seen
`Tensor.to`, `.cuda()` and `.copy_` are timed on the host, wherever they copy to a GPU, and the
source is asked whether it is pinned. No debug mode of torch reports this. `torchlint rehearse`
counts them without a GPU; what a line of the step makes on the host is TR203 there.

## What the ceiling means
The step time if the host did not spend the time of these calls. The bytes still have to cross the
bus; while they do, the GPU can work on the batch before.

## When it is silent
In a profile without a GPU; for copies that are small or rare; for tensors that are created on the
GPU at once; and for what C++ code copies, as `torch.tensor(values, device="cuda")`.

## What to do
Give the `DataLoader` `pin_memory=True`, and copy with `.to(device, non_blocking=True)`. Create
constants on the device, once, before the loop.

## References
- PyTorch tutorial, "A guide on good usage of non_blocking and pin_memory() in PyTorch"
- PyTorch documentation, "CUDA semantics: use pinned memory buffers"
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import scaled
from torchlint.profile.kind import FindingKind, Observed
from torchlint.runtime.probe.instrument_messages import HostCall, ReadsSeen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchlint.profile.evidence import Evidence, Window
    from torchlint.runtime.probe.messages import Place

_MOST_SHARE: Final = 0.99
_FEWEST_STEPS: Final = 2
_MEGABYTE: Final = 1e6

kind = FindingKind(
    code="TR202",
    summary="the host waits while a batch is copied to the GPU",
    instruments=("reads",),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """A finding for each line."""
    if not (evidence.on_gpu or evidence.rehearsed):
        return
    window = evidence.window(ReadsSeen)
    lines: dict[Place, list[HostCall]] = defaultdict(list)
    for copy in window.seen.copies:
        if copy.place is not None and copy.steps >= _FEWEST_STEPS:
            lines[copy.place].append(copy)
    for place, copies in sorted(lines.items()):
        yield _line(place, copies, window, on_gpu=evidence.on_gpu)


def _line(
    place: Place, copies: Sequence[HostCall], window: Window[ReadsSeen], *, on_gpu: bool
) -> Observed:
    wait_s = sum(each.seconds for each in copies) / window.steps
    size = sum(each.size for each in copies) / window.steps
    kinds = {each.kind for each in copies}
    loader = next((each.loader for each in copies if each.loader is not None), None)
    if kinds == {"blocking"}:
        how, action = "from pinned memory without `non_blocking`", "pass `non_blocking=True`"
    else:
        how, action = "from memory that is not pinned", "set `pin_memory=True` in the DataLoader"
        if loader is None and not on_gpu:
            action = "pin the memory that it comes from"
        if "pageable, non-blocking" in kinds:
            how += ", non-blocking in name only"
        else:
            action += ", and pass `non_blocking=True`"
    if all(2 * each.same > each.calls for each in copies):
        how, action = f"{how}, the same each time", "copy it once, before the loop"
    return Observed(
        place,
        f"{scaled(size, 'B')} a step {how}"
        + (f", the host waits {1e3 * wait_s:.1f} ms" if on_gpu else ""),
        action,
        min(wait_s / window.step_s, _MOST_SHARE) if on_gpu else None,
        ("TL102", "TL205", "TL206", "TL211"),
        {
            "megabytes": size / _MEGABYTE,
            "wait_ms": 1e3 * wait_s if on_gpu else None,
            "kinds": _per_step(copies, window),
        },
        made=loader,
    )


def _per_step(copies: Sequence[HostCall], window: Window[ReadsSeen]) -> dict[str, float]:
    calls: Counter[str] = Counter()
    for each in copies:
        calls[each.kind] += each.calls
    return {kind: count / window.steps for kind, count in calls.items()}
