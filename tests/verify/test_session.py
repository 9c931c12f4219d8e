"""What a reader has to know about how it was measured."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from torchlint.verify.session import remarks, some


def rounds(unsteady=0, runs=12, *, one_at_a_time=False):
    return SimpleNamespace(
        one_at_a_time=one_at_a_time,
        unsteady=lambda: (unsteady, runs),
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


def test_a_long_list_of_files_is_cut():
    paths = [f"{number}.py" for number in range(7)]
    assert some(paths[:5]) == "0.py, 1.py, 2.py, 3.py, 4.py"
    assert some(paths) == "0.py, 1.py, 2.py, 3.py, 4.py and 2 more"
