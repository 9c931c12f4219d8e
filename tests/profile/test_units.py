"""Large quantities in words."""

from __future__ import annotations

import pytest

from torchlint.profile.units import mebibytes, scaled


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
