"""What a step waits for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.profile.conftest import survey, timing
from tests.profile.kinds.conftest import evidence
from tests.profile.kinds.test_communication import rank
from tests.profile.kinds.test_input_wait import loader
from torchlint.profile.catalogue import all_kinds
from torchlint.profile.evidence import Evidence, Window
from torchlint.profile.step_limit import first_limit, lanes_of, limit_of
from torchlint.runtime.probe.instrument_messages import (
    InputSeen,
    PausesSeen,
    ReadsSeen,
    WorkerThreads,
)
from torchlint.runtime.probe.messages import Lanes


def test_what_a_step_waits_for_is_one_sentence() -> None:
    plain = Evidence(survey(), timing())
    assert limit_of(plain, lanes_of(plain)).startswith(
        "processor: the script keeps the processor busy (backward 50%"
    )
    waiting = Evidence(survey(lanes=Lanes(data=(0.006,), forward=(0.004,))), timing())
    assert limit_of(waiting, lanes_of(waiting)).startswith("input: 60% of a step of the first look")
    gpu = survey(device="cuda")
    host = Evidence(gpu, timing(step_s=0.01, host_s=0.0095))
    device = Evidence(gpu, timing(step_s=0.01, host_s=0.004))
    assert limit_of(host, {}) == "host: the CPU needs 9.5 of 10 ms to queue a step"
    assert limit_of(device, {}) == "device: the CPU queues a step in 4 of 10 ms"


def test_the_first_look_says_what_a_step_consists_of() -> None:
    assert (
        first_limit(survey()) == "by the first look, a step is backward 50%, forward 40%, data 10%"
    )
    waiting = survey(lanes=Lanes(data=(0.006,), forward=(0.004,)))
    assert first_limit(waiting) == "input, by the first look: data 60%, forward 40%"
    assert "the host's part of a step is backward" in first_limit(survey(device="cuda"))


def ranks(*found: Any, held_s: float | None = None) -> dict[str, Window[Any]]:
    """The windows of an instrument, of 100 steps of 10 ms on each rank."""
    windows = evidence(dict(enumerate(found))).windows
    return {name: replace(each, held_s=held_s) for name, each in windows.items()}


def blocked(*seconds: float) -> dict[str, Window[Any]]:
    return ranks(*(rank(blocked=[each] * 100) for each in seconds))


def limit(windows: dict[str, Window[Any]], cpu_s: float = 0.001, **more: Any) -> str:
    """Of two ranks on two processors."""
    seen = Evidence(survey(), timing(cpu_s=cpu_s), windows, processors=2, **{"ranks": 2, **more})
    return limit_of(seen, lanes_of(seen))


SLOW_INPUT = ranks(InputSeen(), InputSeen([loader(wait_s=0.9)]))


def test_a_rank_whose_input_the_others_wait_for_is_named() -> None:
    alone = (
        "input: rank 1 waits for its next batch for 90% of a step (9 of 10 ms in the run that "
        "watches the input)"
    )
    assert limit(SLOW_INPUT) == alone
    assert limit({**SLOW_INPUT, **blocked(0.001, 0.0)}) == alone
    held_up = limit({**SLOW_INPUT, **blocked(0.0085, 0.0)})
    assert held_up == f"{alone}, and the other ranks for rank 1"


def test_the_wait_is_that_of_the_finding_where_the_input_was_watched() -> None:
    lanes = Lanes(data=(0.006,), forward=(0.004,))
    window = Window(100, 1.25, InputSeen([loader(wait_s=0.5)]))
    seen = Evidence(survey(lanes=lanes), timing(), {"input": window})
    said = "input: 40% of a step waits for the next batch (5 of 12.5 ms in the run that watches the"
    assert limit_of(seen, lanes_of(seen)) == f"{said} input)"
    little = replace(window, seen=InputSeen([loader(wait_s=0.1)]))
    seen = replace(seen, windows={"input": little})
    assert limit_of(seen, lanes_of(seen)).startswith("processor: ")


def test_one_wait_has_one_share() -> None:
    """In the limit, in the parts of a step, and in the finding."""
    lanes = Lanes(data=(0.002,), forward=(0.006,), backward=(0.002,))
    windows = {"input": Window(100, 1.25, InputSeen([loader(wait_s=0.5)]))}
    seen = Evidence(survey(lanes=lanes, warm=1), timing(), windows, {"replay": 0.4})
    parts = lanes_of(seen)
    assert parts == pytest.approx({"data": 0.4, "forward": 0.45, "backward": 0.15})
    (found,) = all_kinds()["TR101"].judge(seen)
    assert "40% of a step waits for the next batch (5 of 12.5 ms" in limit_of(seen, parts)
    assert found.fact.startswith("5 of 12.5 ms a step in `next(loader)`")
    # Without a loader the first look alone knows what is data.
    none = replace(seen, windows={"input": Window(100, 1.25, InputSeen())})
    assert lanes_of(none)["data"] == pytest.approx(0.2)


def test_ranks_that_wait_for_one_of_them_or_for_their_messages() -> None:
    found = limit(blocked(0.007, 0.001))
    assert found == "ranks: the others wait for rank 1 for 60% of a step of 10 ms"
    assert limit(blocked(0.0, 0.004)).startswith("ranks: the others wait for rank 0 for 40%")
    found = limit(blocked(0.005, 0.004))
    assert found == "messages: they block a rank for 45% of a step of 10 ms on average"
    assert limit(blocked(0.002, 0.001), cpu_s=0.01).startswith("processor: ")


def test_an_idle_process_is_not_limited_by_the_processor() -> None:
    found = limit({}, ranks=1)
    assert found.startswith("waiting: the process has 1 ms of processor time in a step of 10 ms;")
    assert "as for a processor that others have, a disk, a network or another process (" in found
    assert "or another rank (" in limit({})
    assert "as for a disk, a network" in limit(ranks(ReadsSeen(), held_s=0.1), ranks=1)


def test_processors_that_others_have_are_told() -> None:
    reads = ranks(ReadsSeen(), held_s=0.37)
    taken = "; other processes take the processor from it for 37% of a step"
    computes = "processor: the script computes for 60% of a step, on one processor at a time ("
    assert limit(reads, cpu_s=0.006, ranks=1).startswith(computes)
    assert limit(reads, cpu_s=0.006, ranks=1).endswith(taken)
    # What is ready to run all the time is limited by the processor, however little it gets.
    assert limit(reads, cpu_s=0.002, ranks=1).startswith("processor: the script computes for 20%")
    assert limit(reads, cpu_s=0.019, ranks=1).startswith("processor: the script keeps 1.9 of 2 pro")
    for others in (ranks(ReadsSeen(), held_s=0.1), ranks(ReadsSeen()), {}):
        assert "other processes" not in limit(others, cpu_s=0.006, ranks=1)
    # These are threads of its own.
    assert "other processes" not in limit(reads, cpu_s=0.019, ranks=1)


def test_the_host_may_wait_for_its_input_on_a_gpu_too() -> None:
    gpu = survey(device="cuda", lanes=Lanes(data=(0.006,), forward=(0.004,)))
    queued, waiting = (Evidence(gpu, timing(host_s=each)) for each in (0.004, 0.0095))
    assert limit_of(queued, lanes_of(queued)).startswith("device: ")
    assert limit_of(waiting, lanes_of(waiting)).startswith("input: 60% of a step of the first look")


def test_what_others_take_from_the_thread_is_no_part_of_the_step_that_waits() -> None:
    # In a second of a hundred steps it has no processor for half of the time.
    waits = InputSeen([loader(wait_s=0.2)])
    assert limit(ranks(waits), cpu_s=0.01).startswith("processor")
    assert limit(ranks(waits, held_s=0.5), cpu_s=0.01).startswith("input: 40% of a step waits")


def test_a_processor_that_its_own_workers_have_is_not_taken_by_others() -> None:
    first = WorkerThreads("Images", 8, 2, seconds=1.0, ran_s=0.2, held_s=1.0)
    window = ranks(PausesSeen(threads=[first]), held_s=0.37)
    said = "; its own workers take the processor from it for 37% of a step"
    assert limit(window, cpu_s=0.006, ranks=1).endswith(said)
    idle = ranks(PausesSeen(threads=[replace(first, ran_s=0.02)]), held_s=0.37)
    assert "; other processes take" in limit(idle, cpu_s=0.006, ranks=1)
