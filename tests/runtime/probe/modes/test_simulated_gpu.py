"""What a run asks of a GPU, call by call, and what it makes the script wait for: nothing.

The GPU is simulated (`tests/simulated_gpu.py`), and writes each call to standard error.
"""

from __future__ import annotations

from itertools import groupby
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest

from torchlint.runtime.probe.run_settings import Anchor

if TYPE_CHECKING:
    from tests.runtime.probe.conftest import Message, RunProbe, Write
    from tests.runtime.probe.little_parent import Outcome
    from tests.warm_start import Start

TRAIN = """
    import os, sys, time
    import torch
    torch.manual_seed(0)
    model = torch.nn.Linear(16, 4).to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    inputs = torch.randn(8, 16, device="cuda")
    for step in range(1, 100):
        time.sleep(0.002)
        optimizer.zero_grad()
        loss = model(inputs).square().mean()
        loss.backward()
        os.write(2, f"step {step}\\n".encode())
        optimizer.step()
        READ
"""
LOGGED = {"SIMULATED_GPU_LOG": "1"}


@pytest.fixture
def start_python(gpu_start: Start) -> Start:
    """On a machine that seems to have a GPU."""
    return gpu_start


def turns(*given: tuple[int, int]) -> object:
    left = iter(given)

    def answer(message: Message) -> Message | None:
        if message["type"] not in ("ready", "block"):
            return None
        settle, steps = next(left, (10**9, 1))
        return {"type": "turn", "settle": settle, "steps": steps}

    return answer


def calls(outcome: Outcome) -> list[str]:
    """What was asked of the GPU, in order, with the steps in between; a wait without how long."""
    lines = [line.split(":")[0] for line in outcome.stderr.splitlines()]
    lines = lines[lines.index("wake") :]
    found = []
    for is_step, group in groupby(lines, lambda line: line.startswith("step ")):
        same = list(group)
        found += [f"{len(same)} steps"] if is_step else same
    return found


def waits_ms(outcome: Outcome) -> list[float]:
    """How long the script waited for a number, each time."""
    lines = [line.partition(": ") for line in outcome.stderr.splitlines()]
    return [float(ms) for call, _, ms in lines if call == "wait aten::_local_scalar_dense"]


def test_a_block_is_two_events_and_waits_for_nothing_in_between(
    run_probe: RunProbe, write: Write
) -> None:
    write({"train.py": TRAIN.replace("READ", "")})
    outcome = run_probe(
        "train.py",
        mode="measure",
        anchor=Anchor("optimizer"),
        env=LOGGED,
        answer=turns((2, 0), (1, 3), (1, 4)),
    )
    assert calls(outcome) == [
        "wake", *["wait copy to the GPU"] * 2, "1 steps", "clock_rate", "synchronize",
        "2 steps", "clock_rate", "synchronize", "elapsed",
        "1 steps", "record", "3 steps", "record", "1 steps", "clock_rate", "synchronize", "elapsed",
        "1 steps", "record", "4 steps", "record", "1 steps", "clock_rate", "synchronize", "elapsed",
        "85 steps",
    ]  # fmt: skip


@pytest.mark.parametrize("reads", [False, True])
def test_the_first_look_sees_how_long_a_read_waits(
    run_probe: RunProbe, write: Write, reads: bool
) -> None:
    write({"train.py": TRAIN.replace("READ", "loss.item()" if reads else "")})
    outcome = run_probe("train.py", mode="survey", steps=30, env=LOGGED)
    (seen,) = outcome.of("survey")
    assert (seen["device"], seen["gpu_name"]) == ("cuda", "Simulated GPU")
    waited = 0.001 * median(waits_ms(outcome)) if reads else 0.0
    assert (waited > 0.0005) == reads
    host = 0.002 + 2 * 10e-6  # its sleep, two kernels of the loss, and what it waited
    assert median(seen["lanes"]["other"]) == pytest.approx(host + waited, abs=20e-6)
    assert seen["step_s"] == pytest.approx(sum(map(median, seen["lanes"].values())))


def test_the_first_look_sees_how_long_the_gpu_takes_for_a_step(
    run_probe: RunProbe, write: Write
) -> None:
    write({"train.py": TRAIN.replace("READ", "torch.cuda._sleep(50_000_000)  # 50 ms")})
    outcome = run_probe("train.py", mode="survey", steps=15, env=LOGGED)
    (seen,) = outcome.of("survey")
    assert seen["step_s"] == pytest.approx(0.051, rel=0.03)
    assert median(seen["times"]) == pytest.approx(0.051, rel=0.03)
    asked = calls(outcome)[3:]
    after_the_last_step = asked[len(asked) - asked[::-1].index("1 steps") :]
    assert set(asked) == {"1 steps", "record", "synchronize", "elapsed"}
    assert asked.count("synchronize") == after_the_last_step.count("synchronize") == 1


def test_a_record_waits_for_nothing_before_its_last_step(run_probe: RunProbe, write: Write) -> None:
    write({"train.py": TRAIN.replace("READ", "")})
    outcome = run_probe(
        "train.py", mode="record", anchor=Anchor("optimizer"), steps=8, level=3, seed=0, env=LOGGED
    )
    (record,) = outcome.of("record")
    assert (record["steps"], len(record["losses"])) == (8, 8)
    asked = calls(outcome)
    # After its steps it reads what it has kept.
    assert asked[: asked.index("8 steps")] == ["wake", *["wait copy to the GPU"] * 4]


@pytest.mark.parametrize(("own", "used"), [("", ":4096:8"), (":16:8", ":16:8")])
def test_numbers_are_compared_with_kernels_that_repeat_themselves(
    run_probe: RunProbe, write: Write, own: str, used: str
) -> None:
    """cuBLAS reads its variable when it is first used."""
    write(
        {
            "train.py": """
            import os, torch
            print(os.environ.get("CUBLAS_WORKSPACE_CONFIG"))
            print(torch.are_deterministic_algorithms_enabled())
            """
        }
    )
    env = {"CUBLAS_WORKSPACE_CONFIG": own} if own else {}
    how: dict[str, Any] = {
        "anchor": Anchor("optimizer"),
        "steps": 5,
        "env": env,
        "until": ("ended",),
    }
    assert run_probe("train.py", mode="record", **how).lines == [used, "True"]
    assert run_probe("train.py", mode="survey", **how).lines == [own or "None", "False"]


FORKS = """
    import torch
    import torch.multiprocessing as mp

    def train(rank):
        model = torch.nn.Linear(4, 1).to("cuda")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(12):
            model(torch.ones(4, device="cuda")).sum().backward()
            optimizer.step()

    torch.manual_seed(0)
    mp.start_processes(train, nprocs=1, start_method="fork")
"""


@pytest.mark.parametrize("mode", ["survey", "measure"])
def test_a_fork_can_train_on_a_gpu_that_its_parent_left_alone(
    run_probe: RunProbe, write: Write, mode: str
) -> None:
    write({"train.py": FORKS})
    outcome = run_probe(
        "train.py",
        mode=mode,
        anchor=Anchor("optimizer"),
        steps=50,
        seed=0,
        answer=turns((1, 2)),
        until=("ended",),
        env=LOGGED,
    )
    assert outcome.ended["status"] == "finished", outcome.stderr
    assert [each["device"] for each in outcome.of("hello") if each["role"] == "main"] == ["cuda"]
    assert "ask the driver" not in outcome.stderr
    (said,) = (each for each in outcome.of({"measure": "block"}.get(mode, mode)) if each["steps"])
    if mode == "measure":
        assert said["gpu"] > 0
    else:
        assert said["steps"] == 12
