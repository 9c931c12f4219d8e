"""What the runs did, in few lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.shielded import BOTH, run_shielded, write_files
from torchlint.runtime.sandbox.side_effects import SideEffect, collect

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
    import os, shutil, subprocess
    open("new.txt", "w").write("n")
    open("log.txt", "a").write("more")
    os.makedirs("out/deep", exist_ok=True)
    open("out/deep/x", "w").close()
    open("temporary", "w").close()
    os.remove("temporary")
    shutil.rmtree("data")
    os.replace("new.txt", "old.txt")
    os.symlink("log.txt", "latest")
    shutil.rmtree("again")
    os.mkdir("again")
    open("again/y", "w").close()
    os.remove("swap")
    os.mkdir("swap")
    shutil.rmtree("swop")
    open("swop", "w").close()
    os.remove("remade")
    open("remade", "w").close()
    open(b"\\xff", "w").close()
    subprocess.run(["git", "push"])
"""
FILES = {
    "swap": "s",
    "swop/x": "s",
    "remade": "r",
    "log.txt": "l",
    "old.txt": "o",
    "data/a": "a",
    "data/b/c": "c",
    "again/x": "x",
}
DONE = {
    ("write", "log.txt"),
    ("write", "old.txt"),
    ("mkdir", "out"),
    ("mkdir", "out/deep"),
    ("create", "out/deep/x"),
    ("delete", "data"),
    ("create", "latest"),
    ("delete", "again"),
    ("mkdir", "again"),
    ("delete", "swap"),
    ("mkdir", "swap"),
    ("delete", "swop"),
    ("create", "swop"),
    ("write", "remade"),
    ("create", "again/y"),
    ("create", "\\xff"),
    ("upload", "git push"),
}


@BOTH
def test_the_list_is_the_same_however_the_project_is_shielded(sandbox: str, tmp_path: Path) -> None:
    project = write_files(tmp_path / "project", {"train.py": SCRIPT, **FILES})
    run = run_shielded(project, "train.py", sandbox)
    assert run.lines == []
    assert run.effects() == DONE
    assert run.effects(kept=True) == set()


def journal(folder: Path, *entries: tuple[str, str, bool], more: str = "") -> str:
    folder.mkdir()
    lines = [
        json.dumps(dict(zip(("kind", "what", "kept"), entry, strict=True))) for entry in entries
    ]
    (folder / "journal").write_text("\n".join([*lines, more]))
    return str(folder)


def test_several_runs_are_counted_and_sorted(tmp_path: Path) -> None:
    one = journal(tmp_path / "1", ("process", "git log", True), ("connect", "far:443", True))
    two = journal(tmp_path / "2", ("process", "git log", True), ("process", "awk", True))
    assert collect([one, two, str(tmp_path / "none")], str(tmp_path)) == (
        SideEffect("process", "awk", kept=True),
        SideEffect("connect", "far:443", kept=True),
        SideEffect("process", "git log", kept=True, count=2),
    )


def test_a_journal_that_was_cut_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    folder = journal(tmp_path / "1", ("process", "awk", True), more='{"kind": "pro')
    assert [effect.what for effect in collect([folder], str(tmp_path))] == ["awk"]


def test_files_of_the_project_are_told_from_its_folder_on_and_others_in_full(
    tmp_path: Path,
) -> None:
    project = tmp_path / "project"
    inside, outside = str(project / "a/b"), str(tmp_path / "project-2/c")
    folder = journal(tmp_path / "1", ("write", inside, True), ("write", outside, True))
    assert {effect.what for effect in collect([folder], str(project))} == {"a/b", outside}


def new_files(upper: Path, folder: str, count: int) -> None:
    write_files(upper / folder, {f"{number}.png": "" for number in range(count)})


def test_a_new_folder_full_of_files_is_one_line(tmp_path: Path) -> None:
    project = write_files(tmp_path / "project", {})
    new_files(tmp_path / "run/upper", "data/train/cats", 40)
    new_files(tmp_path / "run/upper", "data/train/dogs", 40)
    new_files(tmp_path / "run/upper", "few", 2)
    assert collect([str(tmp_path / "run")], str(project)) == (
        SideEffect("mkdir", "data", kept=False),
        SideEffect("create", "data/", kept=False, count=80),
        SideEffect("mkdir", "few", kept=False),
        SideEffect("create", "few/0.png", kept=False),
        SideEffect("create", "few/1.png", kept=False),
    )


def test_many_files_in_a_folder_that_was_there_are_one_line(tmp_path: Path) -> None:
    project = write_files(tmp_path / "project", {"data/0.png": "", "x": ""})
    new_files(tmp_path / "run/upper", "data", 60)
    new_files(tmp_path / "run/upper", ".", 51)
    assert collect([str(tmp_path / "run")], str(project)) == (
        SideEffect("create", "./", kept=False, count=51),
        SideEffect("create", "data/", kept=False, count=59),
        SideEffect("write", "data/0.png", kept=False),
    )


def test_no_runs_did_nothing(tmp_path: Path) -> None:
    assert collect([], str(tmp_path)) == ()
