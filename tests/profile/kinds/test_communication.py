"""TR601: messages for nothing, lines that wait for them, and ranks that others wait for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.profile.kinds.conftest import evidence, facts, findings
from torchlint.profile.kinds import communication
from torchlint.runtime.probe.instrument_messages import (
    Collectives,
    ExchangesSeen,
    GradientExchanges,
    InputSeen,
    LoaderOptions,
    LoaderWaits,
)

if TYPE_CHECKING:
    from torchlint.profile.evidence import Evidence
    from torchlint.profile.kind import Observed

PLACE = ("/train.py", 9)


def rank(**more: Any) -> ExchangesSeen:
    """Of a window of 100 steps of 10 ms."""
    steps: dict[str, Any] = {"took": [0.01], "ran": [0.008], "blocked": [0.001]}
    values = {name: each * 100 for name, each in steps.items()}
    return ExchangesSeen(**{"gloo": True, **values, **more})


def exchange(
    calls: int = 400, again: int = 300, again_seconds: float = 0.3, model: str = "Net"
) -> GradientExchanges:
    return GradientExchanges(PLACE, model, calls, again, again_seconds)


def collective(seconds: float, what: str = "all_reduce", calls: int = 200) -> Collectives:
    return Collectives(PLACE, what, calls, seconds)


def ranks(*seen: ExchangesSeen) -> Evidence:
    return evidence(dict(enumerate(seen)))


def judged(seen: Evidence) -> list[Observed]:
    return findings(communication.kind, seen)


def told(seen: Evidence) -> list[str]:
    return facts(communication.kind, seen)


def test_the_ceiling_of_exchanges_for_nothing_is_that_of_the_rank_that_they_cost_least() -> None:
    one = rank(exchanges=[exchange(again_seconds=0.3)])
    other = rank(exchanges=[exchange(again_seconds=0.2)])
    (found,) = judged(ranks(one, other))
    assert (found.place, found.rules) == (("/train.py", 9), ("TL603",))
    assert found.share == pytest.approx(0.2)
    assert found.fact == (
        "gradients are exchanged 4 times a step, 3 times for nothing, which takes 2 ms"
    )


def test_exchanges_that_are_used_are_no_finding() -> None:
    used = [exchange(calls=100, again=0, again_seconds=0.0)]
    assert judged(ranks(rank(exchanges=used), rank(exchanges=used))) == []


def test_two_models_at_one_line_are_one_finding() -> None:
    both = [exchange(again_seconds=0.1), exchange(model="Other", again_seconds=0.1)]
    (found,) = judged(ranks(rank(exchanges=both)))
    assert found.share == pytest.approx(0.2)


def test_a_line_costs_what_it_costs_the_rank_that_waits_least_there() -> None:
    one, other = rank(collectives=[collective(0.5)]), rank(collectives=[collective(0.1)])
    (found,) = judged(ranks(one, other))
    assert found.share == pytest.approx(0.1)
    assert found.fact == "all_reduce 2 times a step, 1 ms a step"
    (found,) = judged(ranks(one, rank()))
    assert found.share == 0.0


def test_a_line_that_only_waits_is_called_so() -> None:
    (found,) = judged(ranks(rank(collectives=[collective(0.5, what="", calls=0)])))
    assert found.fact == "waits for messages, 5 ms a step"


def slow(blocked: list[float | None], cpu_ms: float) -> ExchangesSeen:
    """Where the system does not count how long a thread waits for a processor."""
    return rank(blocked=blocked, ran=[cpu_ms / 1000] * 100)


def counted(blocked: list[float], held: list[float], ran: float = 0) -> ExchangesSeen:
    """On a system that counts how long a thread runs and waits for a processor."""
    steps = len(blocked)
    return rank(blocked=blocked, held=held, took=[0.01] * steps, ran=[ran] * steps)


def test_the_others_wait_for_a_rank_that_computes_longer() -> None:
    late, early = slow([0.001] * 100, 9.0), slow([0.004] * 100, 6.0)
    (found,) = judged(ranks(early, late))
    assert found.share == pytest.approx(0.3)
    assert found.values["rank"] == 1
    assert found.fact == (
        "rank 1 works longest in 100 of 100 steps, 3 ms longer on average, "
        "and the others wait for it 3 ms a step"
    )


def test_the_next_of_several_ranks_bounds_what_can_be_saved() -> None:
    every = [slow([wait] * 100, 10 - 1000 * wait) for wait in (0.005, 0.001, 0.004)]
    (found,) = judged(ranks(*every))
    assert found.values["rank"] == 1
    assert found.share == pytest.approx(0.3)


def test_a_rank_that_is_held_up_by_the_machine_is_not_a_finding() -> None:
    late, early = slow([0.001] * 100, 6.0), slow([0.004] * 100, 6.0)
    assert judged(ranks(early, late)) == []


def test_a_rank_that_waits_for_something_of_its_own_is_slow_without_a_processor() -> None:
    late = counted([0.001] * 100, [0] * 100)
    early = counted([0.004] * 100, [0] * 100)
    (found,) = judged(ranks(early, late))
    assert found.values["work_s"] == pytest.approx([0.006, 0.009])


def test_a_rank_that_lacks_a_processor_is_slow_only_for_the_rest() -> None:
    early = counted([0.004] * 100, [0] * 100)
    lacks = counted([0.001] * 100, [0.003] * 100)
    assert judged(ranks(early, lacks)) == []
    both = counted([0.001] * 100, [0.002] * 100)
    (found,) = judged(ranks(early, both))
    assert ", 1 ms longer on average, and" in found.fact


def test_the_slow_rank_is_looked_for_in_what_the_machine_left_of_each_step() -> None:
    """Here the early rank waits less in a third of the steps, in which it has no processor."""
    late = counted([0.002] * 99, [0.0] * 99)
    early = counted([0.006, 0.006, 0.001] * 33, [0.0, 0.0, 0.005] * 33)
    (found,) = judged(ranks(early, late))
    assert found.values["rank"] == 1
    assert found.values["steps"] == 99


def test_what_is_in_two_waits_is_not_taken_from_the_work_twice() -> None:
    late = counted([0.002] * 100, [0.006] * 100, ran=0.007)
    early = counted([0.006] * 100, [0.0] * 100)
    (found,) = judged(ranks(early, late))
    assert found.values["work_s"] == pytest.approx([0.004, 0.007])


def test_a_rank_with_a_slow_loader_is_not_called_slow_as_well() -> None:
    late = counted([0.001] * 100, [0] * 100)
    early = counted([0.004] * 100, [0] * 100)
    loads = InputSeen([LoaderWaits(None, None, LoaderOptions("Slow"), 100, wait_s=0.3)])
    assert judged(evidence({0: early, 1: late}, {1: loads})) == []


def test_on_several_machines_the_slow_rank_is_named_with_its_own() -> None:
    late, early = slow([0.001] * 100, 9.0), slow([0.004] * 100, 6.0)
    seen = evidence({1: late, 0: early})
    named = replace(seen.windows["exchanges"], node="node2")
    (found,) = judged(replace(seen, windows={"exchanges": named}))
    assert found.fact.startswith("rank 1 on node2 works longest")


def test_ranks_that_take_turns_to_be_late_are_not_a_finding() -> None:
    one = rank(blocked=[0.001, 0.004, 0.001] * 30, ran=[0.009, 0.006, 0.009] * 30)
    other = rank(blocked=[0.004, 0.001, 0.004] * 30, ran=[0.006, 0.009, 0.006] * 30)
    assert judged(ranks(one, other)) == []


def test_few_steps_and_pipelines_show_no_slow_rank() -> None:
    unknown = [*[0.001] * 9, *[None] * 91]
    late, early = slow([0.001] * 100, 9.0), slow([0.004] * 100, 6.0)
    assert judged(ranks(early, replace(late, blocked=unknown))) == []
    assert judged(ranks(replace(early, between_two=1), late)) == []


def test_what_blocks_a_step_is_told() -> None:
    sent = [exchange(calls=100, again=0)]
    one = rank(blocked=[0.001, None, 0.003], exchanges=sent)
    other = rank(blocked=[0.003, 0.009, 0.001], exchanges=sent)
    assert told(ranks(one, other)) == [
        "messages block a rank for 2 ms a step on average, 1 ms of that to wait for slower ranks"
    ]


def test_what_was_not_seen_is_not_told_as_nothing() -> None:
    (text,) = told(ranks(rank(), rank()))
    assert text.startswith("no message was seen")
    other = rank(gloo=False)
    assert judged(ranks(other, other)) == []
    assert told(ranks(other, other)) == ["no process group with gloo, so nothing was measured"]
