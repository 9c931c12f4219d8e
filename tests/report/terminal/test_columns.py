from __future__ import annotations

import pytest

from torchlint.report.terminal.columns import clipped, cut_left, joined, padded, taken, wrapped


def test_wide_and_combining_characters_take_what_a_terminal_gives_them() -> None:
    assert [taken(text) for text in ("ab", "日本", "e\u0301")] == [2, 4, 1]


def test_padding_counts_columns() -> None:
    assert padded("日本", 6) == "日本  "
    assert padded("longer", 3) == "longer"


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [("train.py", 8, "train.py"), ("train.py", 6, "train…"), ("日本語", 5, "日本…")],
)
def test_a_long_text_keeps_its_beginning(text: str, width: int, expected: str) -> None:
    assert clipped(text, width) == expected


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [("a/train.py", 10, "a/train.py"), ("a/train.py", 9, "…train.py"), ("日本語", 5, "…本語")],
)
def test_a_long_path_keeps_its_end(text: str, width: int, expected: str) -> None:
    assert cut_left(text, width) == expected


def test_lines_break_at_blanks_and_inside_words_that_are_too_long() -> None:
    assert wrapped("to be or notatallever", 6) == ["to be", "or", "notata", "llever"]
    assert wrapped("日本語", 1) == ["日", "本", "語"]
    assert wrapped("", 5) == [""]


def test_facts_stay_in_one_piece_where_they_can() -> None:
    assert joined(["one fact", "two", "a fact that is too long"], 16) == [
        "one fact · two",
        "a fact that is",
        "too long",
    ]
    assert joined([], 10) == [""]
