"""A window of steps in a script that really runs."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

from torchlint.runtime.probe.settings import WINDOW, Anchor

if TYPE_CHECKING:
    from tests.runtime.probe.conftest import Message, RunProbe

TRAINS = """
    import sys
    import torch

    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(int(sys.argv[1])):
        if step == 5:
            torch.autograd.set_detect_anomaly(True)
        optimizer.zero_grad()
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
        print(step)
    """
CLOCK = """
import time

now = 0.0
time.perf_counter = lambda: now

class Clock:
    def __init__(self, parameters, **options):
        self.optimizer = SGD(parameters, **options)
        self.taken = 0

    def zero_grad(self):
        global now
        self.optimizer.zero_grad()
        now += 0.5 if 12 <= self.taken < 21 else 1.0

    def step(self):
        self.taken += 1
        self.optimizer.step()

from torch.optim import SGD
"""
"""Steps of a second, and nine that take half of it."""


def windows(
    run_probe: RunProbe, trained: int, text: str = TRAINS, **more: Any
) -> tuple[list[Message], list[str]]:
    outcome = run_probe(
        "train.py",
        overlay={"train.py": text},
        argv=(str(trained),),
        mode=WINDOW,
        anchor=Anchor("optimizer"),
        instruments=("environment",),
        until=("ended", "window"),
        **more,
    )
    return outcome.of("window"), outcome.stdout.split()


def test_it_begins_after_the_steps_that_are_skipped_and_has_as_many_as_wanted(
    run_probe: RunProbe,
) -> None:
    (window,), printed = windows(run_probe, 1000, skip=3, steps=4)
    assert window["steps"] == 4
    assert window["seconds"] > 0
    # The fourth step begins it, and the eighth ends it before it is printed; Python buffers.
    assert printed == [] or int(printed[-1]) < 8
    assert window["found"]["environment"]["anomaly"] is True


def test_its_fastest_tenth_is_told(run_probe: RunProbe) -> None:
    text = (
        dedent(TRAINS)
        .replace("torch.optim.SGD", "Clock")
        .replace("import sys", CLOCK + "import sys")
    )
    (window,), _ = windows(run_probe, 1000, text, skip=2, steps=40)
    assert (window["seconds"], window["fastest_s"]) == (35.5, 0.5)


@pytest.mark.parametrize(("steps", "seen"), [(6, 2), (4, None)])
def test_a_script_that_ends_reports_the_steps_that_there_were(
    run_probe: RunProbe, steps: int, seen: int | None
) -> None:
    found, _ = windows(run_probe, steps, skip=3, steps=40)
    assert [each["steps"] for each in found] == ([] if seen is None else [seen])


def test_the_switches_are_those_of_the_script(run_probe: RunProbe) -> None:
    (window,), _ = windows(
        run_probe, 50, skip=1, steps=2, env={"CUDA_LAUNCH_BLOCKING": "1", "NCCL_DEBUG": "INFO"}
    )
    found = window["found"]["environment"]
    assert found["variables"] == ["CUDA_LAUNCH_BLOCKING"]
    assert found["anomaly"] is False
    assert found["threads"] >= 1
