from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from torchlint.files import globs
from torchlint.files.globs import parse, parse_ignore_file

if TYPE_CHECKING:
    from pathlib import Path

PATHS = [
    "a.py",
    "b.py",
    "sub/a.py",
    "sub/deep/a.py",
    "build/x.py",
    "sub/build/x.py",
    "tests/test_a.py",
    "#odd.py",
    "!odd.py",
    "a[b].py",
    "star*.py",
    "ends .py",
    "x^y.py",
]


def ignored(lines: list[str], path: str) -> bool:
    """What a walk down from the root would leave out."""
    parts = tuple(path.split("/"))
    rules = parse_ignore_file(lines)
    return any(
        rules.verdict(parts[:depth], folder=depth < len(parts))
        for depth in range(1, len(parts) + 1)
    )


@pytest.mark.parametrize(
    "lines",
    [
        ["a.py"],
        ["/a.py"],
        ["sub/a.py"],
        ["build/"],
        ["build"],
        ["/build/"],
        ["*.py", "!a.py"],
        ["sub/*", "!sub/deep/"],
        ["**/a.py"],
        ["sub/**"],
        ["sub/**/a.py"],
        ["**/deep/**"],
        ["s?b/a.py"],
        ["[ab].py"],
        ["[!a].py"],
        ["[^a].py"],
        ["# a comment", "", "   ", "a.py   "],
        ["\\#odd.py"],
        ["\\!odd.py"],
        ["a\\[b\\].py"],
        ["star\\*.py"],
        ["sub/*/a.py"],
        ["*", "!*/", "!sub/a.py"],
        ["sub", "!sub/a.py"],
        ["a.py\r"],
        ["/"],
        ["[", "a.py"],
        ["x[\\^]y.py"],
        ["**"],
        ["a**.py"],
    ],
    ids=str,
)
def test_ignore_files_mean_what_git_makes_of_them(lines: list[str], tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_bytes("\n".join(lines).encode())
    for path in PATHS:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    listed = subprocess.run(
        ["git", "ls-files", "-oz", "--exclude-per-directory=.gitignore"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    ).stdout.decode()
    kept = set(listed.split("\0")) - {"", ".gitignore"}
    text = (tmp_path / ".gitignore").read_bytes().decode().split("\n")
    assert {path for path in PATHS if not ignored(text, path)} == kept


@pytest.mark.parametrize(
    ("pattern", "path", "covered"),
    [
        ("tests", "tests/a.py", True),
        ("tests/", "tests/a.py", True),
        ("tests/*", "tests/sub/a.py", True),
        ("./tests/*", "tests/a.py", True),
        ("tests/*", "src/tests/a.py", False),
        ("test_*.py", "src/test_a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/**/a.py", "src/a.py", True),
        ("a.py/", "a.py", False),
    ],
)
def test_a_glob_covers_a_file_itself_or_by_its_folder(
    pattern: str, path: str, covered: bool
) -> None:
    glob = parse(pattern)
    assert glob is not None
    assert glob.covers(tuple(path.split("/"))) is covered


@pytest.mark.parametrize("pattern", ["", "/", "./", "."])
def test_a_pattern_without_a_name_means_nothing(pattern: str) -> None:
    assert parse(pattern) is None


def test_a_row_of_stars_is_one() -> None:
    glob = parse("**/" * 9_999 + "a")
    assert glob is not None
    assert glob.segments == ("**", "a")


def test_only_so_many_lines_of_an_ignore_file_are_heeded() -> None:
    found = parse_ignore_file([*["*.txt"] * globs.MOST_PATTERNS, "*.py"])
    assert found.verdict(("a.txt",), folder=False) is True
    assert found.verdict(("a.py",), folder=False) is None


def test_a_hostile_pattern_answers_at_once() -> None:
    """Exponential matching would not come back from this."""
    names = parse("*a" * 60 + "b")
    folders = parse("**/a/" * 60 + "b")
    assert names is not None
    assert folders is not None
    assert not names.matches(("a" * 255,))
    assert not folders.matches(("a",) * 2_000)
