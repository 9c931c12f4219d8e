"""Which lines changed: pairs of texts, and repositories with a history."""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from torchlint.changes import changed_lines as changes
from torchlint.changes.changed_lines import Changes, compared
from torchlint.changes.git import GitError
from torchlint.finding import Position

if TYPE_CHECKING:
    from collections.abc import Sequence


def rows(before: str, after: str) -> list[int]:
    return sorted(compared(before.encode(), after.encode()).rows)


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("a\nb\nc\n", "a\nb\nc\n", []),
        ("", "a\nb\n", [1, 2]),
        ("a\nb\nc\n", "a\nX\nc\n", [2]),
        ("a\nb\nc\n", "a\nb\nX\nc\n", [3]),
        ("a\nb\nc\n", "a\nc\n", []),
        ("a\nb\n", "a\r\nb\r\n", []),  # line endings are no change
        ("a\nb", "a\nb\n", []),
        ("a\rb\rc", "a\rX\rc", [2]),  # a lone carriage return ends a line, as in Python
        ("a\n\f\nb\n", "a\n\f\nX\n", [3]),  # a form feed ends none
        ("a\n\nb\n\nc\n", "a\n\nX\n\nb\n\nc\n", [3, 4]),
        ("a\nb\nc\nd\ne\n", "d\ne\na\nb\nc\n", [1, 2]),  # moved lines are new
        ("x\n" * 5, "x\n" * 7, [6, 7]),
    ],
)
def test_rows_that_are_new(before: str, after: str, changed: list[int]) -> None:
    assert rows(before, after) == changed


def test_what_is_taken_out_lies_between_two_rows() -> None:
    lines = compared(b"load(\n    x,\n    num_workers=8,\n)\n", b"load(\n    x,\n)\n")
    assert (lines.rows, lines.cuts) == (set(), {2})
    one, two, three = (Position(row, 1) for row in (1, 2, 3))
    assert lines.touch(one, three)
    assert not lines.touch(one, two)
    assert not lines.touch(three, three)


def test_the_lines_that_are_not_new_are_the_old_ones_in_order() -> None:
    chance = random.Random(5)
    for _ in range(300):
        before = [chance.choice("abcdefgh") * chance.randint(1, 2) for _ in range(30)]
        after = list(before)
        for _ in range(chance.randint(0, 6)):
            at = chance.randrange(len(after))
            after[at : at + chance.randint(0, 3)] = chance.choices("abcxyz", k=chance.randint(0, 3))
            after = after or ["a"]
        new = compared("\n".join(before).encode(), "\n".join(after).encode()).rows
        kept = iter(before)
        assert all(line in kept for row, line in enumerate(after, 1) if row not in new)


def test_texts_made_to_be_slow_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cut is at one line near the end, and makes one more line unique in what is left."""
    seen = 0

    def counted(before: Sequence[bytes], after: Sequence[bytes]) -> list[tuple[int, int]]:
        nonlocal seen
        seen += len(before) + len(after)
        return anchors(before, after)

    anchors = changes._anchors
    monkeypatch.setattr(changes, "_anchors", counted)
    before = [word for n in range(500) for word in (f"r{n}", f"r{n - 1}", f"x{n}")]
    after = [word for n in range(500) for word in (f"r{n}", f"r{n - 1}", f"y{n}")]
    compared("\n".join(["x", *before]).encode(), "\n".join(["y", *after]).encode())
    assert len(before) * 30 < seen < len(before) * 100


def test_the_block_that_a_line_opens() -> None:
    after = b"for x in load(\n    y\n):\n    old()\n\n# aside\n    if x:\n        new()\nnew()\n"
    before = after.replace(b"        new()\n", b"").replace(b"\nnew()", b"")
    lines = compared(before, after)
    blocks = {row: list(lines.below(Position(row, 1))) for row in (1, 4, 7, 99)}
    assert blocks == {1: [b"new()"], 4: [], 7: [b"new()"], 99: []}


def notebook(*cells: str) -> bytes:
    """A notebook with text around its cells, which counts its runs."""
    told = {"cell_type": "markdown", "metadata": {}, "source": "one\ntwo\n"}
    code = [
        {
            "cell_type": "code",
            "execution_count": len(cell),
            "metadata": {},
            "outputs": [],
            "source": cell,
        }
        for cell in cells
    ]
    return json.dumps({"cells": [told, *code], "metadata": {}, "nbformat": 4}, indent=1).encode()


def test_rows_of_a_notebook_count_within_its_cells() -> None:
    before = notebook("import torch\n", "", "a = 1\nb = 2\n")
    after = notebook("import torch\nimport os\n", "", "a = 1\nb = 2\n", "for x in y:\n    z()")
    lines = compared(before, after, "a.ipynb")
    places = [Position(row, 1, cell) for cell in (1, 3, 4) for row in (1, 2)]
    touched = [(place.cell, place.row) for place in places if lines.touch(place, place)]
    assert touched == [(1, 2), (4, 1), (4, 2)]
    assert list(lines.below(Position(1, 1, 4))) == [b"z()"]
    everything = compared(b"no notebook", after, "a.ipynb")
    assert all(everything.touch(place, place) for place in places)


# repositories --------------------------------------------------------------------------------


def git(*words: str, cwd: Path | None = None) -> None:
    subprocess.run(["git", *words], cwd=cwd, check=True, capture_output=True)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a branch `base` at its first commit."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "test")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "test")
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    git("init", "--quiet", "--initial-branch=main")
    Path("train.py").write_text("one\ntwo\nthree\nfour\n")
    commit("first")
    git("branch", "base")
    return folder


def commit(message: str) -> None:
    git("add", "--all")
    git("commit", "--quiet", "-m", message)


def changed(path: str, data: bytes | None = None) -> list[int]:
    return sorted(Changes("base").lines({path: data})[path].rows)


def test_commits_the_index_and_the_working_tree_all_count(here: Path) -> None:
    assert changed("train.py") == []
    Path("train.py").write_text("ONE\ntwo\nthree\nfour\n")
    commit("second")
    Path("train.py").write_text("ONE\nTWO\nthree\nfour\n")
    git("add", ".")
    Path("train.py").write_text("ONE\nTWO\nTHREE\nfour\n")
    assert changed("train.py") == [1, 2, 3]


def test_what_others_did_since_is_no_change(here: Path) -> None:
    git("checkout", "--quiet", "-b", "work")
    Path("train.py").write_text("ONE\ntwo\nthree\nfour\n")
    commit("ours")
    git("checkout", "--quiet", "base")
    Path("train.py").write_text("one\ntwo\nthree\nFOUR\n")
    commit("theirs")
    git("checkout", "--quiet", "work")
    assert changed("train.py") == [1]


def test_a_file_that_is_not_in_the_base_is_new(here: Path) -> None:
    Path(".gitignore").write_text("ignored.py\n")
    for name in ("untracked.py", "ignored.py"):
        Path(name).write_text("one\ntwo\n")
        assert changed(name) == [1, 2]


def test_text_from_standard_input_is_compared_under_its_name(here: Path) -> None:
    assert changed("train.py", b"one\nTWO\nthree\nfour\n") == [2]
    assert changed("<stdin>", b"one\n") == [1]


@pytest.mark.parametrize("committed", [True, False])
def test_a_renamed_file_keeps_its_lines(here: Path, committed: bool) -> None:
    Path("models").mkdir()
    git("mv", "train.py", "models/fit.py")
    if committed:
        commit("second")
    Path("models/fit.py").write_text("one\ntwo\nTHREE\nfour\n")
    assert changed("models/fit.py") == [3]


NAMES = ["größe 模型.py", "two\nlines.py", 'quote".py', "tab\t.py", ":(glob)*.py", "-x.py"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
@pytest.mark.parametrize("name", [*NAMES, os.fsdecode(b"caf\xe9.py")])
def test_names_are_what_they_are(here: Path, name: str) -> None:
    Path(name).write_text("one\ntwo\n")
    commit("second")
    git("branch", "--force", "base")
    Path(name).write_text("one\nTWO\n")
    assert changed(name) == [2]
    git("mv", "--", name, f"moved {name}")
    assert changed(f"moved {name}") == [2]


def test_a_link_stands_for_its_target(here: Path) -> None:
    Path("link.py").symlink_to("train.py")
    commit("second")
    assert changed("link.py") == []


def test_a_link_that_became_a_file_is_new(here: Path) -> None:
    Path("link.py").symlink_to("train.py")
    commit("second")
    git("branch", "--force", "base")
    Path("link.py").unlink()
    Path("link.py").write_text("train.py")
    assert changed("link.py") == [1]


def test_paths_count_from_the_folder_that_one_is_in(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("src").mkdir()
    Path("src/train.py").write_text("one\n")
    monkeypatch.chdir("src")
    assert changed("train.py") == [1]
    assert changed("../train.py") == []
    git("config", "diff.relative", "true")
    git("mv", "../train.py", "fit.py")
    assert changed("fit.py") == []


def test_another_repository_inside_has_no_lines_of_this_one(here: Path) -> None:
    for name in ("nested", "module"):
        Path(name).mkdir()
        git("init", "--quiet", cwd=here / name)
        Path(name, "train.py").write_text("one\n")
    git("add", "train.py", cwd=here / "module")
    git("commit", "--quiet", "-m", "inner", cwd=here / "module")
    git("-c", "advice.addEmbeddedRepo=false", "add", "module")
    git("commit", "--quiet", "-m", "second")
    git("branch", "--force", "base")
    assert changed("nested/train.py") == []
    assert changed("module/train.py") == []


def test_a_file_elsewhere_cannot_be_compared(here: Path) -> None:
    (here.parent / "project2").mkdir()
    other = here.parent / "project2" / "train.py"
    other.write_text("one\n")
    with pytest.raises(GitError, match="does not belong to the repository"):
        changed(str(other))


def test_an_old_file_that_is_too_large_counts_as_new(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "most_bytes", lambda path: 5)
    assert changed("train.py") == [1, 2, 3, 4]
