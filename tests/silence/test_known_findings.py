"""Which findings a baseline covers, and which of its entries no longer hold."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import date, timedelta

from torchlint.finding import Finding, Position, Tier
from torchlint.silence.known_findings import (
    BaselineEntry,
    Coverage,
    EntryKey,
    compare,
    grown,
    key_of,
)

MakeFinding = Callable[..., Finding]
TODAY = date(2026, 5, 1)
YESTERDAY = TODAY - timedelta(days=1)


def entry(
    path: str = "train.py", size: int = 1, *, code: str = "TL201", **notes: object
) -> BaselineEntry:
    return BaselineEntry(EntryKey(path, code, "train", "f" * 16), size, **notes)  # type: ignore[arg-type]


def compared(
    entries: Sequence[BaselineEntry],
    findings: Sequence[Finding],
    *,
    gone: Collection[str] = (),
    judged: Callable[[BaselineEntry], bool] = lambda _: True,
) -> Coverage:
    return compare(
        entries,
        [(key_of(each.path, each), each) for each in findings],
        judged=judged,
        gone=lambda path: path in gone,
        today=TODAY,
    )


def finder(make: MakeFinding) -> Callable[..., Finding]:
    def find(path: str = "train.py", row: int = 3, **rest: object) -> Finding:
        return make(path, row, **{"scope": "train", "fingerprint": "f" * 16, **rest})

    return find


def test_a_known_finding_is_covered_wherever_it_is(make_finding: MakeFinding) -> None:
    said = compared([entry()], [finder(make_finding)(row=70)])
    assert (len(said.known), said.left, said.stale) == (1, (), ())


def test_each_part_of_the_key_makes_a_finding_another_one(make_finding: MakeFinding) -> None:
    find = finder(make_finding)
    others = [
        find("other.py"),
        find(code="TL202"),
        find(scope="test"),
        find(fingerprint="0" * 16),
        find(tier=Tier.PEDANTIC),
    ]
    for other in others:
        said = compared([entry()], [other])
        assert said.left == (other,)
        assert [stale.entry for stale in said.stale] == [entry()]


def test_the_last_of_equal_findings_are_the_new_ones(make_finding: MakeFinding) -> None:
    find = finder(make_finding)
    said = compared([entry(size=2)], [find(row=9), find(row=3), find(row=5)])
    assert [each.start.row for each in said.known] == [3, 5]
    (left,) = said.left
    assert left.start.row == 9
    assert left.message.endswith(" 2 more like it are in the baseline; this one is new.")


def test_in_a_notebook_the_last_cell_is_the_last(make_finding: MakeFinding) -> None:
    find = finder(make_finding)
    late = find()._replace(start=Position(1, 1, cell=7))
    early = find()._replace(start=Position(30, 1, cell=2))
    assert compared([entry()], [late, early]).known == (early,)


def test_a_finding_that_no_entry_is_like_is_told_as_it_is(make_finding: MakeFinding) -> None:
    finding = finder(make_finding)()
    assert compared([], [finding]).left == (finding,)


def test_what_is_gone_is_stale_and_counts_go_down(make_finding: MakeFinding) -> None:
    said = compared([entry(size=3), entry("old.py")], [finder(make_finding)()])
    assert [(each.entry.key.path, each.found) for each in said.stale] == [
        ("old.py", 0),
        ("train.py", 1),
    ]
    assert said.entries == (entry(size=1),)


def test_entries_that_the_run_does_not_judge_stay_as_they_are(make_finding: MakeFinding) -> None:
    entries = (entry(size=3, owner="vision"), entry("z.py"))
    said = compared(entries, [finder(make_finding)()], judged=lambda _: False)
    assert (len(said.known), said.stale, said.entries) == (1, (), entries)


def test_notes_survive_a_lower_count(make_finding: MakeFinding) -> None:
    old = entry(size=2, owner="vision", reason="the scheduler", expires=TODAY)
    assert compared([old], [finder(make_finding)()]).entries == (old._replace(size=1),)


def test_an_expired_entry_covers_nothing_and_names_its_owner(make_finding: MakeFinding) -> None:
    find = finder(make_finding)
    late = entry(size=1, owner="vision", expires=YESTERDAY)
    said = compared([late], [find(row=3), find(row=4)])
    assert said.known == ()
    first, second = (each.message for each in said.left)
    assert first.endswith(" The baseline covered it until 2026-04-30 (owner: vision).")
    assert "baseline" not in second
    assert (said.expired, len(said.new), said.entries) == ((late,), 1, (late,))


def test_the_last_day_still_covers(make_finding: MakeFinding) -> None:
    assert compared([entry(expires=TODAY)], [finder(make_finding)()]).left == ()


# files that have moved -----------------------------------------------------------------------


def test_a_moved_file_stays_covered_and_its_entry_follows(make_finding: MakeFinding) -> None:
    old = entry("a/train.py", owner="vision")
    said = compared([old], [finder(make_finding)("b/train.py")], gone=["a/train.py"])
    assert (said.left, said.stale) == ((), ())
    assert said.moved == ((old, "b/train.py"),)
    assert said.entries == (entry("b/train.py", owner="vision"),)


def test_a_copy_is_new_while_the_old_file_is_there(make_finding: MakeFinding) -> None:
    find = finder(make_finding)
    said = compared([entry("a.py")], [find("a.py"), find("b.py")])
    assert said.left == (find("b.py"),)


def test_one_of_two_copies_of_a_file_that_is_gone_is_covered(make_finding: MakeFinding) -> None:
    find = finder(make_finding)
    said = compared([entry("old/a.py")], [find("b.py"), find("new/a.py")], gone=["old/a.py"])
    assert said.known == (find("new/a.py"),)
    assert said.left == (find("b.py"),)


def test_what_has_moved_takes_only_what_others_leave_over(make_finding: MakeFinding) -> None:
    find = finder(make_finding)
    entries = [entry("a.py"), entry("b.py", expires=TODAY)]
    said = compared(entries, [find("b.py")], gone=["a.py"])
    assert [each.entry for each in said.stale] == [entry("a.py")]
    said = compared(entries, [find("b.py", 3), find("b.py", 4)], gone=["a.py"])
    assert said.left == said.stale == ()
    assert said.entries == (entry("b.py", 2, expires=TODAY),)


def test_the_sooner_date_of_two_notes_holds(make_finding: MakeFinding) -> None:
    find = finder(make_finding)
    soon = entry("a.py", owner="vision", expires=TODAY)
    late = entry("b.py", reason="slow", expires=TODAY + timedelta(days=9))
    said = compared([soon, late], [find("b.py", 3), find("b.py", 4)], gone=["a.py"])
    assert said.entries == (entry("b.py", 2, owner="vision", reason="slow", expires=TODAY),)


def test_a_file_may_split_in_two_but_covers_no_more_than_before(make_finding: MakeFinding) -> None:
    find = finder(make_finding)
    parts = [find("b.py", 3), find("c.py", 3), find("d.py", 3)]
    said = compared([entry("a.py", 2)], parts, gone=["a.py"])
    assert [each.path for each in said.left] == ["d.py"]
    assert said.entries == (entry("b.py"), entry("c.py"))


# growth --------------------------------------------------------------------------------------


def test_new_entries_get_the_notes_and_old_ones_keep_theirs(make_finding: MakeFinding) -> None:
    find = finder(make_finding)
    findings = [find(row=3), find(row=4), find("b.py")]
    said = compared([entry(owner="vision")], findings)
    after = grown(said.entries, said.new, owner="audio", expires=TODAY)
    assert after == (
        entry("b.py", owner="audio", expires=TODAY),
        entry(size=2, owner="vision"),
    )
