"""How many functions a check calls, and how much memory it takes, as a file has more of the same:
never its square.

The constructs of the grammar, and the time that LibCST takes, are measured by
`benchmarks/grammar_growth.py`.
"""

from __future__ import annotations

import math
import sys
import threading
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from torchlint import check_source

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD = """\
import numpy
import torch
from torch.utils.data import DataLoader

class Meter:
    def update(self, value):
        self.total = value.item()

model = torch.nn.Linear(2, 2).cuda()
total = 0.0
"""
STEP = """\
for x, y in DataLoader(data):
    loss = model(x)
    loss.backward()
    optimizer.step()
"""


def all_call_all(count: int) -> str:
    """As many functions as calls take: `count` is the number of calls."""
    few = math.isqrt(count)
    functions = "".join(
        f"def f{one}(meter, value):\n    meter.update(value)\n"
        + "".join(f"    f{other}(meter, value)\n" for other in range(few))
        for one in range(few)
    )
    return f"{HEAD}{functions}{STEP}    f0(Meter(), loss)\n"


REPEATED = {
    "reads into one sum": "    total += loss.item()\n",
    "reads": "    value{0} = loss.item()\n",
    "reads of new values": "    loss{0} = model(x)\n    print(loss{0}.item())\n",
    "copies": "    a{0} = numpy.zeros(3)\n    b{0} = torch.tensor(a{0})\n",
    "loaders": "    l{0} = DataLoader(data)\n",
    "inner functions": "    def f{0}(v):\n        return v.item()\n    f{0}(loss)\n",
    "loops": "    for z in DataLoader(data):\n        loss.item()\n",
    "branches": "    if x > {0}:\n        loss.item()\n",
    "gradients": "    optimizer.zero_grad(set_to_none=False)\n",
    "suppressions": "    loss.item()  # torchlint: ignore[TL201] -- reason\n",
    "classes": "    class M{0}(torch.nn.Module):\n        def forward(self, x):\n            return x.item()\n",
}


DATASET = """\
class Images(torch.utils.data.Dataset):
    def __getitem__(self, index):
        a0 = numpy.load(self.files[index])
"""
CHOICES = {
    "arrays": (DATASET, "        if index == {1}: a{0} = a{2}\n", "        torch.tensor(a8)\n"),
    "views": (DATASET, "        if index == {1}: a{0} = a{2}[0]\n", "        torch.tensor(a8)\n"),
    "datasets": ("d0 = load()\n", "if f({1}): d{0} = d{2}\n", "DataLoader(d8)\n"),
    "parts": (
        "d0 = load()\n",
        "if f({1}): d{0} = torch.utils.data.Subset(d{2}, [{1}])\n",
        "DataLoader(d8)\n",
    ),
    "lists": (
        "d0 = [load()]\n",
        "if f({1}): d{0} = d{2}\n",
        "DataLoader(torch.utils.data.ConcatDataset(d8))\n",
    ),
    "returned": (
        "def d0():\n    return load()\n",
        "def d{0}():\n    return d{2}()\n    return {1}\n" + "    return d{2}()\n" * 3,
        "DataLoader(d8())\n",
    ),
    "options": ("o0 = dict(a=1)\n", "if f({1}): o{0} = dict(**o{2})\n", "DataLoader(d, **o8)\n"),
    "functions": ("f0 = len\n", "if f({1}): f{0} = f{2}\n", "DataLoader(d, collate_fn=f8)\n"),
    "devices": ("d0 = 'cpu'\n", "if f({1}): d{0} = d{2}\n", "torch.zeros(3).to(d8).item()\n"),
}
"""What a name may be, in eight levels: the beginning, a line for level {0} that names the level {2}
below it, and what asks."""


def choices(begin: str, line: str, end: str, count: int) -> str:
    levels = "".join(line.format(one, n, one - 1) for one in range(1, 9) for n in range(count))
    return HEAD + begin + levels + end + STEP


def all_inherit_all(count: int) -> str:
    bases = ", ".join(f"Net{other}" for other in range(count))
    nets = "".join(f"class Net{one}({bases}): pass\n" for one in range(count))
    return f"{HEAD}{nets}Net0()\n{STEP}"


def repeated(lines: str) -> str:
    return HEAD + STEP + lines


def calls(text: str) -> int:
    """How many Python functions a check of this text calls."""
    count = 0

    def heard(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    threading.setprofile(heard)
    before = sys.getprofile()
    sys.setprofile(heard)
    try:
        result = check_source(text, "train.py", isolated=True, hints=True, pedantic=True)
    finally:
        sys.setprofile(before)
        threading.setprofile(None)  # type: ignore[arg-type]
    assert not result.diagnostics
    return count


def peak(text: str) -> int:
    """The bytes that a check of this text takes at most."""
    tracemalloc.start()
    try:
        check_source(text, "train.py", isolated=True, hints=True, pedantic=True)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def grows(few: str, many: str) -> float:
    """The exponent by which the calls grow with the length of the text."""
    calls(few)  # what is done once in a process
    return math.log(calls(many) / calls(few)) / math.log(len(many) / len(few))


@pytest.mark.parametrize("line", REPEATED.values(), ids=REPEATED)
def test_a_line_that_is_repeated_costs_no_square(line: str) -> None:
    few, many = ("".join(line.format(n) for n in range(count)) for count in (100, 400))
    assert grows(repeated(few), repeated(many)) < 1.5


def in_one_table(count: int) -> str:
    functions = "".join(f"def f{n}(value):\n    return value.item()\n" for n in range(count))
    table = ", ".join(f"'{n}': f{n}" for n in range(count))
    calls = "".join(f"    TABLE['{n}'](loss)\n" for n in range(count))
    return f"{HEAD}{functions}TABLE = {{{table}}}\n{STEP}{calls}"


def test_functions_of_one_table_cost_no_square() -> None:
    assert grows(in_one_table(60), in_one_table(240)) < 1.5


@pytest.mark.parametrize(
    "program", [in_one_table, all_call_all, lambda count: choices(*CHOICES["returned"], count // 8)]
)
def test_no_program_takes_memory_by_its_square(program: Callable[[int], str]) -> None:
    few, many = program(64), program(256)
    check_source(few, isolated=True)  # what stays once in a process
    ratio = peak(many) / peak(few)
    assert math.log(ratio) / math.log(len(many) / len(few)) < 1.5


def test_functions_that_all_call_each_other_cost_no_power() -> None:
    assert grows(all_call_all(64), all_call_all(256)) < 1.5


@pytest.mark.parametrize("parts", CHOICES.values(), ids=CHOICES)
def test_what_a_name_may_be_costs_no_power(parts: tuple[str, str, str]) -> None:
    assert grows(choices(*parts, 4), choices(*parts, 8)) < 2


def test_classes_that_all_inherit_from_each_other_cost_no_power() -> None:
    assert grows(all_inherit_all(4), all_inherit_all(8)) < 2
