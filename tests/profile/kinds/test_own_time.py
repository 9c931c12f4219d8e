"""TR703: the script's own Python."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.profile.kinds.conftest import evidence, findings
from torchlint.profile.kinds import own_time
from torchlint.runtime.probe.instrument_messages import (
    CollectorCalls,
    HostCall,
    InputSeen,
    KernelsSeen,
    LineOperations,
    LoaderOptions,
    LoaderWaits,
    OwnTime,
    PausesSeen,
    ReadsSeen,
    Residue,
)

if TYPE_CHECKING:
    from torchlint.profile.kind import Observed

NOTHING_COUNTED = KernelsSeen()


def line(row: int, seconds: float, **more: Any) -> OwnTime:
    plain = OwnTime(("/train.py", row), "sample", 3, "other", "", 50, seconds)
    return replace(plain, **more)


def judged(*lines: OwnTime, counted: KernelsSeen | None = NOTHING_COUNTED) -> list[Observed]:
    """In a window of a hundred steps, which took a second."""
    seen = [PausesSeen(own=[*lines]), *([] if counted is None else [counted])]
    return findings(own_time.kind, evidence(*seen))


def asks(count: int, seconds: float, row: int = 5) -> KernelsSeen:
    return KernelsSeen(lines=[LineOperations(("/train.py", row), count, seconds)])


def test_a_function_is_found_at_its_slowest_line() -> None:
    (found,) = judged(line(5, 0.3), line(6, 0.1))
    assert found.place == ("/train.py", 5)
    assert found.fact == "4 ms a step in the Python of `sample`, 3 ms of it in this line"
    assert found.share == pytest.approx(0.4)
    assert "TL115" in found.rules


def test_what_a_line_has_called_is_named() -> None:
    (found,) = judged(line(5, 0.3, call="copy.deepcopy"))
    assert found.fact == "3 ms a step in the Python of `sample` (`copy.deepcopy`)"


def test_what_has_a_finding_of_its_own_is_not_said_twice() -> None:
    slow, place = line(5, 0.9), ("/train.py", 5)
    collects = PausesSeen(own=[slow], asked=[CollectorCalls(place, 100, 0.88)])
    prints = PausesSeen(own=[slow], residue=[Residue(place, "print", 0, 100, 0.88)])
    some = PausesSeen(own=[slow], residue=[Residue(place, "print", 0, 100, 0.3)])
    assert findings(own_time.kind, evidence(collects, NOTHING_COUNTED)) == []
    assert findings(own_time.kind, evidence(prints, NOTHING_COUNTED)) == []
    (found,) = findings(own_time.kind, evidence(some, NOTHING_COUNTED))
    assert found.share == pytest.approx(0.6)


def test_less_than_a_fifth_of_a_step_is_nothing_to_say() -> None:
    assert judged(line(5, 0.15)) == []
    assert judged(line(5, 0.15), line(6, 0.15, part="loader")) == []


def test_few_looks_say_nothing() -> None:
    assert judged(line(5, 0.3, samples=9)) == []


def test_where_torch_computes_nothing_is_said() -> None:
    assert judged(line(5, 0.3), counted=asks(400, 0.2)) == []
    assert len(judged(line(5, 0.3), counted=asks(400, 0.1))) == 1


@pytest.mark.parametrize("part", ["forward", "other", "optimizer"])
def test_a_line_that_asks_for_many_operations_goes_around(part: str) -> None:
    (found,) = judged(line(5, 0.3, part=part), counted=asks(6400, 0.25))
    assert found.fact == "3 ms a step in `sample`, which asks torch for 64 operations"
    assert "TL210" in found.rules


def test_the_layers_of_a_model_are_no_finding() -> None:
    assert judged(line(5, 0.3, part="forward"), counted=asks(400, 0.1)) == []


def test_a_wait_for_another_thread_is_no_work() -> None:
    (found,) = judged(line(5, 0.3, call="queue.Queue.get"))
    assert found.fact == (
        "3 ms a step in `sample`, which waits for another thread or process (`queue.Queue.get`)"
    )
    assert found.action == "let that one work ahead, or give it less to do"


def test_samples_are_loaded() -> None:
    (found,) = judged(line(5, 0.3, part="loader"), counted=None)
    assert found.fact == "3 ms a step in the Python of `sample`, which loads samples"
    assert "TL114" in found.rules


def test_what_loads_samples_costs_no_more_than_the_wait_for_them() -> None:
    """It is the wait of TR101, which a step without it has measured."""
    pauses = PausesSeen(own=[line(5, 0.6, part="loader")])
    waits = InputSeen([LoaderWaits(("/train.py", 20), None, LoaderOptions("Images"), 100, 0.3)])
    (found,) = findings(own_time.kind, evidence(pauses, waits, saved={"replay": 0.4}))
    assert found.share == pytest.approx(0.33)
    (found,) = findings(own_time.kind, evidence(pauses, waits, saved={"replay": 0.2}))
    assert found.share == pytest.approx(0.2)
    (found,) = findings(own_time.kind, evidence(pauses, saved={"replay": 0.2}))
    assert found.share == pytest.approx(0.6)


def test_the_line_that_takes_batches_is_that_of_another_finding() -> None:
    """19 MiB of shared memory that are given back took a fifth of a step, at the loop's head."""
    pauses = PausesSeen(own=[line(5, 0.3), line(20, 0.25, first=18)])
    waits = InputSeen([LoaderWaits(("/train.py", 20), None, LoaderOptions("Images"), 100, 0.3)])
    found = findings(own_time.kind, evidence(pauses, NOTHING_COUNTED, waits))
    assert [each.place for each in found] == [("/train.py", 5)]


def test_few_operations_do_not_explain_much_time() -> None:
    """`roc_auc_score` of a tensor, which asks for some."""
    (found,) = judged(line(5, 0.9), counted=asks(40 * 100, 0.01))
    assert found.fact == "9 ms a step in the Python of `sample`"


@pytest.mark.parametrize("counted", [None, KernelsSeen("compiled regions are not seen")])
def test_where_operations_are_not_counted_only_data_sets_are_judged(
    counted: KernelsSeen | None,
) -> None:
    assert judged(line(5, 0.3), counted=counted) == []


def test_a_line_that_waits_for_the_gpu_is_a_read() -> None:
    read = ReadsSeen([HostCall(("/train.py", 5), "item", 100, 0.3)])
    pauses = PausesSeen(own=[line(5, 0.3), line(6, 0.25)])
    on_gpu = evidence(pauses, NOTHING_COUNTED, read, device="cuda")
    assert [each.place for each in findings(own_time.kind, on_gpu)] == [("/train.py", 6)]


def test_a_line_of_a_worker_has_its_part_of_the_wait() -> None:
    """A step waits for half of its time; the worker spends half of its own in the line."""
    own = [line(5, 2.0), line(9, 2.0, first=8, function="other")]
    pauses = PausesSeen(worker=own, worker_s=4.0)
    loader = LoaderOptions("Images", 2, 8)
    waits = InputSeen([LoaderWaits(("/train.py", 20), None, loader, batches=100, wait_s=0.5)])
    found, _ = findings(own_time.kind, evidence(pauses, waits))
    assert found.fact == "2.5 ms a step in the Python of `sample`, in a worker"
    assert found.share == pytest.approx(0.25)
    assert findings(own_time.kind, evidence(pauses)) == []
