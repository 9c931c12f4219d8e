"""TL402: which loops only zero gradients, and when one call can take their place."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from torchlint.config.settings import Selection
from torchlint.engine.check import check
from torchlint.finding import Applicability, Finding, Tier
from torchlint.fixes.fixer import fix_targets
from torchlint.project.target import Target

FIXTURES = Path(__file__).parents[2] / "fixtures" / "manual-grad-zeroing"
ONLY = Selection(select=("TL402",), ignore=())
NEWEST = (2, 13)
HEADER = (
    "import torch\nfrom torch import nn, optim\n\nmodel = nn.Linear(2, 2)\nstart = torch.zeros(2)\n"
)


def findings(code: str, torch: tuple[int, int] = NEWEST, path: str = "train.py") -> list[Finding]:
    report = check([Target(path, ONLY, torch, (HEADER + dedent(code)).encode())])
    assert not report.diagnostics
    return list(report.findings)


def fixed(code: str, torch: tuple[int, int] = NEWEST) -> str:
    target = Target("train.py", ONLY, torch, (HEADER + dedent(code)).encode())
    report = fix_targets([target], unsafe=True)
    assert not report.diagnostics
    after = report.files[0].after.decode() if report.files else HEADER + dedent(code)
    return after.removeprefix(HEADER)


def over_parameters(*lines: str, source: str = "model.parameters()") -> str:
    return f"for p in {source}:\n" + "".join(f"    {line}\n" for line in lines)


ZERO = over_parameters("p.grad.zero_()")
REPORTED = {
    "gradients of gradients are not kept": ZERO + "loss.backward(create_graph=False)\n",
    "zero_": ZERO,
    "zero_ of the data": over_parameters("p.grad.data.zero_()"),
    "filled with 0": over_parameters("p.grad.fill_(0)"),
    "filled with 0.0": over_parameters("p.grad.data.fill_(0.0)"),
    "detached first": over_parameters("p.grad.detach_()", "p.grad.zero_()"),
    "detached first, on one line": over_parameters("p.grad.detach_(); p.grad.zero_()"),
    "a test for None": over_parameters("if p.grad is not None:", "    p.grad.zero_()"),
    "a test for None that leaves": over_parameters(
        "if p.grad is None:", "    continue", "p.grad.zero_()"
    ),
    "a test for a gradient": over_parameters(
        "if p.requires_grad and p.grad is not None:", "    p.grad.zero_()"
    ),
    "on the line of the loop": "for p in model.parameters(): p.grad.zero_()\n",
    "with names": "for name, p in model.named_parameters():\n    p.grad.zero_()\n",
    "a list of parameters": over_parameters("p.grad.zero_()", source="params"),
    "the parameters of one group": over_parameters("p.grad.zero_()", source='group["params"]'),
    "new zeros on each step": "while True:\n    for p in model.parameters():\n"
    "        p.grad = torch.zeros_like(p)\n    loss.backward()\n",
}


@pytest.mark.parametrize("code", REPORTED.values(), ids=REPORTED)
def test_reported(code: str) -> None:
    (finding,) = findings(code)
    assert finding.tier is Tier.DEFAULT


LEFT_ALONE = {
    "freed": over_parameters("p.grad = None"),
    "freed where there is one": over_parameters("if p.grad is not None:", "    p.grad = None"),
    "a selection by name": "for name, p in model.named_parameters():\n"
    "    if 'bias' in name:\n        p.grad.zero_()\n",
    "a selection by something else": over_parameters("if p.dim() > 1:", "    p.grad.zero_()"),
    "one of two branches": over_parameters(
        "if p.grad is not None:", "    p.grad.zero_()", "else:", "    count += 1"
    ),
    "a loop with an else": ZERO + "else:\n    done()\n",
    "a body that does more": over_parameters("p.grad.zero_()", "count += 1"),
    "a body that reads": over_parameters("norms.append(p.grad.norm())", "p.grad.zero_()"),
    "the gradient of something else": over_parameters("other.grad.zero_()"),
    "another value": over_parameters("p.grad.fill_(1)"),
    "nothing but a test": over_parameters("p.grad.detach_()"),
    "the weights themselves": over_parameters("p.data.zero_()"),
    "two targets": "while True:\n    for p in model.parameters():\n"
    "        p.grad = q.grad = torch.zeros_like(p)\n    loss.backward()\n",
    "new zeros for something else": "while True:\n    for p in model.parameters():\n"
    "        q.grad = torch.zeros_like(p)\n    loss.backward()\n",
    "a test of something else": over_parameters("if q.grad is not None:", "    p.grad.zero_()"),
    "inputs, not parameters": over_parameters("p.grad.zero_()", source="images"),
    "gradients are made once, outside of training": over_parameters("p.grad = torch.zeros_like(p)"),
    "something is made of zeros that is not zeros": "while True:\n"
    "    for p in model.parameters():\n        p.grad = noise(p)\n    loss.backward()\n",
    "gradients are added up by hand": ZERO + "for p, g in zip(params, gs):\n    p.grad += g\n",
    "gradients are added up by a method": ZERO + "w.grad.data.add_(g)\n",
    "meta-learning": ZERO + "torch.autograd.grad(loss, params, create_graph=True)\n",
    "a while loop": "while p.grad:\n    p.grad.zero_()\n",
}


@pytest.mark.parametrize("code", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_left_alone(code: str) -> None:
    assert findings(code) == []


def test_silent_in_tests() -> None:
    assert findings(ZERO, path="tests/test_it.py") == []


def test_loops_over_groups_are_one_finding() -> None:
    code = "o = optim.SGD(model.parameters())\nfor group in o.param_groups:\n" + "".join(
        f"    {line}\n"
        for line in over_parameters("p.grad.zero_()", source='group["params"]').splitlines()
    )
    (finding,) = findings(code)
    assert finding.start.row == 7


FIXED = {
    "a module": (ZERO, "model.zero_grad()\n", NEWEST),
    "a module, with names": (
        "for n, p in model.named_parameters():\n    p.grad.zero_()\nstep()\n",
        "model.zero_grad()\nstep()\n",
        NEWEST,
    ),
    "an optimizer": (
        "o = optim.SGD(ps)\nfor g in o.param_groups:\n    for p in g['params']:\n"
        "        if p.grad is not None:\n            p.grad.zero_()\n",
        "o = optim.SGD(ps)\no.zero_grad()\n",
        NEWEST,
    ),
    "an attribute, in a block": (
        "class T:\n    def __init__(self):\n        self.net = nn.Linear(2, 2)\n"
        "    def step(self):\n        for p in self.net.parameters():\n"
        "            p.grad.zero_()\n        go()\n",
        "class T:\n    def __init__(self):\n        self.net = nn.Linear(2, 2)\n"
        "    def step(self):\n        self.net.zero_grad()\n        go()\n",
        NEWEST,
    ),
    "a comment at the end stays": (
        over_parameters("p.grad.zero_()  # as in the paper"),
        "model.zero_grad()  # as in the paper\n",
        NEWEST,
    ),
    "older torch has to be told": (ZERO, "model.zero_grad(set_to_none=True)\n", (1, 10)),
}


@pytest.mark.parametrize(("code", "expected", "torch"), FIXED.values(), ids=FIXED)
def test_fixed(code: str, expected: str, torch: tuple[int, int]) -> None:
    (finding,) = findings(code, torch)
    assert finding.fix is not None
    assert finding.fix.applicability is Applicability.UNSAFE
    assert fixed(code, torch) == expected


WITHHELD = {
    "not all parameters of one owner": (
        over_parameters("p.grad.zero_()", source="params"),
        "not over all parameters",
        NEWEST,
    ),
    "some parameters of a module": (
        over_parameters("p.grad.zero_()", source="model.parameters(False)"),
        "not over all parameters",
        NEWEST,
    ),
    "an owner that is computed": (
        over_parameters("p.grad.zero_()", source="nets[0].parameters()"),
        "not over all parameters",
        NEWEST,
    ),
    "zero_grad itself": (
        "class Net(nn.Module):\n    def zero_grad(self):\n        for p in self.parameters():\n"
        "            p.grad.zero_()\n",
        "body of a `zero_grad`",
        NEWEST,
    ),
    "an owner that nothing is known of": (
        over_parameters("p.grad.zero_()", source="thing.parameters()"),
        "thing",
        NEWEST,
    ),
    "a comment": (over_parameters("# as in the paper", "p.grad.zero_()"), "comments", NEWEST),
    "gradients are read": (ZERO + "total = w.grad.norm()\n", "reads gradients", NEWEST),
    "a torch that cannot free": (ZERO, "cannot free", (1, 6)),
}


@pytest.mark.parametrize(("code", "reason", "torch"), WITHHELD.values(), ids=WITHHELD)
def test_withheld(code: str, reason: str, torch: tuple[int, int]) -> None:
    (finding,) = findings(code, torch)
    assert finding.fix is None
    assert reason in str(finding.withheld)


# whole programs ----------------------------------------------------------------------------


def test_the_bad_program_becomes_the_fixed_one() -> None:
    bad = (FIXTURES / "bad.py").read_bytes()
    (file,) = fix_targets([Target("program.py", ONLY, NEWEST, bad)], unsafe=True).files
    assert file.after.decode() == (FIXTURES / "fixed.py").read_text()


@pytest.mark.parametrize("name", ["fixed.py", "clean.py"])
def test_nothing_is_said_of_a_program_without_the_pattern(name: str) -> None:
    target = Target("program.py", ONLY, NEWEST, (FIXTURES / name).read_bytes())
    assert check([target]).findings == ()
