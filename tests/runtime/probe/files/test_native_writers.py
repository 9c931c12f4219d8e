"""Whatever writes to a file that must stay as it is: that file stays, and the script is told."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from native_writers import PREAMBLE, REFUSED, UNNAMED, WRITERS

from tests.shielded import Run, run_shielded, write_files
from torchlint.runtime.sandbox import fence
from torchlint.runtime.sandbox.overlayfs import OVERLAYFS, REDIRECT

KEPT = "as it was"
ALWAYS_THERE = ("python", "torch", "numpy")


@pytest.mark.parametrize(
    ("sandbox", "where"), [(REDIRECT, "project/out"), (OVERLAYFS, "elsewhere")]
)
@pytest.mark.parametrize(
    "package",
    [
        pytest.param(each, marks=[pytest.mark.needs(each)] * (each not in ALWAYS_THERE))
        for each in WRITERS
    ],
)
def test_a_writer_sees_its_own_file_or_is_told_where_it_did_not(
    package: str, sandbox: str, where: str, tmp_path: Path
) -> None:
    # What only the kernel could refuse would be done where it cannot.
    refused = REFUSED.get(package, set())
    names = [name for name in WRITERS[package] if name not in refused or not fence.why_not()]
    files = {str(number): KEPT for number, _ in enumerate(names)}
    out = write_files(tmp_path / where, files)
    project = write_files(tmp_path / "project", {"train.py": script(package, names)})
    env = {"OMP_NUM_THREADS": "1", "MPLCONFIGDIR": str(tmp_path / "matplotlib")}
    run = run_shielded(project, "train.py", sandbox, env=env, argv=[str(out)])
    assert {path.name: path.read_text() for path in out.iterdir()} == files
    told = redirected(run)
    wrong = {}
    for number, line in enumerate(run.lines[-len(names) :]):
        name, outcome = json.loads(line)
        if name not in refused:
            right = outcome == "sees its own" and str(number) in told
        elif name in UNNAMED.get(package, ()):
            right = "sees" not in outcome
        else:
            right = os.path.join(out, str(number)) in outcome.replace("/tmp_", "/")
        if not right:
            wrong[name] = outcome
    assert wrong == {}, told


def script(package: str, names: list[str]) -> str:
    lines = [PREAMBLE, "import warnings; warnings.simplefilter('ignore')"]
    if package != "python":
        lines.append(f"import {package}")
    for number, name in enumerate(names):
        code = WRITERS[package][name]
        lines.append(f"attempt({name!r}, f'{{sys.argv[1]}}/{number}', {code!r})")
    return "\n".join(lines)


def redirected(run: Run) -> set[str]:
    """Numbers of the files that the report says were written to."""
    kinds = ("write", "create", "delete")
    return {Path(what).name.partition(".")[0] for kind, what in run.effects() if kind in kinds}
