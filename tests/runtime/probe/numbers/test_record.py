"""What a record says of a script's numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from torchlint.runtime.probe.run_settings import RECORD, Anchor

if TYPE_CHECKING:
    from tests.runtime.probe.conftest import RunProbe, Write

    Message = dict[str, Any]

OPTIMIZER = Anchor("optimizer")


def record(run_probe: RunProbe, **how: Any) -> Message:
    how = {"main": "train.py", "mode": RECORD, "anchor": OPTIMIZER, "threads": 1, **how}
    outcome = run_probe(how.pop("main"), until=("record", "ended"), **how)
    assert outcome.of("record"), outcome.stderr
    assert "Traceback" not in outcome.stderr, outcome.stderr
    (message,) = outcome.of("record")
    return message


def losses(message: Message) -> list[list[float]]:
    return [[float.fromhex(value) for value in step] for step in message["losses"]]


LINE = """
    import torch
    from torch import nn
    model = nn.Linear(1, 1)
    nn.init.constant_(model.weight, 1.0)
    nn.init.constant_(model.bias, 0.5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.25)
"""


def test_losses_and_what_becomes_of_parameters_are_written_down(
    run_probe: RunProbe, write: Write
) -> None:
    write(
        {
            "train.py": LINE
            + """
    while True:
        loss = model(torch.ones(1, 1)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.detach().mul_(0)  # what is done to a loss later does not count
            """
        }
    )
    message = record(run_probe, steps=3)
    assert losses(message) == [[1.5], [1.0], [0.5]]
    assert (message["steps"], message["at"]) == (3, [0, 1, 2])
    assert message["outputs"] == []
    weight = message["parameters"]["Linear.weight"]
    assert (weight["size"], float.fromhex(weight["eps"])) == (1, 2.0**-23)
    norms = [float.fromhex(row[-1]) for row in (weight["start"], *weight["after"])]
    assert norms == [1.0, 0.75**2, 0.5**2, 0.25**2]
    assert len({row[0] for row in (weight["start"], *weight["after"])}) == 4


def test_the_loss_itself_is_written_down_and_not_the_scaled_one(
    run_probe: RunProbe, write: Write
) -> None:
    body = """
    scaler = torch.amp.GradScaler("cpu", enabled={})
    while True:
        loss = model(torch.ones(1, 1)).sum()
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    """
    write({"train.py": LINE + body.format(True), "plain.py": LINE + body.format(False)})
    scaled, plain = (record(run_probe, main=name, steps=3) for name in ("train.py", "plain.py"))
    assert losses(scaled) == losses(plain) == [[1.5], [1.0], [0.5]]


def test_every_pass_of_an_accumulated_step_has_its_loss(run_probe: RunProbe, write: Write) -> None:
    write(
        {
            "train.py": LINE
            + """
    for step in range(2):
        for part in range(3):
            model(torch.full((2, 1), float(part))).backward(torch.ones(2, 1))
        optimizer.step()
        optimizer.zero_grad()
            """
        }
    )
    message = record(run_probe, steps=5)
    assert [len(step) for step in losses(message)] == [3, 3]
    assert losses(message)[0] == [1.0, 3.0, 5.0], "a loss of several numbers is their sum"
    assert message["steps"] == 2


def test_gradients_by_hand_are_heard_and_those_inside_a_loss_are_not(
    run_probe: RunProbe, write: Write
) -> None:
    write(
        {
            "train.py": LINE
            + """
    while True:
        x = torch.ones(1, 1, requires_grad=True)
        (slope,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
        loss = (slope**2).sum()
        for parameter, gradient in zip(
            [model.weight], torch.autograd.grad(loss, [model.weight])
        ):
            parameter.data -= 0.25 * gradient
            """
        }
    )
    message = record(run_probe, steps=3, anchor=Anchor("backward", 1))
    assert losses(message) == [[1.0], [0.25], [0.0625]]
    assert float.fromhex(message["parameters"]["Linear.weight"]["after"][0][-1]) == 1.0


def test_a_program_that_only_asks_a_model_is_known_by_its_answers(
    run_probe: RunProbe, write: Write
) -> None:
    write(
        {
            "train.py": LINE
            + """
    class Answer(dict):
        pass
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = model
        def forward(self, x):
            return Answer(y=self.inner(x), rest=(x, [None, x.long()]))
    asked, step = Model(), 0
    with torch.no_grad():
        while True:
            asked(torch.full((1, 2, 1), float(step)))
            step += 1
            """
        }
    )
    message = record(run_probe, steps=2, anchor=Anchor("forward"))
    assert losses(message) == [[], []]
    assert [len(step) for step in message["outputs"]] == [3, 3]
    norms = [[float.fromhex(row[-1]) for row in step] for step in message["outputs"]]
    assert norms == [[0.5, 0.0, 0.0], [4.5, 2.0, 2.0]]
    assert set(message["parameters"]) == {"Model.inner.weight", "Model.inner.bias"}


def test_parameters_without_a_module_are_followed_too(run_probe: RunProbe, write: Write) -> None:
    write(
        {
            "train.py": """
                import torch
                weight = torch.ones(3, requires_grad=True)
                optimizer = torch.optim.SGD([weight], lr=0.5)
                while True:
                    optimizer.zero_grad()
                    weight.sum().backward()
                    optimizer.step()
            """
        }
    )
    message = record(run_probe, steps=2)
    rows = message["parameters"]["parameter 1"]
    norms = [float.fromhex(row[-1]) for row in (rows["start"], *rows["after"])]
    assert norms == [3.0, 0.75, 0.0]


TWO = """
    import torch
    from torch import nn
    from torch.utils.data import DataLoader
    class Data:
        def __len__(self):
            return 64
        def __getitem__(self, index):
            probe(torch.ones(2))  # a worker that asks a model, and even steps, trains nothing
            optimizer.step()
            return torch.ones(2)
    probe, model = nn.Linear(2, 2), nn.Linear(2, 1)
    optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=0.1)
    real = torch.optim.SGD(model.parameters(), lr=0.1)
    if __name__ == "__main__":
        for batch in DataLoader(Data(), num_workers=1):
            model(batch).sum().backward()
            real.step()
"""


def test_workers_that_load_data_write_nothing_down(run_probe: RunProbe, write: Write) -> None:
    write({"train.py": TWO})
    message = record(run_probe, steps=2)
    assert set(message["parameters"]) == {"Linear.weight", "Linear.bias"}
    assert len(message["at"]) == 2


def test_large_models_are_looked_at_now_and_then(run_probe: RunProbe, write: Write) -> None:
    write(
        {
            "train.py": """
                import torch
                model = torch.nn.Linear(2000, 1100)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                while True:
                    model(torch.ones(1, 2000)).sum().backward()
                    optimizer.step()
            """
        }
    )
    message = record(run_probe, steps=9)
    assert message["at"] == [0, 1, 2, 3, 4, 5, 7, 8]
    assert len(message["losses"]) == 9


MIXED = """
    import sys
    import torch
    model = torch.nn.Linear(30, 1, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    before = model.weight.detach().clone()
    while True:
        if sys.argv[1] == "region":
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = model(torch.ones(1, 30)).float().sum()
        else:
            loss = model(torch.ones(1, 30)).to(torch.bfloat16).sum().float()
        loss.backward()
        optimizer.step()
        print((model.weight.detach() / before - 1).abs().max().item(), flush=True)
"""


@pytest.mark.parametrize(("word", "least"), [("region", 2**-7), ("none", 2**-23)])
def test_shaken_weights_are_shaken_by_what_the_script_computes_in(
    run_probe: RunProbe, write: Write, word: str, least: float
) -> None:
    write({"train.py": MIXED})
    how: dict[str, Any] = {"main": "train.py", "mode": RECORD, "anchor": OPTIMIZER, "argv": [word]}
    outcome = run_probe(how.pop("main"), steps=3, perturb=1, until=("record",), **how)
    moved = [float(line) for line in outcome.stdout.splitlines()]
    assert all(0.9 * least < each < 2.1 * least for each in moved), moved
    rows = outcome.of("record")[0]["parameters"]["Linear.weight"]
    assert {row[0] for row in rows["after"]} == {rows["start"][0]}, "the start is what was shaken"


@pytest.mark.parametrize("level", [0, 3])
def test_a_record_is_the_same_every_time(run_probe: RunProbe, write: Write, level: int) -> None:
    write(
        {
            "train.py": """
                import torch
                from torch import nn
                model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.ReLU(), nn.Linear(8, 1))
                optimizer = torch.optim.Adam(model.parameters())
                while True:
                    optimizer.zero_grad()
                    model(torch.randn(3, 4)).sum().backward()
                    optimizer.step()
            """
        }
    )
    one, other = (record(run_probe, steps=4, level=level, fresh=each) for each in (False, True))
    assert one == other
    assert len({step[0] for step in one["losses"]}) == 4


def test_compiled_models_and_steps_are_recorded_like_plain_ones(
    run_probe: RunProbe, write: Write
) -> None:
    script = """
        import sys
        import torch
        from torch import nn
        model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        step, asked = optimizer.step, model
        if sys.argv[1] == "compiled":
            asked = torch.compile(model, backend="aot_eager", fullgraph=True)
            step = torch.compile(optimizer.step, backend="aot_eager")
        for _ in range(4):
            optimizer.zero_grad()
            asked(torch.ones(2, 4)).sum().backward()
            step()
    """
    write({"train.py": script})
    plain, compiled = (
        record(run_probe, steps=3, argv=[word], level=3) for word in ("plain", "compiled")
    )
    assert set(plain["parameters"]) == set(compiled["parameters"])
    for mine, theirs in zip(losses(plain), losses(compiled), strict=True):
        assert mine == pytest.approx(theirs)
    assert compiled["at"] == [0, 1, 2]


def test_steps_that_are_skipped_are_taken_and_not_written_down(
    run_probe: RunProbe, write: Write
) -> None:
    write(
        {
            "train.py": LINE
            + """
    while True:
        loss = model(torch.ones(1, 1)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
            """
        }
    )
    message = record(run_probe, steps=2, skip=3)
    assert losses(message) == [[0.0], [-0.5]]
    assert (message["first"], message["steps"], message["at"]) == (3, 2, [3, 4])


EPOCHS = (
    LINE
    + """
    import steps
    from torch.utils.data import DataLoader, TensorDataset
    teacher = nn.Linear(1, 1).requires_grad_(False).eval()
    data = TensorDataset(torch.ones(8, 1))
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    while True:
        for inputs, in DataLoader(data, batch_size=2):
            optimizer.zero_grad()
            model(inputs).sum().backward()
            optimizer.step()
        schedule.step()
        model.eval()
        model.train()
"""
)


@pytest.mark.parametrize(
    ("steps", "passes", "evaluates", "schedules"),
    [
        (3, 1, False, ["ReduceLROnPlateau", "StepLR"]),
        (5, 2, True, ["ReduceLROnPlateau", "StepLR"]),
        (9, 3, True, []),
    ],
)
def test_how_far_the_steps_have_come_is_told(
    steps: int,
    passes: int,
    evaluates: bool,
    schedules: list[str],
    run_probe: RunProbe,
    write: Write,
) -> None:
    write({"train.py": EPOCHS, "steps.py": ""})
    reached = record(run_probe, steps=steps)["reached"]
    assert (reached["passes"], reached["batches"]) == (passes, 4)
    assert reached["evaluates"] is evaluates
    assert reached["schedules"] == schedules
    assert [path.rpartition("/")[2] for path in reached["files"]] == ["steps.py", "train.py"]
