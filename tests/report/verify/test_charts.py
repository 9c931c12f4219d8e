from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest

from tests.report.verify.sample_results import (
    comparison,
    declared,
    estimate,
    fix,
    lanes,
    numerics,
    result,
    rich,
    strips,
)
from torchlint.experiment.rounds import BlockStrip
from torchlint.report.measured.axes import (
    Scale,
    decades,
    linear_ticks,
    padded_scale,
    ratio_scale,
    ratio_ticks,
)
from torchlint.report.verify.charts import blocks, forest, losses
from torchlint.report.verify.charts import lanes as lane_chart
from torchlint.runtime.probe.messages import Lanes
from torchlint.verify.result import Noise, Numerics, Verdict


def points(line: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in line.split())]


# scales ------------------------------------------------------------------------------------


def test_a_scale_maps_to_percent_and_cuts_off_what_is_outside() -> None:
    scale = Scale(10, 20)
    assert [scale.at(each) for each in (5, 10, 12.5, 20, 99)] == [0, 0, 25, 100, 100]
    assert scale.from_top(12.5) == 75


def test_twice_as_fast_and_twice_as_slow_are_equally_far_from_one() -> None:
    scale = Scale(0.25, 4, logarithmic=True)
    assert [scale.at(each) for each in (0.5, 1, 2)] == [25, 50, 75]


@pytest.mark.parametrize("largest", [1.0, 1.004, 1.03, 1.3, 2.0, 5.0, 20.0, 64.0, 1e9, math.inf])
@pytest.mark.parametrize("smallest", [1.0, 0.99, 0.8, 0.3, 1e-9, math.nan])
def test_ratio_ticks_hold_one_and_keep_apart(smallest: float, largest: float) -> None:
    scale = ratio_scale([smallest, largest], 0.02)
    ticks = ratio_ticks(scale)
    assert "1" in [tick.label for tick in ticks]
    assert all(0 <= tick.at <= 100 for tick in ticks)
    assert all(after.at - before.at >= 11 for before, after in pairwise(ticks))
    assert len(ticks) >= 2


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0, 10, [0, 5, 10]), (0.97, 2.6, [1, 1.5, 2, 2.5]), (0, 29, [0, 10, 20]), (3, 3, [3])],
)
def test_linear_ticks_are_few_and_round(low: float, high: float, expected: list[float]) -> None:
    assert linear_ticks(Scale(low, high), 4) == pytest.approx(expected)


def test_decades_are_thinned_out() -> None:
    assert decades(Scale(1e-8, 1e-1, logarithmic=True), 4) == pytest.approx(
        [1e-8, 1e-6, 1e-4, 1e-2]
    )


def test_a_scale_of_one_value_has_room() -> None:
    for value in (0.0, 2.0):
        scale = padded_scale([value])
        assert scale.low < value < scale.high


# intervals ---------------------------------------------------------------------------------


def test_a_forest_has_a_row_for_the_noise_the_total_and_each_measured_fix() -> None:
    rows = forest(rich()).rows
    ids = [fix.id for fix in rich().fixes if fix.alone.estimate is not None]
    assert [row.key for row in rows] == ["noise", "total", *ids]
    assert [len(row.marks) for row in rows] == [1, 1, 2, 2, 2, 2, 1, 2, 2]


def test_intervals_are_around_their_ratio_and_inside_the_stricter_one() -> None:
    for row in forest(rich()).rows:
        for mark in row.marks:
            (low, high), outer = mark.inner, mark.outer
            assert outer[0] < low < mark.estimate.ratio < high < outer[1]


def test_what_is_confirmed_is_right_of_the_band_and_what_is_slower_left() -> None:
    chart = forest(rich())
    marks = {row.key: row.marks for row in chart.rows}
    assert marks["TL101:train.py"][0].inner[0] > 1 + chart.margin
    assert marks["TL304:train.py"][0].inner[1] < 1 / (1 + chart.margin)
    assert [mark.tone for mark in marks["TL304:train.py"]] == ["slower", "slower"]


def test_a_machine_that_is_noisier_than_the_margin_gets_a_second_band() -> None:
    quiet = forest(result(plan=declared(margin=0.03)))
    assert (quiet.margin, quiet.floor) == (0.03, 0.0)
    assert forest(result(aa=Noise(estimate(1.0), 0.05, fit=True))).floor == 0.05
    for floor in (math.nan, math.inf):
        unfit = forest(result(plan=None, aa=Noise(estimate(1.0), floor, fit=False)))
        assert (unfit.margin, unfit.floor) == (0.02, 0.0)


def test_pairs_are_dots_on_the_whole_change_and_on_the_noise() -> None:
    rows = {row.key: row.marks[0] for row in forest(rich()).rows if row.marks}
    assert [len(rows[key].dots) for key in ("noise", "total", "TL101:train.py")] == [4, 4, 0]
    assert rows["total"].dots == pytest.approx([rows["total"].estimate.ratio] * 4, rel=0.05)


def test_a_ratio_that_is_not_a_number_has_no_mark() -> None:
    bad = comparison(Verdict.UNRESOLVED, estimate=estimate(math.nan))
    assert forest(result(total=bad, fixes=())).rows[-1].marks == []
    endless = estimate(1.2, ci=(0.0, math.inf), strict=(0.0, math.inf))
    chart = forest(result(total=comparison(estimate=endless), fixes=(fix(1), fix(2))))
    (mark,) = chart.rows[1].marks
    assert mark.inner == mark.outer == (1.2, 1.2)
    assert [tick.label for tick in ratio_ticks(chart.scale)] == ["1", "1.05", "1.1", "1.15", "1.2"]


# blocks ------------------------------------------------------------------------------------


def test_each_pair_has_a_panel_with_a_line_for_each_program() -> None:
    chart = blocks(strips(pairs=3))
    assert chart is not None
    assert len(chart.panels) == 3
    assert chart.variants == ["original", "original again", "changed"]
    for panel in chart.panels:
        lines = {name: points(line) for name, (line,) in panel.items()}
        assert [x for x, _ in lines["original"]][::9] == [0, 1000]
        assert max(y for _, y in lines["original"]) < min(y for _, y in lines["changed"])
    assert blocks(()) is None


def test_a_single_block_is_still_a_line_and_a_missing_one_is_left_out() -> None:
    chart = blocks((BlockStrip(0, {"original": (0.1,), "changed": (math.nan, 0.2)}),))
    assert chart is not None
    (original,), (changed,) = chart.panels[0]["original"], chart.panels[0]["changed"]
    assert len(points(original)) == 2
    assert {x for x, _ in points(changed)} == {1000}


# lanes -------------------------------------------------------------------------------------


def test_lanes_share_the_step_and_a_scale() -> None:
    chart = lane_chart(lanes())
    assert chart is not None
    assert [lane.name for lane in chart.lanes] == [
        "data",
        "forward",
        "backward",
        "optimizer",
        "other",
    ]
    assert sum(lane.share for lane in chart.lanes) == pytest.approx(1)
    assert chart.lanes[0].time == "8.24 ms"
    assert (chart.steps, chart.cut) == (30, 1)
    assert chart.lanes[0].path.count("M") == 30


def test_lanes_that_were_not_seen_make_no_chart() -> None:
    assert lane_chart(Lanes()) is None
    assert lane_chart(Lanes(data=(0.0, math.nan))) is None
    only = lane_chart(Lanes(other=(0.1, 0.1)))
    assert only is not None
    assert [lane.share for lane in only.lanes] == [0, 0, 0, 0, 1]
    assert only.whole == only.lanes[-1].time == "100 ms"


def test_thousands_of_steps_are_gathered_into_few_bars() -> None:
    chart = lane_chart(Lanes(data=(0.1,) * 5000))
    assert chart is not None
    assert 100 < chart.lanes[0].path.count("M") <= 240


# losses ------------------------------------------------------------------------------------


def test_losses_are_drawn_over_each_other_within_the_envelope() -> None:
    chart = losses(numerics(apart=1e-4))
    assert chart is not None
    (original,), (changed,), (envelope,) = chart.original, chart.changed, chart.envelope
    assert len(points(original)) == len(points(changed)) == 30
    assert len(points(envelope)) == 60
    assert points(original)[0][1] < points(original)[-1][1]
    assert not chart.equal
    assert [tick.label for tick in chart.step_ticks] == ["0", "5", "10", "15", "20", "25"]


def test_how_far_apart_begins_where_the_losses_first_differ() -> None:
    chart = losses(numerics(apart=1e-4))
    assert chart is not None
    (line,) = chart.apart
    assert points(line)[0][0] == pytest.approx(1000 * 4 / 29, abs=1)
    (spread,) = chart.spread
    assert points(line)[0][1] < points(spread)[4][1]


def test_equal_losses_are_called_equal() -> None:
    chart = losses(numerics())
    assert chart is not None
    assert chart.equal
    assert chart.apart == ()


def test_a_loss_that_is_not_a_number_leaves_a_gap() -> None:
    known = numerics(steps=5)
    pairs = list(known.losses)
    pairs[2] = (math.nan, math.inf)
    chart = losses(
        replace(known, losses=tuple(pairs), envelope=((math.nan, 1.0), *known.envelope[1:]))
    )
    assert chart is not None
    assert [len(points(line)) for line in chart.original] == [2, 2]
    assert len(points(chart.envelope[0])) == 8


@pytest.mark.parametrize("pairs", [(), ((math.nan, math.nan),)])
def test_no_loss_makes_no_chart(pairs: tuple[tuple[float, float], ...]) -> None:
    assert losses(None) is None
    assert losses(Numerics(numerics().agreement, losses=pairs)) is None


def test_a_single_loss_and_one_of_zero_make_a_chart() -> None:
    for pairs in (((1.0, 1.0),), ((0.0, 0.0), (0.0, 1e-30))):
        chart = losses(Numerics(numerics().agreement, losses=pairs))
        assert chart is not None
        assert chart.original
