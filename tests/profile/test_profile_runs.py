"""Whole profiles of scripts whose costs are known, through the command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).with_name("scripts")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="profile does not run on Windows")


def profiled(folder: Path, script: str, *words: str) -> dict[str, Any]:
    """The JSON of a profile; the folder is as it was before."""
    before = sorted(os.listdir(folder))
    done = subprocess.run(
        [
            *(sys.executable, "-m", "torchlint", "profile", script, "--yes"),
            *("--isolated", "--output-format", "json", *words),
        ],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert sorted(os.listdir(folder)) == before
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["exit"] == done.returncode
    return found


def planted(folder: Path, name: str, *words: str) -> tuple[dict[str, Any], list[str]]:
    """The profile of one of `SCRIPTS`, and its lines."""
    shutil.copy(SCRIPTS / f"{name}.py", folder)
    text = (SCRIPTS / f"{name}.py").read_text(encoding="utf-8")
    found = profiled(folder, f"{name}.py", "--steps", "20", *words)
    assert found["exit"] == 0, found["summary"]
    return found, text.splitlines()


def test_reads_are_counted_at_their_lines_and_on_the_line_of_a_step(tmp_path: Path) -> None:
    found, lines = planted(tmp_path, "reads", "--only", "reads,input")
    counted = {each["row"]: each["values"]["kinds"] for each in found["census"]}
    rows = [row for row, line in enumerate(lines, 1) if "a step" in line and "planted" in line]
    assert counted == dict(zip(rows, ({"bool": 1}, {"float": 1}, {"item": 2}), strict=True))
    reads = {each["row"] for each in found["typical"] if each["kind"] == "read"}
    assert reads == set(rows)
    kinds = [each["kind"] for each in found["typical"]]
    assert kinds[0] == "step"
    assert kinds.index("forward") < kinds.index("backward") < kinds.index("optimizer")


@pytest.mark.parametrize(
    ("name", "only", "code", "line", "fact"),
    [
        ("padded", "reads", "TR103", "# padded", "60% of 800 positions a batch are padding"),
        ("drifting_shapes", "reads", "TR302", "planted", "more than 16 shapes in 20 steps"),
        ("recompiles", "reads", "TR502", "def decayed", "`decayed` compiled again in each step"),
        ("recomputed", "layers", "TR501", "checkpoint(block", "blocks.0, blocks.1 run again"),
    ],
)
def test_a_planted_cost_is_found_at_its_line(
    tmp_path: Path, name: str, only: str, code: str, line: str, fact: str
) -> None:
    found, lines = planted(tmp_path, name, "--only", only)
    everything = [*found["findings"], *found["below"]]
    there = [each for each in everything if each["code"] == code and fact in each["fact"]]
    assert len(there) == 1, everything
    assert line in lines[there[0]["row"] - 1]


def test_what_a_wait_costs_is_timed_without_it(tmp_path: Path) -> None:
    found, lines = planted(tmp_path, "slow_loader", "--only", "input")
    (wait,) = found["findings"]
    assert wait["code"] == "TR101"
    assert "# waits" in lines[wait["row"] - 1]
    assert 0.2 < wait["share"] < 0.95  # 2 ms of it are a sleep, and the rest is not nothing


LATE = """\
import torch

model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(4000):
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    if step == 45:
        raise ValueError("no more data")
"""


def test_a_script_that_fails_while_it_is_timed_shows_why(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LATE)
    found = profiled(tmp_path, "train.py")
    assert found["exit"] == 4
    first, *rest = found["summary"].splitlines()
    assert "ValueError: no more data" in first
    assert any("train.py" in line for line in rest)
    assert found["findings"] == []
