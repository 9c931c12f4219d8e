"""A file says the same in each process: Python orders sets differently in every one of them."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from torchlint.config.settings import Selection
from torchlint.engine.map_file import map_files
from torchlint.project.map_result import Depth
from torchlint.project.target import Target

if TYPE_CHECKING:
    from pathlib import Path

SAY = """\
import hashlib, sys
from torchlint.config.settings import Selection
from torchlint.memory.result_codec import encode
from torchlint.project.map_result import Depth
from torchlint.project.target import Target
from torchlint.engine.map_file import map_files

target = Target("train.py", Selection(), (2, 13), sys.argv[1].encode())
((_, result),) = map_files([target], Depth.ON_DEMAND)
assert result.summary is not None and len(result.facts) > 5
print(hashlib.sha256(encode(result)).hexdigest())
"""
# What `helper` receives depends on itself here, so it matters which argument is looked at first.
ROUND_AND_ROUND = """\
import torch
def mix(a, b):
    return a * b
def search(x):
    p = x.cuda()
    q = 0
    for i in range(9):
        q = p + r
        p = mix(r, q)
        r = mix(p, q)
        helper(p, q, r)
def helper(a, b, c):
    pass
"""
TRAINS = """\
def train_{}(loader):
    for x in loader:
        loss = model(x.cuda())
        loss.backward()
        optimizer.step()
"""


def test_the_order_of_sets_decides_nothing(tmp_path: Path) -> None:
    text = ROUND_AND_ROUND + "".join(TRAINS.format(number) for number in range(6))
    said = set()
    for seed in range(5):
        done = subprocess.run(
            [sys.executable, "-c", SAY, text],
            cwd=tmp_path,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        )
        said.add(done.stdout)
    assert len(said) == 1


def test_facts_come_in_the_order_of_what_they_say() -> None:
    text = "import torch\n" + "".join(TRAINS.format(number) for number in range(9))
    target = Target("train.py", Selection(), (2, 13), text.encode())
    ((_, result),) = map_files([target], Depth.RULES)
    named = [fact.value for fact in result.facts if fact.name == "trains"]
    assert named == [f"train_{number}" for number in range(9)]
