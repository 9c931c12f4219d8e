"""Rounds, looks, and when the warm-up turns out to have been too short."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from torchlint.experiment import rounds as module
from torchlint.experiment.errors import ExperimentError
from torchlint.experiment.plan import declare
from torchlint.experiment.request import Request
from torchlint.experiment.rotation import Block, Round
from torchlint.experiment.subject import AGAIN, CHANGED, ORIGINAL
from torchlint.runtime.failures import Failed
from torchlint.runtime.program import Program
from torchlint.verify.fix_variants import rotations, variants_of

PROGRAM = Program("/x/train.py", False, (), "/x/train.py", "/x")
SEEN = SimpleNamespace(step_s=0.02, warm=3, finished=False, steps=30, words="SGD.step", start_s=2.0)
STEADY = [1.0] * 8
FALLING = [2.0, 1.8, 1.6, 1.4, 1.2, 1.1, 1.0, 1.0]


class Runs:
    """Stands in for `rotate`: what each rotation measures, in order; the last one repeats."""

    def __init__(self, *rounds):
        self.rounds = list(rounds)
        self.warmups = []
        self.steps = []
        self.names = []

    def __call__(self, jobs, workspace, *, warmup, steps, **_):
        self.warmups.append(warmup)
        self.steps.append(steps)
        self.names.append(tuple(jobs))
        now = self.rounds.pop(0) if len(self.rounds) > 1 else self.rounds[0]
        if isinstance(now, Failed):
            raise now
        by_name = now if isinstance(now, dict) else dict.fromkeys(jobs, now)
        return Round({name: blocks(by_name[name]) for name in jobs}, finished=not now)


def blocks(seconds, compiled_in=None):
    return tuple(
        Block(1, each, each, None, 10.0, None, compiled=at == compiled_in)
        for at, each in enumerate(seconds)
    )


def rounds(monkeypatch, runs, *, fixes=("a",), room=9, **changes):
    monkeypatch.setattr(module, "rotate", runs)
    request = Request(PROGRAM, **changes)
    variants = variants_of(fixes, per_fix=True)
    return module.Rounds(
        SimpleNamespace(job=lambda *_, **__: None),
        None,
        declare(request, SEEN, variants),
        variants,
        anchor=None,
        rotations=rotations(variants, room=room),
        ranks=1,
        serial_warmup=False,
        one_at_a_time=False,
        extends_warmup=request.warmup is None,
        timeout_s=1.0,
    )


def measure(made, deadline=None):
    """Measure up to the first look, which settles everything."""
    made.measure(lambda: False, deadline=deadline, progress=lambda *_: None)


def measured(monkeypatch, runs, *, deadline=None, **changes):
    made = rounds(monkeypatch, runs, **changes)
    measure(made, deadline)
    return made


def test_steady_runs_keep_the_warm_up(monkeypatch):
    runs = Runs(STEADY)
    made = measured(monkeypatch, runs)
    assert set(runs.warmups) == {10}
    assert len(runs.warmups) == len(made.pairs(ORIGINAL, CHANGED)) == made.plan.looks[0]
    assert made.unsteady() == (0, 3 * made.plan.looks[0])


def test_a_change_is_compared_with_both_runs_of_the_original(monkeypatch):
    took = {ORIGINAL: [1.0] * 8, AGAIN: [4.0] * 8, CHANGED: [3.0] * 8}
    made = measured(monkeypatch, Runs(took))
    for before, after in made.pairs(ORIGINAL, CHANGED):
        assert {each.seconds for each in before} == {2.0}  # the mean of ratios is a geometric one
        assert {each.seconds for each in after} == {3.0}
    for before, after in made.pairs(ORIGINAL, AGAIN):
        assert {each.seconds for each in before} == {1.0}
        assert {each.seconds for each in after} == {4.0}


def test_the_mean_of_two_runs_is_that_of_their_steps():
    shorter = replace(blocks([6.0])[0], steps=2, gpu=16.0)
    (found,) = module.mean_of(blocks([12.0]), (shorter,))
    assert (found.wall, found.gpu) == (6.0, None)
    (found,) = module.mean_of((replace(shorter, gpu=4.0),), (shorter,))
    assert found.seconds == 4.0


def test_a_first_round_that_drifts_is_measured_again_after_twice_the_warm_up(monkeypatch):
    runs = Runs(FALLING, STEADY)
    made = measured(monkeypatch, runs)
    assert runs.warmups[:3] == [10, 20, 20]
    assert made.plan.warmup == 20
    assert len(made.pairs(ORIGINAL, CHANGED)) == made.plan.looks[0]
    assert made.unsteady()[0] == 0


def test_the_warm_up_is_not_extended_for_ever(monkeypatch):
    runs = Runs(FALLING)
    made = measured(monkeypatch, runs)
    assert runs.warmups[:5] == [10, 20, 40, 80, 80]
    assert made.unsteady() == (3 * made.plan.looks[0],) * 2


def test_what_becomes_slower_is_not_warming_up(monkeypatch):
    runs = Runs(FALLING[::-1])
    made = measured(monkeypatch, runs)
    assert set(runs.warmups) == {10}
    assert made.unsteady() == (3 * made.plan.looks[0],) * 2


def test_only_the_first_round_says_how_long_to_warm_up(monkeypatch):
    runs = Runs(STEADY, FALLING)
    made = measured(monkeypatch, runs)
    assert set(runs.warmups) == {10}
    assert made.unsteady() == (3 * (made.plan.looks[0] - 1), 3 * made.plan.looks[0])


def test_one_drifting_run_of_three_is_chance(monkeypatch):
    runs = Runs({ORIGINAL: FALLING, AGAIN: STEADY, CHANGED: STEADY})
    made = measured(monkeypatch, runs)
    assert made.plan.warmup == 10
    assert made.unsteady() == (made.plan.looks[0], 3 * made.plan.looks[0])


def test_a_warm_up_that_was_asked_for_stays(monkeypatch):
    runs = Runs(FALLING)
    measured(monkeypatch, runs, warmup=4)
    assert set(runs.warmups) == {4}


def test_a_block_in_which_something_was_compiled_is_unsteady(monkeypatch):
    late = Round(
        {name: blocks(STEADY, compiled_in=2) for name in (ORIGINAL, AGAIN, CHANGED)}, False
    )
    calls = []

    def rotate(*_, warmup, **__):
        calls.append(warmup)
        return late

    measured(monkeypatch, rotate)
    assert calls[:2] == [10, 20]


def test_what_does_not_fit_side_by_side_runs_one_after_the_other(monkeypatch):
    runs = Runs(Failed("crashed", "out of memory", name=CHANGED, oom=True), STEADY)
    made = measured(monkeypatch, runs)
    assert made.one_at_a_time
    assert sorted(runs.names[1:4]) == sorted([(ORIGINAL,), (AGAIN,), (CHANGED,)])
    assert len(made.pairs(ORIGINAL, CHANGED)) == made.plan.looks[0]


def test_what_fails_next_to_another_run_and_not_alone_is_a_clash(monkeypatch):
    made = measured(
        monkeypatch,
        Runs(Failed("error", "Raised.", name=CHANGED, tail="File x\nAddress in use."), STEADY),
    )
    assert made.one_at_a_time
    assert made.clash == "Address in use."
    assert len(made.pairs(ORIGINAL, CHANGED)) == made.plan.looks[0]


def test_what_fails_alone_as_well_is_told_as_it_failed_there(monkeypatch):
    beside, alone = (
        Failed("timeout", "nothing", name=ORIGINAL),
        Failed("error", "bug", name=CHANGED),
    )
    made = rounds(monkeypatch, Runs(beside, alone))
    with pytest.raises(Failed, match="bug"):
        measure(made)
    assert not made.one_at_a_time  # nothing says that they cannot run side by side


def test_a_program_that_needs_too_much_by_itself_fails(monkeypatch):
    with pytest.raises(Failed):
        measured(monkeypatch, Runs(Failed("crashed", "out of memory", name=CHANGED, oom=True)))


def test_a_script_that_ends_before_the_first_block_gets_shorter_ones(monkeypatch):
    runs = Runs([], [], STEADY)
    made = measured(monkeypatch, runs)
    whole = runs.steps[0]
    assert runs.steps[:4] == [whole, whole // 2, whole // 4, whole // 4]
    assert runs.warmups[:4] == [10, 5, 2, 2]
    assert made.finished
    assert len(made.pairs(ORIGINAL, CHANGED)) == made.plan.looks[0]


def test_a_script_of_hardly_any_steps_is_too_short(monkeypatch):
    with pytest.raises(ExperimentError, match="let it train longer") as caught:
        measured(monkeypatch, Runs([]))
    assert caught.value.code == 6


def test_no_round_begins_that_would_end_too_late(monkeypatch):
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))
    runs = Runs(STEADY)
    measured(monkeypatch, runs, deadline=45.0)
    assert len(runs.warmups) == 2


WHOLE = (ORIGINAL, AGAIN, CHANGED)
APART = (ORIGINAL, CHANGED, "only a", "only b")


@pytest.mark.parametrize("room", [9, 4])
def test_the_whole_change_is_measured_before_its_parts(monkeypatch, room):
    runs = Runs(STEADY)
    made = rounds(monkeypatch, runs, fixes=("a", "b"), room=room)
    asked = []

    def goes_on():
        asked.append(len(made.pairs(ORIGINAL, CHANGED)))
        return True

    made.measure(
        lambda: len(runs.names) <= 8, deadline=None, progress=lambda *_: None, goes_on=goes_on
    )
    assert asked == [4]
    assert runs.names[:8] == [WHOLE] * 4 + [APART] * 4
    # From then on they are measured side by side, if the memory holds them.
    later = [(*WHOLE, "only a", "only b")] * 4 if room == 9 else [WHOLE, APART] * 4
    assert runs.names[8:] == later
    for names in ((ORIGINAL, AGAIN), (ORIGINAL, "only a"), ("only b", CHANGED)):
        assert len(made.pairs(*names)) == 8
    assert len(made.strips()) == 8


def test_parts_that_are_not_wanted_any_more_are_left_out(monkeypatch):
    runs = Runs(STEADY)
    made = rounds(monkeypatch, runs, fixes=("a", "b"))
    made.measure(
        lambda: len(runs.names) < 8, deadline=None, progress=lambda *_: None, goes_on=lambda: False
    )
    assert runs.names == [WHOLE] * 8
    assert made.pairs(ORIGINAL, "only a") == []


def test_a_round_of_more_programs_is_expected_to_take_longer(monkeypatch):
    """Of ten seconds for each program, so that the parts have no time."""
    clock = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])

    def rotate(jobs, *_, **__):
        clock[0] += 10.0 * len(jobs)
        return Round(dict.fromkeys(jobs, blocks(STEADY)), finished=False)

    made = rounds(monkeypatch, rotate, fixes=("a", "b"))
    late = made.measure(lambda: True, deadline=150.0, progress=lambda *_: None)
    assert late
    assert clock[0] == 120.0
    assert made.seconds_of(4) == 40.0
