"""TR101: a line that waits for its batches, and how much that costs at most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.profile.conftest import timing
from torchlint.profile.kinds import input_wait
from torchlint.profile.loaders import loaders_of
from torchlint.runtime.decoding import MalformedError

if TYPE_CHECKING:
    from tests.profile.kinds.conftest import MakeEvidence
    from torchlint.profile.kind import Observed

PLACE = ("/project/train.py", 31)


def loader(**more: Any) -> dict[str, Any]:
    """A loader that waits for 4 ms in each of 100 steps of 10 ms."""
    return {
        "place": PLACE,
        "made": ("/project/train.py", 12),
        "dataset": "Images",
        "samples": ("/project/data.py", 12),
        "collate": None,
        "workers": 0,
        "prefetch": None,
        "pinned": False,
        "persistent": False,
        "batch_size": 32,
        "length": 1000,
        "batches": 100,
        "wait_s": 0.4,
        "firsts": 0,
        "first_s": 0.0,
        "samples_s": 0.38,
        "collate_s": 0.01,
        "held_s": 0.0,
        **more,
    }


def judged(evidence: MakeEvidence, *loaders: Any, saved: float = 0.4, **more: Any) -> Any:
    found = {"input": {"steps": 100, "elsewhere": 0, "loaders": list(loaders)}}
    more.setdefault("processors", 2)
    seen = evidence(found, saved={"replay": saved}, **more)
    assert input_wait.kind.judge is not None
    return list(input_wait.kind.judge(seen))


def only(found: list[Observed]) -> Observed:
    (observed,) = found
    return observed


def test_a_wait_has_the_replay_as_its_ceiling(evidence: MakeEvidence) -> None:
    found = only(judged(evidence, loader()))
    assert found.place == PLACE
    assert found.fact == (
        "4.0 ms a step in `next(loader)`, 3.8 of it in `Images` (data.py:12); 0 workers, 2 cores"
    )
    assert found.action == "let workers load (`--sweep workers`)"
    assert found.share == pytest.approx(0.4)
    assert "TL101" in found.rules
    assert found.made == ("/project/train.py", 12)


def test_the_ceiling_is_no_more_than_the_wait_and_a_tenth(evidence: MakeEvidence) -> None:
    found = only(judged(evidence, loader(wait_s=0.1), saved=0.9))
    assert found.share == pytest.approx(0.11)


def test_the_time_without_a_processor_is_not_the_loaders_and_may_be_gained_all_the_same(
    evidence: MakeEvidence,
) -> None:
    found = only(judged(evidence, loader(wait_s=0.1, samples_s=0.1, held_s=0.2), saved=0.9))
    assert found.fact.startswith("1.0 ms a step")
    assert found.share == pytest.approx(0.33)
    assert judged(evidence, loader(wait_s=0.005, samples_s=0.005, workers=2, held_s=0.2)) == []


def test_a_run_in_which_all_else_was_slow_does_not_hide_a_wait(evidence: MakeEvidence) -> None:
    seen = evidence(
        {"input": {"loaders": [loader(wait_s=0.6)]}},
        saved={"replay": 0.62},
        step_s={"input": 0.02},
        processors=2,
    )
    assert input_wait.kind.judge is not None
    (found,) = input_wait.kind.judge(seen)
    assert found.share == pytest.approx(0.62)


def test_the_ceiling_is_no_more_than_the_replay_shows(evidence: MakeEvidence) -> None:
    assert only(judged(evidence, loader(), saved=0.1)).share == pytest.approx(0.1)


@pytest.mark.parametrize("saved", [0.0, 0.009])
def test_a_wait_that_costs_nothing_is_no_finding(evidence: MakeEvidence, saved: float) -> None:
    assert judged(evidence, loader(), saved=saved) == []


def test_what_takes_no_longer_than_to_receive_it_from_a_worker_is_no_finding(
    evidence: MakeEvidence,
) -> None:
    """Of a step of 2 ms, 0.2 or 0.4 ms."""
    step = {"timing": timing(step_s=0.002)}
    assert judged(evidence, loader(wait_s=0.02), **step) == []
    assert len(judged(evidence, loader(wait_s=0.04), **step)) == 1
    assert len(judged(evidence, loader(wait_s=0.02, workers=2), **step)) == 1


def test_a_loader_that_is_ready_is_no_finding(evidence: MakeEvidence) -> None:
    assert judged(evidence, loader(workers=2, wait_s=0.005)) == []
    assert judged(evidence) == []


def test_without_workers_first_batches_are_batches(evidence: MakeEvidence) -> None:
    found = only(judged(evidence, loader(wait_s=0.1, firsts=50, first_s=0.3)))
    assert found.share == pytest.approx(0.4)


def test_collating_may_be_the_slow_stage(evidence: MakeEvidence) -> None:
    slow = loader(samples_s=0.05, collate_s=0.34, collate=("/project/data.py", 40))
    found = only(judged(evidence, slow, processors=1))
    assert "3.4 of it in collating (data.py:40); 0 workers, 1 core" in found.fact
    assert found.action == "make collating (data.py:40) cheaper"


def test_a_single_core_has_no_room_for_workers(evidence: MakeEvidence) -> None:
    for more in ({"processors": 1}, {"processors": 4, "ranks": 4}):
        found = only(judged(evidence, loader(), **more))
        assert found.action == "make `Images` (data.py:12) cheaper"


@pytest.mark.parametrize(
    ("cores", "action"),
    [
        (8, "add workers (`--sweep workers`), or make `Images` (data.py:12) cheaper"),
        (4, "make `Images` (data.py:12) cheaper"),
    ],
)
def test_workers_that_fall_behind_are_too_few_or_too_slow(
    evidence: MakeEvidence, cores: int, action: str
) -> None:
    behind = loader(workers=4, persistent=True, samples_s=0.0, collate_s=0.0)
    found = only(judged(evidence, behind, processors=cores))
    assert found.fact == f"4.0 ms a step in `next(loader)`; 4 workers, {cores} cores"
    assert found.action == action


def test_samples_in_memory_need_no_workers(evidence: MakeEvidence) -> None:
    found = only(judged(evidence, loader(workers=2, dataset="TensorDataset", samples=None)))
    assert found.action == "take samples that lie in memory without workers"
    assert found.rules == ("TL109",)


def test_each_place_has_its_own_wait(evidence: MakeEvidence) -> None:
    validation = loader(place=("/project/train.py", 50), wait_s=0.1)
    found = judged(evidence, loader(), validation, saved=0.5)
    assert [(each.place[1], round(each.share, 3)) for each in found] == [(31, 0.44), (50, 0.11)]


def starting(**more: Any) -> dict[str, Any]:
    return loader(workers=2, wait_s=0.0, firsts=1, first_s=0.07, length=20, **more)


def test_workers_that_start_in_each_epoch_are_a_share_of_it(evidence: MakeEvidence) -> None:
    found = only(judged(evidence, starting()))
    assert found.fact == "70 ms until the first batch of an epoch; 2 workers started anew"
    assert found.action == "pass `persistent_workers=True`"
    assert found.share == pytest.approx(0.07 / 0.2)
    assert found.rules == ("TL103",)


@pytest.mark.parametrize(
    "more", [{"length": 1000}, {"length": None}, {"persistent": True}, {"batches": 20}]
)
def test_a_start_that_is_rare_is_no_finding(evidence: MakeEvidence, more: dict[str, Any]) -> None:
    assert judged(evidence, {**starting(), **more}) == []


def test_several_epochs_say_how_often_workers_start(evidence: MakeEvidence) -> None:
    found = only(judged(evidence, {**starting(), "firsts": 4, "first_s": 0.3, "length": None}))
    assert found.share == pytest.approx(0.3)


def test_workers_may_start_in_each_step(evidence: MakeEvidence) -> None:
    again = {**starting(), "firsts": 100, "first_s": 0.8}
    found = only(judged(evidence, again))
    assert found.fact == "8 ms until the first batch of each step; 2 workers started anew"
    assert found.action == "keep one iterator over the steps"
    assert found.rules == ("TL104",)


@pytest.mark.parametrize(
    "odd",
    [
        {"place": ["train.py"]},
        {"place": [3, "train.py"]},
        {"workers": "2"},
        {"wait_s": None},
        {"length": "long"},
    ],
)
def test_an_odd_message_is_refused(evidence: MakeEvidence, odd: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        judged(evidence, loader(**odd))


def test_loaders_are_a_list_of_objects(evidence: MakeEvidence) -> None:
    for odd in (None, {}, [3]):
        with pytest.raises(MalformedError, match="loaders"):
            loaders_of(evidence({"input": {"loaders": odd}}).windows["input"])
