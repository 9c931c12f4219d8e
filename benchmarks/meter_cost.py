"""Measures what listening for a step's end costs a training loop.

    python benchmarks/meter_cost.py [--device cuda]

One process trains a model whose step takes about two milliseconds on one thread, or as long as the
widest one takes where that is less. In every round
three blocks follow each other in random order: with the hook of a measuring run, without it, and
without it once more. The ratio of the last two shows what the machine makes of nothing. Printed
as JSON: medians per step, ratios of wall and CPU time with 95 % intervals over the rounds, and
the hook's own time, called on its own. Exit code 1 if the whole interval of the ratio of wall
times is above the target.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import sys
import time
from typing import TYPE_CHECKING

import torch
from torch import nn

from torchlint.runtime.probe.modes.measure import Meter
from torchlint.runtime.probe.run_settings import MEASURE, Anchor, RunSettings
from torchlint.runtime.probe.steps import events

if TYPE_CHECKING:
    from collections.abc import Callable

TARGET = 1.01
STEP_S = 0.002
NEVER = 1 << 60
HOOKED, BARE, AGAIN = "hooked", "bare", "bare again"


class NoParent:
    """A link whose parent wants a block that never ends."""

    role = "main"

    def ask(self, _word: str, _message: object = None) -> dict[str, object]:
        """One turn for ever."""
        return {"type": "turn", "settle": NEVER, "steps": 1}


class Training:
    """A multilayer perceptron whose width is chosen so that a step takes about STEP_S."""

    def __init__(self, device: str) -> None:
        self._data = torch.randn(64, 64, device=device)
        for width in range(64, 2049, 32):
            self._build(width)
            if statistics.median(self.seconds(1)[1] for _ in range(20)) >= STEP_S:
                return

    def _build(self, width: int) -> None:
        self.model = nn.Sequential(
            nn.Linear(64, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)
        ).to(self._data.device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)

    def seconds(self, steps: int) -> tuple[float, float]:
        """Wall and CPU time of a step, over so many."""
        self._wait()
        begun = time.perf_counter(), time.process_time()
        for _ in range(steps):
            self.optimizer.zero_grad()
            self.model(self._data).square().mean().backward()
            self.optimizer.step()
        self._wait()
        wall, cpu = time.perf_counter() - begun[0], time.process_time() - begun[1]
        return wall / steps, cpu / steps

    def _wait(self) -> None:
        if self._data.is_cuda:
            torch.cuda.synchronize()


def listen(anchor: Anchor) -> tuple[Meter, Callable[[], None]]:
    """A meter in the midst of a turn, and what takes it away."""
    settings = RunSettings(main="", project="", mode=MEASURE, anchor=anchor)
    meter = Meter(settings, NoParent(), torch.cuda)  # type: ignore[arg-type]
    return meter, events.at_anchor(anchor, meter.boundary)


Times = dict[str, list[tuple[float, float]]]


def rounds(training: Training, anchor: Anchor, count: int, steps: int) -> Times:
    """Wall and CPU seconds per step by arm, round by round."""
    order = random.Random(0)
    seconds: Times = {arm: [] for arm in (HOOKED, BARE, AGAIN)}
    for _ in range(count):
        arms = list(seconds)
        order.shuffle(arms)
        for arm in arms:
            undo = listen(anchor)[1] if arm == HOOKED else lambda: None
            training.seconds(2)
            seconds[arm].append(training.seconds(steps))
            undo()
    return seconds


def ratio(seconds: Times, over: str, clock: int) -> tuple[float, float, float]:
    """Geometric mean over the rounds of an arm's time by that of BARE, and its 95 % interval.

    Args:
        seconds: of all arms.
        over: the arm.
        clock: 0 for wall, 1 for CPU time.
    """
    pairs = zip(seconds[over], seconds[BARE], strict=True)
    logs = [math.log(a[clock] / b[clock]) for a, b in pairs]
    middle = statistics.fmean(logs)
    half = 1.96 * statistics.stdev(logs) / math.sqrt(len(logs))
    low, estimate, high = (round(math.exp(middle + sign * half), 4) for sign in (-1, 0, 1))
    return estimate, low, high


def hook_s(training: Training, calls: int = 100_000) -> float:
    """CPU seconds that one call of the installed hook takes, called as the optimizer calls it."""
    from torch.optim.optimizer import _global_optimizer_post_hooks

    _, undo = listen(Anchor("optimizer"))
    training.optimizer.step()
    hook = list(_global_optimizer_post_hooks.values())[-1]
    begun = time.process_time()
    for _ in range(calls):
        hook(training.optimizer, (), {})
    seconds = (time.process_time() - begun) / calls
    undo()
    return seconds


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--steps", type=int, default=20, help="steps in a block")
    kinds = ("optimizer", "backward", "forward")
    parser.add_argument("--anchor", default=kinds[0], choices=kinds)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    training = Training(options.device)
    seconds = rounds(training, Anchor(options.anchor), options.rounds, options.steps)
    result: dict[str, object] = {
        "torch": torch.__version__,
        "device": options.device,
        "anchor": options.anchor,
        "rounds": options.rounds,
        "steps": options.steps,
        "hook_us": round(1e6 * hook_s(training), 3),
        "target": TARGET,
    }
    for clock, name in enumerate(("wall", "cpu")):
        result[name] = {
            "step_ms": {
                arm: round(1e3 * statistics.median(each[clock] for each in times), 4)
                for arm, times in seconds.items()
            },
            "ratio": ratio(seconds, HOOKED, clock),
            "ratio of nothing": ratio(seconds, AGAIN, clock),
        }
    print(json.dumps(result, indent=2))
    return int(ratio(seconds, HOOKED, 0)[1] > TARGET)


if __name__ == "__main__":
    sys.exit(main())
