"""TR101: a line that waits for its batches, and how much that costs at most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.profile.conftest import timing
from tests.profile.kinds.conftest import evidence, findings
from torchlint.profile.kinds import input_wait
from torchlint.runtime.probe.instrument_messages import InputSeen, LoaderOptions, LoaderWaits

if TYPE_CHECKING:
    from torchlint.profile.kind import Observed

PLACE, MADE = ("/project/train.py", 31), ("/project/train.py", 12)


def loader(
    place: tuple[str, int] = PLACE,
    wait_s: float = 0.4,
    samples_s: float = 0.38,
    collate_s: float = 0.01,
    firsts: int = 0,
    first_s: float = 0.0,
    held_s: float = 0.0,
    batches: int = 100,
    **more: Any,
) -> LoaderWaits:
    """A loader that waits for 4 ms in each of 100 steps of 10 ms.

    Args:
        more: of `LoaderOptions`.
    """
    values = {"dataset": "Images", "samples": ("/project/data.py", 12), "length": 1000, **more}
    return LoaderWaits(
        place,
        MADE,
        LoaderOptions(**values),
        batches,
        wait_s,
        firsts,
        first_s,
        samples_s,
        collate_s,
        held_s,
    )


def judged(*loaders: LoaderWaits, saved: float = 0.4, **more: Any) -> list[Observed]:
    seen = evidence(InputSeen([*loaders]), saved={"replay": saved}, **{"processors": 2, **more})
    return findings(input_wait.kind, seen)


def only(found: list[Observed]) -> Observed:
    (observed,) = found
    return observed


def test_a_wait_has_the_replay_as_its_ceiling() -> None:
    found = only(judged(loader()))
    assert found.place == PLACE
    assert found.fact == (
        "4 of 10 ms a step in `next(loader)`, 3.8 of it in `Images` (data.py:12); 0 workers, 2 cores"
    )
    assert found.action == "let workers load (`--sweep workers`)"
    assert found.share == pytest.approx(0.4)
    assert "TL101" in found.rules
    assert found.made == ("/project/train.py", 12)


def test_the_ceiling_is_no_more_than_the_wait_and_a_tenth() -> None:
    found = only(judged(loader(wait_s=0.1), saved=0.9))
    assert found.share == pytest.approx(0.11)


def test_the_time_without_a_processor_is_not_the_loaders_and_may_be_gained_all_the_same() -> None:
    found = only(judged(loader(wait_s=0.1, samples_s=0.1, held_s=0.2), saved=0.9))
    assert found.fact.startswith("1 of 10 ms a step")
    assert found.share == pytest.approx(0.33)
    assert judged(loader(wait_s=0.005, samples_s=0.005, workers=2, held_s=0.2)) == []


def test_a_run_in_which_all_else_was_slow_does_not_hide_a_wait() -> None:
    found = only(judged(loader(wait_s=0.6), saved=0.62, step_s=0.02))
    assert found.share == pytest.approx(0.62)


def test_the_ceiling_is_no_more_than_the_replay_shows() -> None:
    assert only(judged(loader(), saved=0.1)).share == pytest.approx(0.1)


@pytest.mark.parametrize("saved", [0.0, 0.009])
def test_a_wait_that_costs_nothing_is_not_a_finding(saved: float) -> None:
    assert judged(loader(), saved=saved) == []


def test_what_takes_no_longer_than_receiving_it_from_a_worker_is_not_a_finding() -> None:
    """Of a step of 2 ms, 0.2 or 0.4 ms."""
    step = {"timing": timing(step_s=0.002)}
    assert judged(loader(wait_s=0.02), **step) == []
    assert len(judged(loader(wait_s=0.04), **step)) == 1
    assert len(judged(loader(wait_s=0.02, workers=2), **step)) == 1


def test_a_loader_that_is_ready_is_not_a_finding() -> None:
    assert judged(loader(workers=2, wait_s=0.005)) == []
    assert judged() == []


def test_without_workers_first_batches_are_batches() -> None:
    found = only(judged(loader(wait_s=0.1, firsts=50, first_s=0.3)))
    assert found.share == pytest.approx(0.4)


def test_collating_may_be_the_slow_stage() -> None:
    slow = loader(samples_s=0.05, collate_s=0.34, collate=("/project/data.py", 40))
    found = only(judged(slow, processors=1))
    assert "3.4 of it in collating (data.py:40); 0 workers, 1 core" in found.fact
    assert found.action == "make collating (data.py:40) cheaper"


def test_a_single_core_has_no_room_for_workers() -> None:
    for more in ({"processors": 1}, {"processors": 4, "ranks": 4}):
        found = only(judged(loader(), **more))
        assert found.action == "make `Images` (data.py:12) cheaper"


@pytest.mark.parametrize(
    ("cores", "action"),
    [
        (8, "add workers (`--sweep workers`), or make `Images` (data.py:12) cheaper"),
        (4, "make `Images` (data.py:12) cheaper"),
    ],
)
def test_workers_that_fall_behind_are_too_few_or_too_slow(cores: int, action: str) -> None:
    behind = loader(workers=4, persistent=True, samples_s=0.0, collate_s=0.0)
    found = only(judged(behind, processors=cores))
    assert found.fact == f"4 of 10 ms a step in `next(loader)`; 4 workers, {cores} cores"
    assert found.action == action


def test_samples_in_memory_need_no_workers() -> None:
    found = only(judged(loader(workers=2, dataset="TensorDataset", samples=None)))
    assert found.action == "take samples that are in memory without workers"
    assert found.rules == ("TL109",)


def test_each_place_has_its_own_wait() -> None:
    validation = loader(place=("/project/train.py", 50), wait_s=0.1)
    found = judged(loader(), validation, saved=0.5)
    assert [(each.place[1], round(each.share, 3)) for each in found] == [(31, 0.44), (50, 0.11)]


def starting(**more: Any) -> LoaderWaits:
    values = {"workers": 2, "wait_s": 0.0, "firsts": 1, "first_s": 0.07, "length": 20}
    return loader(**{**values, **more})


def test_workers_that_start_in_each_epoch_are_a_share_of_it() -> None:
    found = only(judged(starting()))
    assert found.fact == "70 ms until the first batch of an epoch; 2 workers started again"
    assert found.action == "pass `persistent_workers=True`"
    assert found.share == pytest.approx(0.07 / 0.2)
    assert found.rules == ("TL103",)


@pytest.mark.parametrize(
    "more", [{"length": 1000}, {"length": None}, {"persistent": True}, {"batches": 20}]
)
def test_a_start_that_is_rare_is_not_a_finding(more: dict[str, Any]) -> None:
    assert judged(starting(**more)) == []


def test_several_epochs_say_how_often_workers_start() -> None:
    found = only(judged(starting(firsts=4, first_s=0.3, length=None)))
    assert found.share == pytest.approx(0.3)


def test_workers_may_start_in_each_step() -> None:
    found = only(judged(starting(firsts=100, first_s=0.8)))
    assert found.fact == "8 ms until the first batch of each step; 2 workers started again"
    assert found.action == "keep one iterator over the steps"
    assert found.rules == ("TL104",)
