"""A command other than verify runs a script through runtime alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import torchlint

SCRIPT = """
import sys, torch
open("out.txt", "w").write("written")
print("sum", int(torch.ones(3).sum()), *sys.argv[1:])
sys.exit(int(sys.argv[2]))
"""

COMMAND = """
import os, sys
from torchlint.runtime.failures import Failed
from torchlint.runtime.probe.run_settings import RunSettings
from torchlint.runtime.program import script
from torchlint.runtime.run import Job, Run
from torchlint.runtime.sandbox.overlayfs import available
from torchlint.runtime.sandbox.side_effects import collect
from torchlint.runtime.workspace import Workspace

program = script("train.py", ("--code", sys.argv[1]))
with Workspace() as workspace:
    settings = RunSettings(
        main=program.main,
        argv=program.argv,
        project=program.root,
        sandbox=available(program.root, workspace.root),
    )
    with Run(Job(settings), workspace) as run:
        run.greet(60)
        run.start()
        try:
            while True:
                run.receive(60, "end")
        except Failed as failed:
            print(failed.status, failed.kind, failed.message, sep="|")
        with open(os.path.join(run.folder, "stdout")) as stream:
            print(stream.read(), end="")
    print([(each.kind, each.what) for each in collect(workspace.folders(), program.root)])
print(sorted(name for name in sys.modules if name.startswith("torchlint.verify")))
"""


@pytest.mark.parametrize(
    ("code", "ended"),
    [
        ("0", "finished|end|The script ended."),
        ("3", "error|exit code 3|The script exited with code 3."),
    ],
)
def test_a_script_runs_without_anything_of_verify(tmp_path: Path, code: str, ended: str) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(torchlint.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == [
        ended,
        f"sum 3 --code {code}",
        "[('create', 'out.txt')]",
        "[]",
    ], done.stderr
    assert not (tmp_path / "out.txt").exists()
