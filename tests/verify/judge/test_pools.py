"""How often the verdicts are right, on draws from recorded timings."""

from __future__ import annotations

import math
import random
from collections import Counter
from functools import cache

import pytest
from recorded_pools import POOLS, blocks, climbed, drawn, recorded

from torchlint.experiment import intervals as stats
from torchlint.experiment.intervals import pair_values
from torchlint.experiment.request import Design
from torchlint.verify.judge import verdict as judged
from torchlint.verify.judge.verdict import margin_of, noise, undecided, verdicts
from torchlint.verify.result import Verdict

DESIGN = Design()
DRAWS = 250
QUIET = "cnn_bias_malloc"
NOISY = "cnn_bias_plain"
C, S, N = Verdict.CONFIRMED, Verdict.SLOWER, Verdict.NEUTRAL


def remembering(function):
    """Answers once for each tuple; what is drawn are tuples of the same few pairs."""
    answered = cache(function)
    return lambda *values: (answered if type(values[0]) is tuple else function)(*values)


def of_the_same(function):
    """Answers once for each run of a pool; every draw holds the same objects."""
    known = {}

    def answer(run):
        if id(run) not in known:
            known[id(run)] = run, tuple(function(run))
        return known[id(run)][1]

    return answer


@pytest.fixture(autouse=True, scope="module")
def each_pair_is_summed_up_once():
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_seconds", "_cpu_seconds"):
            patch.setattr(judged, name, of_the_same(getattr(judged, name)))
        for name in ("log_ratios", "median", "_variance"):
            patch.setattr(stats, name, remembering(getattr(stats, name)))
        yield


def one_look(pool, draw, size, *, faster=(1.0,), design=DESIGN):
    """One experiment: the machine, and the verdicts on changes that are so much faster."""
    floor = noise(drawn(recorded(pool), draw, size), design)
    effects = {
        str(key): drawn(recorded(pool), draw, size, faster=each) for key, each in enumerate(faster)
    }
    return floor, list(verdicts(effects, margin_of(design, floor), design).values())


@cache
def looks(pool, size, **more):
    """250 experiments with one change: the machine, and what is said about the change."""
    draw = random.Random(size)
    found = (one_look(pool, draw, size, **more) for _ in range(DRAWS))
    return [(floor, change) for floor, (change,) in found]


def rates(pool, size, **more):
    """Of 250 experiments with one change, how many end in each verdict."""
    counted = Counter(change.verdict for _, change in looks(pool, size, **more))
    return {verdict: counted[verdict] / DRAWS for verdict in Verdict}


@cache
def ends(pool, **more):
    """Of 250 measurements, how many end in each verdict; and the pairs that they took."""
    draw = random.Random(1)
    ends = [climbed(pool, draw, DESIGN, **more) for _ in range(DRAWS)]
    counted = Counter(verdict for _, verdict, _ in ends)
    taken = sum(look for look, _, _ in ends) / DRAWS
    return {verdict: counted[verdict] / DRAWS for verdict in Verdict}, taken


@pytest.mark.parametrize("size", [4, 8, 16])
@pytest.mark.parametrize("pool", POOLS)
def test_identical_programs_are_hardly_ever_called_faster_or_slower(pool, size):
    found = rates(pool, size)
    assert found[C] <= 0.05
    assert found[S] <= 0.05


@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize("pool", POOLS)
def test_a_single_look_that_spends_all_of_alpha_is_right_as_well(pool, size):
    found = rates(pool, size, design=Design(looks=(size,)))
    assert found[C] <= 0.05
    assert found[S] <= 0.05


@pytest.mark.parametrize("pool", POOLS)
def test_looking_three_times_makes_no_more_false_claims(pool):
    found, _ = ends(pool)
    assert found[C] <= 0.05
    assert found[S] <= 0.05


@pytest.mark.parametrize("size", [4, 8, 16])
@pytest.mark.parametrize("pool", POOLS)
def test_the_strict_interval_misses_1_seldom_enough_for_three_looks(pool, size):
    intervals = [change.estimate.strict for _, change in looks(pool, size)]
    missed = sum(not low <= 1 <= high for low, high in intervals)
    assert missed / DRAWS <= 0.05


@pytest.mark.parametrize("size", DESIGN.looks)
@pytest.mark.parametrize("pool", POOLS)
def test_an_honest_machine_is_rarely_unfit_for_differing_from_itself(pool, size):
    whys = [floor.why for floor, _ in looks(pool, size)]
    assert sum("programs differ" in why for why in whys) / DRAWS <= 0.04


def test_after_the_last_look_even_the_noisy_machine_is_fit():
    draw = random.Random(3)
    fit = [noise(drawn(recorded(NOISY), draw, 16), DESIGN).fit for _ in range(DRAWS)]
    assert sum(fit) / DRAWS >= 0.95


def test_a_machine_that_favours_one_side_is_found_out():
    draw = random.Random(5)
    unfit = [
        not noise(drawn(recorded(QUIET), draw, 16, faster=1.04), DESIGN).fit for _ in range(DRAWS)
    ]
    assert sum(unfit) / DRAWS >= 0.95


def test_a_gain_of_5_percent_is_found_on_the_quiet_machine():
    found, taken = ends(QUIET, faster=1.05)
    assert found[C] >= 0.9
    assert taken < 16


def test_both_runs_of_the_original_find_more_than_one_of_them():
    found, _ = ends("item_sync_malloc", faster=1.05)
    with_one, _ = ends("item_sync_malloc", faster=1.05, both=False)
    assert found[C] >= with_one[C] + 0.05
    found, _ = ends(QUIET)
    with_one, _ = ends(QUIET, both=False)
    assert found[N] >= with_one[N] + 0.2


def test_a_loss_of_5_percent_is_found_on_the_quiet_machine():
    found, _ = ends(QUIET, faster=1 / 1.05)
    assert found[S] >= 0.9


@pytest.mark.parametrize("pool", POOLS)
def test_a_gain_of_10_percent_is_hardly_ever_called_nothing(pool):
    for size in (4, 8, 16):
        assert rates(pool, size, faster=(1.10,))[N] <= 0.025


@pytest.mark.parametrize("pool", POOLS)
def test_a_gain_at_the_edge_of_the_margin_is_seldom_called_nothing_or_confirmed(pool):
    for size in (4, 8, 16):
        found = rates(pool, size, faster=(1 + DESIGN.margin,))
        assert found[N] <= 0.05
        assert found[C] <= 0.05


def test_the_quiet_machine_says_neutral_of_most_changes_that_do_nothing():
    found, _ = ends(QUIET)
    assert found[N] >= 0.6


@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("real", [0, 2])
def test_among_many_changes_hardly_ever_a_single_idle_one_is_claimed(pool, size, real):
    draw = random.Random(size)
    faster = (1.5,) * real + (1.0,) * 5
    claimed = 0
    for _ in range(DRAWS):
        idle = one_look(pool, draw, size, faster=faster)[1][real:]
        claimed += any(each.verdict in (C, S) for each in idle)
    assert claimed / DRAWS <= 0.05


@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize("real", [0, 3])
def test_holm_alone_keeps_a_family_of_normal_values_honest(size, real):
    draw = random.Random(size)
    bare = Design(looks=(size,), margin=1e-9)
    claimed = 0
    for _ in range(DRAWS):
        effects = {
            str(key): [
                (blocks([math.exp(draw.gauss(1.0 if key < real else 0.0, 0.05))]), blocks([1.0]))
                for _ in range(size)
            ]
            for key in range(real + 5)
        }
        idle = list(verdicts(effects, bare.margin, bare).values())[real:]
        claimed += any(each.verdict is C for each in idle)
    assert 0.01 <= claimed / DRAWS <= 0.05


@pytest.mark.parametrize(("faster", "size"), [(1.0, 8), (1.05, 4), (1.05, 8)])
def test_the_announced_number_of_pairs_mostly_suffices(faster, size):
    draw = random.Random(11)
    settled = []
    for _ in range(DRAWS):
        _, (found,) = one_look(QUIET, draw, size, faster=(faster,))
        needed = found.estimate.pairs_needed
        if needed is not None:
            _, (again,) = one_look(QUIET, draw, needed, faster=(faster,))
            settled.append(again.verdict is not Verdict.UNRESOLVED)
    assert sum(settled) / len(settled) >= 2 / 3


def test_giving_up_early_loses_little():
    draw = random.Random(13)
    lost = given_up = 0
    for _ in range(DRAWS):
        change = drawn(recorded(NOISY), draw, 16, faster=1.05)
        early = verdicts({"only": change[:8]}, DESIGN.margin, DESIGN)
        if undecided(early, DESIGN.margin, DESIGN):
            continue
        given_up += early["only"].verdict is Verdict.UNRESOLVED
        late = verdicts({"only": change}, DESIGN.margin, DESIGN)["only"]
        lost += late.verdict is not early["only"].verdict
    assert given_up > 0.2 * DRAWS
    assert lost <= 0.05 * DRAWS


@pytest.mark.parametrize("pool", POOLS)
def test_a_pool_holds_pairs_without_a_preferred_side(pool):
    pairs = recorded(pool)
    values = pair_values([([b.seconds for b in a], [b.seconds for b in c]) for a, c in pairs])
    middle = sum(values) / len(values)
    error = (sum((value - middle) ** 2 for value in values) / len(values) ** 2) ** 0.5
    assert len(pairs) >= 16
    assert abs(middle) < 3 * error
