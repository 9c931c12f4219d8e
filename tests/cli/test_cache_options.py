"""`--cache-dir`, `--no-cache` and `torchlint clean`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from torchlint.memory.cache import TAG, Cache

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., Any]
TRAIN = """\
import torch
device = torch.device("cuda")
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for x, y in loader:
    optimizer.zero_grad(set_to_none=False)
    loss = model(x.to(device)).sum()
    loss.backward()
    optimizer.step()
    print(loss.item())
"""


@pytest.fixture
def project(here: Path) -> Path:
    (here / "train.py").write_text(TRAIN)
    return here


def test_the_second_check_says_what_the_first_did(torchlint: Run, project: Path) -> None:
    first = torchlint("check", "--cache-dir", "cache")
    assert "TL201" in first.text
    assert (project / "cache" / TAG).is_file()
    assert torchlint("check", "--cache-dir", "cache") == first


def test_no_cache_leaves_nothing_behind(
    torchlint: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHLINT_CACHE_DIR", str(project / "cache"))
    assert torchlint("check", "--no-cache").code == 1
    assert not (project / "cache").exists()
    torchlint("check")
    assert (project / "cache").exists()


@pytest.mark.parametrize("command", ["check", "clean"])
def test_a_folder_of_something_else_is_refused(torchlint: Run, project: Path, command: str) -> None:
    outcome = torchlint(command, "--cache-dir", ".")
    assert outcome.code == 2
    assert ". cannot be the cache: it holds something else; name another." in outcome.err


def test_both_options_at_once_are_refused(torchlint: Run, project: Path) -> None:
    outcome = torchlint("check", "--no-cache", "--cache-dir", "cache")
    assert outcome.code == 2
    assert "exclude each other" in outcome.err


def test_clean_says_what_it_removed(torchlint: Run, project: Path) -> None:
    torchlint("check", "--cache-dir", "cache")
    outcome = torchlint("clean", "--cache-dir", "cache")
    assert outcome.code == 0
    assert outcome.text.startswith("Removed ")
    assert not (project / "cache").exists()
    assert "Removed 0 files" in torchlint("clean", "--cache-dir", "cache").text


def test_fix_takes_nothing_from_the_cache(
    torchlint: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever can write into the cache could write code into the files otherwise."""
    cache = project / "cache"
    torchlint("check", "--cache-dir", str(cache), "--select", "TL401")
    (planted,) = cache.glob("*/reports/*")
    blobs = Cache(str(cache), planted.parts[-3])
    report = json.loads(blobs.get("reports", planted.name) or b"")
    ((_, _, _, _, _, _, _, (_, _, (edit,)), *_),) = report[1]
    edit[2] = "evil()"
    blobs.put("reports", planted.name, json.dumps(report).encode())
    shown = torchlint(
        "check", "--cache-dir", str(cache), "--select", "TL401", "--output-format", "json"
    )
    assert "evil()" in shown.text, "it was planted well"
    monkeypatch.setenv("TORCHLINT_CACHE_DIR", str(cache))
    outcome = torchlint("fix", "--apply", "--unsafe", "--select", "TL401")
    assert outcome.code == 0
    text = (project / "train.py").read_text()
    assert "set_to_none=False" not in text
    assert "evil" not in text


def test_a_fully_cached_check_imports_neither_libcst_nor_rules(project: Path) -> None:
    code = (
        "import sys; from torchlint.__main__ import run; code = run(['check']); "
        "heavy = [name for name in sys.modules if name.startswith(('libcst', 'torchlint.rules', "
        "'torchlint.syntax', 'joblib', 'importlib.metadata', 'rich', 'msgspec'))]; print(heavy, code)"
    )
    ends = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=True, text=True
        ).stdout.splitlines()
        for _ in range(2)
    ]
    assert ends[0][:-1] == ends[1][:-1]
    assert "libcst" in ends[0][-1]
    assert ends[1][-1] == "[] 1"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs owners")
def test_a_cache_that_comes_with_a_checkout_is_reported_and_not_used(
    torchlint: Run, project: Path
) -> None:
    first = torchlint("check", "--cache-dir", "cache")
    for path in (project / "cache", *(project / "cache").rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    before = sorted(project.rglob("*"))
    second = torchlint("check", "--cache-dir", "cache")
    assert (second.code, second.out) == (first.code, first.out)
    assert second.err.count("is not used: others may read or write it") == 1
    assert sorted(project.rglob("*")) == before
