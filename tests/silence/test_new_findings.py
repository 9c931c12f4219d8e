"""Which findings are new, by content and count."""

from __future__ import annotations

from collections.abc import Callable

from torchlint.finding import Finding, Tier
from torchlint.silence.new_findings import new_findings

MakeFinding = Callable[..., Finding]


def new(
    before: list[Finding], after: list[Finding], *touched: int, moved: dict[str, str] | None = None
) -> list[str]:
    """The new ones as `train.py:3`; `touched` are the rows that changed."""
    paths = {each.path for each in after} | {"there.py"}
    found = new_findings(
        before,
        after,
        moved=moved or {},
        gone=lambda path: path not in paths,
        touched=lambda each: each.start.row in touched,
    )
    return [f"{each.path}:{each.start.row}" for each in found]


def test_each_old_finding_counts_for_one(make_finding: MakeFinding) -> None:
    rows = [make_finding(row=row, fingerprint="a") for row in (3, 5, 7)]
    assert new(rows, rows) == []
    assert new(rows[:1], rows) == ["train.py:5", "train.py:7"]
    assert new(rows[:1], rows, 3, 5) == ["train.py:3", "train.py:5"]
    assert new([], rows[:1]) == ["train.py:3"]


def test_code_that_moved_is_old(make_finding: MakeFinding) -> None:
    old = make_finding("there.py", scope="train", fingerprint="a")
    assert new([old], [make_finding("there.py", scope="fit", fingerprint="a")]) == []
    assert new([old], [make_finding("new.py", scope="train", fingerprint="a")]) == []
    assert new([old], [make_finding("new.py", scope="fit", fingerprint="a")]) == ["new.py:3"]
    assert new([old], [make_finding("there.py", scope="train", fingerprint="b")]) == ["there.py:3"]
    assert new([old], [make_finding("there.py", code="TL202", fingerprint="a")]) == ["there.py:3"]


def test_code_that_is_still_there_has_not_moved(make_finding: MakeFinding) -> None:
    old = make_finding("there.py", scope="train", fingerprint="a")
    for copy in (
        make_finding("there.py", row=9, scope="fit", fingerprint="a"),
        make_finding("new.py", row=9, scope="train", fingerprint="a"),
    ):
        assert new([old], [copy, old]) == [f"{copy.path}:9"]


def test_a_file_that_git_knows_to_be_renamed_keeps_its_findings(make_finding: MakeFinding) -> None:
    old = make_finding("old.py", scope="train", fingerprint="a")
    now = make_finding("new.py", scope="fit", fingerprint="a")
    assert new([old], [now]) == ["new.py:3"]
    assert new([old], [now], moved={"old.py": "new.py"}) == []


def test_only_what_becomes_more_certain_is_new(make_finding: MakeFinding) -> None:
    hint = make_finding(tier=Tier.HINT, fingerprint="a")
    certain = make_finding(fingerprint="a")
    assert new([hint], [certain]) == ["train.py:3"]
    assert new([certain], [hint]) == []


def test_a_file_that_is_gone_has_moved_to_one_of_its_name(make_finding: MakeFinding) -> None:
    old = make_finding("old/train.py", scope="train", fingerprint="a")
    moved = make_finding("new/train.py", row=9, scope="train", fingerprint="a")
    other = make_finding("fit.py", scope="train", fingerprint="a")
    assert new([old], [other, moved]) == ["fit.py:3"]
