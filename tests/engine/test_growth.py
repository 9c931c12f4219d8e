"""How many functions a check calls, as a file has more of the same: never its square.

The constructs of the grammar, and the time that LibCST takes, are measured by
`benchmarks/grammar_growth.py`.
"""

from __future__ import annotations

import math
import sys
import threading

import pytest

from torchlint import check_source

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


def grows(few: str, many: str) -> float:
    """The exponent by which the calls grow with the length of the text."""
    calls(few)  # what is done once in a process
    return math.log(calls(many) / calls(few)) / math.log(len(many) / len(few))


@pytest.mark.parametrize("line", REPEATED.values(), ids=REPEATED)
def test_a_line_that_is_repeated_costs_no_square(line: str) -> None:
    few, many = ("".join(line.format(n) for n in range(count)) for count in (100, 400))
    assert grows(repeated(few), repeated(many)) < 1.5


def test_functions_that_all_call_each_other_cost_no_power() -> None:
    assert grows(all_call_all(64), all_call_all(256)) < 1.5
