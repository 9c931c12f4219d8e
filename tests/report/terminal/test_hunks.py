from __future__ import annotations

from torchlint.finding import Applicability, Edit, Finding, Fix, Position, Tier
from torchlint.report.terminal.excerpt import Excerpts
from torchlint.report.terminal.hunks import Hunk, hunks

TEXT = "".join(f"line {number}\n" for number in range(1, 21))


def changed(*edits: tuple[int, int, int, int, str], text: str = TEXT) -> list[Hunk]:
    place = Position(1, 1)
    made = tuple(
        Edit(Position(row, column), Position(last, end), content)
        for row, column, last, end, content in edits
    )
    fix = Fix(Applicability.SAFE, "Mend", made)
    finding = Finding("TL201", "x", Tier.DEFAULT, "M", "a.py", place, place, fix)
    return hunks(finding, Excerpts({"a.py": text.encode()}))


def test_edits_that_are_near_share_a_hunk_in_whatever_order_they_come() -> None:
    near, far = (8, 1, 8, 5, "Row"), (12, 1, 12, 5, "Row")
    assert changed(far, near, (5, 6, 5, 7, "five")) == [
        Hunk(
            None,
            5,
            ["line 5", "line 6", "line 7", "line 8"],
            ["line five", "line 6", "line 7", "Row 8"],
        ),
        Hunk(None, 12, ["line 12"], ["Row 12"]),
    ]


def test_an_edit_reaches_over_lines() -> None:
    assert changed((2, 1, 4, 1, ""), (4, 5, 5, 5, "!")) == [
        Hunk(None, 2, ["line 2", "line 3", "line 4", "line 5"], ["line! 5"])
    ]


def test_any_line_end_is_one() -> None:
    assert changed((1, 2, 1, 2, "\r\nb\rc\n"), text="ad\r\ne\r\n") == [
        Hunk(None, 1, ["ad"], ["a", "b", "c", "d"])
    ]


def test_a_fix_that_changes_nothing_or_does_not_fit_has_none() -> None:
    assert changed((1, 1, 1, 2, "l")) == []
    assert changed((1, 1, 1, 2, "x"), (99, 1, 99, 2, "x")) == []
    assert changed((1, 1, 1, 3, "x"), (1, 2, 1, 4, "y")) == []
    assert changed((1, 1, 1, 99, "x")) == []
