"""Several places of a file as one finding."""

from __future__ import annotations

from torchlint.finding import Applicability, Edit, Finding, Fix, Position, Tier
from torchlint.reported import Waiting
from torchlint.ruleapi.together import joined


def found(row: int, column: int = 1, fix: Applicability | None = None) -> Finding:
    place = Position(row, column)
    made = None if fix is None else Fix(fix, "Fix it", (Edit(place, place, f"{row}"),))
    return Finding("X1", "x", Tier.HINT, "slow", "train.py", place, place, made)


def test_the_first_place_has_the_others_as_related_ones() -> None:
    (one,) = joined([found(5), found(3), found(4)], "here, too")
    assert isinstance(one, Finding)
    assert one.start.row == 3
    assert [(each.position.row, each.message) for each in one.related] == [
        (4, "here, too"),
        (5, "here, too"),
    ]


def test_a_line_is_named_once() -> None:
    (one,) = joined([found(3), found(3, 9), found(4), found(4, 9)], "here, too")
    assert isinstance(one, Finding)
    assert [each.position.row for each in one.related] == [4]


def test_the_fix_is_that_of_all_places_and_as_safe_as_the_least_safe() -> None:
    safe, unsafe = found(3, fix=Applicability.SAFE), found(4, fix=Applicability.UNSAFE)
    (one,) = joined([safe, unsafe], "here, too")
    assert isinstance(one, Finding)
    assert one.fix is not None
    assert one.fix.applicability is Applicability.UNSAFE
    assert [each.content for each in one.fix.edits] == ["3", "4"]


def test_a_place_without_a_fix_is_another_finding() -> None:
    assert len(list(joined([found(3), found(4, fix=Applicability.SAFE)], ""))) == 2


def test_places_that_wait_for_something_else_are_another_finding() -> None:
    waiting = [Waiting(found(3), ("hot",)), Waiting(found(4), ("hot",)), Waiting(found(5))]
    rows = [each.finding.start.row for each in joined(waiting, "") if isinstance(each, Waiting)]
    assert rows == [3, 5]
