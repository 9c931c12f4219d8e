"""TR604: buffers that DDP sends for nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.profile.kinds.conftest import evidence, findings
from torchlint.profile.kinds import unchanged_buffers
from torchlint.runtime.probe.instrument_messages import BufferBroadcasts, ExchangesSeen

if TYPE_CHECKING:
    from torchlint.profile.kind import Observed

SENT = BufferBroadcasts(("/train.py", 7), models=1, calls=200, size=200 * 2**21, seconds=0.2)


def judged(*ranks: BufferBroadcasts | None, gloo: bool = True) -> list[Observed]:
    """What each rank has sent in a hundred steps of 10 ms."""
    seen = {
        number: ExchangesSeen(gloo=gloo, buffers=[] if each is None else [each])
        for number, each in enumerate(ranks)
    }
    return findings(unchanged_buffers.kind, evidence(seen, ranks=len(ranks)))


def test_buffers_that_never_change() -> None:
    (found,) = judged(SENT, replace(SENT, seconds=0.1))
    assert found.place == ("/train.py", 7)
    assert found.fact == (
        "DDP sends buffers of 2 MiB 2 times a step, and none of them changes in 100 steps, 1 ms a "
        "step"
    )
    assert found.share == pytest.approx(0.1)


def test_a_buffer_that_changes_on_one_rank_must_be_sent() -> None:
    assert judged(SENT, replace(SENT, changed=True)) == []


def test_what_not_all_ranks_have_sent_is_not_known() -> None:
    assert judged(SENT, None) == []


def test_a_single_rank_waits_for_nobody() -> None:
    assert judged(SENT) == []


def test_without_gloo_nothing_is_timed() -> None:
    assert judged(SENT, SENT, gloo=False) == []
