"""A window of steps in a script that really runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from torchlint.runtime.probe.run_settings import WINDOW, Anchor

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


def windows(run_probe: RunProbe, trained: int, **more: Any) -> tuple[list[Message], list[str]]:
    outcome = run_probe(
        "train.py",
        overlay={"train.py": TRAINS},
        argv=(str(trained),),
        mode=WINDOW,
        anchor=Anchor("optimizer"),
        instruments=("switches",),
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
    on_linux = sys.platform == "linux"
    assert window["held_s"] >= 0 if on_linux else window["held_s"] is None
    # The fourth step begins it, and the eighth ends it before it is printed; Python buffers.
    assert printed == [] or int(printed[-1]) < 8
    assert window["found"]["switches"]["anomaly"] is True


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
    found = window["found"]["switches"]
    assert found["variables"] == ["CUDA_LAUNCH_BLOCKING"]
    assert found["anomaly"] is False
