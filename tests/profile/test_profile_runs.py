"""Whole profiles of scripts whose costs are known, through the command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.warm_start import Torchlint

SCRIPTS = Path(__file__).with_name("scripts")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="profile does not run on Windows")


def planted(
    torchlint: Torchlint, folder: Path, name: str, only: str
) -> tuple[dict[str, Any], list[str]]:
    """The profile of one of `SCRIPTS` by some instruments, and its lines."""
    project, out = folder / "project", folder / "profile.json"
    project.mkdir()
    script = shutil.copy(SCRIPTS / f"{name}.py", project)
    words = ["--yes", "--isolated", "--json", str(out), "--steps", "20", "--only", only]
    code, said = torchlint(["profile", f"{name}.py", *words], project)
    assert code == 0, said
    assert os.listdir(project) == [f"{name}.py"]
    return json.loads(out.read_text()), Path(script).read_text(encoding="utf-8").splitlines()


def test_reads_are_counted_at_their_lines_and_on_the_line_of_a_step(
    warm_torchlint: Torchlint, tmp_path: Path
) -> None:
    found, lines = planted(warm_torchlint, tmp_path, "reads", "reads,input")
    counted = {each["row"]: each["values"]["kinds"] for each in found["census"]}
    rows = [row for row, line in enumerate(lines, 1) if "a step" in line and "planted" in line]
    assert counted == dict(zip(rows, ({"bool": 1}, {"float": 1}, {"item": 2}), strict=True))
    reads = {each["row"] for each in found["typical"] if each["kind"] == "read"}
    assert reads == set(rows)
    kinds = [each["kind"] for each in found["typical"]]
    assert kinds[0] == "step"
    last = max(
        row for row, kind in enumerate(kinds) if kind == "optimizer"
    )  # an earlier one may be
    assert kinds.index("forward") < kinds.index("backward") < last  # the end of the step before


@pytest.mark.parametrize(
    ("name", "only", "code", "line", "fact"),
    [
        ("padded", "reads", "TR103", "# padded", "60% of 800 positions a batch are padding"),
        ("drifting_shapes", "reads", "TR302", "planted", "more than 16 shapes in 20 steps"),
        ("recompiles", "reads", "TR502", "def decayed", "`decayed` compiled again in each step"),
        ("recomputed", "layers", "TR501", "checkpoint(block", "blocks.0, blocks.1 run again"),
        ("sliced_calls", "layers", "TR304", "planted: cell", "`cell` (LSTMCell) is called 32"),
        ("sliced_calls", "layers", "TR304", "planted: head", "`head` (Linear) is called 32"),
        ("torch_warns", "reads", "TR803", "# planted", "numpy.ndarrays is extremely slow"),
        ("dense_embedding", "operations", "TR305", "# planted", "50,000 x 64 values is dense"),
    ],
)
def test_a_planted_cost_is_found_at_its_line(
    warm_torchlint: Torchlint,
    tmp_path: Path,
    name: str,
    only: str,
    code: str,
    line: str,
    fact: str,
) -> None:
    found, lines = planted(warm_torchlint, tmp_path, name, only)
    everything = [*found["findings"], *found["below"]]
    there = [each for each in everything if each["code"] == code and fact in each["fact"]]
    assert len(there) == 1, everything
    assert line in lines[there[0]["row"] - 1]


@pytest.mark.parametrize(
    ("name", "only", "code"),
    [
        ("sliced_calls_clean", "layers", "TR304"),
        ("dense_embedding_clean", "operations", "TR305"),
        ("torch_warns_clean", "reads", "TR803"),
    ],
)
def test_what_only_looks_like_a_planted_cost_is_not_found(
    warm_torchlint: Torchlint, tmp_path: Path, name: str, only: str, code: str
) -> None:
    found, _ = planted(warm_torchlint, tmp_path, name, only)
    assert code not in {each["code"] for each in [*found["findings"], *found["below"]]}
    assert code in found["watched"]


def test_what_a_wait_costs_is_timed_without_it(warm_torchlint: Torchlint, tmp_path: Path) -> None:
    found, lines = planted(warm_torchlint, tmp_path, "slow_loader", "input")
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
    """As a user runs it, each process with a Python of its own."""
    (tmp_path / "train.py").write_text(LATE)
    words = ["profile", "train.py", "--yes", "--isolated", "--output-format", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "torchlint", *words],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    found = json.loads(done.stdout)
    assert found["exit"] == done.returncode == 4
    first, *rest = found["summary"].splitlines()
    assert "ValueError: no more data" in first
    assert any("train.py" in line for line in rest)
    assert found["findings"] == []
