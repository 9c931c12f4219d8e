"""Take numbers that are nearly zero for zeros.

## What it does
Reports a program on a CPU in which many results of operations are subnormal numbers (below 1.2e-38
for float32), at the line that gives most of them, if the step takes longer for it.

## Why it is slow
Processors compute with such numbers in microcode, up to a hundred times slower than with others.
They come from states that decay and never reach zero, as in recurrent networks, filters and running
averages, and from gradients that vanish.

## How it is seen
In one step, some values of what each operation of torch gives or changes are looked at, except in
backward passes. If at least one in a hundred is subnormal, the step is timed with
`torch.set_flush_denormal(True)`, alternating with the program as it is.

## What the ceiling means
The step time with these numbers taken for zeros, by the upper end of the interval over these turns.

## When it is silent
- On GPUs, which take no longer for them.
- If the step takes as long without them, or if this processor cannot leave them out.
- Where they are in backward passes or inside compiled regions alone: these are not looked at.

## What to do
Call `torch.set_flush_denormal(True)` at the top of the script, before other threads are started, or
set to zero what has decayed. Results change by less than 1e-37.

## References
- PyTorch documentation, `torch.set_flush_denormal`
- Intel 64 and IA-32 Architectures Optimization Reference Manual, "Floating-point exceptions"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from torchlint.profile.kind import FindingKind, Observed
from torchlint.runtime.probe.instrument_messages import KernelsSeen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from torchlint.profile.evidence import Evidence, Window
    from torchlint.runtime.probe.instrument_messages import LineOperations

_LEAST: Final = 0.01
"""Of the values that are looked at."""

kind = FindingKind(
    code="TR306",
    summary="the processor computes with numbers that are nearly zero",
    instruments=("kernels", "flush"),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """At most one, at the line that gives most of them."""
    if evidence.on_gpu or not has_subnormals(evidence.windows):
        return
    lines = evidence.window(KernelsSeen).seen.lines
    values, subnormal = _counts(lines)
    most = max(lines, key=lambda each: each.subnormal)
    yield Observed(
        most.place,
        f"{_percent(subnormal / values)} of the values that a step computes are subnormal, "
        f"{_percent(most.subnormal / most.values)} of those of this line",
        "call `torch.set_flush_denormal(True)`, or set to zero what has decayed",
        evidence.saved["flush"],
        (),
        {"values": values, "subnormal": subnormal},
        certain=True,
    )


def has_subnormals(windows: Mapping[str, Window[Any]]) -> bool:
    """Whether a notable part of what a step computes is subnormal."""
    window = windows.get("kernels")
    values, subnormal = _counts([] if window is None else window.seen.lines)
    return subnormal > 0 and subnormal >= _LEAST * values


def _counts(lines: list[LineOperations]) -> tuple[int, int]:
    return sum(each.values for each in lines), sum(each.subnormal for each in lines)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
