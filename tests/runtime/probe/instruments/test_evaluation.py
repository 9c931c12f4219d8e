"""Evaluations that record a graph for nothing, and what only looks like one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from tests.runtime.probe.instruments.user_file import UserFile
from torchlint.runtime.probe.instruments import evaluation

if TYPE_CHECKING:
    from pathlib import Path

    from torchlint.runtime.probe.instrument_messages import EvaluatedLine

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


def lines(user: UserFile, name: str) -> list[EvaluatedLine]:
    """What is seen of ten steps of one function."""
    return user.watched(evaluation, name, 10).lines


@pytest.mark.parametrize("name", ["evaluates", "detaches"])
def test_a_graph_that_no_backward_pass_uses_is_counted(user: UserFile, name: str) -> None:
    (line,) = lines(user, name)
    assert line.place == user.place(f"# {name}")
    assert line.kind == "Sequential"
    assert (line.unused, line.used, line.kept) == (10, 0, 0)
    assert 0 < line.unused_seconds < 10


def test_a_graph_that_lives_on_is_kept(user: UserFile) -> None:
    (line,) = lines(user, "keeps")
    assert line.place == user.place("# keeps")
    assert (line.unused, line.used, line.kept) == (0, 0, 9)
    assert line.kept_seconds > 0


@pytest.mark.parametrize(
    "name",
    [
        "trains_in_evaluation_mode",
        "trains_through_a_critic",
        "uses_features",
        "grows_from_the_input",
    ],
)
def test_a_graph_that_a_backward_pass_uses_is_not_wasted(user: UserFile, name: str) -> None:
    (line,) = lines(user, name)
    assert (line.unused, line.used, line.kept) == (0, 10, 0)


@pytest.mark.parametrize("name", ["evaluates_right", "train"])
def test_no_graph_or_training_mode_is_not_looked_at(user: UserFile, name: str) -> None:
    assert lines(user, name) == []


def test_only_the_outermost_module_counts(user: UserFile) -> None:
    (line,) = lines(user, "evaluates_wrapped")
    assert (line.kind, line.unused) == ("Wraps", 10)
    assert line.place == user.place("# wrapped")


def test_no_more_graphs_are_followed_than_can_be(
    user: UserFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation, "_MOST_WAITING", 4)
    (line,) = user.watched(evaluation, "keeps", 6).lines
    assert line.kept == 4


def test_gradients_are_the_same(user: UserFile) -> None:
    net = user.module.net

    def gradient() -> torch.Tensor:
        net.zero_grad()
        user.module.trains_in_evaluation_mode()
        result = net[0].weight.grad
        assert isinstance(result, torch.Tensor)
        return result

    seen: list[torch.Tensor] = []
    user.watched(evaluation, lambda: seen.append(gradient()), 1)
    assert torch.equal(seen[0], gradient())
