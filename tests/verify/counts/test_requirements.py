"""Bounds on counters."""

from __future__ import annotations

import pytest

from tests.report.verify.sample_results import comparison, counters, result
from torchlint.verify.counts.requirements import RequirementError, bounds, held_to
from torchlint.verify.result import Required


@pytest.mark.parametrize(
    ("word", "holds"),
    [
        ("reads<=3", True),
        ("reads<3", False),
        ("reads==3", True),
        ("reads >= 4", False),
        ("reads>2.5", True),
        (" operations <= 4.2e2 ", True),
    ],
)
def test_a_bound_is_compared_with_its_counter(word, holds):
    (bound,) = bounds([word])
    assert bound.judged(counters()).held is holds


def test_several_may_be_separated_by_commas():
    assert [each.words for each in bounds(["reads<=0,recompiles<=0", "bytes<1e6"])] == [
        "reads<=0",
        "recompiles<=0",
        "bytes<1e+06",
    ]


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("raeds<=0", "There is no counter 'raeds'; there are reads, operations, kernels, bytes,"),
        ("reads", "'reads' is no bound on a counter; write it as 'reads<=0'"),
        ("reads=0", "'reads=0' is no bound"),
        ("reads<=", "'reads<=' is no bound"),
        ("reads<=0,", "'' is no bound"),
        ("reads<=few", "'few' in 'reads<=few' is not a number"),
        ("reads<=nan", "'nan' in"),
        ("steps<=3", "There is no counter 'steps'"),
    ],
)
def test_other_words_are_refused(word, said):
    with pytest.raises(RequirementError) as refused:
        bounds([word])
    assert said in str(refused.value)


def of_total(found, **changes):
    return result(total=comparison(counters=found), summary="", **changes)


def test_what_holds_changes_nothing():
    held = held_to(of_total(counters(reads=0)), bounds(["reads<=0"]))
    assert (held.exit, held.summary) == (0, "")
    assert held.required == (Required("reads<=0", 0, held=True),)


def test_what_does_not_hold_ends_with_1():
    held = held_to(of_total(counters()), bounds(["reads<=0,recompiles<=0"]))
    assert held.exit == 1
    assert held.summary == "reads<=0 does not hold: the changed program comes to 3 reads a step."
    assert [each.held for each in held.required] == [False, True]


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (None, "nothing was counted"),
        (counters(kernels=None, missing={"kernels": "there is no GPU"}), "there is no GPU"),
    ],
)
def test_what_is_not_known_ends_with_3(found, why):
    held = held_to(of_total(found), bounds(["kernels<=300"]))
    assert held.exit == 3
    assert held.summary == f"Whether kernels<=300 holds is not known: {why}."


def test_a_broken_bound_counts_more_than_an_unknown_one():
    known = counters(kernels=None, missing={"kernels": "there is no GPU"})
    assert held_to(of_total(known), bounds(["kernels<=1,reads<=0"])).exit == 1


def test_a_worse_end_stays():
    held = held_to(of_total(counters(), exit=5), bounds(["reads<=0"]))
    assert held.exit == 5
    assert held.required[0].held is False


@pytest.mark.parametrize("code", [3, 7])
def test_a_broken_bound_is_said_where_the_speed_is_not_settled(code: int) -> None:
    held = held_to(of_total(counters(reads=2), exit=code), bounds(["reads<=0"]))
    assert held.exit == 1
    assert "does not hold" in held.summary
    assert held_to(of_total(counters(reads=0), exit=code), bounds(["reads<=0"])).exit == code


def test_where_nothing_is_changed_the_original_is_held_to_it():
    plain = result(total=None, fixes=(), counters=counters(), summary="There is no fix to verify.")
    held = held_to(plain, bounds(["reads<=0"]))
    assert held.exit == 1
    assert "the original comes to 3 reads a step" in held.summary
