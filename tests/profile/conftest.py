"""What the tests of profile share."""

from __future__ import annotations

from tests.scenes import scene, turns, waits_until
from tests.warm_start import gpu_start, warm_start, warm_torchlint
from torchlint.profile.evidence import Timing
from torchlint.runtime.probe.messages import Lanes
from torchlint.runtime.probe.run_settings import Anchor
from torchlint.runtime.survey_reader import Survey

__all__ = [
    "gpu_start", "scene", "turns", "waits_until", "warm_start",
    "warm_torchlint",
]  # fmt: skip


def survey(**more: object) -> Survey:
    """What a first look saw of a script of 10 ms a step, on a CPU."""
    values: dict[str, object] = {
        "anchor": Anchor("optimizer"),
        "words": "SGD.step",
        "steps": 30,
        "step_s": 0.01,
        "times": (0.01,) * 29,
        "warm": 4,
        "finished": False,
        "counts": {},
        "lanes": Lanes((0.001,) * 29, (0.004,) * 29, (0.005,) * 29),
        "exercised": frozenset(),
        "exercise_known": True,
        "served": (),
        "compiled": False,
        "memory_mb": 300.0,
        "device": "cpu",
        "gpu_name": None,
        "gpu_mb": None,
        "gpu_free_mb": None,
        "processes": 1,
        "start_s": 2.0,
        **more,
    }
    return Survey(**values)  # type: ignore[arg-type]


def timing(**more: object) -> Timing:
    """10 ms a step, of which the processor is busy for all."""
    values: dict[str, object] = {
        "step_s": 0.01,
        "noise": 0.01,
        "steps": 80,
        "warmup": 10,
        "cpu_s": 0.01,
        "host_s": 0.01,
        **more,
    }
    return Timing(**values)  # type: ignore[arg-type]
