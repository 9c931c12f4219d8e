"""The benchmark that fixes real notebooks, on one of ours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.needs("nbformat", "jupyter_server")
def test_jupyter_opens_a_notebook_that_was_mended() -> None:
    command = [sys.executable, "benchmarks/real_notebooks.py", "fixtures/notebook"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "1 findings, 1 fixed; all as it was outside of the fixes" in done.stdout
