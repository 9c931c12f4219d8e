"""What git is asked of a repository that is out to run something."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from torchlint.changes import git as changes_git
from torchlint.changes.files_before import MergeBase
from torchlint.changes.git import GitError, Repository

if TYPE_CHECKING:
    from pathlib import Path


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, check=True, capture_output=True, encoding="utf-8"
    )
    return done.stdout


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """An author, and nothing of the configuration of whoever runs the tests."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "test")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "test")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a file and a branch, whose configuration is still harmless."""
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    (folder / "train.py").write_text("one\ntwo\n" * 50)
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    git(folder, "branch", "base")
    (folder / "train.py").write_text("one\ntwo\n" * 50 + "three\n")
    git(folder, "commit", "--quiet", "--all", "-m", "second")
    monkeypatch.chdir(folder)
    return folder


def plant(folder: Path, mark: Path) -> None:
    """Names a program wherever git may be told to start one."""
    program = folder.parent / "program"
    program.write_text(f"#!/bin/sh\necho \"$0 $*\" >>'{mark}'\nexit 1\n")
    program.chmod(0o755)
    hooks = folder.parent / "hooks"
    hooks.mkdir()
    for hook in ("post-index-change", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman"):
        (hooks / hook).write_text(program.read_text())
        (hooks / hook).chmod(0o755)
    with (folder / ".git" / "config").open("a") as config:
        config.write(
            f"""
[core]
    fsmonitor = {program}
    sshCommand = {program}
    gitProxy = {program}
    pager = {program}
    editor = {program}
    askPass = {program}
    hooksPath = {hooks}
    alternateRefsCommand = {program}
[pager]
    rev-parse = {program}
    ls-tree = {program}
    ls-files = {program}
    diff-index = {program}
    cat-file = {program}
[diff]
    external = {program}
[diff "evil"]
    command = {program}
    textconv = {program}
[filter "evil"]
    clean = {program}
    smudge = {program}
    process = {program}
    required = true
[alias]
    rev-parse = !{program}
    merge-base = !{program}
    ls-tree = !{program}
    ls-files = !{program}
    diff-index = !{program}
    cat-file = !{program}
[credential]
    helper = !{program}
[gpg]
    program = {program}
[protocol]
    allow = always
[protocol "ext"]
    allow = always
[remote "origin"]
    url = ext::{program}
    promisor = true
    partialclonefilter = blob:none
    uploadpack = {program}
[extensions]
    partialClone = origin
"""
        )
    git_format = ["config", "core.repositoryFormatVersion", "1"]
    git(folder, *git_format)
    (folder / ".gitattributes").write_text("* diff=evil filter=evil\n")


def lose(folder: Path, name: str) -> None:
    """Takes an object out, so that git would fetch it."""
    (folder / ".git" / "objects" / name[:2] / name[2:]).unlink()


def test_nothing_that_the_configuration_names_is_started(here: Path, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    git(here, "mv", "train.py", "fit.py")
    plant(here, mark)
    (here / "fit.py").write_text("one\ntwo\n" * 50 + "three\nfour\n")
    (here / "new.py").write_text("one\n")
    before = MergeBase("base").files(["fit.py", "new.py"])
    assert before.gone == {str(here / "train.py"): b"one\ntwo\n" * 50}
    assert before.renamed == {str(here / "train.py"): "fit.py"}
    assert not mark.exists()
    # The trap is armed: git itself walks into it.
    subprocess.run(["git", "status"], cwd=here, capture_output=True, check=False)
    assert mark.exists()


def test_a_configuration_that_never_ends_is_a_sentence(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Repository(str(here)).commit("base")
    os.mkfifo(here / "endless")
    git(here, "config", "include.path", "../endless")
    monkeypatch.setattr(changes_git, "LONGEST_S", 0.01)
    with pytest.raises(GitError, match=r"not answer within 0\.01 seconds; look at \.git/config"):
        Repository(str(here))


def test_an_object_that_is_missing_is_not_fetched(here: Path, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    lose(here, git(here, "rev-parse", "base:train.py").strip())
    plant(here, mark)
    with pytest.raises(GitError, match=r"^--since: (Git cannot read|The repository lacks) .*\.$"):
        MergeBase("base").files(["train.py"])
    assert not mark.exists()
    subprocess.run(["git", "cat-file", "-p", "base:train.py"], capture_output=True, check=False)
    assert mark.exists()


def test_git_is_not_taken_from_the_folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = here / "git"
    fake.write_text("#!/bin/sh\n>started\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(GitError, match="There is no git"):
        Repository(".")
    monkeypatch.setenv("PATH", ".")
    with pytest.raises(GitError, match="There is no git"):
        Repository(".")
    assert not (here / "started").exists()


@pytest.mark.parametrize("revision", ["--output=started", "-x", "", "a\0b"])
def test_what_no_revision_can_be_is_not_handed_on(here: Path, revision: str) -> None:
    with pytest.raises(GitError, match="is not a revision"):
        Repository(".").commit(revision)


@pytest.mark.parametrize("revision", ["nope", "base..main", "^base", "base:train.py"])
def test_what_is_not_a_commit_is_refused(here: Path, revision: str) -> None:
    with pytest.raises(GitError, match="knows no commit"):
        Repository(".").commit(revision)


@pytest.mark.parametrize("revision", ["base", "HEAD~1", "HEAD^", "main@{0}^"])
def test_a_commit_has_many_names(here: Path, revision: str) -> None:
    assert Repository(".").commit(revision) == git(here, "rev-parse", "base").strip()


def test_no_repository_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(GitError, match=r"^--since: There is no git repository here; run in one\.$"):
        Repository(".")


def test_a_repository_without_a_commit_is_a_sentence(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    with pytest.raises(GitError, match="has no commit yet"):
        Repository(str(tmp_path)).commit("HEAD")


def test_a_shallow_clone_says_what_to_fetch(here: Path, tmp_path: Path) -> None:
    git(here, "checkout", "--quiet", "base")
    (here / "other.py").write_text("x\n")
    git(here, "add", ".")
    git(here, "commit", "--quiet", "-m", "elsewhere")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth=1", "--no-single-branch", here.as_uri(), str(clone))
    repository = Repository(str(clone))
    ends = repository.commit("origin/main"), repository.commit("origin/base")
    with pytest.raises(GitError, match=r"shallow clone.*`fetch-depth: 0`"):
        repository.merge_base(*ends)


def test_histories_without_a_common_commit_are_a_sentence(here: Path) -> None:
    git(here, "checkout", "--quiet", "--orphan", "island")
    git(here, "commit", "--quiet", "-m", "alone")
    with pytest.raises(GitError, match="no commit in common"):
        MergeBase("main")


def test_a_large_old_file_is_not_read(here: Path) -> None:
    repository = Repository(".")
    name = repository.tree(repository.commit("base"))[b"train.py"].object
    assert repository.blobs({name}, largest=400) == {name: b"one\ntwo\n" * 50}
    assert repository.blobs({name}, largest=399) == {}


def bomb(folder: Path, levels: int) -> None:
    """A commit of few objects that names 10 ** levels files."""
    tree = git(folder, "rev-parse", "HEAD:train.py").strip()
    for level in range(levels):
        kind = "040000 tree" if level else "100644 blob"
        names = "".join(f"{kind} {tree}\tpart{number}.py\n" for number in range(10))
        made = subprocess.run(
            ["git", "mktree"], cwd=folder, input=names, check=True, capture_output=True, text=True
        )
        tree = made.stdout.strip()
    commit = git(folder, "commit-tree", tree, "-m", "many").strip()
    git(folder, "update-ref", "refs/heads/bomb", commit)


def test_what_git_may_list_is_bounded(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb(here, 4)
    repository = Repository(".")
    commit = repository.commit("bomb")
    assert len(repository.tree(commit)) == 10_000
    monkeypatch.setattr(changes_git, "_MOST_LISTED", 100_000)
    monkeypatch.setattr(changes_git, "_CHUNK", 10_000)
    with pytest.raises(GitError, match=r"Git lists more than .* see what the commits hold\."):
        repository.tree(commit)


def test_what_git_says_is_wrong_is_cut(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes_git, "_MOST_SAID", 20)
    _, _, said = Repository(".")._run("rev-parse", "--verify", "nothing")
    assert said == "fatal: Needed a sing"
