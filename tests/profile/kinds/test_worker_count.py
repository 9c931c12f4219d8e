"""TR102: more workers than processors, where input matters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.profile.kinds.conftest import evidence, findings
from tests.profile.kinds.test_input_wait import PLACE, loader
from torchlint.profile.kinds import worker_count
from torchlint.runtime.probe.instrument_messages import InputSeen

if TYPE_CHECKING:
    from torchlint.profile.kind import Observed


def judged(
    workers: int, processors: int, saved: float = 0.2, ranks: int = 1, **more: Any
) -> list[Observed]:
    each = loader(workers=workers, samples_s=0.0, collate_s=0.0, **more)
    saves = {"replay": saved}
    seen = evidence(InputSeen([each]), saved=saves, processors=processors, ranks=ranks)
    return findings(worker_count.kind, seen)


def test_too_many_workers_are_a_finding_without_a_ceiling() -> None:
    (found,) = judged(8, 2)
    assert (found.place, found.share) == (PLACE, None)
    assert found.fact == "8 workers, but 2 processors for this process"
    assert found.action == "try as many workers as processors (`--sweep workers`)"


def test_ranks_share_the_processors() -> None:
    assert judged(4, 4) == []
    (found,) = judged(4, 4, ranks=4)
    assert found.fact == "4 workers, but 1 processor for each rank"


@pytest.mark.parametrize(("workers", "processors"), [(0, 1), (2, 1), (2, 2), (3, 2), (16, 12)])
def test_about_as_many_are_fine(workers: int, processors: int) -> None:
    assert judged(workers, processors) == []


def test_where_input_costs_nothing_their_number_does_not_matter() -> None:
    assert judged(8, 2, saved=0.01) == []
    assert judged(8, 2, wait_s=0.01) == []
