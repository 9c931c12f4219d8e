"""Files as they were at a revision: from the disk if they are the same, else from git."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from torchlint.changes.files_before import FilesBefore, MergeBase
from torchlint.changes.git import GitError


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
    before = MergeBase("HEAD").files(["same.py", "changed.py", "new.py"])
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
    before = MergeBase("HEAD").files(["changed.py"])
    assert (before.changed, before.gone) == ({}, {})


def commit(message: str) -> None:
    git("add", "--all")
    git("commit", "--quiet", "-m", message)


def before(name: str) -> bytes | None:
    """What was in a file at the branch `base`; None if it was not there."""
    found = MergeBase("base").files([name])
    if name in found.same:
        return Path(name).read_bytes()
    old = next((old for old, new in found.renamed.items() if new == name), None)
    return found.changed.get(name) if old is None else found.gone[old]


@pytest.fixture
def base(here: Path) -> None:
    git("branch", "base")


@pytest.mark.usefixtures("base")
def test_commits_the_index_and_the_working_tree_are_not_in_the_base() -> None:
    old = Path("changed.py").read_bytes()
    for step in (lambda: commit("second"), lambda: git("add", "."), lambda: None):
        Path("changed.py").write_bytes(Path("changed.py").read_bytes() + b"x\n")
        step()
        assert before("changed.py") == old


@pytest.mark.usefixtures("base")
def test_what_others_did_since_is_not_in_it() -> None:
    old = Path("changed.py").read_bytes()
    git("checkout", "--quiet", "-b", "work")
    Path("changed.py").write_text("ours\n")
    commit("ours")
    git("checkout", "--quiet", "base")
    Path("changed.py").write_text("theirs\n")
    commit("theirs")
    git("checkout", "--quiet", "work")
    assert before("changed.py") == old


@pytest.mark.usefixtures("base")
def test_a_file_that_is_not_in_it_is_new() -> None:
    Path(".gitignore").write_text("ignored.py\n")
    for name in ("untracked.py", "ignored.py"):
        Path(name).write_text("one\ntwo\n")
        assert before(name) is None


@pytest.mark.usefixtures("base")
@pytest.mark.parametrize("committed", [True, False])
def test_a_renamed_file_is_known(committed: bool) -> None:
    old = Path("gone.py").read_bytes()
    Path("models").mkdir()
    git("mv", "gone.py", "models/fit.py")
    if committed:
        commit("second")
    Path("models/fit.py").write_bytes(old + b"more\n")
    assert before("models/fit.py") == old


NAMES = ["größe 模型.py", "two\nlines.py", 'quote".py', "tab\t.py", ":(glob)*.py", "-x.py"]


@pytest.mark.usefixtures("here")
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
@pytest.mark.parametrize("name", [*NAMES, os.fsdecode(b"caf\xe9.py")])
def test_names_are_what_they_are(name: str) -> None:
    Path(name).write_text("one\ntwo\n")
    commit("second")
    git("branch", "base")
    Path(name).write_text("one\nTWO\n")
    assert before(name) == b"one\ntwo\n"
    git("mv", "--", name, f"moved {name}")
    assert before(f"moved {name}") == b"one\ntwo\n"


@pytest.mark.usefixtures("base")
def test_a_link_counts_as_its_target() -> None:
    assert before("link.py") == b"# same.py\n"
    Path("link.py").unlink()
    Path("link.py").write_text("same.py")
    assert before("link.py") is None


@pytest.mark.usefixtures("base")
def test_paths_count_from_the_folder_that_one_is_in(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("src").mkdir()
    monkeypatch.chdir("src")
    Path("new.py").write_text("one\n")
    assert before("new.py") is None
    assert before("../same.py") == b"# same.py\n"
    git("config", "diff.relative", "true")
    git("mv", "../gone.py", "fit.py")
    assert before("fit.py") == b"# gone.py\n"


@pytest.mark.usefixtures("base")
def test_a_file_of_another_repository_inside_is_the_same() -> None:
    Path("nested").mkdir()
    git("init", "--quiet", "nested")
    Path("nested/train.py").write_text("one\n")
    assert before("nested/train.py") == b"one\n"


@pytest.mark.usefixtures("base")
def test_a_file_elsewhere_cannot_be_compared(here: Path) -> None:
    other = here.parent / f"{here.name}2.py"
    other.write_text("one\n")
    with pytest.raises(GitError, match="does not belong to the repository"):
        before(str(other))
