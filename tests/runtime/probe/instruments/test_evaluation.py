"""Evaluations that record a graph for nothing, and what only looks like one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from tests.runtime.probe.instruments.user_file import UserFile
from torchlint.runtime.probe.instruments import evaluation

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TRAIN = """
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4))
critic = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)).eval()
inputs = torch.ones(2, 4)
kept = []
features = []

def train():
    net.train()
    net(inputs).sum().backward()

def evaluates():
    train()
    net.eval()
    net(inputs).argmax(1)  # evaluates

def evaluates_right():
    train()
    net.eval()
    with torch.no_grad():
        net(inputs).argmax(1)

def keeps():
    train()
    net.eval()
    kept.append(net(inputs))  # keeps

def detaches():
    net.eval()
    target = net(inputs).detach()  # detaches
    net.train()
    (net(inputs) - target).square().sum().backward()

def trains_in_evaluation_mode():
    net.eval()
    net(inputs).sum().backward()

def trains_through_a_critic():
    net.train()
    critic.requires_grad_(False)
    critic(net(inputs)).sum().backward()

def uses_features():
    net.eval()
    handle = net[1].register_forward_hook(lambda _, __, out: features.append(out))
    net(inputs)
    handle.remove()
    features.pop().sum().backward()

def grows_from_the_input():
    critic.requires_grad_(False)
    image = inputs.clone().requires_grad_()
    torch.autograd.grad(critic(image).sum(), image)

class Wraps(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = net

    def forward(self, x):
        return (self.inner(x), {"other": 1})

def evaluates_wrapped():
    Wraps().eval()(inputs)  # wrapped
"""


@pytest.fixture
def user(tmp_path: Path) -> UserFile:
    return UserFile(tmp_path, TRAIN)


@pytest.fixture
def lines(user: UserFile) -> Callable[[str], list[dict[str, Any]]]:
    """What is seen of ten steps of one function."""

    def watch(name: str) -> list[dict[str, Any]]:
        watch = evaluation.install(user.settings)
        watch.begin()
        for _ in range(10):
            getattr(user.module, name)()
            watch.step()
        found = watch.end()
        assert found["missed"] == 0
        return found["lines"]  # type: ignore[return-value]

    return watch


@pytest.mark.parametrize("name", ["evaluates", "detaches"])
def test_a_graph_that_no_backward_pass_uses_is_counted(
    user: UserFile, lines: Callable[[str], list[dict[str, Any]]], name: str
) -> None:
    (line,) = lines(name)
    assert tuple(line["place"]) == user.place(f"# {name}")
    assert line["class"] == "Sequential"
    assert (line["unused"], line["used"], line["kept"]) == (10, 0, 0)
    assert 0 < line["unused_seconds"] < 10


def test_a_graph_that_lives_on_is_kept(
    user: UserFile, lines: Callable[[str], list[dict[str, Any]]]
) -> None:
    (line,) = lines("keeps")
    assert tuple(line["place"]) == user.place("# keeps")
    assert (line["unused"], line["used"], line["kept"]) == (0, 0, 9)
    assert line["kept_seconds"] > 0


@pytest.mark.parametrize(
    "name",
    [
        "trains_in_evaluation_mode",
        "trains_through_a_critic",
        "uses_features",
        "grows_from_the_input",
    ],
)
def test_a_graph_that_a_backward_pass_uses_is_no_waste(
    lines: Callable[[str], list[dict[str, Any]]], name: str
) -> None:
    (line,) = lines(name)
    assert (line["unused"], line["used"], line["kept"]) == (0, 10, 0)


@pytest.mark.parametrize("name", ["evaluates_right", "train"])
def test_no_graph_or_training_mode_is_not_looked_at(
    lines: Callable[[str], list[dict[str, Any]]], name: str
) -> None:
    assert lines(name) == []


def test_only_the_outermost_module_counts(
    user: UserFile, lines: Callable[[str], list[dict[str, Any]]]
) -> None:
    (line,) = lines("evaluates_wrapped")
    assert (line["class"], line["unused"]) == ("Wraps", 10)
    assert tuple(line["place"]) == user.place("# wrapped")


def test_more_graphs_than_can_be_followed_are_missed(
    user: UserFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation, "_MOST_WAITING", 4)
    watch = evaluation.install(user.settings)
    watch.begin()
    for _ in range(6):
        user.module.keeps()
        watch.step()
    assert watch.end()["missed"] == 2


def test_nothing_is_left_behind_and_gradients_are_the_same(user: UserFile) -> None:
    before = torch.nn.Module.__call__
    net = user.module.net

    def gradient() -> torch.Tensor:
        net.zero_grad()
        user.module.trains_in_evaluation_mode()
        result = net[0].weight.grad
        assert isinstance(result, torch.Tensor)
        return result

    plain = gradient()
    watch = evaluation.install(user.settings)
    watch.begin()
    assert torch.equal(gradient(), plain)
    watch.end()
    assert torch.nn.Module.__call__ is before
