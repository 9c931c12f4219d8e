"""TR202: what the host waits for copies to the GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.profile.kinds.conftest import evidence, findings
from torchlint.profile.kinds import pageable_copy
from torchlint.runtime.probe.instrument_messages import HostCall, ReadsSeen

if TYPE_CHECKING:
    from torchlint.profile.kind import Observed


def copy(kind: str = "pageable", **more: Any) -> HostCall:
    """One copy of 4 MB a step, which takes 2 of 10 ms."""
    counts = {"calls": 100, "seconds": 0.2, "steps": 100, "size": 400_000_000}
    return HostCall(**{"place": ("/train.py", 7), "kind": kind, **counts, **more})


def judged(*copies: HostCall, device: str = "cuda") -> list[Observed]:
    return findings(pageable_copy.kind, evidence(ReadsSeen(copies=[*copies]), device=device))


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
def test_the_wait_is_the_ceiling(kind: str, how: str, action: str) -> None:
    (found,) = judged(copy(kind=kind))
    assert found.place == ("/train.py", 7)
    assert found.fact == f"4 MB a step {how}, the host waits 2.0 ms"
    assert found.action == action
    assert found.share == pytest.approx(0.2)
    assert found.values["kinds"] == {kind: 1.0}


def test_the_copies_of_a_line_are_one_finding() -> None:
    (found,) = judged(copy(), copy(kind="blocking"))
    assert found.share == pytest.approx(0.4)
    assert found.fact.startswith("8 MB a step from memory that is not pinned")
    (found,) = judged(copy(via="a.f"), copy(via="b.g"))
    assert found.values["kinds"] == {"pageable": 2.0}


def test_what_is_not_a_finding() -> None:
    assert judged(copy(), device="cpu") == []
    assert judged(copy(place=None)) == []
    assert judged(copy(steps=1)) == []
