"""Cells as one text, and back."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlint.files.lines import LineIndex
from torchlint.finding import Edit, Position
from torchlint.notebooks.cells import Borders, Cells, SpreadError


def sound(_code: str) -> None:
    return None


def unsound(code: str) -> tuple[Position, str] | None:
    return (Position(2, 5), "no good") if "bad" in code else None


CELLS = ["%cd x\nimport torch\n", "", "x = !ls\r\ny = 1", "%%html\n<b>", "z = 2"]


def test_the_text_holds_the_python_of_all_cells() -> None:
    compile(Cells(CELLS, sound).text, "cells", "exec")
    python = re.sub(r"(  )?# .*\n", "\n", Cells(CELLS, sound).text)
    assert python.split() == ["pass", "import", "torch", "x", "=", "get_ipython()", "y", "=", "1", "pass", "z", "=", "2"]  # fmt: skip


def test_no_line_of_a_cell_can_declare_an_encoding() -> None:
    text = Cells(["# coding: latin-1\nx = 1"], sound).text
    assert text.split("\n").index("# coding: latin-1") == 2


def test_unchanged_text_gives_the_cells_back() -> None:
    cells = Cells(CELLS, unsound)
    assert cells.sources(cells.text) == CELLS


def test_edits_come_back_in_their_cell() -> None:
    cells = Cells(CELLS, sound)
    text = cells.text.replace("y = 1", "y = 3\nw = 4").replace(
        "import torch", "import os\nimport torch"
    )
    assert cells.sources(text) == [
        "%cd x\nimport os\nimport torch\n", "", "x = !ls\r\ny = 3\nw = 4", "%%html\n<b>", "z = 2",
    ]  # fmt: skip


def test_text_before_the_first_cell_goes_into_it() -> None:
    cells = Cells(["x = 1", "y = 2"], sound)
    head, rest = cells.text.split("\n", 1)
    assert cells.sources(f"{head}\nimport os\n{rest}") == ["import os\nx = 1", "y = 2"]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (r"# cell-\w+ 3\n", "", "border"),
        (r"(# cell-\w+ 2\n)", r"\1\1", "border"),
        (r"pass  (# cell-\w+ 1:1)", r"x = 1; pass  \1", "not Python"),
        (r".*# cell-\w+ 4:2\n", "", "not Python"),
    ],
    ids=["a border is gone", "one is there twice", "a magic is changed", "a magic is gone"],
)
def test_an_edit_that_takes_more_than_code_is_refused(old: str, new: str, says: str) -> None:
    cells = Cells(CELLS, sound)
    changed, count = re.subn(old, new, cells.text)
    assert count == 1
    with pytest.raises(SpreadError, match=says):
        cells.sources(changed)


def test_a_cell_that_cannot_be_read_is_left_out_and_said() -> None:
    cells = Cells(["x = 1", "bad(\n  '''", "y = 2"], unsound)
    compile(cells.text, "cells", "exec")
    assert Borders(cells.text).unread == [(Position(2, 5, 2), "no good")]
    assert cells.sources(cells.text) == ["x = 1", "bad(\n  '''", "y = 2"]


@given(st.lists(st.text(alphabet="ab \n\r\t#%!?'\"([:\\\x0c\x85é🙂", max_size=30), max_size=5))
def test_any_cells_come_back(sources: list[str]) -> None:
    for trouble in (sound, unsound, lambda code: (Position(1, 1), "no")):
        cells = Cells(sources, trouble)
        assert cells.sources(cells.text) == sources


@given(st.lists(st.text(alphabet="ab \n\r", max_size=20), min_size=1, max_size=5))
def test_rows_tell_cell_and_line(sources: list[str]) -> None:
    text = Cells(sources, sound).text
    lines, borders = LineIndex(text), Borders(text)
    for number, source in enumerate(sources, 1):
        start = [each.end() for each in re.finditer(r"^# cell-\w+ \d+\n", text, re.M)][number - 1]
        within = LineIndex(source)
        for at in range(len(source)):
            place = lines.position(start + at)
            assert borders.located(place) == (*within.position(at)[:2], number)


def test_what_is_put_behind_a_cell_begins_a_line_in_it() -> None:
    text = Cells(["x = 1", "y = 2"], sound).text
    border = Position(4, 1)
    located = Borders(text).located_edit(Edit(border, border, "import os\n"))
    assert located == Edit(Position(1, 6, 1), Position(1, 6, 1), "\nimport os")


def test_a_notebook_without_cells() -> None:
    cells = Cells([], sound)
    assert cells.sources(cells.text) == []
    assert Borders(cells.text).unread == []
