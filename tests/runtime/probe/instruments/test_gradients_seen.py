"""Parameters without gradients, and gradients without an optimizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.optim import optimizer as optim

from tests.runtime.probe.instruments.user_file import UserFile
from torchlint.runtime.probe.instrument_messages import GradientsSeen, ParameterGroup
from torchlint.runtime.probe.instruments import gradients

if TYPE_CHECKING:
    from pathlib import Path

TRAIN = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(4, 4)
        self.head = nn.Linear(4, 2)
        self.unused = nn.Linear(4, 3)

    def forward(self, x):
        return self.head(self.encoder(x))

net = Net()

def train(optimizer, steps, stepped, zero=True, after=lambda: None):
    for _ in range(steps):
        if zero:
            optimizer.zero_grad()
        net(torch.ones(2, 4)).sum().backward()
        optimizer.step()  # step
        after()
        stepped()
"""


@pytest.fixture
def user(tmp_path: Path) -> UserFile:
    return UserFile(tmp_path, TRAIN)


def watched(user: UserFile, *modules: Any, **more: Any) -> GradientsSeen:
    """What is seen of twelve steps in which these modules are trained."""
    parameters = [each for module in modules for each in module.parameters()]
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    watch = gradients.watch(user.settings)
    watch.open()
    user.module.train(optimizer, 12, watch.passed, **more)
    return watch.close()


def test_nothing_is_found_where_all_that_is_trained_gets_a_gradient(user: UserFile) -> None:
    net = user.module.net
    net.unused.requires_grad_(False)
    assert watched(user, net) == GradientsSeen(known=True)


def test_parameters_without_a_gradient_are_named(user: UserFile) -> None:
    expected = ParameterGroup("unused", user.place("# step"), parameters=2, values=15, steps=12)
    assert watched(user, user.module.net).idle == [expected]


@pytest.mark.parametrize("zero", [True, False])
def test_gradients_without_an_optimizer_are_named(user: UserFile, zero: bool) -> None:
    found = watched(user, user.module.net.head, zero=zero)
    assert found.idle == []
    (nothing,) = found.for_nothing
    assert nothing.steps >= 11
    expected = ParameterGroup("encoder", user.place("# step"), 2, 20, nothing.steps)
    assert nothing == expected


def test_a_gradient_that_is_left_over_is_not_a_new_one(user: UserFile) -> None:
    net = user.module.net
    net(torch.ones(2, 4)).sum().backward()
    for parameter in net.encoder.parameters():
        left = parameter.grad
        parameter.requires_grad_(False)
        parameter.grad = left
    assert watched(user, net.head).for_nothing == []


def test_what_another_optimizer_holds_or_something_else_changes_is_trained(user: UserFile) -> None:
    net = user.module.net
    other = torch.optim.SGD(net.encoder.parameters(), lr=0.1)
    assert watched(user, net.head).for_nothing == []
    del other

    @torch.no_grad()
    def change() -> None:
        for parameter in net.encoder.parameters():
            parameter -= 0.1 * parameter.grad

    assert watched(user, net.head, after=change).for_nothing == []


def test_what_the_script_adds_to_the_data_itself_is_trained(user: UserFile) -> None:
    encoder = user.module.net.encoder

    def change() -> None:
        for parameter in encoder.parameters():
            parameter.data.add_(parameter.grad, alpha=-0.1)

    assert watched(user, user.module.net.head, after=change).for_nothing == []


def test_a_parameter_that_got_one_gradient_is_not_idle(user: UserFile) -> None:
    net = user.module.net
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    watch = gradients.watch(user.settings)
    watch.open()
    net.unused(torch.ones(4)).sum().backward()
    user.module.train(optimizer, 1, watch.passed, zero=False)
    user.module.train(optimizer, 11, watch.passed)
    assert watch.close().idle == []


def test_torch_without_hooks_for_all_optimizers_is_unknown(
    user: UserFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(optim, "register_optimizer_step_pre_hook")
    assert watched(user, user.module.net) == GradientsSeen(known=False)
