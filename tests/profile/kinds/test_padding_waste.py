"""TR103: how much of the batches is padding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from torchlint.profile.kinds import padding_waste
from torchlint.runtime.decoding import MalformedError

if TYPE_CHECKING:
    from tests.profile.kinds.conftest import MakeEvidence


def place(row: int = 7, **more: Any) -> dict[str, Any]:
    """A line that takes 10 batches of 8 texts of 100 words, of which 60 are padding."""
    counts = {"batches": 10, "rows": 80, "positions": 8000, "padded": 4800, "beyond": 4000}
    return {"place": ["/train.py", row], **counts, "odd": 0, "unmasked": 0, **more}


def judged(evidence: MakeEvidence, *places: Any) -> Any:
    assert padding_waste.kind.judge is not None
    return list(padding_waste.kind.judge(evidence({"padding": {"places": list(places)}})))


def test_the_share_of_padding_is_the_ceiling(evidence: MakeEvidence) -> None:
    (found,) = judged(evidence, place())
    assert found.place == ("/train.py", 7)
    assert found.fact == "60% of 800 positions a batch are padding, 50% beyond its longest text"
    assert found.action == "pad to the longest text of the batch"
    assert found.share == pytest.approx(0.6)
    assert found.rules == ("TL111",)


def test_padding_within_the_longest_text_asks_for_texts_of_similar_length(
    evidence: MakeEvidence,
) -> None:
    (found,) = judged(evidence, place(beyond=0))
    assert found.fact == "60% of 800 positions a batch are padding"
    assert found.action == "batch texts of similar length"
    assert found.rules == ()


def test_the_line_that_takes_most_is_the_one(evidence: MakeEvidence) -> None:
    validation = place(9, positions=800, padded=700, batches=1)
    (found,) = judged(evidence, validation, place(padded=2000))
    assert found.place == ("/train.py", 7)
    assert judged(evidence, validation, place(padded=0)) == []


def test_batches_that_were_not_counted_may_have_no_padding(evidence: MakeEvidence) -> None:
    (found,) = judged(evidence, place(odd=2, unmasked=3))
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
def test_little_or_doubtful_padding_is_no_finding(
    evidence: MakeEvidence, more: dict[str, int]
) -> None:
    assert judged(evidence, place(**more)) == []


def test_no_loader_is_no_finding(evidence: MakeEvidence) -> None:
    assert judged(evidence) == []


def test_an_odd_message_is_refused(evidence: MakeEvidence) -> None:
    with pytest.raises(MalformedError):
        judged(evidence, place(padded="many"))
