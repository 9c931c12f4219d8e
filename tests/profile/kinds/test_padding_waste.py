"""TR103: how much of the batches is padding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.profile.kinds.conftest import evidence, findings
from torchlint.profile.kinds import padding_waste
from torchlint.runtime.probe.instrument_messages import PaddedPlace, PaddingSeen

if TYPE_CHECKING:
    from torchlint.profile.kind import Observed


def place(row: int = 7, **more: int) -> PaddedPlace:
    """A line that takes 10 batches of 8 texts of 100 words, of which 60 are padding."""
    counts = {"batches": 10, "positions": 8000, "padded": 4800, "beyond": 4000}
    return PaddedPlace(("/train.py", row), **{**counts, **more})


def judged(*places: PaddedPlace) -> list[Observed]:
    return findings(padding_waste.kind, evidence(PaddingSeen([*places])))


def test_the_share_of_padding_is_the_ceiling() -> None:
    (found,) = judged(place())
    assert found.place == ("/train.py", 7)
    assert found.fact == "60% of 800 positions a batch are padding, 50% beyond its longest text"
    assert found.action == "pad to the longest text of the batch"
    assert found.share == pytest.approx(0.6)
    assert found.rules == ("TL111",)


def test_padding_within_the_longest_text_asks_for_texts_of_similar_length() -> None:
    (found,) = judged(place(beyond=0))
    assert found.fact == "60% of 800 positions a batch are padding"
    assert found.action == "batch texts of similar length"
    assert found.rules == ()


def test_the_line_that_takes_most_is_the_one() -> None:
    validation = place(9, positions=800, padded=700, batches=1)
    (found,) = judged(validation, place(padded=2000))
    assert found.place == ("/train.py", 7)
    assert judged(validation, place(padded=0)) == []


def test_batches_that_were_not_counted_may_have_no_padding() -> None:
    (found,) = judged(place(odd=2, unmasked=3))
    assert found.share == pytest.approx(0.4)


@pytest.mark.parametrize(
    "more",
    [
        {"padded": 1599},
        {"padded": 8000},
        {"positions": 0, "padded": 0, "batches": 0},
        {"unmasked": 11},
    ],
)
def test_little_or_doubtful_padding_is_not_a_finding(more: dict[str, int]) -> None:
    assert judged(place(**more)) == []


def test_without_a_loader_there_is_no_finding() -> None:
    assert judged() == []
