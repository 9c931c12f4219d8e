"""What goes into what: containers, lists that grow, and the calls of `forward`."""

from __future__ import annotations

from textwrap import dedent

import libcst as cst
import pytest
from torchlint.rules.model.conv_bias_before_norm.module_order import ModuleOrder

from torchlint.analysis.module import Module
from torchlint.files.reading import decode
from torchlint.source.parse import parse


def order(code: str) -> ModuleOrder:
    source = decode("model.py", ("from torch import nn\n" + dedent(code)).encode())
    return ModuleOrder(Module(source, parse(source), (2, 13)))


def after(code: str, layer: str = "nn.Conv2d") -> list[str]:
    """The layers behind the first layer of a kind, in source order; `?` for anything else."""
    read = order(code)
    calls = read.module.nodes(cst.Call)
    first = next(call for call in calls if read.module.source(call.func) == layer)
    steps = [step.after for step in read.steps(first)]
    return [read.module.source(call.func) if call is not None else "?" for call in steps]


CONTAINERS = {
    "Sequential": ("nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten())", ["nn.ReLU"]),
    "the last of a container goes nowhere that is seen": ("nn.Sequential(nn.Conv2d(3, 8, 3))", []),
    "unknown layer": ("nn.Sequential(nn.Conv2d(3, 8, 3), block(8))", ["?"]),
    "either of two": (
        "nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU() if fast else nn.Tanh())",
        ["nn.ReLU", "nn.Tanh"],
    ),
    "perhaps nothing between": (
        "nn.Sequential(nn.Conv2d(3, 8, 3), *([nn.ReLU()] if act else []), nn.Flatten())",
        ["nn.ReLU", "nn.Flatten"],
    ),
    "repeated list": ("nn.Sequential(*[nn.ReLU(), nn.Conv2d(8, 8, 3)] * 2)", ["nn.ReLU"]),
    "lists added": ("nn.Sequential(*([nn.Conv2d(3, 8, 3)] + [nn.Tanh()]))", ["nn.Tanh"]),
}


@pytest.mark.parametrize(("code", "behind"), CONTAINERS.values(), ids=CONTAINERS)
def test_a_container_runs_its_layers_in_order(code: str, behind: list[str]) -> None:
    assert after(code) == behind


GROWING = {
    "branches meet": (
        """
        if flag:
            layers.append(nn.ReLU())
        else:
            layers.append(nn.Tanh())
        """,
        ["nn.ReLU", "nn.Tanh"],
    ),
    "a branch that returns does not go on": (
        """
        if flag:
            layers.append(nn.ReLU())
            return nn.Sequential(*layers)
        layers.append(nn.Tanh())
        """,
        ["nn.ReLU", "nn.Tanh"],
    ),
    "a branch that raises adds nothing": (
        """
        if flag:
            layers.append(nn.ReLU())
        else:
            raise ValueError
        layers.append(nn.Tanh())
        """,
        ["nn.ReLU"],
    ),
    "with and try": (
        """
        with scope():
            try:
                layers.append(nn.ReLU())
            except ValueError:
                layers.append(nn.Tanh())
        """,
        ["nn.ReLU", "nn.Tanh"],
    ),
    "a loop that breaks": (
        """
        for _ in range(3):
            if flag:
                break
            layers.append(nn.ReLU())
        layers.append(nn.Tanh())
        """,
        ["nn.ReLU", "nn.Tanh"],
    ),
    "started again": ("layers = [nn.ReLU()]", []),
}


@pytest.mark.parametrize(("body", "behind"), GROWING.values(), ids=GROWING)
def test_a_list_is_followed_through_its_function(body: str, behind: list[str]) -> None:
    lines = ["layers = [nn.Conv2d(3, 8, 3)]", *dedent(body).strip("\n").split("\n")]
    code = "def make(flag):\n" + "".join(f"    {line}\n" for line in lines)
    assert after(code + "    return nn.Sequential(*layers)\n") == behind


def test_forward_counts_and_not_the_order_of_attributes() -> None:
    code = """
    class Net(nn.Module):
        def __init__(self):
            self.conv = nn.Conv2d(3, 8, 3)
            self.relu = nn.ReLU()
            self.tanh = nn.Tanh()

        def forward(self, x):
            x = self.conv(x)
            print(x.shape)
            return self.relu(self.tanh(x))
    """
    assert after(code) == ["nn.Tanh"]


def test_says_on_which_conditions_a_layer_follows() -> None:
    read = order(
        """
        def make(outer, inner):
            if outer:
                layers = [nn.Conv2d(3, 8, 3)]
                if inner:
                    layers.append(nn.ReLU())
                return nn.Sequential(*layers)
        """
    )
    layer = next(iter(read.layers.steps))
    (step,) = read.steps(layer)
    (branch,) = read.conditions(layer, step)
    assert read.module.source(branch.test) == "inner"
