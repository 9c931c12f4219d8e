"""What is said about the machine and about each change, at the edges of the rules."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_pools import blocks

from torchlint.experiment.intervals import Sample
from torchlint.experiment.request import Design
from torchlint.verify.judge.forecast import MOST_PAIRS, Outlook, pairs_for_margin, pairs_needed
from torchlint.verify.judge.verdict import MOST_NOISE, holm, margin_of, noise, undecided, verdicts
from torchlint.verify.result import Comparison, Verdict

DESIGN = Design()
MARGIN = DESIGN.margin
repeatable = settings(derandomize=True, deadline=None)


SWINGS = [math.exp(value) for value in (-0.3, -0.1, 0.1, 0.3)]


def pairs_of(*ratios, **more):
    """Pairs in which the second program is so many times faster."""
    return [(blocks([ratio] * 3, **more), blocks([1.0] * 3, **more)) for ratio in ratios]


def around(ratio, spread, size=4):
    """Pairs whose log ratios are spread evenly around a ratio, `spread` apart from it at most."""
    return pairs_of(
        *(ratio * math.exp(spread * (2 * each / (size - 1) - 1)) for each in range(size))
    )


def judged(pairs, margin=MARGIN, design=DESIGN):
    return verdicts({"only": pairs}, margin, design)["only"]


# verdicts ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        (around(1.10, 0.01), Verdict.CONFIRMED),
        (around(1 / 1.10, 0.01), Verdict.SLOWER),
        (around(1.0, 0.005), Verdict.NEUTRAL),
        (around(1.01, 0.002), Verdict.NEUTRAL),
        (around(1.02, 0.005), Verdict.UNRESOLVED),
        (around(1.10, 0.10), Verdict.UNRESOLVED),
        (around(1.0, 0.05), Verdict.UNRESOLVED),
    ],
    ids="faster slower same small-but-certain on-the-edge too-wide too-wide-for-same".split(),
)
def test_a_verdict_needs_the_whole_interval_on_one_side(pairs, expected):
    assert judged(pairs).verdict is expected


def test_the_usual_interval_is_not_enough_for_a_verdict_at_one_of_three_looks():
    pairs = around(1.05, 0.02)
    assert judged(pairs).estimate.ci[0] > 1 + MARGIN
    assert judged(pairs).verdict is Verdict.UNRESOLVED
    assert judged(pairs, design=Design(looks=(4,))).verdict is Verdict.CONFIRMED


def test_without_spread_the_margin_itself_decides():
    assert judged(pairs_of(*[1.021] * 4)).verdict is Verdict.CONFIRMED
    assert judged(pairs_of(*[1.019] * 4)).verdict is Verdict.NEUTRAL
    assert judged(pairs_of(*[1 / 1.019] * 4)).verdict is Verdict.NEUTRAL
    assert judged(pairs_of(*[1 / 1.021] * 4)).verdict is Verdict.SLOWER


def test_noise_raises_the_bar_for_a_difference():
    pairs = around(1.06, 0.003)
    assert judged(pairs).verdict is Verdict.CONFIRMED
    found = judged(pairs, margin=0.08)
    assert found.verdict is Verdict.UNRESOLVED
    assert "the machine's own noise of 8.0%" in found.why


def test_noise_is_not_a_reason_where_the_margin_is_not_cleared_either():
    found = judged(around(1.02, 0.005), margin=0.08)
    assert found.estimate.strict[0] > 1
    assert (found.verdict, found.why) == (Verdict.UNRESOLVED, "")


@pytest.mark.parametrize(
    ("pairs", "margin", "verdict", "why"),
    [
        (around(0.985, 0.002), MARGIN, Verdict.NEUTRAL, "slower, but within the margin of 2.0%"),
        (
            around(0.98, 0.005),
            MARGIN,
            Verdict.UNRESOLVED,
            "slower, but perhaps within the margin of 2.0%",
        ),
        (
            around(0.98, 0.005),
            0.08,
            Verdict.UNRESOLVED,
            "slower, but perhaps within the machine's own noise of 8.0%",
        ),
        (around(1.015, 0.002), MARGIN, Verdict.NEUTRAL, ""),
        (around(0.999, 0.002), MARGIN, Verdict.NEUTRAL, ""),
    ],
    ids="within on-the-edge in-the-noise faster the-same".split(),
)
def test_an_interval_below_1_that_is_not_slower_says_why(pairs, margin, verdict, why):
    found = judged(pairs, margin=margin)
    assert (found.verdict, found.why) == (verdict, why)
    assert (found.estimate.strict[1] < 1) is bool(why)


def test_noise_makes_nothing_neutral():
    assert judged(around(1.04, 0.003), margin=0.10).verdict is Verdict.UNRESOLVED


def test_a_margin_below_the_one_laid_down_counts_for_nothing():
    assert judged(around(1.02, 0.005), margin=0.0).verdict is Verdict.UNRESOLVED


@repeatable
@given(
    st.lists(st.floats(0.8, 1.25), min_size=2, max_size=8),
    st.floats(0.0, 0.1),
    st.sampled_from([(4,), (2, 4, 8)]),
)
def test_the_strict_interval_shows_the_verdict(ratios, margin, looks):
    found = judged(pairs_of(*ratios), margin, Design(looks=looks))
    low, high = found.estimate.strict
    claim, fit = 1 + max(margin, MARGIN), 1 + MARGIN
    shown = {
        Verdict.CONFIRMED: low > claim * (1 - 1e-9),
        Verdict.SLOWER: high < (1 + 1e-9) / claim,
        Verdict.NEUTRAL: low > (1 - 1e-9) / fit and high < fit * (1 + 1e-9),
    }
    assert [verdict for verdict, holds in shown.items() if holds] == (
        [] if found.verdict is Verdict.UNRESOLVED else [found.verdict]
    )


@repeatable
@given(st.lists(st.floats(0.8, 1.25), min_size=2, max_size=8), st.floats(0.0, 0.1))
def test_swapped_programs_get_the_opposite_verdict(ratios, margin):
    pairs = pairs_of(*ratios)
    there = judged(pairs, margin).verdict
    back = judged([(after, before) for before, after in pairs], margin).verdict
    opposite = {Verdict.CONFIRMED: Verdict.SLOWER, Verdict.SLOWER: Verdict.CONFIRMED}
    assert back is opposite.get(there, there)


def test_one_pair_settles_nothing():
    found = judged(pairs_of(3.0))
    assert found.verdict is Verdict.UNRESOLVED
    assert found.why == "one pair gives no interval"
    assert found.estimate.pairs_needed is None


def test_gpu_time_goes_before_wall_time():
    slow, fast = blocks([2.0], gpu=True), blocks([1.0], gpu=True)
    assert judged([(slow, fast)] * 4).estimate.ratio == pytest.approx(2.0)


def test_times_are_those_of_a_step():
    from torchlint.experiment.rotation import Block

    long = (Block(10, 20.0, 10.0, None, 100.0, None),)
    short = (Block(5, 5.0, 2.5, None, 50.0, None),)
    found = judged([(long, short)] * 2).estimate
    assert (found.ratio, found.cpu_ratio) == pytest.approx((2.0, 2.0))
    assert found.memory_mb == (100.0, 50.0)


def test_a_change_without_pairs_is_refused():
    with pytest.raises(ValueError, match="no pair"):
        judged([])


# several changes ---------------------------------------------------------------------------


def test_holm_tests_the_smallest_against_the_strictest_level():
    p_values = {"c": 0.02, "a": 0.01, "b": 0.04, "d": 0.9}
    # Levels 0.05/4, 0.05/3, ...: 0.01 falls, 0.02 > 0.0167 does not, and nothing after it.
    assert holm(p_values, 0.05) == {"a": 0.0125}
    assert holm({"a": 0.01, "b": 0.015}, 0.05) == {"a": 0.025, "b": 0.05}
    assert holm({"a": 0.06, "b": 0.9}, 0.05) == {}


def test_more_changes_ask_for_more_evidence():
    pairs = around(1.08, 0.014)
    assert judged(pairs).verdict is Verdict.CONFIRMED
    family = {"fast": pairs} | {f"wide {each}": around(1.0, 0.2) for each in range(9)}
    assert verdicts(family, MARGIN, DESIGN)["fast"].verdict is Verdict.UNRESOLVED


def test_a_settled_change_asks_less_of_the_next():
    near = around(1.08, 0.024)
    assert (
        verdicts({"near": near, "wide": around(1.0, 0.2)}, MARGIN, DESIGN)["near"].verdict
        is Verdict.UNRESOLVED
    )
    assert (
        verdicts({"near": near, "clear": around(2.0, 0.001)}, MARGIN, DESIGN)["near"].verdict
        is Verdict.CONFIRMED
    )


def test_strict_intervals_are_as_wide_as_the_family_asks():
    alone = judged(around(1.0, 0.05)).estimate.strict
    two = verdicts({"a": around(1.0, 0.05), "b": around(1.0, 0.05)}, MARGIN, DESIGN)["a"]
    sample = Sample(0.0, two.estimate.sd_between, 4)
    assert alone == pytest.approx(sample.interval(DESIGN.look_alpha))
    assert two.estimate.strict == pytest.approx(sample.interval(DESIGN.look_alpha / 2))


def test_verdicts_keep_the_order_of_the_changes():
    effects = {key: around(1.0, 0.01 * n) for n, key in enumerate("cab", 1)}
    assert list(verdicts(effects, MARGIN, DESIGN)) == list("cab")
    assert verdicts({}, MARGIN, DESIGN) == {}


# the machine -------------------------------------------------------------------------------


def test_an_even_machine_is_fit_and_its_floor_is_half_the_interval():
    found = noise(around(1.0, 0.01), DESIGN)
    assert (found.fit, found.why) == (True, "")
    assert 1 + found.floor == pytest.approx(found.estimate.ci[1] / found.estimate.ratio)
    assert found.estimate.strict == pytest.approx(judged(around(1.0, 0.01)).estimate.strict)


def test_claims_clear_the_wider_of_margin_and_noise():
    quiet, loud = noise(around(1.0, 0.001), DESIGN), noise(around(1.0, 0.1), DESIGN)
    assert margin_of(DESIGN, quiet) == MARGIN
    assert margin_of(DESIGN, loud) == loud.floor > MARGIN


def test_a_machine_that_differs_from_itself_is_unfit():
    for ratio in (1.05, 1 / 1.05):
        found = noise(around(ratio, 0.005), DESIGN)
        assert not found.fit
        assert "identical programs differ, by up to 6." in found.why


def test_a_difference_that_the_margin_swallows_is_not_one():
    found = noise(around(1.005, 0.001), DESIGN)
    assert found.estimate.strict[0] > 1
    assert found.fit


def test_an_interval_that_holds_1_at_the_strict_level_is_fit():
    found = noise(around(1.035, 0.022), DESIGN)
    assert found.estimate.ci[0] > 1 > found.estimate.strict[0]
    assert found.fit


def test_a_machine_noisier_than_any_claim_is_unfit_and_says_what_it_would_take():
    found = noise(around(1.0, 0.3), DESIGN)
    assert found.floor > MOST_NOISE
    assert not found.fit
    assert f"more than {MOST_PAIRS} pairs" in found.why
    assert "about 111 pairs" in noise(around(1.0, 0.3), Design(margin=0.05)).why


def test_a_noisy_machine_stays_fit_for_large_differences():
    found = noise(around(1.0, 0.12), DESIGN)
    assert 0.15 < found.floor < 0.2
    assert found.fit


def test_one_pair_says_nothing_of_the_machine():
    found = noise(pairs_of(1.0), DESIGN)
    assert (found.fit, found.floor) == (False, math.inf)
    assert found.why.startswith("one pair of runs gives no interval")


def test_the_floor_covers_how_far_identical_programs_lay_apart():
    for ratio in (1.104, 1 / 1.104):
        found = noise(around(ratio, 0.05), DESIGN)
        assert not found.estimate.ci[0] <= 1 <= found.estimate.ci[1]
        assert found.floor == pytest.approx(0.104)


def test_a_fix_is_not_confirmed_by_less_than_identical_programs_differ():
    machine = noise(around(1.104, 0.05), DESIGN)
    assert judged(around(1.09, 0.001)).verdict is Verdict.CONFIRMED
    found = judged(around(1.09, 0.001), margin_of(DESIGN, machine))
    assert found.verdict is Verdict.UNRESOLVED
    assert "not beyond the machine's own noise of 10.4%" in found.why


def test_a_script_of_few_steps_is_not_blamed_on_the_machine():
    few = [(blocks([s], steps=5), blocks([1.0], steps=5)) for s in SWINGS]
    assert "measures only 5 steps" in noise(few, DESIGN).why


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([(blocks([s], [1.0]), blocks([1.0], [1.0])) for s in SWINGS], "CPU time agrees"),
        ([(blocks([s], [s]), blocks([1.0], [1.0])) for s in SWINGS], "CPU time differs too"),
        (
            [(blocks([s], [0.0]), blocks([1.0], [0.0])) for s in SWINGS],
            "other work on this machine",
        ),
        (
            [(blocks([s], gpu=True), blocks([1.0], gpu=True)) for s in SWINGS],
            "other work on this GPU",
        ),
        (
            [
                (blocks([s], gpu=True, throttled=s > 1), blocks([1.0], gpu=True, throttled=False))
                for s in SWINGS
            ],
            "clock was held back in 2 of 8 blocks",
        ),
    ],
    ids="contention own-speed no-cpu-clock gpu throttled".split(),
)
def test_noise_is_said_with_what_may_cause_it(pairs, words):
    assert words in noise(pairs, DESIGN).why


# what more pairs would show ----------------------------------------------------------------


def outlook(ratio, sd, size=4, floor=MARGIN):
    sample = Sample(math.log(ratio), sd, size)
    return Outlook(sample, math.log1p(floor), math.log1p(MARGIN), DESIGN.look_alpha)


def test_a_settled_verdict_needs_no_pairs():
    assert judged(around(1.10, 0.01)).estimate.pairs_needed is None
    assert judged(around(1.10, 0.06)).estimate.pairs_needed > 4


def test_the_pairs_needed_grow_with_the_spread_and_with_nearness_to_the_margin():
    needed = [pairs_needed(outlook(1.10, sd, 8)) for sd in (0.05, 0.07, 0.1)]
    assert needed == sorted(needed)
    assert 8 < needed[0] < needed[2] < 100
    near, far = pairs_needed(outlook(1.03, 0.01, 8)), pairs_needed(outlook(1.06, 0.01, 8))
    assert near > far


def test_the_pairs_needed_settle_it_in_two_of_three_cases():
    found = outlook(1.10, 0.08, 8)
    needed = pairs_needed(found)
    assert found.chance(needed - 1, all_new=True) < 2 / 3 <= found.chance(needed, all_new=True)


def test_more_pairs_than_anybody_would_run_are_not_named():
    found = judged(around(1.02, 0.3))
    assert found.estimate.pairs_needed is None
    assert found.why == f"even {MOST_PAIRS} pairs might not settle it"


def test_noise_that_more_pairs_narrow_counts_as_such():
    assert pairs_needed(outlook(1.05, 0.001, 4, floor=0.10)) == 9


def test_noise_never_narrows_to_less_than_the_margin():
    noisy, quiet = outlook(1.02, 0.01, 4, floor=0.03), outlook(1.02, 0.01, 4)
    assert noisy.chance(100, all_new=True) == quiet.chance(100, all_new=True)


def test_chances_grow_where_the_truth_is_nearly_known():
    found = outlook(1.05, 0.02, 8)
    chances = [found.chance(size, all_new=True) for size in (9, 12, 16, 30)]
    assert chances == sorted(chances)
    assert chances[-1] > 0.95


def test_a_chance_counts_every_verdict():
    faster, slower = outlook(1.05, 0.02, 8), outlook(1 / 1.05, 0.02, 8)
    assert faster.chance(16, all_new=True) == pytest.approx(slower.chance(16, all_new=True))
    assert outlook(1.0, 0.005, 8).chance(16, all_new=True) > 0.95


def test_keeping_the_measured_pairs_leaves_less_to_chance():
    far = outlook(1.10, 0.05, 8)
    assert far.chance(16, all_new=False) > far.chance(16, all_new=True)


@repeatable
@given(
    st.floats(0.7, 1.4),
    st.floats(0.0, 0.5),
    st.integers(2, 30),
    st.floats(0.02, 0.3),
    st.integers(1, 50),
    st.booleans(),
)
def test_a_chance_is_a_probability(ratio, sd, size, floor, more, all_new):
    chance = outlook(ratio, sd, size, floor).chance(size + more, all_new=all_new)
    assert -1e-12 <= chance <= 1 + 1e-12


def test_the_pairs_for_a_margin_are_those_of_student():
    # sd 0.02 and half-width 0.02: t(5) at 97.5 % is 2.571 > sqrt(6), t(6) is 2.447 < sqrt(7).
    assert pairs_for_margin(Sample(0.0, 0.02, 4), 0.02) == 7
    assert pairs_for_margin(Sample(0.0, 1.0, 4), 0.02) is None


def test_another_look_is_worth_while_only_where_it_could_settle_something():
    effects = {
        "settled": around(1.5, 0.01),
        "open": around(1.05, 0.03),
        "hopeless": around(1.02, 2.0, 8),
    }
    found = verdicts(effects, MARGIN, DESIGN)
    assert undecided(found, MARGIN, DESIGN) == ("open",)


def test_after_the_last_look_nothing_is_open():
    found = verdicts({"open": around(1.05, 0.03, 16)}, 0.06, DESIGN)
    assert found["open"].verdict is Verdict.UNRESOLVED
    assert undecided(found, 0.06, DESIGN) == ()


def test_what_was_not_measured_is_not_open():
    found = {"unseen": Comparison(Verdict.NOT_EXERCISED), "broken": Comparison(Verdict.UNRESOLVED)}
    assert undecided(found, MARGIN, DESIGN) == ()
