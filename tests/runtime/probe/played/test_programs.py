"""What each step of small programs asks a GPU for is counted exactly, step by step."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.probe.played import components, programs

ROOT = Path(__file__).resolve().parents[4]


def counted_by(file: str) -> dict[str, Any]:
    """What a file's programs count, in one process that plays the device."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, file],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=ROOT,
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.fixture(scope="module")
def counted() -> dict[str, Any]:
    """What all programs count."""
    return counted_by(programs.__file__)


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_each_step_counts_what_the_source_of_torch_implies(
    name: str, counted: dict[str, Any]
) -> None:
    program = programs.PROGRAMS[name]
    if program.since > programs.VERSION:
        pytest.skip(f"torch {program.since} has it")
    expected = {kind: count for kind, count in program.expected.items() if count}
    assert counted[name] == [expected] * programs.STEPS, program.source


def test_optimizers_losses_and_layers_wait_where_torch_says_and_nowhere_else() -> None:
    found = counted_by(components.__file__)
    for name, kinds in components.KINDS.items():
        assert set(found.pop(name)) == kinds
    assert {name: each for name, each in found.items() if each} == {
        name: each for name, (each, _) in components.WAITS.items()
    }
    assert len(found) > 140
