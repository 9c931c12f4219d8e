"""The benchmark scripts run, and say what they measured. Speed itself is not tested here."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
TORCH = "from torch.utils.data import DataLoader\nloader = DataLoader(data)\n"


def script(name: str, *words: object) -> str:
    command = [sys.executable, str(BENCHMARKS / name), *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import generated_sources

    return generated_sources


@pytest.fixture
def verdicts(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import verdicts

    return verdicts


def test_files_that_mention_torch_and_those_that_pass_the_gate_are_told_apart(
    tmp_path: Path,
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    for name, text in {"a": TORCH, "b": "import torch\n", "c": "import numpy\n"}.items():
        (tree / f"{name}.py").write_text(text)
    mention, gate = tmp_path / "mention.txt", tmp_path / "gate.txt"
    script("relevant_files.py", tree, mention, gate)
    assert [Path(line).name for line in mention.read_text().splitlines()] == ["a.py", "b.py"]
    assert [Path(line).name for line in gate.read_text().splitlines()] == ["a.py"]


def test_growth_measures_check_and_parse(tmp_path: Path, sources: ModuleType) -> None:
    short, long = tmp_path / "short.py", tmp_path / "long.py"
    short.write_text(sources.training_script(100))
    long.write_text(sources.training_script(300))
    measured = json.loads(script("growth.py", short, long, 1))
    assert set(measured) == {"check", "parse"}
    assert all(seconds > 0 for pair in measured.values() for seconds in pair)


def test_generated_scripts_are_as_long_as_asked_and_valid(sources: ModuleType) -> None:
    lengths = [sources.training_script(lines).count("\n") for lines in (1_000, 10_000)]
    assert lengths == pytest.approx([1_000, 10_000], rel=0.05)
    names = [
        node.name
        for node in ast.parse(sources.training_script(1_000)).body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    ]
    assert len(names) == len(set(names))


def test_plain_files_are_valid_and_never_say_torch(tmp_path: Path, sources: ModuleType) -> None:
    sources.write_plain_files(tmp_path / "plain", 3)
    texts = [path.read_text() for path in (tmp_path / "plain").iterdir()]
    assert len(texts) == 3
    for text in texts:
        ast.parse(text)
        assert "torch" not in text


def test_a_missed_bound_is_named(verdicts: ModuleType) -> None:
    cpu = {
        "check": 2.0,
        "torchfix": 100.0,
        "parse mention": 10.0,
        "parse gate": 1.0,
        "check plain": 0.1,
        "import click": 0.08,
        "check short": 1.0,
        "check long": 5.0,
    }
    result = {
        "cpu_seconds": cpu,
        "peak_bytes": {"check": 150_000_000},
        "inside_one_process": {"check": [1.0, 12.0]},
    }
    missed = {verdict.what for verdict in verdicts.judge(result) if not verdict.held}
    assert missed == {
        "check / parsing the files that pass the gate",
        "a file ten times as long, inside one process",
    }


def test_gpu_checks_are_an_empty_list_that_says_so() -> None:
    done = subprocess.run(
        [str(BENCHMARKS / "gpu.sh")], check=True, capture_output=True, text=True, cwd="/"
    )
    said = json.loads(done.stdout)
    assert said["checks"] == []
    assert "no check" in said["note"]
    assert set(said["versions"]) == {"torchlint", "python", "torch"}
