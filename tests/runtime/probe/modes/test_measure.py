"""Blocks hold the steps that were asked for, and a script that waits for its turn sees nothing."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from tests.runtime.probe.fake_cuda import FakeCuda
from torchlint.runtime.probe.modes import measure
from torchlint.runtime.probe.modes.measure import Meter
from torchlint.runtime.probe.run_settings import Anchor, RunSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.runtime.probe.conftest import Message, RunProbe, Write
    from torchlint.runtime.probe.messages import Timed


class FakeLink:
    """Gives out turns as (settle, steps); with the last one the training goes on for ever."""

    def __init__(self, turns: Sequence[tuple[int, int]], role: str = "main") -> None:
        self.turns = list(turns)
        self.role = role
        self.asked: list[tuple[int, str]] = []
        self.blocks: list[Timed] = []
        self.meter: Meter | None = None

    def ask(self, word: str, block: Timed | None = None) -> dict[str, object]:
        assert self.meter is not None
        self.asked.append((self.meter.steps, word))
        if block is not None:
            self.blocks.append(block)
        settle, steps = self.turns.pop(0) if self.turns else (10**9, 1)
        return {"type": "turn", "settle": settle, "steps": steps}


def settings(anchor: Anchor | None = Anchor("optimizer"), **more: Any) -> RunSettings:  # noqa: B008
    return RunSettings(main="x", project="p", mode="measure", anchor=anchor, **more)


def meter(link: FakeLink, cuda: FakeCuda | None = None, anchor: str = "optimizer") -> Meter:
    made = Meter(settings(Anchor(anchor)), link, cuda or FakeCuda(initialized=False))  # type: ignore[arg-type]
    link.meter = made
    return made


def step(made: Meter, times: int) -> None:
    for _ in range(times):
        made.boundary()


def test_the_first_step_asks_for_a_turn() -> None:
    link = FakeLink([])
    step(meter(link), 5)
    assert link.asked == [(1, "ready")]


@pytest.mark.parametrize(
    ("turns", "ends"),
    [
        ([(2, 3), (1, 4)], [1, 6, 11]),
        ([(0, 2), (0, 1)], [1, 3, 4]),
        ([(5, 0), (1, 2)], [1, 6, 9]),
        ([(0, 0), (0, 3)], [1, 1, 4]),
    ],
)
def test_a_block_ends_when_its_steps_are_through(
    turns: list[tuple[int, int]], ends: list[int]
) -> None:
    link = FakeLink(turns)
    step(meter(link), 20)
    assert link.asked == [(ends[0], "ready"), *((at, "block") for at in ends[1:])]
    assert [block.steps for block in link.blocks] == [steps for _, steps in turns]


def test_a_block_of_no_steps_has_no_time() -> None:
    link = FakeLink([(1, 2), (3, 0)])
    step(meter(link), 9)
    timed, warmed = link.blocks
    assert timed.wall > 0.0
    assert (warmed.wall, warmed.cpu, warmed.gpu) == (0.0, 0.0, None)


def test_a_block_says_if_something_was_compiled_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    link = FakeLink([(2, 2), (2, 2), (2, 0)])
    made = meter(link)
    frames = [0] * 4 + [1] * 2 + [2] * 10  # by step: one in the first block, one in settling
    monkeypatch.setattr(measure.private, "compiled_frames", lambda: frames[made.steps - 1])
    step(made, 14)
    assert [block.compiled for block in link.blocks] == [True, False, False]


def test_settling_steps_are_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    link = FakeLink([(3, 2)])
    made = meter(link)
    now = 0.0
    monkeypatch.setattr("torchlint.runtime.probe.machine.clock.time.perf_counter", lambda: now)
    for _ in range(6):
        now = float(made.steps + 1)
        made.boundary()
    assert [block.wall for block in link.blocks] == [2.0]


class Alters:
    """Spends half a second of each step on its own work."""

    def __init__(self, *, alters: bool = True) -> None:
        self.alters = alters
        self.begun_at: list[int] = []
        self.meter: Meter | None = None

    @property
    def beside_s(self) -> float:
        assert self.meter is not None
        return 0.5 * self.meter.steps

    def open(self) -> None:
        assert self.meter is not None
        self.begun_at.append(self.meter.steps)


@pytest.mark.parametrize("alters", [True, False])
def test_what_changes_a_step_begins_after_the_warm_up_and_its_work_is_not_timed(
    monkeypatch: pytest.MonkeyPatch, alters: bool
) -> None:
    watch = Alters(alters=alters)
    monkeypatch.setattr(measure, "install_all", lambda _: {"watch": watch})
    link = FakeLink([(4, 0), (2, 3), (1, 1)])
    made = watch.meter = meter(link)
    now = 0.0
    monkeypatch.setattr("torchlint.runtime.probe.machine.clock.time.perf_counter", lambda: now)
    for _ in range(12):
        now = 2.0 * (made.steps + 1)
        made.boundary()
    assert watch.begun_at == [5]  # the first step asks, and four warm up
    first, second = link.blocks[1:]
    assert (first.wall, second.wall) == (4.5, 1.5)
    assert first.altered == second.altered == alters


def test_nothing_changes_a_step_unless_it_is_asked_for() -> None:
    link = FakeLink([(1, 2)])
    step(meter(link), 9)
    assert not link.blocks[0].altered


def test_on_a_gpu_one_step_more_is_taken_before_the_block_is_handed_over() -> None:
    cuda, link = FakeCuda(), FakeLink([(2, 3), (1, 1)])
    made = meter(link, cuda)
    for _ in range(12):
        cuda.stream_ms += 10.0
        made.boundary()
    assert [at for at, _ in link.asked] == [1, 7, 10]
    assert [block.gpu for block in link.blocks] == [0.03, 0.01]
    # Once for the first turn, then once a block.
    assert cuda.calls.count("synchronize") == 3
    assert cuda.calls.count("record") == 4


def test_a_step_that_is_being_captured_is_put_off() -> None:
    cuda, link = FakeCuda(), FakeLink([])
    made = meter(link, cuda)
    cuda.capturing = True
    step(made, 3)
    assert link.asked == []
    assert cuda.calls == []
    cuda.capturing = False
    step(made, 1)
    assert [at for at, _ in link.asked] == [4]


def test_an_error_of_the_gpu_is_left_to_the_script() -> None:
    cuda, link = FakeCuda(), FakeLink([(1, 1)])
    made = meter(link, cuda)

    def fail() -> None:
        raise RuntimeError("device-side assert")

    step(made, 3)
    cuda.synchronize = fail  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="device-side assert"):
        made.boundary()
    step(made, 3)
    assert (made.steps, len(link.asked)) == (7, 1)


def test_a_second_thread_that_trains_waits_for_the_turn_too() -> None:
    link = FakeLink([(4, 0)])
    made = meter(link)
    asked, go_on = threading.Event(), threading.Event()
    ask = link.ask

    def slow(word: str, block: Timed | None = None) -> dict[str, object]:
        asked.set()
        assert go_on.wait(200)
        return ask(word, block)

    link.ask = slow  # type: ignore[method-assign]
    threads = [threading.Thread(target=made.boundary, daemon=True) for _ in range(2)]
    threads[0].start()
    assert asked.wait(200)
    threads[1].start()
    threads[1].join(0.2)
    assert threads[1].is_alive()
    go_on.set()
    for thread in threads:
        thread.join(200)
    assert [word for _, word in link.asked] == ["ready"]


def test_a_copy_of_the_process_counts_and_changes_its_own_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watch = Alters()
    monkeypatch.setattr(measure, "install_all", lambda _: {"watch": watch})
    link = FakeLink([(1, 9), (2, 9)])
    made = watch.meter = meter(link)
    step(made, 2)
    made.begin_again()
    assert made.steps == 0
    link.role = "child"
    step(made, 3)
    assert link.asked == [(1, "ready"), (1, "ready")]
    assert watch.begun_at == [2, 3]


@pytest.mark.parametrize(("anchor", "asks"), [("backward", 1), ("forward", 0), ("loader", 0)])
def test_a_worker_that_only_runs_a_model_takes_no_turn(anchor: str, asks: int) -> None:
    link = FakeLink([], role="child")
    step(meter(link, anchor=anchor), 3)
    assert len(link.asked) == asks


def test_without_an_anchor_nothing_can_be_measured() -> None:
    with pytest.raises(ValueError, match="anchor"):
        measure.install(settings(None), FakeLink([]))  # type: ignore[arg-type]


# Real scripts --------------------------------------------------------------------------------


class Turns:
    """Gives each process the same turns, as (settle, steps), and then lets it run to its end."""

    def __init__(self, *turns: tuple[int, int]) -> None:
        self.turns = turns
        self.given: dict[threading.Thread, int] = {}

    def __call__(self, message: Message) -> Message | None:
        if message["type"] not in ("ready", "block"):
            return None
        thread = threading.current_thread()  # one for each process
        number = self.given.get(thread, 0)
        self.given[thread] = number + 1
        settle, steps = self.turns[number] if number < len(self.turns) else (10**9, 1)
        return {"type": "turn", "settle": settle, "steps": steps}


TRAIN = """
    import torch
    from torch.utils.data import DataLoader

    class Ones(torch.utils.data.Dataset):
        def __len__(self):
            return 24
        def __getitem__(self, index):
            # A dataset may run a model of its own.
            weight = torch.nn.Parameter(torch.ones(4))
            weight.grad = torch.ones(4)
            torch.optim.SGD([weight], lr=0.1).step()
            return weight.detach()

    if __name__ == "__main__":
        torch.manual_seed(0)
        model = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for batch in DataLoader(Ones(), batch_size=2, num_workers=NUMBER, multiprocessing_context="HOW"):
            optimizer.zero_grad()
            loss = model(batch).square().mean()
            loss.backward()
            optimizer.step()
            print(loss.item())
"""


@pytest.mark.parametrize(("how", "workers"), [("fork", "2"), ("spawn", "1")])
def test_a_measured_script_computes_what_it_computes_alone(
    run_probe: RunProbe, write: Write, how: str, workers: str
) -> None:
    write({"train.py": TRAIN.replace("HOW", how).replace("NUMBER", workers)})
    write({"alone.py": TRAIN.replace("HOW", "fork").replace("NUMBER", "2")})
    alone = run_probe("alone.py")
    outcome = run_probe(
        "train.py",
        mode="measure",
        anchor=Anchor("optimizer"),
        answer=Turns((2, 0), (1, 3), (0, 2)),
        fresh=True,
    )
    assert outcome.lines == alone.lines
    assert outcome.ended["steps"] == 12
    # The workers' optimizers are not the script's.
    assert [message["role"] for message in outcome.of("hello")] == ["main"]
    blocks = outcome.of("block")
    assert [block["steps"] for block in blocks] == [0, 3, 2]
    assert all(block["wall"] > 0 and block["gpu"] is None for block in blocks[1:])
    assert all(block["memory_mb"] > 10 for block in blocks)


@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_each_process_that_trains_takes_turns(run_probe: RunProbe, write: Write, how: str) -> None:
    write(
        {
            "train.py": f"""
            import sys, torch
            import torch.multiprocessing as mp

            def train(rank):
                model = torch.nn.Linear(4, 1)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
                for _ in range(6):
                    model(torch.ones(4)).sum().backward()
                    optimizer.step()

            if __name__ == "__main__":
                mp.start_processes(train, nprocs=1, start_method={how!r})
            """
        }
    )
    outcome = run_probe(
        "train.py", mode="measure", anchor=Anchor("optimizer"), answer=Turns((1, 2))
    )
    assert outcome.lines == []
    assert outcome.ended["steps"] == 0
    roles = sorted(message["role"] for message in outcome.of("hello"))
    assert roles == ["child", "main"]
    assert len(outcome.of("ready")) == len(outcome.of("block")) == 1


KINDS = {
    "backward": """
        import torch
        weight = torch.ones(4, requires_grad=True)
        for _ in range(9):
            weight.grad = None
            weight.square().sum().backward()
            weight.data -= 0.1 * weight.grad
    """,
    "forward": """
        import torch
        model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
        with torch.inference_mode():
            for _ in range(9):
                model(torch.ones(4))
    """,
    "loader": """
        import torch
        for batch in torch.utils.data.DataLoader([torch.ones(4)] * 9):
            batch @ batch.T
    """,
}


@pytest.mark.parametrize("kind", KINDS)
def test_scripts_without_an_optimizer_take_turns(
    run_probe: RunProbe, write: Write, kind: str
) -> None:
    write({"train.py": KINDS[kind]})
    outcome = run_probe("train.py", mode="measure", anchor=Anchor(kind), answer=Turns((1, 2)))
    assert outcome.ended["steps"] == 9, outcome.stderr
    assert [block["steps"] for block in outcome.of("block")] == [2]
