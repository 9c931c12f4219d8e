"""What the GPU's clock says about a comparison, on clocks that were made up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.verify.judge.recorded_pools import blocks
from torchlint.experiment.request import Design
from torchlint.verify.judge.gpu_clock import clocks, why_apart, why_unfit
from torchlint.verify.judge.verdict import noise, verdicts
from torchlint.verify.result import Verdict

DESIGN = Design()


def run(*rates, seconds=0.01, gpu=True):
    """Blocks with these clocks, in MHz."""
    plain = blocks([seconds] * len(rates), gpu=gpu)
    return tuple(replace(block, clock_mhz=rate) for block, rate in zip(plain, rates, strict=True))


def pairs(before, after, **changes):
    return [(run(*[before] * 10), run(*[after] * 10, **changes))] * 4


def test_a_steady_clock_stands_in_nobodys_way():
    found = clocks(pairs(1980, 1980))
    assert (found.mhz, found.spread, found.apart, found.why) == ((1980, 1980), 0, 0, "")
    assert why_unfit(found) == ""


@pytest.mark.parametrize(("lowest", "fit"), [(1900, True), (1870, False)])
def test_a_clock_that_wanders_by_more_than_5_percent_is_unfit(lowest, fit):
    wandering = run(*[lowest] * 5, *[1980] * 5)
    found = noise([(wandering, wandering)] * 4, DESIGN)
    assert found.fit is fit
    assert found.clocks.mhz == (lowest, 1980)
    if not fit:
        assert found.why == (
            "the GPU's clock went from 1870 to 1980 MHz, which is 6%; heat, its power limit or "
            "other work does that"
        )


def test_the_odd_block_does_not_make_a_gpu_unfit():
    odd = run(*[1980] * 9, 1200)
    steady = run(*[1980] * 10)
    found = clocks([(odd, steady), *[(steady, steady)] * 3])
    assert found.mhz == (1980, 1980)
    assert why_unfit(found) == ""


@pytest.mark.parametrize(("second", "word"), [(1950, "lower"), (2010, "higher"), (1970, "")])
def test_sides_may_not_differ_by_more_than_1_percent(second, word):
    found = noise(pairs(1980, second), DESIGN)
    assert found.fit is not bool(word)
    assert (word in found.why) if word else found.why == ""
    share = abs(second / 1980 - 1)
    assert not word or f"the GPU's clock was {share:.1%} {word} for the second" in found.why


def test_a_change_at_another_clock_is_not_judged():
    faster = pairs(1980, 1950, seconds=0.008)
    found = verdicts({"slow": faster, "same": pairs(1980, 1980, seconds=0.008)}, 0.02, DESIGN)
    assert found["same"].verdict is Verdict.CONFIRMED
    assert found["slow"].verdict is Verdict.UNRESOLVED
    assert found["slow"].why == why_apart(clocks(faster))
    assert found["slow"].estimate.ratio == found["same"].estimate.ratio


def test_without_a_gpu_there_is_no_clock():
    found = clocks([(run(None, gpu=False), run(None, gpu=False))])
    assert (found.mhz, found.spread, found.apart) == (None, None, None)
    assert found.why == "no GPU is used"
    assert why_unfit(found) == ""


@pytest.mark.parametrize("rates", [(None, None), (1980, None)])
def test_without_nvml_the_clock_is_not_known(rates):
    found = clocks([(run(*rates), run(*rates))])
    assert (found.mhz, found.spread, found.apart) == (None, None, None)
    assert "torch cannot read the GPU's clock; it asks NVML" in found.why
    assert why_unfit(found) == ""
