"""Rows of a file before a change of those after it."""

from __future__ import annotations

import pytest

from torchlint.files.diffs import rows_before

BEFORE = b"a\nb\nc\nd\n"


@pytest.mark.parametrize(
    ("after", "rows"),
    [
        (BEFORE, [1, 2, 3, 4]),
        (b"a\nnew\nnew\nb\nc\nd\n", [1, 1, 1, 2, 3, 4]),
        (b"a\nc\nd\n", [1, 3, 4]),
        (b"a\nB\nc\nd\n", [1, 2, 3, 4]),
        (b"a\nB\nB\nc\nx\n", [1, 2, 2, 3, 4]),
        (b"", []),
    ],
)
def test_a_row_is_that_of_the_line_before(after: bytes, rows: list[int]) -> None:
    assert rows_before(range(1, after.count(b"\n") + 1), BEFORE, after) == rows
