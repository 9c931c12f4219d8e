from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from torchlint.finding import Position
from torchlint.report.terminal.excerpt import Excerpts, excerpt

if TYPE_CHECKING:
    from pathlib import Path


def place(line: str, part: str) -> tuple[str, str]:
    """The excerpt for the first `part` of a line."""
    column = line.index(part) + 1
    return excerpt(line, Position(1, column), Position(1, column + len(part)))


def under(shown: tuple[str, str]) -> str:
    text, carets = shown
    return text[carets.index("^") : len(carets)]


def test_carets_are_under_the_place() -> None:
    text, carets = place("    total += loss.item()  \n", "loss.item()")
    assert text == "    total += loss.item()"
    assert carets == "             ^^^^^^^^^^^"


def test_tabs_and_escapes_do_not_shift_the_carets() -> None:
    shown = place("\tx = '\x1b[2J'; loss.item()", "loss.item()")
    assert shown[0] == "    x = '\\x1b[2J'; loss.item()"
    assert under(shown) == "loss.item()"


def test_wide_and_combining_characters_take_their_columns() -> None:
    _, carets = place("损失 = e\u0301; loss.item()", "loss")
    assert carets == " " * (4 + 3 + 1 + 2) + "^^^^"


def test_a_place_over_several_lines_is_marked_to_the_end_of_the_first() -> None:
    _, carets = excerpt("x = call(  ", Position(1, 5), Position(3, 2))
    assert carets == "    ^^^^^"


def test_an_empty_place_has_one_caret() -> None:
    assert excerpt("x", Position(1, 1), Position(1, 1))[1] == "^"
    assert excerpt("", Position(1, 1), Position(1, 1))[1] == "^"


@pytest.mark.parametrize("before", [0, 30, 59, 60, 61, 500, 100_000])
def test_a_long_line_is_cut_around_the_place(before: int) -> None:
    shown = place("a" * before + "loss.item()" + "b" * 100_000, "loss.item()")
    assert under(shown) == "loss.item()"
    assert len(shown[0]) <= 102
    assert shown[0].startswith("…") is (before > 60)
    assert shown[0].endswith("…")


def test_a_long_place_is_cut_too() -> None:
    text, carets = excerpt("x" * 5_000, Position(1, 1), Position(1, 5_001))
    assert carets == "^" * 100
    assert text == "x" * 100 + "…"


def test_lines_end_where_python_ends_them(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"\xef\xbb\xbfone\ftwo\r\nthree\rfour\nfive\xe2\x80\xa8six")
    lines = Excerpts({})
    assert [lines.line(str(path), row) for row in range(1, 6)] == [
        "one\ftwo",
        "three",
        "four",
        "five\u2028six",
        None,
    ]


def test_text_that_is_not_on_disk_is_shown() -> None:
    assert Excerpts({"<stdin>": b"x = 1\n"}).line("<stdin>", 1) == "x = 1"


def test_a_file_that_has_gone_has_no_lines(tmp_path: Path) -> None:
    assert Excerpts({}).line(str(tmp_path / "gone.py"), 1) is None
