"""What is said about the whole change and about each fix, from blocks that were made up."""

from __future__ import annotations

import random
from dataclasses import replace
from types import SimpleNamespace

import pytest

from torchlint.experiment.request import Design
from torchlint.experiment.rotation import Block
from torchlint.experiment.subject import AGAIN, CHANGED, ORIGINAL
from torchlint.runtime.probe.messages import Lanes
from torchlint.verify.fix_variants import only, without
from torchlint.verify.judge.judging import Judge, conclusion, fix_results
from torchlint.verify.result import Agreement, Comparison, Counters, Numerics, Verdict

PAIRS = 8


class Rounds:
    """Step times by variant; every process has a speed of its own."""

    def __init__(self, noise: float = 0.002, **seconds: float) -> None:
        self._noise = noise
        self._seconds = {ORIGINAL: 0.02, AGAIN: 0.02, **seconds}

    def pairs(self, before: str, after: str):
        return [(self._blocks(before, pair), self._blocks(after, pair)) for pair in range(PAIRS)]

    def _blocks(self, name: str, pair: int):
        draw = random.Random(f"{name} {pair}")
        speed = 1 + draw.gauss(0, self._noise)
        return tuple(
            Block(4, 4 * self._seconds[name] * speed, 0.08, None, 300.0, None) for _ in range(6)
        )


def judge(rounds: Rounds, ids=("a", "b", "c"), *, per_fix=True, gpu_only=(), on_gpu=False):
    return Judge(
        rounds, Design(), ids, per_fix=per_fix, gpu_only=frozenset(gpu_only), on_gpu=on_gpu
    )


THREE = Rounds(
    **{
        CHANGED: 0.010,
        only("a"): 0.012,
        only("b"): 0.016,
        only("c"): 0.020,
        without("a"): 0.016,
        without("b"): 0.010,
        without("c"): 0.010,
    }
)


def test_identical_programs_are_neutral():
    found = judge(Rounds(**{CHANGED: 0.02}), ("a",))
    assert found.noise().fit
    assert found.total().verdict is Verdict.NEUTRAL


def test_a_single_fix_is_the_whole_change():
    found = judge(Rounds(**{CHANGED: 0.01}), ("a",))
    assert found.alone() == {"a": found.total()}
    assert found.after() == {}


def test_each_fix_has_its_worth_alone_and_after_the_others():
    found = judge(THREE)
    alone, after = found.alone(), found.after()
    assert {fix: round(each.estimate.ratio, 1) for fix, each in alone.items()} == {
        "a": 1.7, "b": 1.2, "c": 1.0,
    }  # fmt: skip
    assert {fix: round(each.estimate.ratio, 1) for fix, each in after.items()} == {
        "a": 1.6, "b": 1.0, "c": 1.0,
    }  # fmt: skip
    assert [alone[fix].verdict for fix in "abc"] == [
        Verdict.CONFIRMED, Verdict.CONFIRMED, Verdict.NEUTRAL,
    ]  # fmt: skip


def test_nothing_is_said_about_single_fixes_if_only_the_whole_is_measured():
    found = judge(THREE, per_fix=False)
    assert found.total().verdict is Verdict.CONFIRMED
    assert all(each.estimate is None for each in found.alone().values())
    assert {each.verdict for each in found.alone().values()} == {Verdict.UNRESOLVED}
    assert {each.why for each in found.alone().values()} == {
        "it was measured only together with the others"
    }
    assert found.after() == {}


def test_before_the_first_pair_nothing_was_measured_together():
    none = judge(SimpleNamespace(pairs=lambda *_: []), per_fix=False)
    assert {each.why for each in (*none.alone().values(), none.total())} == {"no pair was measured"}


def test_the_whole_may_be_known_before_its_parts():
    whole = SimpleNamespace(
        pairs=lambda *names: THREE.pairs(*names) if {*names} <= {ORIGINAL, AGAIN, CHANGED} else []
    )
    found = judge(whole)
    assert found.total().verdict is Verdict.CONFIRMED
    assert {(each.verdict, each.why) for each in found.alone().values()} == {
        (Verdict.UNRESOLVED, "no pair was measured")
    }
    assert found.after() == {}
    assert not found.undecided()
    found.leave_parts_out()
    assert {each.why for each in found.alone().values()} == {
        "it was measured only together with the others"
    }


def test_what_spares_a_gpu_cannot_show_without_one():
    found = judge(THREE, gpu_only=("c",))
    assert found.alone()["c"].verdict is Verdict.NOT_MEASURABLE
    assert judge(THREE, gpu_only=("c",), on_gpu=True).alone()["c"].verdict is Verdict.NEUTRAL
    together = judge(THREE, per_fix=False, gpu_only=("c",)).alone()
    assert [together[fix].verdict for fix in "abc"] == [
        Verdict.UNRESOLVED, Verdict.UNRESOLVED, Verdict.NOT_MEASURABLE,
    ]  # fmt: skip


def test_what_shows_all_the_same_is_said():
    assert judge(THREE, gpu_only=("a",)).alone()["a"].verdict is Verdict.CONFIRMED


def test_the_whole_is_not_measurable_only_if_no_part_is():
    flat = Rounds(**{CHANGED: 0.02})
    assert judge(flat, ("a",), gpu_only=("a",)).total().verdict is Verdict.NOT_MEASURABLE
    assert judge(flat, ("a", "b"), per_fix=False, gpu_only=("a",)).total().verdict is (
        Verdict.NEUTRAL
    )
    assert judge(flat, (), gpu_only=()).total().verdict is Verdict.NEUTRAL


def test_an_unfit_machine_makes_no_claims():
    found = judge(Rounds(noise=0.5, **{CHANGED: 0.001}), ("a",))
    assert not found.noise().fit
    assert found.total().verdict is Verdict.UNRESOLVED
    assert found.total().why == found.noise().why
    # More pairs may still find it fit, however little they promise of the change.
    assert judge(Rounds(noise=0.5, **{CHANGED: 0.02}), ("a",)).undecided()


def test_what_is_settled_needs_no_further_look():
    assert not judge(THREE).undecided()


def test_an_open_fix_needs_a_further_look():
    open_one = Rounds(
        noise=0.04, **{CHANGED: 0.010, only("a"): 0.0192, only("b"): 0.011, AGAIN: 0.02}
    )
    found = judge(open_one, ("a", "b"))
    assert found.alone()["a"].verdict is Verdict.UNRESOLVED
    assert found.undecided()


# what is reported of each fix --------------------------------------------------------------


def fixes_of(*names: str):
    finding = SimpleNamespace(path="train.py", start=SimpleNamespace(row=7))
    fixes = [
        SimpleNamespace(
            id=name, code="TL000", name="x", path="train.py", findings=(finding,),
            applicability=SimpleNamespace(value="safe"), message="Mend",
        )
        for name in names
    ]  # fmt: skip
    return SimpleNamespace(fixes=fixes, diff=lambda ids: f"diff of {ids[0]}")


def look(device="cpu", **lanes):
    return SimpleNamespace(
        exercised=lambda fix, number: fix != "d",
        changed=SimpleNamespace(lanes=Lanes(**lanes), device=device),
    )


def test_a_fix_whose_lines_never_ran_is_not_exercised():
    found = fix_results(fixes_of("a", "b", "c", "d"), look(), judge(THREE))
    assert found[3].alone.verdict is Verdict.NOT_EXERCISED
    assert found[3].places[0].exercised is False
    assert found[0].diff == "diff of a"


def test_nothing_measured_is_all_not_exercised():
    (found,) = fix_results(fixes_of("d"), look())
    assert found.alone.verdict is Verdict.NOT_EXERCISED
    assert found.alone.estimate is None


def test_numbers_are_those_of_the_fix_alone():
    numbers = {only("b"): Numerics(Agreement.ROUNDING)}
    found = fix_results(fixes_of("a", "b", "c"), look(), judge(THREE), numbers)
    assert found[1].alone.numerics.agreement is Agreement.ROUNDING
    assert found[0].alone.numerics is None


def test_a_fix_that_the_others_hide_names_what_hides_it():
    lanes = {"data": (0.01, 0.02), "forward": (0.001, 0.001), "backward": ()}
    found = {
        each.id: each for each in fix_results(fixes_of("a", "b", "c"), look(**lanes), judge(THREE))
    }
    assert found["b"].hidden_by == "data loading"
    assert found["a"].hidden_by is None
    assert found["c"].hidden_by is None


def test_only_a_proven_gain_can_be_hidden():
    small = Rounds(**{CHANGED: 0.02, only("a"): 0.0198, only("b"): 0.02})
    found = fix_results(fixes_of("a", "b"), look(data=(0.01,)), judge(small, ("a", "b")))
    assert found[0].alone.verdict is Verdict.NEUTRAL
    assert found[0].alone.estimate.ratio > 1.005
    assert found[0].hidden_by is None


def test_the_hosts_time_does_not_say_what_a_gpu_waits_for():
    seen = look(data=(0.01,), device="cuda")
    found = fix_results(fixes_of("a", "b", "c"), seen, judge(THREE))
    assert found[1].hidden_by is None


def test_without_lanes_nothing_hides_a_fix():
    found = fix_results(fixes_of("a", "b", "c"), look(data=()), judge(THREE))
    assert found[1].hidden_by is None


# the end -----------------------------------------------------------------------------------


def concluded(total=None, alone=None, *, late=False, fit=True):
    found = judge(Rounds(**{CHANGED: 0.01}), ("a",))
    (fix,) = fix_results(fixes_of("a"), look(), found)
    fix = replace(fix, alone=alone or fix.alone)
    noise = replace(found.noise(), fit=fit, why="" if fit else "busy")
    return conclusion(noise, total or found.total(), (fix,), late=late)


NUMBERS = Numerics(Agreement.DIFFERS, why="the loss at step 3 is another")
ESTIMATE = judge(Rounds(**{CHANGED: 0.02}), ("a",)).total().estimate


def test_a_good_end_is_0_and_says_nothing():
    assert concluded() == (0, "")


@pytest.mark.parametrize("where", ["total", "alone"])
def test_other_numbers_end_with_1(where):
    code, said = concluded(**{where: Comparison(Verdict.CONFIRMED, ESTIMATE, NUMBERS)})
    assert code == 1
    assert "other numbers: the loss at step 3" in said


@pytest.mark.parametrize("where", ["total", "alone"])
def test_a_slower_fix_ends_with_1(where):
    code, said = concluded(**{where: Comparison(Verdict.SLOWER, ESTIMATE)})
    assert code == 1
    assert "slower" in said


@pytest.mark.parametrize("where", ["total", "alone"])
def test_left_out_work_is_said_in_the_first_place(where):
    less = Comparison(Verdict.CONFIRMED, ESTIMATE, less_work="1 → 0.5 batches a step")
    code, said = concluded(**{where: less})
    assert code == 0
    assert said.endswith("does less work: 1 → 0.5 batches a step.")


def test_what_was_counted_of_a_fix_is_that_of_the_program_with_it_alone():
    counters = {
        ORIGINAL: Counters(10, reads=3),
        CHANGED: Counters(10, reads=0),
        only("a"): Counters(10, reads=1),
    }
    found = judge(THREE, gpu_only=("c",))
    fixes = fix_results(fixes_of("a", "b", "c"), look(), found, counters=counters)
    assert [fix.alone.counters and fix.alone.counters.reads for fix in fixes] == [1, None, None]
    counters[only("c")] = Counters(10, reads=2)
    fixes = fix_results(fixes_of("a", "b", "c"), look(), found, counters=counters)
    assert fixes[2].alone.verdict is Verdict.NOT_MEASURABLE
    assert fixes[2].alone.why.startswith("does fewer: 3 → 2 reads a step; it avoids waiting")


def test_what_the_budget_left_open_ends_with_7():
    still_open = Comparison(Verdict.UNRESOLVED, ESTIMATE)
    assert concluded(alone=still_open, late=True)[0] == 7
    assert concluded(alone=still_open)[0] == 0
    assert concluded(late=True)[0] == 0
    assert concluded(alone=Comparison(Verdict.UNRESOLVED), late=True)[0] == 0
    assert concluded(total=Comparison(Verdict.UNRESOLVED), late=True)[0] == 7


def test_a_machine_that_is_unfit_when_the_budget_ends_is_called_so():
    code, said = concluded(total=Comparison(Verdict.UNRESOLVED), fit=False, late=True)
    assert code == 7
    assert "--budget. Until then, " in said
    assert "busy" in said


def test_an_unfit_machine_ends_with_3():
    code, said = concluded(fit=False)
    assert code == 3
    assert "busy" in said


@pytest.mark.parametrize(
    ("verdict", "agreement", "is_proven"),
    [
        (Verdict.CONFIRMED, Agreement.BITWISE, True),
        (Verdict.CONFIRMED, Agreement.ROUNDING, True),
        (Verdict.CONFIRMED, Agreement.DECLARED, False),
        (Verdict.CONFIRMED, Agreement.DIFFERS, False),
        (Verdict.NEUTRAL, Agreement.BITWISE, False),
    ],
)
def test_only_faster_and_right_is_proven(verdict, agreement, is_proven):
    (fix,) = fix_results(fixes_of("a"), look(), judge(Rounds(**{CHANGED: 0.01}), ("a",)))
    fix = replace(fix, alone=Comparison(verdict, ESTIMATE, Numerics(agreement)))
    assert fix.is_proven is is_proven
