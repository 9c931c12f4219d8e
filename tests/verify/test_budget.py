"""What fits into the time that the user allows."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from torchlint.experiment.plan import declare
from torchlint.experiment.request import Design, Request
from torchlint.runtime.program import Program
from torchlint.verify import time_budget
from torchlint.verify.fix_variants import variants_of
from torchlint.verify.time_budget import Layout, room_words, time_needed

PROGRAM = Program("/x/train.py", False, (), "/x/train.py", "/x")
FIXES = ("a", "b", "c")


def seen(**known: Any) -> Any:
    usual = {
        "step_s": 0.02, "warm": 3, "finished": False, "steps": 30, "words": "SGD.step",
        "start_s": 4.0, "device": "cpu",
    }  # fmt: skip
    return SimpleNamespace(**{**usual, **known})


def changes(declared: str = "") -> Any:
    return SimpleNamespace(
        fixes=FIXES,
        variants=lambda *, per_fix: variants_of(FIXES, per_fix=per_fix),
        may_change=lambda _: declared,
    )


def layout(budget_s: float | None, *, spent_s: float = 10.0, declared: str = "") -> Layout:
    request = Request(PROGRAM, budget_s=budget_s)
    return time_budget.layout(request, seen(), changes(declared), spent_s=spent_s, at_once=2)


def needed(pairs: int = 4, per_fix: bool = True, processors: int = 2, **known: Any) -> Any:
    variants = variants_of(FIXES, per_fix=per_fix)
    request = Request(PROGRAM, design=Design(looks=(pairs,)))
    plan = declare(request, seen(**known), variants)
    return time_needed(plan, seen(**known), variants, processors)


def test_the_time_grows_with_pairs_programs_and_the_start():
    assert needed(8).round == needed(4).round
    assert needed(8).first_verdict - needed(4).first_verdict == pytest.approx(
        4 * needed().first_round
    )
    assert needed().round < needed().first_round < needed().round + needed().whole + 1
    assert needed(per_fix=True).round > 2 * needed(per_fix=False).round
    slow = needed(start_s=64.0)
    assert slow.round >= 60 + needed().round
    assert slow.seeded >= 60 + needed().seeded


def test_more_processors_shorten_the_start_only():
    one, many = needed(processors=1), needed(processors=64)
    assert many.round < one.round
    assert many.round > needed(processors=64, start_s=0.0).round


def test_a_gpu_records_one_program_after_the_other():
    assert needed(device="cuda").seeded > needed(device="cpu").seeded


def test_counting_is_a_part_of_the_time():
    plain = needed()
    counting = replace(plain, counted=7.0)
    assert counting.first_verdict == plain.first_verdict + 7
    assert counting.at_most == plain.at_most + 7
    assert counting.rounds_s == plain.rounds_s == 4 * plain.first_round


def test_without_a_budget_everything_is_measured():
    found = layout(None)
    assert len(found.variants) == 9
    assert found.verdict_fits
    assert room_words(found) == []


def test_fewer_blocks_come_before_fewer_programs():
    whole = layout(None)
    tight = layout(10 + whole.needed.first_verdict - 1)
    assert len(tight.variants) == 9
    assert tight.plan.blocks < whole.plan.blocks
    assert tight.needed.first_verdict <= whole.needed.first_verdict - 1
    assert room_words(tight) == []


def test_each_fix_alone_waits_for_the_verdict_on_all_of_them():
    """It takes no time from that one, so whether it fits is seen later."""
    whole = layout(None).needed
    assert whole.total < whole.first_verdict
    found = layout(110)
    assert found.needed.total < 100 < found.needed.first_verdict
    assert len(found.variants) == 9
    assert found.verdict_fits
    assert room_words(found) == []
    (said,) = room_words(replace(found, narrowed=True))
    assert said.startswith("The budget has room for all fixes together, not for each alone; ")


def test_where_no_verdict_fits_only_all_fixes_together_are_tried():
    assert len(layout(35).variants) == 3


def test_what_was_judged_all_the_same_is_not_called_unlikely():
    assert room_words(layout(35.0), is_judged=True) == []
    (said,) = room_words(layout(12.0), is_judged=True)
    assert said.startswith("The budget is too short for the numbers; ")
    narrowed = replace(layout(110), narrowed=True)
    assert room_words(narrowed, is_judged=True) == room_words(narrowed)


def test_what_the_words_ask_for_is_enough():
    for short in (35, 30):
        (said,) = room_words(layout(short))
        minutes = int(said.partition("--budget ")[2].partition("m")[0])
        assert room_words(layout(60 * minutes)) == []


@pytest.mark.parametrize(("budget_s", "numbers_fit"), [(35.0, True), (12.0, False)])
def test_a_verdict_that_does_not_fit_is_said_beforehand(budget_s, numbers_fit):
    found = layout(budget_s)
    assert not found.verdict_fits
    assert found.numbers_fit is numbers_fit
    (said,) = room_words(found)
    assert "verdict on speed" in said
    assert ("the numbers" in said) is not numbers_fit


def test_numbers_that_may_change_take_longer():
    assert (
        layout(None, declared="rounding").needed.first_verdict > layout(None).needed.first_verdict
    )
