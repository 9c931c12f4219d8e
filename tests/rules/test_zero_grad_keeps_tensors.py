"""TL401: which `zero_grad` calls are reported for which torch, and what the fix writes."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from torchlint.config.settings import Selection
from torchlint.engine.check import check
from torchlint.finding import Applicability, Finding, Tier
from torchlint.fixes.fixer import fix_targets
from torchlint.project.target import Target

FIXTURES = Path(__file__).parents[2] / "fixtures" / "zero-grad-keeps-tensors"
ONLY = Selection(select=("TL401",), ignore=())
NEWEST = (2, 13)
HEADER = "import torch\nfrom torch import nn, optim\n\n"
SGD = "optimizer = optim.SGD(model.parameters(), lr=0.1)\n"


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


REPORTED = {
    "an optimizer, by keyword": SGD + "optimizer.zero_grad(set_to_none=False)",
    "an optimizer, by position": SGD + "optimizer.zero_grad(False)",
    "an optimizer under another name": "o = optim.Adam(ps)\no.zero_grad(set_to_none=False)",
    "a parameter that sounds like an optimizer": """
        def step(loss, optimizer):
            optimizer.zero_grad(set_to_none=False)
        """,
    "an attribute": """
        class Trainer:
            def __init__(self, model):
                self.opt_g = optim.SGD(model.parameters(), lr=0.1)

            def step(self):
                self.opt_g.zero_grad(set_to_none=False)
        """,
    "a module": "net = nn.Linear(2, 2)\nnet.zero_grad(set_to_none=False)",
    "a module of the file": """
        class Net(nn.Module):
            pass

        net = Net()
        net.zero_grad(set_to_none=False)
        """,
    "a module's own method": """
        class Net(nn.Module):
            def reset(self):
                self.zero_grad(set_to_none=False)
        """,
    "an optimizer of a family of packages that keep torch's method": """
        from accelerate.optimizer import AcceleratedOptimizer
        optimizer = AcceleratedOptimizer(base)
        optimizer.zero_grad(set_to_none=False)
        """,
    "gradients are read behind a test for None": SGD
    + """
def norm(model):
    return sum(p.grad.norm() for p in model.parameters() if p.grad is not None)
optimizer.zero_grad(set_to_none=False)
""",
    "gradients are freed by hand elsewhere": SGD
    + "for p in ps:\n    p.grad = None\noptimizer.zero_grad(set_to_none=False)",
    "torch computes gradients of gradients": SGD
    + "g = torch.autograd.grad(loss, x)\noptimizer.zero_grad(set_to_none=False)",
    "clipping, which asks for None itself": SGD
    + "nn.utils.clip_grad_norm_(ps, 1.0)\noptimizer.zero_grad(set_to_none=False)",
}


@pytest.mark.parametrize("code", REPORTED.values(), ids=REPORTED)
def test_reported(code: str) -> None:
    (finding,) = findings(code)
    assert finding.tier is Tier.DEFAULT
    assert finding.fix is not None
    assert finding.fix.applicability is Applicability.UNSAFE


LEFT_ALONE = {
    "bare, which frees since torch 2.0": SGD + "optimizer.zero_grad()",
    "already freed": SGD + "optimizer.zero_grad(set_to_none=True)",
    "already freed, by position": SGD + "optimizer.zero_grad(True)",
    "as somebody decides": SGD + "optimizer.zero_grad(set_to_none=flag)",
    "arguments that nobody sees": SGD + "optimizer.zero_grad(*args, **options)",
    "one argument that nobody sees": SGD + "optimizer.zero_grad(*[], set_to_none=False)",
    "keywords that nobody sees": SGD + "optimizer.zero_grad(False, **options)",
    "something else with the method": "meter.zero_grad(set_to_none=False)",
    "a function of that name": "zero_grad(False)",
    "another method of the optimizer": SGD
    + "optimizer.step(set_to_none=False)\noptimizer.zero_grad()\n",
    "an optimizer from a package that nobody knows": """
        from fancy import FancyOptimizer
        optimizer = FancyOptimizer(ps)
        optimizer.zero_grad(set_to_none=False)
        """,
    "an optimizer of the project": """
        class MyOptimizer(optim.Optimizer):
            pass

        optimizer = MyOptimizer(ps)
        optimizer.zero_grad(set_to_none=False)
        """,
    "an optimizer of the project in an attribute": """
        from mine import MyOptim

        class Trainer:
            def __init__(self, ps):
                self.optimizer = MyOptim(ps)

            def step(self):
                self.optimizer.zero_grad(set_to_none=False)
        """,
    "a module with its own zero_grad": """
        class Net(nn.Module):
            def zero_grad(self, set_to_none=False):
                pass

        net = Net()
        net.zero_grad(set_to_none=False)
        """,
    "a class that is no module": """
        class Meter:
            def reset(self):
                self.zero_grad(set_to_none=False)
        """,
    "gradients are added up in place": SGD
    + "for p, g in zip(ps, gs):\n    p.grad += g\noptimizer.zero_grad(set_to_none=False)",
    "gradients are read without a test for None": SGD
    + "total = sum(p.grad.norm() for p in ps)\noptimizer.zero_grad(set_to_none=False)",
    "CUDA graphs want gradients to stay where they are": SGD
    + "g = torch.cuda.CUDAGraph()\noptimizer.zero_grad(set_to_none=False)",
    "FSDP": """
        from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
        model = FSDP(model)
        model.zero_grad(set_to_none=False)
        """,
    "DeepSpeed": """
        import deepspeed
        model, optimizer, _, _ = deepspeed.initialize(model=model)
        optimizer.zero_grad(set_to_none=False)
        """,
}


@pytest.mark.parametrize("code", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_left_alone(code: str) -> None:
    assert findings(code) == []


def test_silent_in_tests() -> None:
    assert findings(SGD + "optimizer.zero_grad(False)", path="tests/test_it.py") == []


@pytest.mark.parametrize(
    ("torch", "reported"),
    [((1, 6), False), ((1, 7), True), ((1, 13), True), ((2, 0), False)],
)
def test_a_bare_call_keeps_tensors_before_torch_2(torch: tuple[int, int], reported: bool) -> None:
    assert bool(findings(SGD + "optimizer.zero_grad()", torch)) is reported


FIXED = {
    "the argument goes": (
        SGD + "optimizer.zero_grad(set_to_none=False)  # why\n",
        SGD + "optimizer.zero_grad()  # why\n",
        NEWEST,
    ),
    "the argument goes by position too": (
        SGD + "optimizer.zero_grad(False)\n",
        SGD + "optimizer.zero_grad()\n",
        NEWEST,
    ),
    "older torch has to be told": (
        SGD + "optimizer.zero_grad(set_to_none=False)\n",
        SGD + "optimizer.zero_grad(set_to_none=True)\n",
        (1, 10),
    ),
    "older torch has to be told by keyword": (
        SGD + "optimizer.zero_grad(False)\n",
        SGD + "optimizer.zero_grad(set_to_none=True)\n",
        (1, 10),
    ),
    "older torch has to be told where nothing was said": (
        SGD + "optimizer.zero_grad()\n",
        SGD + "optimizer.zero_grad(set_to_none=True)\n",
        (1, 10),
    ),
}


@pytest.mark.parametrize(("code", "expected", "torch"), FIXED.values(), ids=FIXED)
def test_fixed(code: str, expected: str, torch: tuple[int, int]) -> None:
    assert fixed(code, torch) == expected
    assert findings(expected, torch) == []


def test_the_first_fix_for_older_torch_says_it_at_once() -> None:
    (finding,) = findings(SGD + "optimizer.zero_grad(False)", (1, 10))
    assert finding.fix is not None
    assert [edit.content for edit in finding.fix.edits] == ["set_to_none=True"]


# whole programs ----------------------------------------------------------------------------


def test_the_bad_program_becomes_the_fixed_one() -> None:
    bad = (FIXTURES / "bad.py").read_bytes()
    (file,) = fix_targets([Target("program.py", ONLY, NEWEST, bad)], unsafe=True).files
    assert file.after.decode() == (FIXTURES / "fixed.py").read_text()


@pytest.mark.parametrize("name", ["fixed.py", "clean.py"])
def test_nothing_is_said_of_a_program_without_the_pattern(name: str) -> None:
    target = Target("program.py", ONLY, NEWEST, (FIXTURES / name).read_bytes())
    assert check([target]).findings == ()
