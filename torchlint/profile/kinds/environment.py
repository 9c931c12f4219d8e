"""Train without the switches for debugging.

## What it does
Reports switches of torch and environment variables that are made for debugging and are on while the
script trains: anomaly detection, `CUDA_LAUNCH_BLOCKING=1`, `PYTORCH_NO_CUDA_MEMORY_CACHING=1`,
`TORCH_DISTRIBUTED_DEBUG=DETAIL`, `NCCL_DEBUG=TRACE` and `TORCH_SHOW_CPP_STACKTRACES=1`.

## Why it is slow
Anomaly detection keeps a Python traceback of each operation and looks for NaN in each gradient.
`CUDA_LAUNCH_BLOCKING` makes the host wait for each kernel; without the memory cache, the driver is
asked for the memory of each tensor; the distributed debug level checks each collective against
those of the other ranks.

## How it is seen
torch and the environment are asked between two steps, so it does not matter who switched it on: the
script, a library or the shell.

## What the ceiling means
There is none: the run does not show what a step takes without the switch. Measure it with
`torchlint verify`, if a line of the script switches it on.

## When it is silent
If the switch is off when the window of steps ends.

## What to do
Remove the line or the variable. Debug with a few steps, and train without.

## References
- PyTorch documentation, "Automatic differentiation package: anomaly detection"
- PyTorch documentation, "CUDA environment variables"
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.profile.kind import FindingKind, Observed
from torchlint.runtime.probe.instrument_messages import SwitchesSeen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.evidence import Evidence

kind = FindingKind(
    code="TR901",
    summary="a switch for debugging is on while the script trains",
    instruments=("switches",),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """A finding for each switch."""
    seen = evidence.window(SwitchesSeen).seen
    if seen.anomaly:
        fact = "anomaly detection is on in each step"
        yield Observed(None, fact, "switch it on to debug only", None, ("TL702",))
    for name in seen.variables:
        yield Observed(None, f"{name} is set", "unset it to train", None, ("TL704",))
