"""What a step waits for."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Final

from torchlint.profile.evidence import CUT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torchlint.profile.evidence import Evidence

_HOST_IS_THE_LIMIT: Final = 0.9
_INPUT_IS_THE_LIMIT: Final = 0.3


def lanes_of(evidence: Evidence) -> dict[str, float]:
    """Shares of a steady step by what the host did, of the first run."""
    seen = evidence.survey
    start = max(0, seen.warm - 1)
    medians = {
        name: statistics.median(values[start:] or values)
        for name, values in seen.lanes.items()
        if values
    }
    whole = sum(medians.values())
    return {name: value / whole for name, value in medians.items()} if whole else {}


def limit_of(evidence: Evidence, lanes: Mapping[str, float]) -> str:
    """What a step waits for, in one sentence (TR001)."""
    timing = evidence.timing
    step_ms, host_ms = 1e3 * timing.step_s, 1e3 * timing.host_s
    if evidence.on_gpu:
        if timing.host_s >= _HOST_IS_THE_LIMIT * timing.step_s:
            return f"host: the CPU needs {host_ms:.3g} of {step_ms:.3g} ms to queue a step"
        return f"device: the CPU queues a step in {host_ms:.3g} of {step_ms:.3g} ms"
    data = lanes.get("data", 0.0)
    if data >= _INPUT_IS_THE_LIMIT:
        return f"input: {data:.0%} of a step of {step_ms:.3g} ms waits for the next batch"
    busy = timing.cpu_s / timing.step_s
    parts = sorted(lanes.items(), key=lambda each: -each[1])
    most = ", ".join(f"{name} {share:.0%}" for name, share in parts[:3] if share >= CUT)
    return f"processor: {busy:.2g} of {evidence.processors} are busy ({most})"
