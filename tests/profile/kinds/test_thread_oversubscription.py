"""TR603: more threads than processors, where they wait for one and the step for them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.profile.kinds.conftest import evidence, findings
from tests.profile.kinds.test_input_wait import MADE, PLACE, loader
from torchlint.profile.kinds import thread_oversubscription
from torchlint.profile.profiling import _ONLY_WHERE
from torchlint.runtime.probe.instrument_messages import (
    InputSeen,
    LaunchSeen,
    PausesSeen,
    WorkerThreads,
)

if TYPE_CHECKING:
    from torchlint.profile.evidence import Evidence
    from torchlint.profile.kind import Observed


def first_worker(**more: Any) -> WorkerThreads:
    """Of eight: two threads of each could run all the time, and had a processor for a quarter."""
    values = {"threads": 2, "seconds": 1.0, "ran_s": 0.5, "held_s": 1.5, "pools": {"OpenCV": 2}}
    return WorkerThreads("Images", 8, **{**values, **more})


def seen_of(
    *threads: WorkerThreads,
    saved: float | None = 0.25,
    replay: float = 0.4,
    wait_s: float = 0.4,
    held_s: float | None = 0.0,
    **more: Any,
) -> Evidence:
    """A step of 10 ms that waits for 4 ms, and takes 7.5 ms where a worker has one thread."""
    waits = loader(workers=8, samples_s=0.0, collate_s=0.0, wait_s=wait_s)
    saves = {"replay": replay} | ({} if saved is None else {"one_thread": saved})
    more = {"processors": 2, "tried": frozenset(() if saved is None else ("threads",)), **more}
    made = evidence(InputSeen([waits]), PausesSeen(threads=[*threads]), saved=saves, **more)
    return replace(
        made, windows={name: replace(each, held_s=held_s) for name, each in made.windows.items()}
    )


def judged(*threads: WorkerThreads, **more: Any) -> list[Observed]:
    return findings(thread_oversubscription.kind, seen_of(*threads, **more))


def test_pools_of_workers_are_named_with_what_they_cost() -> None:
    (found,) = judged(first_worker())
    assert (found.place, found.made) == (MADE, PLACE)
    assert found.fact == (
        "8 workers with 2 threads each on 2 processors, which they wait for in 75 % of their time; "
        "pools: OpenCV (2)"
    )
    assert found.action == "call `cv2.setNumThreads(0)` in the `worker_init_fn`"
    assert found.share == pytest.approx(0.25)


def test_what_they_cost_is_no_more_than_the_wait_for_a_processor() -> None:
    (found,) = judged(first_worker(), saved=0.9, replay=0.9)
    assert found.share == pytest.approx(0.75 * 0.4)
    (found,) = judged(first_worker(), saved=0.9, replay=0.9, held_s=0.1)
    assert found.share == pytest.approx(0.75 * 0.4 + 0.1)
    (found,) = judged(first_worker(), saved=0.9, replay=0.2)
    assert found.share == pytest.approx(0.2)


def test_the_workers_of_several_epochs_are_taken_together() -> None:
    calm = first_worker(seconds=3.0, ran_s=1.0, held_s=1.0)
    (found,) = judged(first_worker(), calm)
    assert found.values["held"] == pytest.approx(2.5 / 4)


def test_other_processes_are_not_the_scripts_threads() -> None:
    """Those take the processors as well, but the script's own would have had enough of them."""
    assert judged(first_worker(), processors=32) == []
    assert judged(first_worker(ran_s=0.02, held_s=0.06)) == []


@pytest.mark.parametrize(
    "threads",
    [
        first_worker(threads=1, ran_s=0.2, held_s=0.8),
        first_worker(held_s=0.0, ran_s=2.0),
        first_worker(seconds=0.0),
        replace(first_worker(), dataset="Others"),
    ],
)
def test_one_thread_each_or_no_wait_is_nothing_to_say(threads: WorkerThreads) -> None:
    assert judged(threads) == []


def test_pools_are_tried_before_they_are_named() -> None:
    untried = seen_of(first_worker(), saved=None)
    assert findings(thread_oversubscription.kind, untried) == []
    (needed,) = [each for run, each in _ONLY_WHERE if run.name == "threads"]
    assert needed(untried)
    assert not needed(seen_of(first_worker(), saved=None, wait_s=0.01))
    assert not needed(seen_of(first_worker(pools={"OpenBLAS": 1}), saved=None))
    assert not needed(seen_of(saved=None))


def test_what_pools_cost_may_be_unknown() -> None:
    untold = seen_of(first_worker(), saved=None, tried=frozenset({"threads"}))
    (found,) = findings(thread_oversubscription.kind, untold)
    assert found.share is None
    assert found.fact.endswith("pools: OpenCV (2); what they cost could not be measured")


def test_threads_of_no_known_pool_need_no_trial() -> None:
    (found,) = judged(first_worker(pools={}), saved=None)
    assert "pools" not in found.fact
    assert "torch.set_num_threads(1)" in found.action


def launched(threads: int, *, held_s: float | None = 0.5, **more: Any) -> list[Observed]:
    launch = LaunchSeen(threads, **{"chosen": False, "processors": [0, 1], **more})
    made = evidence(launch, PausesSeen(), processors=2)
    held = {name: replace(each, held_s=held_s) for name, each in made.windows.items()}
    return findings(thread_oversubscription.kind, replace(made, windows=held))


def test_torch_with_more_threads_than_processors_waits_for_them() -> None:
    (found,) = launched(16)
    assert (found.place, found.share) == (None, pytest.approx(0.5))
    assert found.fact == (
        "torch computes with 16 threads on 2 processors; the training waits 5 ms a step for one"
    )
    (found,) = launched(2, quota=1.0)
    assert "2 threads on 1 processor;" in found.fact


def test_as_many_as_processors_do_not_whatever_others_take() -> None:
    assert launched(2) == []
    assert launched(16, held_s=0.001) == []
    assert launched(16, held_s=None) == []
    assert launched(16, chosen=True) == []
