"""Which lines changed between two contents of a file."""

from __future__ import annotations

import pytest

from torchlint.changes import changed_lines as changes
from torchlint.changes.changed_lines import ChangedLines
from torchlint.finding import Position


def rows(before: str, after: str) -> list[int]:
    lines = ChangedLines([before], [after])
    places = [Position(row, 1) for row in range(1, len(after.splitlines()) + 1)]
    return [place.row for place in places if lines.touch(place, place)]


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("a\nb\nc\n", "a\nb\nc\n", []),
        ("", "a\nb\n", [1, 2]),
        ("a\nb\nc\n", "a\nX\nc\n", [2]),
        ("a\nb\nc\n", "a\nb\nX\nc\n", [3]),
        ("a\nb\nc\n", "a\nc\n", []),
        ("a\nb\n", "a\r\nb\r\n", []),  # line endings are not a change
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


def test_what_is_taken_out_is_between_two_rows() -> None:
    before, after = "load(\n    x,\n    num_workers=8,\n)\n", "load(\n    x,\n)\n"
    lines = ChangedLines([before], [after])
    one, two, three = (Position(row, 1) for row in (1, 2, 3))
    assert lines.touch(one, three)
    assert not lines.touch(one, two)
    assert not lines.touch(three, three)


def test_all_lines_between_very_many_changed_ones_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "_MOST", 3)
    assert rows("a\nb\nc\nd\n", "a\nX\nc\nY\n") == [2, 4]
    assert rows("a\nb\nc\nd\ne\nf\n", "a\nX\nc\nd\nY\nf\n") == [2, 3, 4, 5]


def test_rows_of_a_notebook_count_within_its_cells() -> None:
    before = ["import torch\n", "", "a = 1\nb = 2\n"]
    after = ["import torch\nimport os\n", "", "a = 1\nb = 2\n", "for x in y:\n    z()"]
    lines = ChangedLines(before, after)
    places = [Position(row, 1, cell) for cell in (1, 3, 4) for row in (1, 2)]
    touched = [(place.cell, place.row) for place in places if lines.touch(place, place)]
    assert touched == [(1, 2), (4, 1), (4, 2)]
    assert all(ChangedLines([], after).touch(place, place) for place in places)
