"""Intervals over pairs of processes, and what they do with odd times."""

from __future__ import annotations

import math
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.verify.judge.recorded_pools import POOLS, recorded
from torchlint.experiment.intervals import Sample, estimate, log_ratios
from torchlint.experiment.request import Design
from torchlint.experiment.steadiness import drifting

repeatable = settings(derandomize=True, deadline=None)
STRICT = Design().look_alpha
TIMES = st.floats(1e-3, 1e-1)
PAIRS = st.integers(1, 6).flatmap(
    lambda blocks: st.lists(
        st.tuples(
            st.lists(TIMES, min_size=blocks, max_size=blocks),
            st.lists(TIMES, min_size=blocks, max_size=blocks),
        ),
        min_size=2,
        max_size=6,
    )
)


def pairs_of(*values, blocks=3):
    """Pairs whose blocks all have these log ratios."""
    return [([math.exp(value)] * blocks, [1.0] * blocks) for value in values]


measured = partial(estimate, strict_alpha=STRICT)


# the estimate ------------------------------------------------------------------------------


def test_the_ratio_is_original_by_changed():
    assert measured([([2.0], [1.0]), ([2.0], [1.0])]).ratio == pytest.approx(2.0)


def test_the_interval_is_that_of_student_over_pairs():
    # By hand: mean 0.2, sd 0.1, t(2) at 97.5 % is 4.3027, so 0.2 ± 4.3027 * 0.1 / sqrt(3).
    found = measured(pairs_of(0.1, 0.2, 0.3, blocks=50))
    assert np.log(found.ci) == pytest.approx([-0.04841, 0.44841], abs=1e-5)
    assert found.sd_between == pytest.approx(0.1)


def test_more_blocks_of_the_same_processes_do_not_narrow_the_interval():
    few, many = (measured(pairs_of(0.0, 0.1, 0.2, blocks=n)) for n in (1, 100))
    assert few.ci == pytest.approx(many.ci)
    assert (few.blocks, many.blocks) == (3, 300)


def test_a_disturbed_block_counts_no_more_than_any_other():
    quiet = [([1.0, 1.0, 1.0], [1.0, 1.0, 1.0])] * 2
    disturbed = [([1.0, 90.0, 1.0], [1.0, 1.0, 1.0]), quiet[1]]
    assert measured(disturbed).ratio == pytest.approx(1.0)
    assert measured(disturbed).sd_within > 1.0


def test_the_fastest_block_counts_no_more_than_any_other():
    lucky = [([1.0, 1.0, 0.01], [1.0, 1.0, 1.0])] * 2
    assert measured(lucky).ratio == pytest.approx(1.0)


def test_an_odd_pair_stays_in():
    assert measured(pairs_of(0.0, 0.0, 0.0, 0.4)).ratio == pytest.approx(math.exp(0.1))


def test_blocks_are_compared_with_those_of_the_same_turn():
    # Both sides slow down together in the second turn, as when something else begins to run.
    before, after = [1.1, 2.2, 1.1], [1.0, 2.0, 1.0]
    found = measured([(before, after)] * 2)
    assert found.ratio == pytest.approx(1.1)
    assert found.sd_within == pytest.approx(0.0, abs=1e-12)


def test_spread_within_is_that_of_blocks_and_between_that_of_pairs():
    rising = ([math.exp(value) for value in (0.0, 0.1, 0.2)], [1.0] * 3)
    found = measured([rising, rising])
    assert found.sd_within == pytest.approx(0.1)
    assert found.sd_between == pytest.approx(0.0, abs=1e-12)


def test_equal_times_give_an_interval_without_width():
    found = measured([([0.5, 0.5], [0.5, 0.5])] * 4)
    assert found.ci == found.strict == (1.0, 1.0)
    assert (found.sd_between, found.sd_within) == (0.0, 0.0)


def test_one_pair_has_an_interval_without_bounds():
    found = measured([([2.0, 2.0], [1.0, 1.0])])
    assert found.ratio == pytest.approx(2.0)
    assert found.ci == found.strict == (0.0, math.inf)


def test_one_block_in_each_pair_is_enough():
    found = measured([([1.0], [1.0]), ([1.2], [1.0])])
    assert found.blocks == 2
    assert found.sd_within == 0.0
    assert found.ci[0] < 1.0 < found.ci[1]


def test_a_bound_too_large_for_a_float_is_infinite():
    found = estimate(pairs_of(0.0, 9.0), strict_alpha=0.001)
    assert found.strict == (0.0, math.inf)


def test_milliseconds_divide_to_the_ratio():
    found = measured([([0.010, 0.020, 0.9], [0.005, 0.004, 0.006])] * 2)
    assert found.ms[0] == pytest.approx(20.0)
    assert found.ms[0] / found.ms[1] == pytest.approx(found.ratio)


def test_cpu_time_is_a_second_witness():
    cpu = [([0.3], [0.2]), ([0.3], [0.2])]
    assert measured(pairs_of(0.7, 0.7), cpu=cpu).cpu_ratio == pytest.approx(1.5)


@pytest.mark.parametrize("cpu", [None, [], [([0.0], [0.1])]])
def test_without_cpu_time_there_is_no_second_witness(cpu):
    assert measured(pairs_of(0.7, 0.7), cpu=cpu).cpu_ratio is None


def test_memory_is_the_peak_of_each_side():
    memory = [([10.0, 30.0], [5.0, 6.0]), ([20.0, 20.0], [7.0, 6.0])]
    assert measured(pairs_of(0.0, 0.0), memory=memory).memory_mb == (30.0, 7.0)
    assert measured(pairs_of(0.0, 0.0)).memory_mb is None
    assert measured(pairs_of(0.0, 0.0), memory=[([0.0], [5.0])]).memory_mb is None


@pytest.mark.parametrize("time", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("side", [0, 1])
def test_what_is_not_a_time_is_refused(time, side):
    pair = ([1.0, 1.0], [1.0, 1.0])
    pair[side][1] = time
    with pytest.raises(ValueError, match="cannot take"):
        measured([pair])


def test_blocks_without_a_partner_are_refused():
    with pytest.raises(ValueError, match="2 blocks cannot be compared with 1"):
        log_ratios([1.0, 1.0], [1.0])
    with pytest.raises(ValueError, match="0 blocks"):
        log_ratios([], [])


def test_no_pairs_are_refused():
    with pytest.raises(ValueError, match="no pair"):
        measured([])


@repeatable
@given(PAIRS)
def test_swapped_sides_give_the_reciprocal(pairs):
    there = measured(pairs)
    back = measured([(after, before) for before, after in pairs])
    assert back.ratio == pytest.approx(1 / there.ratio)
    for name in ("ci", "strict"):
        low, high = getattr(there, name)
        assert getattr(back, name) == pytest.approx((1 / high, 1 / low))


@repeatable
@given(PAIRS, st.floats(1e-3, 1e3))
def test_a_faster_machine_changes_no_ratio(pairs, factor):
    scaled = [([a * factor for a in x], [b * factor for b in y]) for x, y in pairs]
    there, here = measured(pairs), measured(scaled)
    assert here.ratio == pytest.approx(there.ratio)
    assert here.sd_between == pytest.approx(there.sd_between, abs=1e-9)
    assert here.ms == pytest.approx([ms * factor for ms in there.ms])


@repeatable
@given(PAIRS)
def test_the_order_of_pairs_changes_nothing(pairs):
    assert measured(pairs[::-1]).ci == pytest.approx(measured(pairs).ci)


@repeatable
@given(PAIRS, st.floats(0.001, 0.05))
def test_a_stricter_interval_holds_the_usual_one(pairs, alpha):
    found = estimate(pairs, strict_alpha=alpha)
    assert found.strict[0] <= found.ci[0] <= found.ratio <= found.ci[1] <= found.strict[1]


# how often the interval is right -----------------------------------------------------------


def normal(rng, size):
    return rng.standard_normal(size)


def heavy(rng, size):
    """Most blocks quiet, one in ten disturbed sixfold: what a shared machine does."""
    return rng.standard_normal(size) * np.where(rng.random(size) < 0.1, 6.0, 1.0)


def one_sided(rng, size):
    """Blocks are never early, but sometimes very late."""
    return rng.lognormal(0.0, 1.0, size)


@pytest.mark.parametrize("blocks_vary", [normal, heavy, one_sided])
@pytest.mark.parametrize(
    ("pairs", "blocks", "between", "within"),
    [
        (4, 10, 0.02, 0.05),
        (4, 12, 0.10, 0.10),
        (4, 3, 0.01, 0.10),
        (8, 10, 0.05, 0.02),
        (8, 1, 0.03, 0.03),
        (16, 10, 0.0, 0.05),
    ],
)
def test_the_interval_covers_the_truth_as_often_as_it_says(
    pairs, blocks, between, within, blocks_vary
):
    rng, truth, draws = np.random.default_rng(7), math.log(1.07), 2000
    covered = 0
    for _ in range(draws):
        own = truth + between * rng.standard_normal((pairs, 1))
        sides = [within * blocks_vary(rng, (pairs, blocks)) for _ in range(2)]
        before, after = np.exp(own + sides[0]), np.exp(sides[1])
        low, high = measured(list(zip(before.tolist(), after.tolist(), strict=True))).ci
        covered += low <= 1.07 <= high
    assert 0.93 <= covered / draws <= 0.97


# one-sided tests ---------------------------------------------------------------------------


def test_p_values_are_those_of_student():
    # t = (0.3 - 0.1) / (0.2 / 2) = 2; the upper tail of t(3) beyond 2 is 0.06966.
    sample = Sample(0.3, 0.2, 4)
    assert sample.p_above(0.1) == pytest.approx(0.06966, abs=1e-5)
    assert sample.p_below(0.1) == pytest.approx(1 - 0.06966, abs=1e-5)


@repeatable
@given(st.floats(-1, 1), st.floats(0.001, 1), st.integers(2, 40), st.floats(0.001, 0.5))
def test_a_test_agrees_with_the_bound_of_its_interval(mean, sd, size, alpha):
    sample = Sample(mean, sd, size)
    low = mean - sample.half_width(alpha)
    assert sample.p_above(low) == pytest.approx(alpha / 2, rel=1e-6)


def test_without_spread_the_mean_decides():
    certain = Sample(0.1, 0.0, 4)
    assert (certain.p_above(0.05), certain.p_above(0.1), certain.p_below(0.2)) == (0.0, 1.0, 0.0)


def test_one_value_proves_nothing():
    assert Sample(5.0, 0.0, 1).p_above(0.0) == 1.0
    assert Sample(5.0, 0.0, 1).p_below(9.0) == 1.0


# the design --------------------------------------------------------------------------------


def test_each_look_spends_an_equal_share():
    assert Design(looks=(4, 8), alpha=0.1).look_alpha == 0.05


@pytest.mark.parametrize(
    "wrong",
    [
        {"looks": ()},
        {"looks": (0, 4)},
        {"looks": (8, 4)},
        {"looks": (4, 4)},
        {"alpha": 0.0},
        {"alpha": 1.0},
        {"margin": 0.0},
        {"margin": 1.0},
        {"margin": math.nan},
    ],
)
def test_a_design_that_nobody_can_follow_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Design(**wrong)


def test_a_design_needs_no_scipy():
    code = "import sys, torchlint.experiment.intervals; assert not {'numpy', 'scipy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


# drift -------------------------------------------------------------------------------------


STEADY = [1.00, 1.02, 0.99, 1.01, 1.00, 0.98, 1.01, 1.00, 0.99, 1.02]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ([1.0] * 10, False),
        ([1.3, 1.22, 1.16, 1.11, 1.08, 1.06, 1.04, 1.03, 1.02, 1.01], True),
        ([1.0 + 0.02 * block for block in range(10)], True),
        ([1.2] * 5 + [1.0] * 5, True),
        ([1.0] * 5 + [1.2] * 5, True),
        ([5.0] + [1.0] * 9, True),
        ([1.0] * 9 + [5.0], False),
        ([1.03] * 5 + [1.0] * 5, False),
    ],
    ids="steady warming slowing step-down step-up late-compile disturbed-end too-small".split(),
)
def test_drift_is_a_move_of_the_whole_half_or_a_slow_first_block(shape, expected):
    assert drifting([a * b for a, b in zip(shape, STEADY, strict=True)]) is expected


def test_wide_halves_that_overlap_are_no_drift():
    noisy = [1.0, 1.3, 1.6, 1.9, 2.2, 2.3, 1.9, 1.6, 1.3, 1.0, 1.05]
    assert not drifting(noisy)


def test_a_half_that_moved_at_one_end_only_is_not_drift():
    assert not drifting([1.07, 1.07, 1.075, 1.08, 1.08, 1.0, 1.0, 1.03, 1.06, 1.06])


def test_few_blocks_say_nothing_of_drift():
    assert not drifting([9.0, 9.0, 1.0, 1.0, 1.0])
    assert drifting([9.0, 9.0, 9.0, 1.0, 1.0, 1.0])


@pytest.mark.parametrize("name", [name for name in POOLS if name.endswith("malloc")])
def test_few_steady_recorded_processes_are_taken_for_drifting(name):
    sides = [[block.wall for block in side] for pair in recorded(name) for side in pair]
    warming = [[t * (1 + 0.5 * 0.7**k) for k, t in enumerate(side)] for side in sides]
    assert np.mean([drifting(side) for side in sides]) <= 0.10
    assert np.mean([drifting(side) for side in warming]) >= 0.90
