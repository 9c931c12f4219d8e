"""Shapes of inputs are counted layer by layer, and nothing is changed by that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import fx, nn

from tests.runtime.probe.instruments.user_file import UserFile
from torchlint.runtime.probe import private
from torchlint.runtime.probe.instruments import shapes

if TYPE_CHECKING:
    from pathlib import Path

    from torchlint.runtime.probe.instrument_messages import ShapedModule

deprecates = pytest.mark.filterwarnings("ignore::DeprecationWarning")

TRAIN = """
import torch
from torch import nn

class Scaled(nn.Conv2d):
    def forward(self, x):
        return nn.functional.conv2d(x, self.weight * 2)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 2, 3)
        self.rest = nn.Sequential(nn.ReLU(), Scaled(2, 2, 3))

    def forward(self, x):
        x = self.first(x)  # first
        return self.rest(x).mean()  # rest

net = Net()

def step(size, batch=2):
    net(torch.ones(batch, 1, size, size)).backward()
"""


@pytest.fixture
def user(tmp_path: Path) -> UserFile:
    return UserFile(tmp_path, TRAIN)


def watched(user: UserFile, sizes: list[int], step: str = "step") -> list[ShapedModule]:
    """The modules that the instrument saw in a step of each size."""
    left = iter(sizes)
    found = user.watched(shapes, lambda: getattr(user.module, step)(next(left)), len(sizes))
    return found.modules


def test_each_layer_is_told_with_its_name_line_and_shapes(user: UserFile) -> None:
    first, rest = watched(user, [8, 8, 9])
    assert (first.name, first.kind, first.compiled) == ("first", "Conv2d", False)
    assert first.place == user.place("# first")
    assert (first.calls, first.fresh, first.others) == (3, 2, 0)
    assert first.shapes == {"2x1x8x8": 2, "2x1x9x9": 1}
    # A class of the user's with its own `forward`, within a container.
    assert (rest.name, rest.kind, rest.calls) == ("rest.1", "Scaled", 3)
    assert rest.place == user.place("# rest")


def test_a_new_shape_at_each_step_is_bounded(user: UserFile) -> None:
    first, _ = watched(user, list(range(8, 28)))
    assert (first.calls, len(first.shapes), first.others, first.fresh) == (20, 16, 4, 20)


def test_several_shapes_within_a_step_are_fresh_once(tmp_path: Path) -> None:
    user = UserFile(
        tmp_path, TRAIN + "\ndef pyramid(size):\n    [step(size + more) for more in range(5)]\n"
    )
    first, _ = watched(user, [8, 8, 8], step="pyramid")
    assert (len(first.shapes), first.fresh) == (5, 1)


def test_evaluation_does_not_count(user: UserFile) -> None:
    user.module.net.eval()
    assert watched(user, [8, 9]) == []


def test_what_a_backward_pass_computes_again_does_not_count(tmp_path: Path) -> None:
    again = "checkpoint(self.first, x, use_reentrant=False)"
    text = TRAIN.replace("self.first(x)  #", again + "  #")
    user = UserFile(tmp_path, "from torch.utils.checkpoint import checkpoint\n" + text)
    first, _ = watched(user, [8, 9])
    assert (first.name, first.calls) == ("first", 2)


def test_a_layer_that_is_gone_is_not_told(tmp_path: Path) -> None:
    user = UserFile(
        tmp_path,
        TRAIN + "\ndef once(size):\n    nn.Conv2d(1, 1, 3)(torch.ones(1, 1, size, size))\n",
    )
    assert watched(user, [8, 9], step="once") == []


def test_the_layers_with_most_shapes_come_first(
    user: UserFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shapes, "_TOLD", 1)
    user.module.other = nn.Conv2d(1, 1, 1)
    instrument = shapes.watch(user.settings)
    instrument.open()
    user.module.other(torch.ones(1, 1, 2, 2))
    for size in (8, 9):
        user.module.step(size)
    assert [each.name for each in instrument.close().modules] == ["first"]


def test_symbolic_tracing_sees_what_it_would(user: UserFile) -> None:
    before = str(fx.symbolic_trace(user.module.net).graph)
    instrument = shapes.watch(user.settings)
    instrument.open()
    assert str(fx.symbolic_trace(user.module.net).graph) == before
    instrument.close()


@deprecates
def test_compiled_modules_are_seen_and_stay_as_they_are(tmp_path: Path) -> None:
    text = TRAIN.replace("net = Net()", "net = torch.compile(Net(), backend='eager', dynamic=True)")
    user = UserFile(tmp_path, text)
    for size in (8, 9, 10):
        user.module.step(size)
    frames = private.compiled_frames()
    (net,) = watched(user, [8, 9, 10])
    assert private.compiled_frames() == frames
    assert (net.kind, net.compiled, net.fresh) == ("Net", True, 3)
    assert net.place == user.place("net(torch.ones")
    assert list(net.shapes) == ["2x1x8x8", "2x1x9x9", "2x1x10x10"]


@deprecates
def test_what_is_compiled_in_the_window_is_the_same_graph(tmp_path: Path) -> None:
    graphs: list[str] = []

    def backend(graph: fx.GraphModule, _: object) -> Any:
        graphs.append(str(graph.graph))
        return graph.forward

    user = UserFile(tmp_path, TRAIN)
    torch.compile(user.module.net, backend=backend)(torch.ones(1, 1, 8, 8))
    torch._dynamo.reset()
    instrument = shapes.watch(user.settings)
    instrument.open()
    torch.compile(user.module.net, backend=backend)(torch.ones(1, 1, 8, 8))
    instrument.close()
    before, after = graphs
    assert before == after
