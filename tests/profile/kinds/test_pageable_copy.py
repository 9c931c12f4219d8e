"""TR202: what the host waits for copies to the GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from torchlint.profile.kinds import pageable_copy
from torchlint.runtime.decoding import MalformedError

if TYPE_CHECKING:
    from tests.profile.kinds.conftest import MakeEvidence


def copy(row: int = 7, kind: str = "pageable", **more: Any) -> dict[str, Any]:
    """One copy of 4 MB a step, which takes 2 of 10 ms."""
    counts = {"calls": 100, "seconds": 0.2, "steps": 100, "bytes": 400_000_000}
    return {"place": ["/train.py", row], "kind": kind, "via": None, **counts, **more}


def judged(evidence: MakeEvidence, *copies: Any, device: str = "cuda") -> Any:
    assert pageable_copy.kind.judge is not None
    found = {"device": device, "reads": [], "copies": list(copies)}
    return list(pageable_copy.kind.judge(evidence({"reads": found}, device=device)))


@pytest.mark.parametrize(
    ("kind", "how", "action"),
    [
        (
            "pageable",
            "from memory that is not pinned",
            "set `pin_memory=True` in the DataLoader, and pass `non_blocking=True`",
        ),
        (
            "pageable, non-blocking",
            "from memory that is not pinned, non-blocking in name only",
            "set `pin_memory=True` in the DataLoader",
        ),
        ("blocking", "from pinned memory without `non_blocking`", "pass `non_blocking=True`"),
    ],
)
def test_the_wait_is_the_ceiling(evidence: MakeEvidence, kind: str, how: str, action: str) -> None:
    (found,) = judged(evidence, copy(kind=kind))
    assert found.place == ("/train.py", 7)
    assert found.fact == f"4 MB a step {how}, the host waits 2.0 ms"
    assert found.action == action
    assert found.share == pytest.approx(0.2)
    assert found.values["kinds"] == {kind: 1.0}


def test_the_copies_of_a_line_are_one_finding(evidence: MakeEvidence) -> None:
    (found,) = judged(evidence, copy(), copy(kind="blocking"))
    assert found.share == pytest.approx(0.4)
    assert found.fact.startswith("8 MB a step from memory that is not pinned")


def test_what_is_no_finding(evidence: MakeEvidence) -> None:
    assert judged(evidence, copy(), device="cpu") == []
    assert judged(evidence, copy(place=None)) == []
    assert judged(evidence, copy(steps=1)) == []


def test_an_odd_message_is_refused(evidence: MakeEvidence) -> None:
    with pytest.raises(MalformedError):
        judged(evidence, copy(bytes=None))
