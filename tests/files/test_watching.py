from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from torchlint.files.watching import Watched

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    for folder in (".git", "src/deep", "src/data", ".venv/lib", "third_party"):
        (root / folder).mkdir(parents=True)
    for file in ("src/a.py", "src/deep/b.py", ".venv/lib/c.py", "third_party/d.py", "other.py"):
        (root / file).touch()
    (root / "pyproject.toml").write_text(
        '[tool.torchlint]\nextend-exclude = ["third_party", "*_pb2.py"]\n'
    )
    monkeypatch.chdir(root)
    return root


def watched(*paths: str, file: str | None = None) -> tuple[Watched, list[str]]:
    found = Watched(paths, file=file)
    return found, [os.path.relpath(folder) for folder in found.folders]


def test_the_folders_of_the_search_are_watched_and_no_other(project: Path) -> None:
    _, folders = watched(".")
    assert folders == [".", "src", "src/data", "src/deep"]


def test_links_to_folders_are_not_followed(project: Path) -> None:
    (project / "src" / "loop").symlink_to(project)
    (project / "src" / "far").symlink_to("/")
    assert watched(".")[1] == [".", "src", "src/data", "src/deep"]


def test_the_configuration_above_is_watched_up_to_the_checkout(project: Path) -> None:
    _, folders = watched("src/deep")
    assert folders == [".", "src", "src/deep"]


def test_without_a_checkout_the_configuration_in_force_is_watched(project: Path) -> None:
    (project / ".git").rmdir()
    assert watched("src/deep")[1] == [".", "src/deep"]
    (project / "pyproject.toml").unlink()
    assert watched("src/deep")[1] == ["src/deep"]


def test_a_named_file_is_watched_from_its_folder(project: Path) -> None:
    found, folders = watched("src/deep/b.py")
    assert "src/deep" in folders
    assert found.decided_by(str(project / "src/deep/b.py"))
    assert not found.may_change_with(str(project / "src/deep/new.py"))


def test_a_file_that_is_not_there_yet_is_waited_for(project: Path) -> None:
    found, folders = watched("nowhere/yet/x.py")
    assert folders == ["."]
    assert found.decided_by(str(project / "nowhere/yet/x.py"))


def test_a_named_configuration_decides_wherever_it_is(project: Path, tmp_path: Path) -> None:
    file = tmp_path / "ci" / "lint.toml"
    file.parent.mkdir()
    file.write_text("select = [broken")
    found, _ = watched("src", file=str(file))
    assert str(file.parent) in found.folders
    assert found.decided_by(str(file))


@pytest.mark.parametrize(
    ("path", "matters"),
    [
        ("src/a.py", True),
        ("pyproject.toml", True),
        ("src/torchlint.toml", True),
        (".gitignore", True),
        ("requirements-dev.txt", True),
        ("src/new.py", False),
        ("src/train.log", False),
        ("third_party/d.py", False),
    ],
)
def test_what_decides_the_outcome(project: Path, path: str, matters: bool) -> None:
    assert watched(".")[0].decided_by(str(project / path)) is matters


@pytest.mark.parametrize(
    ("path", "worth"),
    [("src/new.py", True), ("src/new.ipynb", True), ("src/data", True), ("src/train.log", False)],
)
def test_what_is_worth_a_new_look(project: Path, path: str, worth: bool) -> None:
    assert watched(".")[0].may_change_with(str(project / path)) is worth


def test_a_baseline_decides(project: Path) -> None:
    with (project / "pyproject.toml").open("a") as file:
        file.write('baseline = "known/ours.json"\n')
    (project / "known").mkdir()
    found, folders = watched(".")
    assert found.decided_by(str(project / "known" / "ours.json"))
    assert "known" in folders
    assert Watched((".",), others=("mine.json",)).decided_by(str(project / "mine.json"))
