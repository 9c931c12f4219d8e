"""Files as they were at a revision: from the disk if they are the same, else from git."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from torchlint.changes.changed_lines import Changes
from torchlint.changes.files_before import FilesBefore, files_before

if TYPE_CHECKING:
    from pathlib import Path


def git(*words: str) -> None:
    subprocess.run(["git", *words], check=True, capture_output=True)


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "test")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "test")


@pytest.fixture(params=["sha1", "sha256"])
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A repository with some files in a commit."""
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet", f"--object-format={request.param}")
    for name in ("same.py", "changed.py", "gone.py", "notes.txt"):
        (tmp_path / name).write_text(f"# {name}\n")
    os.symlink("same.py", tmp_path / "link.py")
    git("add", ".")
    git("commit", "--quiet", "-m", "first")
    return tmp_path


def test_each_file_is_the_same_or_changed_or_gone_or_new(here: Path) -> None:
    (here / "changed.py").write_text("# now\n")
    (here / "new.py").write_text("# new\n")
    for name in ("gone.py", "notes.txt", "link.py"):
        (here / name).unlink()
    before = files_before(Changes("HEAD"), ["same.py", "changed.py", "new.py"])
    assert before == FilesBefore(
        same=frozenset({"same.py"}),
        changed={"changed.py": b"# changed.py\n"},
        gone={str(here / "gone.py"): b"# gone.py\n"},
        renamed={},
    )


def test_what_is_too_large_is_left_out(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchlint.files.reading.MAX_BYTES", 8)
    (here / "changed.py").write_text("# now\n")
    (here / "gone.py").unlink()
    before = files_before(Changes("HEAD"), ["changed.py"])
    assert (before.changed, before.gone) == ({}, {})
