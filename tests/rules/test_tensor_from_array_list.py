"""TL106: which lists are read number by number, and how they are joined."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from torchlint.config.settings import Selection
from torchlint.engine.check import check
from torchlint.finding import Applicability, Finding, Tier
from torchlint.fixes.fixer import fix_targets
from torchlint.project.target import Target

FIXTURES = Path(__file__).parents[2] / "fixtures" / "tensor-from-array-list"
ONLY = Selection(select=("TL106",), ignore=())
HEADER = "import numpy as np\nimport torch\n\n"
SAFE, UNSAFE, SUGGEST = Applicability.SAFE, Applicability.UNSAFE, Applicability.SUGGEST


def findings(code: str, path: str = "train.py", header: str = HEADER) -> list[Finding]:
    report = check([Target(path, ONLY, (2, 13), (header + dedent(code)).encode())])
    assert not report.diagnostics
    return list(report.findings)


def fixed(code: str, *, unsafe: bool = True) -> str:
    target = Target("train.py", ONLY, (2, 13), (HEADER + dedent(code)).encode())
    report = fix_targets([target], unsafe=unsafe)
    assert not report.diagnostics
    after = report.files[0].after.decode() if report.files else HEADER + dedent(code)
    return after.removeprefix(HEADER)


REPORTED = {
    "a list that is written out": "x = torch.tensor([np.zeros(3), np.ones(3)])",
    "a tuple": "x = torch.tensor((np.zeros(3), np.ones(3)))",
    "a comprehension": "x = torch.tensor([np.asarray(row) for row in rows])",
    "a list by name": "rows = [np.zeros(3), np.ones(3)]\nx = torch.tensor(rows)",
    "a list that grows": """
        def load(names):
            rows = []
            for name in names:
                rows.append(np.load(name))
            return torch.tensor(rows)
        """,
    "as_tensor, which reads a list in the same way": "x = torch.as_tensor([np.zeros(3)])",
    "a typed constructor": "x = torch.FloatTensor([np.zeros(3), np.ones(3)])",
    "an alias of typed constructors": """
        Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
        x = Tensor([np.zeros(3), np.ones(3)])
        """,
    "the rows of an array as a list": "x = torch.tensor(np.zeros((3, 4)).tolist())",
    "the numbers of an array, with a type": (
        "a = np.zeros((3, 4))\nx = torch.tensor(a.tolist(), dtype=torch.float32)"
    ),
    "numbers read from tensors": """
        losses = [torch.zeros(()), torch.ones(())]
        x = torch.tensor([loss.item() for loss in losses])
        """,
}


@pytest.mark.parametrize("code", REPORTED.values(), ids=REPORTED)
def test_reported(code: str) -> None:
    assert [finding.tier for finding in findings(code)] == [Tier.DEFAULT]


LEFT_ALONE = {
    "numbers": "x = torch.tensor([1, 2, 3])",
    "token ids": "x = torch.tensor([vocabulary[word] for word in words])",
    "numbers that lists are made of": "x = torch.tensor([[1, 2], [3, 4]])",
    "the numbers of an array": "x = torch.tensor([*np.zeros(3)])",
    "an empty list": "x = torch.tensor([])",
    "a list that is empty when the tensor is made": "rows = []\nx = torch.tensor(rows)",
    "arrays and something else": "x = torch.tensor([np.zeros(3), other])",
    "arrays and numbers": "x = torch.tensor([np.zeros(3), 5.0])",
    "numbers of NumPy": "x = torch.tensor([np.float32(1), np.float32(2)])",
    "means": "x = torch.tensor([np.zeros(3).mean() for _ in range(3)])",
    "items that may be numbers": "a = np.zeros(3)\nx = torch.tensor([a[i] for i in range(3)])",
    "tensors": "x = torch.tensor([torch.zeros(3), torch.ones(3)])",
    "something unknown": "x = torch.tensor(rows)",
    "a list that others fill": "rows = [np.zeros(3)]\nrows.extend(more)\nx = torch.tensor(rows)",
    "a list with an item that was replaced": (
        "rows = [np.zeros(3)]\nrows[0] = other\nx = torch.tensor(rows)"
    ),
    "a list that grows by something unknown": (
        "rows = [np.zeros(3)]\nrows.append(other)\nx = torch.tensor(rows)"
    ),
    "a deque of returns": """
        from collections import deque
        returns = deque()
        returns.appendleft(np.zeros(3))
        x = torch.tensor(returns)
        """,
    "an array": "x = torch.tensor(np.zeros(3))",
    "arrays that were joined": "x = torch.tensor(np.stack([np.zeros(3), np.ones(3)]))",
    "the list of something unknown": "x = torch.tensor(a.tolist())",
    "the list of a tensor": "x = torch.tensor(torch.zeros(3).tolist())",
    "numbers read from something unknown": "x = torch.tensor([m.item() for m in meters])",
    "numbers read from arrays": "x = torch.tensor([a.item() for a in [np.zeros(1)]])",
    "a class of the project": "from shapes import Tensor\nx = Tensor([np.zeros(3)])",
}


@pytest.mark.parametrize("code", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_left_alone(code: str) -> None:
    assert findings(code) == []


def test_tests_are_left_alone() -> None:
    assert findings("x = torch.tensor([np.zeros(3)])", path="tests/test_model.py") == []


FIXED = {
    "a list of one type that is written out": (
        "x = torch.tensor([np.zeros(3), np.ones(3)])\n",
        "x = torch.as_tensor(np.stack([np.zeros(3), np.ones(3)]))\n",
        SAFE,
    ),
    "types that join differently in NumPy": (
        "x = torch.tensor([np.zeros(3, dtype=np.int64), np.ones(3, dtype=np.float32)])\n",
        "x = torch.as_tensor(np.stack([np.zeros(3, dtype=np.int64), np.ones(3, dtype=np.float32)]))"
        "\n",
        UNSAFE,
    ),
    "a type that is unknown": (
        "x = torch.tensor([np.load('a.npy')])\n",
        "x = torch.as_tensor(np.stack([np.load('a.npy')]))\n",
        UNSAFE,
    ),
    "a comprehension, which may be empty": (
        "x = torch.tensor([np.zeros(3) for _ in rows], dtype=torch.float32, device=device)\n",
        "x = torch.as_tensor(np.stack([np.zeros(3) for _ in rows]), dtype=torch.float32, "
        "device=device)\n",
        UNSAFE,
    ),
    "options that as_tensor does not take": (
        "x = torch.tensor([np.zeros(3)], requires_grad=True)\n",
        "x = torch.tensor(np.stack([np.zeros(3)]), requires_grad=True)\n",
        SAFE,
    ),
    "as_tensor": (
        "x = torch.as_tensor([np.zeros(3)])\n",
        "x = torch.as_tensor(np.stack([np.zeros(3)]))\n",
        SAFE,
    ),
    "a typed constructor": (
        "x = torch.FloatTensor([np.zeros(3), np.ones(3)])\n",
        "x = torch.FloatTensor(np.stack([np.zeros(3), np.ones(3)]))\n",
        SAFE,
    ),
    "the numbers of an array, with a type": (
        "a = np.zeros((3, 4))\nx = torch.tensor(a.tolist(), dtype=torch.float32)\n",
        "a = np.zeros((3, 4))\nx = torch.as_tensor(a, dtype=torch.float32)\n",
        UNSAFE,
    ),
    "the numbers of an array, with the type in the name": (
        "x = torch.FloatTensor(np.zeros(3).tolist())\n",
        "x = torch.FloatTensor(np.zeros(3))\n",
        UNSAFE,
    ),
    "numbers read from tensors": (
        "ts = [torch.zeros(()), torch.ones(())]\nx = torch.tensor([t.item() for t in ts])\n",
        "ts = [torch.zeros(()), torch.ones(())]\nx = torch.stack([t.detach() for t in ts])\n",
        UNSAFE,
    ),
}


@pytest.mark.parametrize(("before", "after", "safety"), FIXED.values(), ids=FIXED)
def test_fixed(before: str, after: str, safety: Applicability) -> None:
    (finding,) = findings(before)
    assert finding.fix is not None
    assert finding.fix.applicability is safety
    assert fixed(before) == after
    assert fixed(after) == after
    assert fixed(before, unsafe=False) == (after if safety is SAFE else before)


def test_a_list_that_made_the_type_is_only_suggested_away() -> None:
    code = "x = torch.tensor(np.zeros((3, 4)).tolist())\n"
    (finding,) = findings(code)
    assert finding.fix is not None
    assert finding.fix.applicability is SUGGEST
    assert fixed(code) == code


WITHHELD = {
    "arrays without NumPy": (
        "import torch\n\n",
        "x = torch.tensor([t.numpy() for t in ts])",
        "NumPy is not imported",
    ),
    "a list for constructors here and there": (
        HEADER,
        "Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor\n"
        "x = Tensor(np.zeros(3).tolist())",
        "on the GPU",
    ),
    "numbers with a type": (
        HEADER,
        "ts = [torch.zeros(())]\nx = torch.tensor([t.item() for t in ts], dtype=torch.float64)",
        "torch.stack",
    ),
    "numbers where torch has no name": (
        "from torch import tensor, zeros\n\n",
        "ts = [zeros(())]\nx = tensor([t.item() for t in ts])",
        "torch.stack",
    ),
    "numbers for a typed constructor": (
        HEADER,
        "ts = [torch.zeros(())]\nx = torch.FloatTensor([t.item() for t in ts])",
        "torch.stack",
    ),
}


@pytest.mark.parametrize(("header", "code", "reason"), WITHHELD.values(), ids=WITHHELD)
def test_withheld(header: str, code: str, reason: str) -> None:
    (finding,) = findings(code, header=header)
    assert finding.fix is None
    assert reason in str(finding.withheld)


def test_a_constructor_imported_by_its_name_keeps_it() -> None:
    before = "from torch import tensor\nx = tensor([np.zeros(3)])\n"
    assert fixed(before) == "from torch import tensor\nx = tensor(np.stack([np.zeros(3)]))\n"


def test_the_bad_program_becomes_the_fixed_one() -> None:
    target = Target("program.py", ONLY, (2, 13), (FIXTURES / "bad.py").read_bytes())
    (file,) = fix_targets([target], unsafe=True).files
    assert file.after.decode() == (FIXTURES / "fixed.py").read_text()


@pytest.mark.parametrize("name", ["fixed.py", "clean.py"])
def test_nothing_is_said_of_a_program_without_the_pattern(name: str) -> None:
    report = check([Target("program.py", ONLY, (2, 13), (FIXTURES / name).read_bytes())])
    assert not report.diagnostics
    assert report.findings == ()
