from __future__ import annotations

import math

import pytest

from torchlint.experiment.figures import (
    before_and_after,
    count,
    difference,
    duration,
    interval,
    mebibytes,
    milliseconds,
    percent,
    ratio,
    ratio_with_interval,
    scaled,
)


@pytest.mark.parametrize(
    ("value", "said"),
    [(1.7774, "1.777"), (0.5, "0.500"), (12.345, "12.35"), (123.4, "123.4"), (1234.0, "1234"),
     (math.nan, "-"), (math.inf, "-"), (None, "-")],
)  # fmt: skip
def test_a_ratio_has_three_decimals_or_four_figures(value: float | None, said: str) -> None:
    assert ratio(value) == said


def test_an_interval_is_in_brackets_and_may_be_absent() -> None:
    assert interval((0.9, 1.2)) == "[0.900, 1.200]"
    assert interval((1e-8, 4e8)) == interval((0.0, math.inf)) == "no interval"
    assert ratio_with_interval(None) == "-"


@pytest.mark.parametrize(
    ("value", "said"),
    [(16.6, "16.6 ms"), (9.4, "9.40 ms"), (123.4, "123 ms"), (999.9, "1000 ms"), (1234.0, "1.23 s"),
     (0.493, "493 µs"), (0.0004, "0.400 µs"), (0.0, "0 ms"), (1e6, "1000 s"), (math.nan, "-")],
)  # fmt: skip
def test_a_time_has_three_figures_and_a_fitting_unit(value: float, said: str) -> None:
    assert milliseconds(value) == said


def test_two_times_share_a_unit_only_if_it_is_the_same() -> None:
    assert before_and_after((16.6, 9.4)) == "16.6 → 9.40 ms"
    assert before_and_after((1200.0, 900.0)) == "1.20 s → 900 ms"


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.02, "2%"), (0.012, "1.2%"), (0.0995, "10%"), (0.49, "49%"), (1.0, "100%")],
)
def test_a_share_is_a_short_percentage(value: float, said: str) -> None:
    assert percent(value) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.2, "0 s"), (59.6, "1 min"), (108.4, "1 min 48 s"), (3600, "1 h"), (7505, "2 h 5 min")],
)
def test_a_duration_is_said_in_words(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_large_counts_have_gaps_and_differences_may_be_endless() -> None:
    assert count(12345678) == "12 345 678"
    assert difference(0.00012) == "1.2e-04"
    assert difference(math.inf) == "not finite"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0 FLOP"),
        (12, "12 FLOP"),
        (999.7, "1 kFLOP"),
        (1.236e9, "1.24 GFLOP"),
        (9.997e11, "1 TFLOP"),
        (3.2e16, "32 PFLOP"),
        (4e18, "4000 PFLOP"),
    ],
)
def test_a_number_has_three_figures_and_the_letter_of_its_size(value: float, words: str) -> None:
    assert scaled(value, "FLOP") == words


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.5, "0.5 MiB"), (511.7, "512 MiB"), (1023.9, "1 GiB"), (12800.0, "12.5 GiB")],
)
def test_memory_is_in_mebibytes_or_gibibytes(value: float, words: str) -> None:
    assert mebibytes(value) == words
