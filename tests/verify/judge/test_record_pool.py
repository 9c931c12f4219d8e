"""More pools can be recorded."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "record_pool.py"
TRAINING = """
import sys, torch
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
for _ in range(int(sys.argv[1])):
    model(torch.ones(4, 8)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def record(folder, *words):
    (folder / "train.py").write_text(TRAINING)
    command = [sys.executable, str(SCRIPT), "train.py", "pool.json", *words]
    return subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True)


@pytest.mark.runs
def test_a_pool_is_pairs_of_blocks_of_wall_and_cpu_seconds(tmp_path):
    done = record(tmp_path, "--pairs", "2", "--blocks", "3", "--steps", "5", "--", "100000")
    assert done.returncode == 0, done.stderr
    pool = json.loads((tmp_path / "pool.json").read_text())
    assert [len(pair) for pair in pool] == [3, 3]
    assert all(len(block) == 4 and min(block) > 0 for pair in pool for block in pair)


@pytest.mark.runs
def test_a_script_that_ends_too_soon_leaves_no_pool(tmp_path):
    done = record(tmp_path, "--pairs", "2", "--", "20")
    assert done.returncode == 1
    assert "ends before its blocks do" in done.stderr
    assert not (tmp_path / "pool.json").exists()
