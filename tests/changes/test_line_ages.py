"""How old lines are, by their last commit."""

from __future__ import annotations

import os
import subprocess
from datetime import date, datetime
from typing import TYPE_CHECKING

import pytest

from torchlint.changes import line_ages as ages
from torchlint.changes.line_ages import line_ages

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

TODAY = date(2026, 5, 1)


def git(*words: str) -> None:
    subprocess.run(["git", *words], check=True, capture_output=True)


def old(rows: Mapping[str, Collection[int]], budget_s: float = 60.0) -> dict[tuple[str, int], int]:
    return line_ages(rows, TODAY, budget_s=budget_s, progress=lambda *_: None)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of two commits, in March and April."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "test")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "test")
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet")
    text = ""
    for month in (3, 4):
        text += f"of {month}\n"
        (tmp_path / "train.py").write_text(text)
        git("add", "train.py")
        day = datetime(2026, month, 1, 12).astimezone().isoformat()
        git("commit", "--quiet", "-m", "more", "--date", day)
    return tmp_path


def test_lines_are_found_where_they_are_now(here: Path) -> None:
    (here / "train.py").write_text("new\nof 3\nof 4\nchanged\n")
    (here / "untracked.py").write_text("x\n")
    assert old({"train.py": {1, 2, 3, 4, 9}, "untracked.py": {1}}) == {
        ("train.py", 1): 0,
        ("train.py", 2): 61,
        ("train.py", 3): 30,
        ("train.py", 4): 0,
        ("untracked.py", 1): 0,
    }


def test_many_rows_are_asked_about_at_once(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ages, "_MOST_RANGES", 1)
    assert old({"train.py": {1, 2}}) == {("train.py", 1): 61, ("train.py", 2): 30}


def test_what_git_cannot_tell_is_left_out(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = here.parent / f"outside-{here.name}.py"
    outside.write_text("x\n")
    assert old({str(outside): {1}, "gone.py": {1}, "train.py": {1}}) == {
        ("gone.py", 1): 0,
        ("train.py", 1): 61,
    }
    assert old({"train.py": {1}}, budget_s=0.0) == {}
    monkeypatch.setenv("GIT_DIR", str(here / "none"))
    assert old({"train.py": {1}}) == {}


def test_a_shallow_clone_knows_only_what_it_has(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "train.py").write_text("of 3\nof 4\nof 5\n")
    git("commit", "--quiet", "--all", "-m", "more", "--date", "2026-05-01T00:00:00")
    git("clone", "--quiet", "--depth=2", here.as_uri(), "clone")
    monkeypatch.chdir(here / "clone")
    assert old({"train.py": {1, 2, 3}}) == {("train.py", 3): 0}
