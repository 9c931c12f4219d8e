"""What is laid down before measuring."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from torchlint.experiment.errors import ExperimentError
from torchlint.experiment.plan import declare, room_for_runs
from torchlint.experiment.request import Request
from torchlint.experiment.subject import AGAIN, CHANGED, ORIGINAL
from torchlint.runtime.nodes.nodes import Spread
from torchlint.runtime.program import Program
from torchlint.verify.fix_variants import rotations, variant_with, variants_of

PROGRAM = Program("/x/train.py", False, (), "/x/train.py", "/x")


def seen(step_s=0.02, *, warm=3, finished=False, steps=30, words="SGD.step", ahead=0, start_s=2.0):
    return SimpleNamespace(
        step_s=step_s,
        warm=warm,
        finished=finished,
        steps=steps,
        words=words,
        ahead=ahead,
        start_s=start_s,
    )


def plan(survey, **asked):
    return declare(Request(PROGRAM, **asked), survey, variants_of(("a",), per_fix=True))


def test_batches_that_are_ready_do_not_count_where_nothing_is_stopped_between_turns():
    spread = Spread("torchrun", 2, "/shared")
    assert plan(seen(ahead=8)).settle == 1
    assert plan(seen(ahead=8), spread=spread).settle == 9
    short = plan(seen(ahead=8, finished=True, steps=26), spread=spread)
    assert short.warmup + short.blocks * (short.settle + short.steps + 1) <= 26


def test_numbers_from_a_step_that_a_script_does_not_take_cannot_be_compared():
    assert plan(seen(finished=True, steps=30), numbers_from=29).numeric_steps == 1
    with pytest.raises(ExperimentError, match="takes no step 30; give a smaller --numbers-from"):
        plan(seen(finished=True, steps=30), numbers_from=30)
    assert plan(seen(), numbers_from=30).numeric_first == 30


def test_a_machine_holds_its_own_share_of_the_ranks():
    survey = SimpleNamespace(processes=8, memory_mb=1000.0, gpu_mb=None, gpu_free_mb=None)
    assert room_for_runs(survey, 20_000.0) == 1
    assert room_for_runs(survey, 20_000.0, nodes=4) == 7


def test_a_single_fix_needs_no_variant_of_its_own():
    names = [variant.name for variant in variants_of(("a",), per_fix=True)]
    assert names == [ORIGINAL, AGAIN, CHANGED]


def test_two_fixes_alone_are_each_others_rest():
    found = variants_of(("a", "b"), per_fix=True)
    assert [variant.name for variant in found[3:]] == ["only a", "only b"]


def test_three_fixes_run_alone_and_left_out():
    found = {variant.name: variant.fixes for variant in variants_of(("a", "b", "c"), per_fix=True)}
    assert found["only b"] == ("b",)
    assert found["without b"] == ("a", "c")
    assert len(found) == 9


def test_the_total_alone_needs_three_variants():
    assert len(variants_of(("a", "b", "c"), per_fix=False)) == 3


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_every_selection_that_is_compared_has_run(count):
    fixes = tuple("abcd"[:count])
    by_name = {variant.name: variant.fixes for variant in variants_of(fixes, per_fix=True)}
    for fix in fixes:
        assert by_name[variant_with(fixes, (fix,))] == (fix,)
        rest = tuple(other for other in fixes if other != fix)
        assert by_name[variant_with(fixes, rest)] == rest


def test_a_block_lasts_long_enough_for_the_clock():
    assert plan(seen(0.002)).steps == 40
    assert plan(seen(0.02)).steps == 4
    assert plan(seen(3.0)).steps == 1


def test_what_starts_slowly_is_measured_in_longer_blocks_up_to_a_limit():
    slow = plan(seen(0.02, start_s=32.0))
    assert (slow.blocks, slow.steps) == (10, 20)
    endless = plan(seen(0.02, start_s=3600.0))
    assert endless.blocks * (endless.steps + endless.settle) * 0.02 <= 8.0


def test_long_steps_are_measured_in_fewer_blocks_but_never_one():
    assert plan(seen(0.02)).blocks == 10
    assert plan(seen(0.8)).blocks == 5
    assert plan(seen(30.0)).blocks == 3


def test_warm_up_covers_what_the_survey_saw_changing():
    assert plan(seen(0.02, warm=3)).warmup == 10
    assert plan(seen(0.02, warm=25)).warmup == 25
    assert plan(seen(2.0, warm=1)).warmup == 2
    assert plan(seen(2.0, warm=6)).warmup == 6
    assert plan(seen(0.02), warmup=4).warmup == 4


def test_asked_steps_are_shared_among_the_blocks():
    asked = plan(seen(0.02), steps=30)
    assert asked.blocks * asked.steps == 30
    assert plan(seen(0.02), steps=2).blocks == 2


@pytest.mark.parametrize("available", [8, 12, 15, 20, 50, 200])
def test_a_script_that_ends_has_all_its_turns_before(available):
    found = plan(seen(0.002, finished=True, steps=available))
    # A boundary begins the warm-up, and a GPU's block ends with one step that is not measured.
    needed = 1 + found.warmup + found.blocks * (found.settle + found.steps + 1)
    assert needed <= available
    assert found.blocks >= 1
    assert found.steps >= 1
    assert found.numeric_steps <= available


def test_a_script_that_hardly_steps_is_refused():
    with pytest.raises(ExperimentError, match="after 3 steps") as caught:
        plan(seen(0.002, finished=True, steps=3))
    assert caught.value.code == 6


def test_all_variants_run_side_by_side_where_memory_allows():
    names = variants_of(("a", "b", "c"), per_fix=True)
    (only,) = rotations(names, room=9)
    assert only == tuple(variant.name for variant in names)


def test_scarce_memory_splits_the_variants_into_groups():
    names = variants_of(("a", "b", "c"), per_fix=True)
    groups = rotations(names, room=4)
    assert groups[0] == (ORIGINAL, AGAIN, CHANGED)
    assert all(len(group) <= 4 for group in groups)
    assert all({ORIGINAL, CHANGED} <= set(group) for group in groups)
    assert {name for group in groups for name in group} == {variant.name for variant in names}


@pytest.mark.parametrize(
    ("took", "fits"),
    [
        ({"memory_mb": 1000.0}, 7),
        ({"memory_mb": 1000.0, "processes": 2}, 3),
        ({"memory_mb": 1000.0, "gpu_mb": 3400.0, "gpu_free_mb": 20_000.0}, 3),
        ({"memory_mb": 8000.0, "gpu_mb": 400.0, "gpu_free_mb": 20_000.0}, 0),
    ],
)
def test_the_scarcer_memory_says_how_many_runs_fit(took, fits):
    known = {"processes": 1, "gpu_mb": None, "gpu_free_mb": None, **took}
    assert room_for_runs(SimpleNamespace(**known), 10_000.0) == fits
