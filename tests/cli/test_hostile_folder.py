"""Whoever checks a folder runs nothing of it, although Python likes to import from there; and no file
of it hides what is found in another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from torchlint.workers import safe_path

if TYPE_CHECKING:
    from pathlib import Path

NAMES = (
    "__future__", "click", "concurrent", "contextlib", "dataclasses", "difflib", "enum", "hashlib",
    "heapq", "joblib", "json", "libcst", "logging", "msgspec", "multiprocessing", "numpy", "pickle",
    "psutil", "random", "re", "rich", "signal", "sitecustomize", "subprocess",
    "tempfile", "threading", "tokenize", "tomllib", "traceback", "typing", "unittest", "usercustomize",
    "yaml",
)  # fmt: skip


@pytest.fixture
def trap(here: Path) -> Path:
    """A folder of modules that leave a note, and enough text for several processes."""
    folder = here / "trap"
    folder.mkdir()
    for name in NAMES:
        note = here / f"imported {name}"
        (folder / f"{name}.py").write_text(f"open({str(note)!r}, 'w').close()\n")
    for number in range(4):
        text = "import torch\nloss.backward()\nx = '''" + f"{'a' * 79}\n" * 5_000 + "'''\n"
        (folder / f"part{number}.py").write_text(text)
    return folder


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("started", ["module", "script"])
def test_nothing_of_the_folder_is_imported(here: Path, trap: Path, started: str, jobs: str) -> None:
    script = here / "script.py"
    script.write_text("from torchlint.__main__ import main\nmain()\n")
    start = ["-m", "torchlint"] if started == "module" else [str(script)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    done = subprocess.run(
        [sys.executable, *start, "check", "--no-cache", "--jobs", jobs, "."],
        cwd=trap,
        env=environment,
        capture_output=True,
        check=False,
        text=True,
    )
    assert [path.name for path in here.glob("imported *")] == []
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{len(NAMES) + 4} files checked" in done.stdout


@pytest.mark.parametrize(
    ("name", "safe"),
    [("joblib.py", False), ("joblib/__init__.py", False), ("data/part.py", True), ("a.txt", True)],
)
def test_where_python_would_import_from_the_folder_no_process_is_started(
    here: Path, monkeypatch: pytest.MonkeyPatch, name: str, safe: bool
) -> None:
    monkeypatch.setattr(safe_path, "_SUPPORTED", False)
    (here / name).parent.mkdir(exist_ok=True)
    (here / name).touch()
    assert safe_path.is_safe_to_start() is safe


@pytest.mark.parametrize("before", [None, "", "1"])
def test_a_script_that_is_run_later_gets_the_path_it_would_have(
    monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    if before is not None:
        monkeypatch.setenv("PYTHONSAFEPATH", before)
    with safe_path.safe_path():
        assert os.environ["PYTHONSAFEPATH"] == "1"
    assert os.environ.get("PYTHONSAFEPATH") == before


TRAIN = """\
import torch
model = torch.nn.Linear(2, 2).cuda()
total = 0.0
for x, y in loader:
    loss = model(x)
    loss.backward()
    optimizer.step()
"""
READ = "    total += loss.item()\n"
FAN = "".join(
    f"def f{one}(value):\n    value.item()\n"
    + "".join(f"    f{other}(value)\n" for other in range(20))
    for one in range(20)
)
READS = "".join(f"    total += loss[{part}].item()\n" for part in range(2_000))
SLOW = {"sums.py": TRAIN + READS, "fan.py": f"{FAN}{TRAIN}    f0(loss)\n"}
BAD = {
    "brackets.py": (TRAIN + "x = " + "(" * 500 + ")" * 500, "nested 500 deep"),
    "patterns.py": (f"{TRAIN}match x:\n    case {'[' * 30}{']' * 30}:\n        pass\n", "`case`"),
    "cut.py": (f"{TRAIN}match x:\n    case {'[' * 30}", "`case`"),
    "chain.py": (f"{TRAIN}x = (a\n" + ".f()\n" * 2_000 + ")\n", "are chained"),
    "undefined.py": (f"# coding: undefined\n{TRAIN}", "encoding 'undefined'"),
    "idna.py": (f"# coding: idna\n{TRAIN}x = 'é'\n", "says it is idna"),
    "nul.py": (f"{TRAIN}x = 1\0\n", "NUL byte"),
    "large.py": (TRAIN + "#\n" * (2 << 20), "over 4 MiB"),
    "lines.ipynb": (
        json.dumps(
            {
                "cells": [{"cell_type": "code", "source": TRAIN + "\n" * 50_000}],
                "metadata": {},
                "nbformat": 4,
                "nbformat_minor": 5,
            }
        ),
        "more than 50,000 lines",
    ),
    "link.py": (None, "leads to a file that does not exist"),
    "pipe.py": (None, "named pipe"),
}


def test_bad_files_are_named_and_hide_nothing(here: Path) -> None:
    for name, text in {
        "train.py": TRAIN + READ,
        **SLOW,
        **{name: text for name, (text, _) in BAD.items() if text is not None},
    }.items():
        (here / name).write_text(text, encoding="utf-8")
    (here / "link.py").symlink_to("gone.py")
    os.mkfifo(here / "pipe.py")
    words = ["check", "--isolated", "--no-cache", "--output-format", "concise"]
    done = subprocess.run(
        [sys.executable, "-m", "torchlint", *words, ".", "link.py", "pipe.py"],
        cwd=here,
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 2
    assert "train.py:8:14: TL201" in done.stdout
    assert "fan.py:2:5: TL201" in done.stdout
    assert done.stdout.count("sums.py:") == 2_000
    said = dict(line.split(":", 1) for line in done.stderr.splitlines())
    assert said.keys() == BAD.keys()
    assert [name for name, (_, why) in BAD.items() if why not in said[name]] == []
