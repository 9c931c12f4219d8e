"""A survey finds out where the steps of a script end, whatever kind of script it is."""

from __future__ import annotations

import os
import statistics
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import torch

from tests.runtime.probe.fake_cuda import FakeCuda
from torchlint.runtime.probe.messages import Lanes
from torchlint.runtime.probe.modes.survey import Surveyor
from torchlint.runtime.probe.run_settings import FixLines, RunSettings
from torchlint.runtime.probe.steps.boundary import KINDS, Chooser, Moment, Streams
from torchlint.runtime.probe.steps.events import BACKWARD, FORWARD, GRAD, LOADER, OPTIMIZER
from torchlint.runtime.probe.steps.step_times import durations, lanes, steady, warm_up

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.runtime.probe.conftest import Message, RunProbe, Write

Event = tuple[str, int]
D, G, PASS, CALL, BATCH = (
    (OPTIMIZER, 0),
    (OPTIMIZER, 1),
    (BACKWARD, 0),
    (FORWARD, 0),
    (LOADER, 0),
)


class Story:
    """Tells a chooser about events, a millisecond apart, until it has heard enough."""

    def __init__(self, *, wanted: int = 30, optimizer: bool = True, pace: float = 0.001) -> None:
        self.streams = Streams()
        self.now = 0.0
        self.told = 0
        self.pace = pace
        self.chooser = Chooser(wanted, 20.0, KINDS, lambda: optimizer)
        self.choice: tuple[str, int, int] | None = None

    def tell(self, events: Iterable[Event]) -> Story:
        for kind, number in events:
            if self.choice is not None:
                break
            self.now += self.pace
            self.told += 1
            moment = Moment(self.now, (0.0, 0.0, 0.0, 0.0))
            stream = self.streams.add(kind, number, "Name", moment)
            if self.chooser.enough(self.streams, stream):
                self.choice = (kind, number, stream.count)
        return self


def test_an_optimizer_ends_the_step() -> None:
    assert Story().tell([BATCH, CALL, PASS, D] * 99).choice == (OPTIMIZER, 0, 30)


@pytest.mark.parametrize("critics", [1, 5])
def test_the_rarest_of_several_optimizers_ends_the_step(critics: int) -> None:
    story = Story().tell([*[CALL, PASS, D] * critics, CALL, PASS, G] * 99)
    assert story.choice == (OPTIMIZER, 1, 30)


def test_an_optimizer_that_has_ceased_ends_no_step() -> None:
    assert Story().tell([PASS, D] * 5 + [PASS, G] * 99).choice == (OPTIMIZER, 1, 30)


def test_an_optimizer_that_steps_once_in_a_long_time_is_not_waited_for() -> None:
    story = Story().tell(([PASS, D] * 150 + [G]) * 99)
    assert story.choice == (OPTIMIZER, 0, 30)
    story = Story().tell([G, *([PASS, D] * 20 + [G]) * 99])
    assert story.choice == (OPTIMIZER, 1, 13)


def test_slow_steps_are_not_all_waited_for() -> None:
    story = Story(pace=3.0).tell([PASS, D] * 99)
    assert story.choice == (OPTIMIZER, 0, 5)
    assert Story(pace=30.0).tell([PASS, D] * 99).choice == (OPTIMIZER, 0, 4)


@pytest.mark.parametrize("pace", [0.001, 0.2])
@pytest.mark.parametrize("accumulated", [2, 64, 200])
def test_accumulation_is_not_mistaken_for_steps(accumulated: int, pace: float) -> None:
    story = Story(pace=pace).tell([*[CALL, PASS] * accumulated, D] * 99)
    assert story.choice is not None
    assert story.choice[:2] == (OPTIMIZER, 0)


def test_a_hand_written_descent_is_recognised() -> None:
    story = Story(optimizer=False).tell([CALL, PASS] * 99)
    assert story.choice == (BACKWARD, 0, 30)


def test_an_optimizer_that_never_steps_is_given_up() -> None:
    assert Story().tell([PASS] * 9999).choice == (BACKWARD, 0, 1024)
    assert Story(pace=0.1).tell([PASS] * 9999).choice == (BACKWARD, 0, 256)


def test_gradients_apart_from_a_backward_pass_end_no_step() -> None:
    grad = (BACKWARD, GRAD)
    assert Story(optimizer=False).tell([grad, PASS] * 99).choice == (BACKWARD, 0, 30)
    assert Story(optimizer=False).tell([grad] * 99).choice == (BACKWARD, GRAD, 30)


def test_inference_is_recognised() -> None:
    story = Story(optimizer=False, pace=0.01).tell([BATCH, CALL] * 9999)
    assert story.choice is not None
    assert story.choice[:2] == (FORWARD, 0)
    assert 5.0 <= story.now < 5.1


def test_an_evaluation_before_the_training_is_not_mistaken_for_inference() -> None:
    story = Story(pace=0.01).tell([BATCH, CALL] * 900 + [CALL, PASS, D] * 99)
    assert story.choice == (OPTIMIZER, 0, 30)


def test_an_evaluation_that_takes_too_long_is_all_there_is() -> None:
    story = Story(pace=0.1).tell([BATCH, CALL] * 900)
    assert story.choice is not None
    assert story.choice[:2] == (FORWARD, 0)
    assert 20.0 <= story.now < 20.5


def test_a_model_that_helps_with_the_data_ends_no_step() -> None:
    model = (FORWARD, 1)
    story = Story(optimizer=False, pace=0.01).tell([*[CALL] * 8, model] * 999)
    assert story.choice is not None
    assert story.choice[:2] == (FORWARD, 1)


def test_batches_end_the_step_where_nothing_else_is_heard() -> None:
    story = Story(optimizer=False, pace=0.1).tell([BATCH] * 999)
    assert story.choice is not None
    assert story.choice[:2] == (LOADER, 0)
    assert 20.0 <= story.now < 20.5


def test_batches_end_the_step_once_the_training_has_fallen_silent() -> None:
    story = Story(pace=0.1).tell([BATCH, CALL, PASS, D] * 4 + [BATCH] * 999)
    assert story.choice is not None
    assert story.choice[:2] == (LOADER, 0)


@pytest.mark.parametrize(
    ("events", "choice"),
    [
        ([], None),
        ([BATCH, CALL, PASS, D] * 3, (OPTIMIZER, 0)),
        ([D] + [CALL, PASS, D, PASS, G] * 3, (OPTIMIZER, 1)),
        ([CALL, PASS] * 64 + [D], (OPTIMIZER, 0)),
        ([CALL, PASS] * 3, (BACKWARD, 0)),
        ([CALL], (FORWARD, 0)),
        ([BATCH] * 3, (LOADER, 0)),
    ],
)
def test_a_script_that_ends_early_is_judged_by_what_was_seen(
    events: list[Event], choice: Event | None
) -> None:
    story = Story(wanted=999).tell(events)
    best = story.chooser.at_the_end(story.streams)
    assert (best and (best.kind, best.number)) == choice


# Steps ---------------------------------------------------------------------------------------


def moments(*ends: float) -> list[Moment]:
    return [Moment(end, (0.1 * end, 0.2 * end, 0.3 * end, 0.0)) for end in ends]


def test_the_first_step_has_no_beginning() -> None:
    assert durations(moments(5.0, 6.0, 8.0)) == [1.0, 2.0]
    assert durations(moments(5.0)) == durations([]) == []


def test_lanes_add_up_to_the_step() -> None:
    found = lanes(moments(10.0, 20.0, 40.0))
    assert [round(each, 9) for each in found.data] == [1.0, 2.0]
    assert [round(each, 9) for each in found.backward] == [3.0, 6.0]
    assert found.optimizer == (0.0, 0.0)
    assert [round(each, 9) for each in found.other] == [4.0, 8.0]


def test_lanes_of_threads_that_take_turns_stay_within_the_step() -> None:
    mixed = [Moment(0.0, (9.0, 0.0, 0.0, 0.0)), Moment(1.0, (2.0, 8.0, 0.0, 0.0))]
    assert lanes(mixed) == Lanes((0.0,), (1.0,), (0.0,), (0.0,), (0.0,))


@pytest.mark.parametrize(
    ("news", "warm"),
    [
        ([], 1),
        ([0.5], 1),
        ([0.5, 1.0, 2.5], 3),
        ([0.5, 5.5], 6),
        ([0.5, 6.5], 1),
        ([0.5, 3.5, 7.5], 8),
        ([step + 0.5 for step in range(10)], 10),
    ],
)
def test_a_script_is_warm_when_nothing_new_has_come_for_five_steps(
    news: list[float], warm: int
) -> None:
    assert warm_up(moments(*range(1, 11)), news) == warm


def test_a_steady_step_leaves_out_the_warm_up() -> None:
    assert steady([9.0, 9.0, 9.0, 1.0, 2.0], 4) == 1.5
    assert steady([9.0, 9.0], 3) == 9.0
    assert steady([], 1) == 0.0


# Real scripts --------------------------------------------------------------------------------

TRAIN = """
    import torch
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters())
    data = torch.utils.data.TensorDataset(torch.randn(90, 8))

    def validate():
        with torch.no_grad():
            for batch, in torch.utils.data.DataLoader(data, batch_size=30):
                model(batch)

    for epoch in range(99):
        for batch, in torch.utils.data.DataLoader(data, batch_size=9):
            optimizer.zero_grad()
            model(batch).square().mean().backward()
            optimizer.step()
        validate()
"""


def survey(run_probe: RunProbe, write: Write, text: str, **more: Any) -> Message:
    write({"train.py": text})
    outcome = run_probe("train.py", mode="survey", **more)
    assert outcome.of("survey"), (outcome.messages, outcome.stderr)
    return outcome.of("survey")[-1]


def test_a_training_script_is_surveyed(run_probe: RunProbe, write: Write) -> None:
    seen = survey(run_probe, write, TRAIN, fresh=True)
    assert seen["anchor"] == {"kind": "optimizer", "index": 0}
    assert seen["words"] == "AdamW.step"
    assert (seen["steps"], seen["finished"]) == (30, False)
    # Two validations of three batches each came in between.
    assert seen["counts"] == {
        "optimizer": [30],
        "backward": 30,
        "forward": 36,
        "loader": 36,
        "skipped": 0,
    }
    assert (seen["device"], seen.get("gpu_name"), seen["compiled"]) == ("cpu", None, False)
    assert seen["memory_mb"] > 50
    assert len(seen["times"]) == 29
    assert all(time > 0 for time in seen["times"])
    assert seen["step_s"] == statistics.median(seen["times"][seen["warm"] - 1 :])
    assert set(seen["lanes"]) == {"data", "forward", "backward", "optimizer", "other"}
    for number, time in enumerate(seen["times"]):
        parts = [seen["lanes"][lane][number] for lane in seen["lanes"]]
        assert sum(parts) == pytest.approx(time)
        assert all(part > 0 for part in parts)


STREAM = """
    import torch
    from torch.utils.data import DataLoader, IterableDataset

    class Numbers(IterableDataset):
        def __iter__(self):
            yield from torch.ones(999, 1)

    weight = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    if __name__ == "__main__":
        for x in DataLoader(DATA, batch_size=9, num_workers=2, prefetch_factor=3):
            (x * weight).sum().backward()
            optimizer.step()
"""


@pytest.mark.parametrize(("data", "workers"), [("Numbers()", 2), ("torch.ones(99, 1)", 0)])
def test_the_workers_that_read_a_stream_are_told(
    run_probe: RunProbe, write: Write, data: str, workers: int
) -> None:
    seen = survey(run_probe, write, STREAM.replace("DATA", data), steps=3)
    assert (seen["ahead"], seen["stream_workers"]) == (6, workers)


LOADERS = """
    import importlib, os, runpy, sys, torch
    from importlib.machinery import SourceFileLoader
    from importlib.util import module_from_spec, spec_from_file_location
    from types import ModuleType
    import plain
    sys.path.insert(0, "lib")
    importlib.import_module("on_the_path")
    spec = spec_from_file_location("by_path", "plugins/by_path.py")
    spec.loader.exec_module(module_from_spec(spec))
    SourceFileLoader("settings", "configs/settings.py").exec_module(ModuleType("settings"))
    os.chdir("outputs")
    runpy.run_path("../launched.py")
"""


@pytest.mark.parametrize("fresh", [True, False])
def test_every_file_of_the_project_that_was_loaded_is_told(
    run_probe: RunProbe, write: Write, *, fresh: bool
) -> None:
    write(
        {
            "plain.py": "",
            "lib/on_the_path.py": "",
            "plugins/by_path.py": "",
            "plugins/other.py": "",
            "configs/settings.py": "",
            "outputs/log.txt": "",
            "venv/lib/site-packages/installed.py": "",
            "launched.py": """
                import sys, torch
                sys.path.insert(0, "../venv/lib/site-packages")
                import installed
                weight = torch.nn.Parameter(torch.randn(8))
                optimizer = torch.optim.SGD([weight], lr=0.1)
                while True:
                    weight.sum().backward()
                    optimizer.step()
            """,
        }
    )
    seen = survey(run_probe, write, LOADERS, fresh=fresh, steps=3)
    here = os.path.commonpath(seen["files"])
    assert [os.path.relpath(path, here) for path in seen["files"]] == [
        "configs/settings.py",
        "launched.py",
        "lib/on_the_path.py",
        "plain.py",
        "plugins/by_path.py",
        "train.py",
    ]


GAN = """
    import torch
    G, D = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
    g, d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
    for batch in range(999):
        for micro in range(2):
            scaler.scale(D(torch.randn(4, 2)).mean() / 2).backward()
        if batch == 4:
            D.weight.grad[:] = float("inf")
        scaler.step(d)
        d.zero_grad()
        if batch % 3 == 2:
            scaler.scale(D(G(torch.randn(4, 2))).mean()).backward()
            scaler.step(g)
            g.zero_grad()
        scaler.update()
"""


def test_a_gan_with_scaled_and_accumulated_gradients(run_probe: RunProbe, write: Write) -> None:
    seen = survey(run_probe, write, GAN, steps=10)
    assert seen["anchor"] == {"kind": "optimizer", "index": 1}
    assert seen["words"] == "Adam.step (optimizer 2 of 2)"
    assert seen["counts"]["optimizer"] == [30, 10]
    assert (seen["counts"]["backward"], seen["counts"]["skipped"]) == (70, 1)


KINDS_OF_SCRIPT = {
    "LBFGS": (
        """
        import torch
        weight = torch.nn.Parameter(torch.randn(8))
        optimizer = torch.optim.LBFGS([weight], max_iter=4)
        def closure():
            optimizer.zero_grad()
            loss = (weight ** 4).sum()
            loss.backward()
            return loss
        while True:
            weight.data += torch.randn(8)
            optimizer.step(closure)
        """,
        "LBFGS.step",
    ),
    "compiled step": (
        """
        import torch
        model = torch.nn.Linear(8, 1)
        optimizer = torch.optim.Adam(model.parameters())
        step = torch.compile(optimizer.step, backend="aot_eager")
        while True:
            model(torch.randn(4, 8)).sum().backward()
            step()
            optimizer.zero_grad()
        """,
        "Adam.step",
    ),
    "thread": (
        """
        import threading, torch
        def train():
            model = torch.nn.Linear(8, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            while True:
                model(torch.randn(4, 8)).sum().backward()
                optimizer.step()
        thread = threading.Thread(target=train)
        thread.start()
        thread.join()
        """,
        "SGD.step",
    ),
    "hand-written descent": (
        """
        import torch
        weight = torch.randn(8, requires_grad=True)
        while True:
            (weight ** 2).sum().backward()
            with torch.no_grad():
                weight -= 0.1 * weight.grad
                weight.grad.zero_()
        """,
        "backward",
    ),
    "hand-written descent by gradients": (
        """
        import torch
        model = torch.nn.Linear(8, 1)
        while True:
            loss = model(torch.randn(4, 8)).square().sum()
            for weight, slope in zip(
                model.parameters(), torch.autograd.grad(loss, list(model.parameters()))
            ):
                weight.data.sub_(slope, alpha=0.1)
        """,
        "torch.autograd.grad",
    ),
    "inference": (
        """
        import torch
        model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Softmax(-1)).eval()
        with torch.inference_mode():
            while True:
                model(torch.randn(4, 8))
        """,
        "Sequential.forward",
    ),
    "loading": (
        """
        import torch
        while True:
            for batch in torch.utils.data.DataLoader(torch.randn(64, 8), batch_size=8):
                batch.mean()
        """,
        "a batch of the DataLoader",
    ),
}


@pytest.mark.parametrize("kind", KINDS_OF_SCRIPT)
def test_kinds_of_scripts(run_probe: RunProbe, write: Write, kind: str) -> None:
    text, words = KINDS_OF_SCRIPT[kind]
    has_optimizer = ".step" in words
    seen = survey(run_probe, write, text, give_up_s=600.0 if has_optimizer else 2.0)
    assert seen["words"] == words
    # Whoever gives up takes as many steps as this machine has made by then.
    assert (seen["steps"] >= (30 if has_optimizer else 2), seen["finished"]) == (True, False)
    assert seen["compiled"] is (kind == "compiled step")
    if kind == "LBFGS":
        assert min(seen["lanes"]["backward"]) > 0
        assert min(seen["lanes"]["optimizer"]) > 0


def test_new_shapes_prolong_the_warm_up(run_probe: RunProbe, write: Write) -> None:
    text = """
        import torch
        model = torch.nn.Linear(8, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(40):
            size = step if step in (3, 7) else 20
            model(input=torch.randn(size, 8)).sum().backward()
            optimizer.step()
    """
    assert survey(run_probe, write, text)["warm"] == 8


def test_compilation_prolongs_the_warm_up_and_hides_what_runs(
    run_probe: RunProbe, write: Write
) -> None:
    text = """\
import torch
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
@torch.compile(backend="aot_eager")
def penalty(weight):
    squares = weight.square()
    return squares.sum()
for step in range(40):
    loss = model(torch.randn(4, 8)).sum()
    (loss + penalty(model.weight) if step == 4 else loss).backward()
    optimizer.step()
"""
    places = (FixLines("compiled", 7, 7), FixLines("loop", 9, 9))
    script = os.path.realpath(write({"train.py": text}) / "train.py")
    seen = survey(run_probe, write, text, places={script: places})
    assert (seen["warm"], seen["compiled"]) == (5, True)
    assert "loop" in seen["exercised"]
    assert not seen["exercise_known"]


def test_a_script_that_ends_early_is_reported_before_its_end(
    run_probe: RunProbe, write: Write
) -> None:
    write({"train.py": TRAIN.replace("range(99)", "range(1)")})
    outcome = run_probe("train.py", mode="survey", until=("ended",))
    [seen] = outcome.of("survey")
    assert (seen["finished"], seen["steps"], len(seen["times"])) == (True, 10, 9)
    assert outcome.ended["steps"] == 10


def test_a_script_without_steps_is_reported_too(run_probe: RunProbe, write: Write) -> None:
    seen = survey(run_probe, write, "import torch", until=("ended",))
    assert (seen["anchor"], seen["words"], seen["steps"], seen["times"]) == (None, "", 0, [])
    assert (seen["warm"], seen["step_s"], seen["finished"]) == (0, 0.0, True)


SPAWNED = """
    import torch
    import torch.multiprocessing as mp

    def train(rank, steps):
        model = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(steps):
            model(torch.ones(4)).sum().backward()
            optimizer.step()

    if __name__ == "__main__":
        model = torch.nn.Linear(4, 1)
        mp.start_processes(train, (STEPS,), nprocs=1, start_method="HOW")
"""


@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_processes_that_train_report_for_themselves(
    run_probe: RunProbe, write: Write, how: str
) -> None:
    write({"train.py": SPAWNED.replace("STEPS", "7").replace("HOW", how)})
    outcome = run_probe("train.py", mode="survey", until=("ended",))
    steps = sorted(message["steps"] for message in outcome.of("survey"))
    assert steps == [0, 7]
    assert all(message["finished"] for message in outcome.of("survey"))
    roles = sorted(message["role"] for message in outcome.of("hello"))
    assert roles == ["child", "main"]


def test_the_gpus_memory_is_what_a_run_would_find_there(monkeypatch: pytest.MonkeyPatch) -> None:
    class Cuda(FakeCuda):
        def memory_allocated(self) -> int:
            return self.allocated

        def get_device_name(self) -> str:
            return "H200"

    cuda, told = Cuda(), []
    cuda.allocate(4 * 2**20)
    cuda.reserved, cuda.total = 3 * 2**20, 8 * 2**20
    monkeypatch.setattr(torch, "cuda", cuda)
    link = SimpleNamespace(role="main", send=lambda _, report: told.append(report))
    watch = SimpleNamespace(seen=set(), complete=True)
    Surveyor(RunSettings(main="x", project="p"), link, watch).finish()  # type: ignore[arg-type]
    (report,) = told
    assert (report.device, report.gpu_name) == ("cuda", "H200")
    assert (report.gpu_mb, report.gpu_free_mb) == (4.0, 8.0)
