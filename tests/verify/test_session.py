"""What a reader has to know about how it was measured."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from torchlint.finding import Applicability, Finding, Fix, Position, Tier
from torchlint.verify.session import remarks, some, without_a_fix


def rounds(unsteady=0, runs=12, *, one_at_a_time=False, throttled=0, clash=""):
    return SimpleNamespace(
        one_at_a_time=one_at_a_time,
        clash=clash,
        unsteady=lambda: (unsteady, runs),
        throttled=lambda: (throttled, 120),
        plan=SimpleNamespace(warmup=20),
    )


def test_a_measurement_as_planned_needs_no_remark():
    assert remarks(rounds()) == []


@pytest.mark.parametrize(("unsteady", "told"), [(3, False), (4, True), (12, True)])
def test_drift_in_more_runs_than_chance_makes_is_told(unsteady, told):
    found = remarks(rounds(unsteady))
    assert [f"{unsteady} of 12 runs" in each for each in found] == [True] * told
    assert all("20 steps" in each and "--warmup" in each for each in found)


def test_programs_that_ran_one_after_the_other_are_told_of():
    (found,) = remarks(rounds(one_at_a_time=True))
    assert "one after the other" in found
    assert "memory" in found
    (found,) = remarks(rounds(one_at_a_time=True, clash="Address already in use."))
    assert "one after the other" in found
    assert "Address already in use)" in found
    assert "memory" not in found


def test_blocks_with_a_clock_that_was_held_back_are_counted():
    (found,) = remarks(rounds(throttled=7))
    assert "in 7 of 120 blocks" in found


def test_a_long_list_of_files_is_cut():
    paths = [f"{number}.py" for number in range(7)]
    assert some(paths[:2]) == "0.py, 1.py"
    assert some(paths) == "0.py, 1.py and 5 more"


def finding(path="train.py", row=3, withheld=None, fix=None):
    return Finding(
        "TL101", "dataloader-no-workers", Tier.DEFAULT, "", path,
        Position(row, 1), Position(row, 2), fix, withheld,
    )  # fmt: skip


def test_without_a_fix_each_finding_says_why(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    unsafe = Fix(Applicability.UNSAFE, "", ())
    found = without_a_fix(
        [finding("a.py"), finding(withheld="the loader is shuffled"), finding(row=9, fix=unsafe)],
        str(tmp_path / "train.py"),
    )
    head = "TL101 dataloader-no-workers at"
    assert found == [
        f"{head} train.py:3 has no fix: the loader is shuffled",
        f"{head} train.py:9 has no fix: its fix is not safe",
        f"{head} a.py:3 has no fix: its rule has none",
    ]


def test_many_findings_without_a_fix_are_counted():
    found = without_a_fix([finding(row=row) for row in range(13)], "train.py")
    assert len(found) == 11
    assert found[-1] == "3 more findings have no fix; `torchlint check` lists them."
