"""TR601: messages for nothing, lines that wait for them, and ranks that others wait for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from torchlint.profile.kinds import communication
from torchlint.runtime.decoding import MalformedError, Message

if TYPE_CHECKING:
    from tests.profile.kinds.conftest import MakeEvidence
    from torchlint.profile.evidence import Evidence

PLACE = ["/train.py", 9]


LOADER = {
    "place": None,
    "made": None,
    "dataset": "Slow",
    "samples": None,
    "collate": None,
    "workers": 0,
    "persistent": False,
    "length": None,
    "batches": 100,
    "wait_s": 0.3,
    "firsts": 0,
    "first_s": 0.0,
    "samples_s": 0.3,
    "collate_s": 0.0,
    "held_s": 0.0,
}


def rank(number: int, **more: Any) -> dict[str, Any]:
    """Of a window of 100 steps of 10 ms."""
    return {
        "rank": number,
        "gloo": True,
        "took": [0.01] * 100,
        "ran": [0.008] * 100,
        "held": [],
        "blocked": [0.001] * 100,
        "exchanges": [],
        "collectives": [],
        "between_two": 0,
        **more,
    }


def exchange(**more: Any) -> dict[str, Any]:
    values = {"place": PLACE, "model": "Net", "calls": 400, "timed": 399, "seconds": 0.4}
    return {**values, "hidden_seconds": 0.1, "again": 300, "again_seconds": 0.3, **more}


def collective(seconds: float, **more: Any) -> dict[str, Any]:
    return {"place": PLACE, "what": "all_reduce", "calls": 200, "seconds": seconds, **more}


def ranks(evidence: MakeEvidence, *found: dict[str, Any]) -> Evidence:
    seen = evidence({"communication": found[0]})
    window = seen.windows["communication"]
    first, *others = (
        replace(window, found=Message("communication", each), rank=each["rank"]) for each in found
    )
    return replace(seen, windows={"communication": replace(first, others=tuple(others))})


def judged(seen: Evidence) -> Any:
    assert communication.kind.judge is not None
    return list(communication.kind.judge(seen))


def told(seen: Evidence) -> list[str]:
    assert communication.kind.teller is not None
    return [each.text for each in communication.kind.teller(seen)]


def test_the_ceiling_of_exchanges_for_nothing_is_that_of_the_rank_that_they_cost_least(
    evidence: MakeEvidence,
) -> None:
    one = rank(0, exchanges=[exchange(again_seconds=0.3)])
    other = rank(1, exchanges=[exchange(again_seconds=0.2)])
    (found,) = judged(ranks(evidence, one, other))
    assert (found.place, found.rules) == (("/train.py", 9), ("TL603",))
    assert found.share == pytest.approx(0.2)
    assert found.fact == (
        "gradients are exchanged 4 times a step, 3 times for nothing, which takes 2 ms"
    )


def test_exchanges_that_are_used_are_no_finding(evidence: MakeEvidence) -> None:
    used = [exchange(calls=100, again=0, again_seconds=0.0)]
    assert judged(ranks(evidence, rank(0, exchanges=used), rank(1, exchanges=used))) == []


def test_two_models_at_one_line_are_one_finding(evidence: MakeEvidence) -> None:
    both = [exchange(again_seconds=0.1), exchange(model="Other", again_seconds=0.1)]
    (found,) = judged(ranks(evidence, rank(0, exchanges=both)))
    assert found.share == pytest.approx(0.2)


def test_a_line_costs_what_it_costs_the_rank_that_waits_least_there(evidence: MakeEvidence) -> None:
    one, other = rank(0, collectives=[collective(0.5)]), rank(1, collectives=[collective(0.1)])
    (found,) = judged(ranks(evidence, one, other))
    assert found.share == pytest.approx(0.1)
    assert found.fact == "all_reduce 2 times a step, 1 ms a step"
    (found,) = judged(ranks(evidence, one, rank(1)))
    assert found.share == 0.0


def test_a_line_that_only_waits_is_called_so(evidence: MakeEvidence) -> None:
    (found,) = judged(ranks(evidence, rank(0, collectives=[collective(0.5, what="", calls=0)])))
    assert found.fact == "waits for messages, 5 ms a step"


def slow(number: int, blocked: list[float | None], cpu_ms: float) -> dict[str, Any]:
    """Where the system does not count how long a thread waits for a processor."""
    return rank(number, blocked=blocked, ran=[cpu_ms / 1000] * 100)


def counted(number: int, blocked: list[float], held: list[float], ran: float = 0) -> dict[str, Any]:
    """On a system that counts how long a thread runs and waits for a processor."""
    steps = len(blocked)
    return rank(number, blocked=blocked, held=held, took=[0.01] * steps, ran=[ran] * steps)


def test_the_others_wait_for_a_rank_that_computes_longer(evidence: MakeEvidence) -> None:
    late, early = slow(1, [0.001] * 100, 9.0), slow(0, [0.004] * 100, 6.0)
    (found,) = judged(ranks(evidence, late, early))
    assert found.share == pytest.approx(0.3)
    assert found.values["rank"] == 1
    assert found.fact == (
        "rank 1 works longest in 100 of 100 steps, 3 ms longer on average, "
        "and the others wait for it 3 ms a step"
    )


def test_of_several_ranks_the_next_one_bounds_what_can_be_saved(evidence: MakeEvidence) -> None:
    waits = ((0, 0.005), (1, 0.001), (2, 0.004))
    every = [slow(each, [wait] * 100, 10 - 1000 * wait) for each, wait in waits]
    (found,) = judged(ranks(evidence, *every))
    assert found.values["rank"] == 1
    assert found.share == pytest.approx(0.3)


def test_a_rank_that_is_held_up_by_the_machine_is_none(evidence: MakeEvidence) -> None:
    late, early = slow(1, [0.001] * 100, 6.0), slow(0, [0.004] * 100, 6.0)
    assert judged(ranks(evidence, late, early)) == []


def test_a_rank_that_waits_for_something_of_its_own_is_slow_without_a_processor(
    evidence: MakeEvidence,
) -> None:
    late = counted(1, [0.001] * 100, [0] * 100)
    early = counted(0, [0.004] * 100, [0] * 100)
    (found,) = judged(ranks(evidence, late, early))
    assert found.values["work_s"] == pytest.approx([0.006, 0.009])


def test_a_rank_that_lacks_a_processor_is_slow_only_for_the_rest(evidence: MakeEvidence) -> None:
    early = counted(0, [0.004] * 100, [0] * 100)
    lacks = counted(1, [0.001] * 100, [0.003] * 100)
    assert judged(ranks(evidence, lacks, early)) == []
    both = counted(1, [0.001] * 100, [0.002] * 100)
    (found,) = judged(ranks(evidence, both, early))
    assert ", 1 ms longer on average, and" in found.fact


def test_the_slow_rank_is_looked_for_in_what_the_machine_left_of_each_step(
    evidence: MakeEvidence,
) -> None:
    """Here the early rank waits less in a third of the steps, in which it has no processor."""
    late = counted(1, [0.002] * 99, [0.0] * 99)
    early = counted(0, [0.006, 0.006, 0.001] * 33, [0.0, 0.0, 0.005] * 33)
    (found,) = judged(ranks(evidence, late, early))
    assert found.values["rank"] == 1
    assert found.values["steps"] == 99


def test_what_is_in_two_waits_is_not_taken_from_the_work_twice(evidence: MakeEvidence) -> None:
    late = counted(1, [0.002] * 100, [0.006] * 100, ran=0.007)
    early = counted(0, [0.006] * 100, [0.0] * 100)
    (found,) = judged(ranks(evidence, late, early))
    assert found.values["work_s"] == pytest.approx([0.004, 0.007])


def test_a_rank_with_a_slow_loader_is_not_called_slow_as_well(evidence: MakeEvidence) -> None:
    late = counted(1, [0.001] * 100, [0] * 100)
    early = counted(0, [0.004] * 100, [0] * 100)
    seen = ranks(evidence, late, early)
    window = seen.windows["communication"]
    loads = replace(window, found=Message("input", {"loaders": [LOADER]}), others=())
    assert judged(replace(seen, windows={**seen.windows, "input": loads})) == []


def test_on_several_machines_the_slow_rank_is_named_with_its_own(evidence: MakeEvidence) -> None:
    late, early = slow(1, [0.001] * 100, 9.0), slow(0, [0.004] * 100, 6.0)
    seen = ranks(evidence, late, early)
    named = replace(seen.windows["communication"], node="node2")
    (found,) = judged(replace(seen, windows={"communication": named}))
    assert found.fact.startswith("rank 1 on node2 works longest")


def test_ranks_that_are_late_in_turns_are_none(evidence: MakeEvidence) -> None:
    one = rank(0, blocked=[0.001, 0.004, 0.001] * 30, ran=[0.009, 0.006, 0.009] * 30)
    other = rank(1, blocked=[0.004, 0.001, 0.004] * 30, ran=[0.006, 0.009, 0.006] * 30)
    assert judged(ranks(evidence, one, other)) == []


def test_few_steps_and_pipelines_show_no_slow_rank(evidence: MakeEvidence) -> None:
    unknown = [*[0.001] * 9, *[None] * 91]
    late, early = slow(1, [0.001] * 100, 9.0), slow(0, [0.004] * 100, 6.0)
    assert judged(ranks(evidence, {**late, "blocked": unknown}, early)) == []
    assert judged(ranks(evidence, late, {**early, "between_two": 1})) == []


def test_what_blocks_a_step_is_told(evidence: MakeEvidence) -> None:
    sent = [exchange(calls=100, again=0)]
    one = rank(0, blocked=[0.001, None, 0.003], exchanges=sent)
    other = rank(1, blocked=[0.003, 0.009, 0.001], exchanges=sent)
    assert told(ranks(evidence, one, other)) == [
        "messages block a rank for 2 ms a step on average, 1 ms of that to wait for slower ranks"
    ]


def test_what_was_not_seen_is_not_told_as_nothing(evidence: MakeEvidence) -> None:
    (text,) = told(ranks(evidence, rank(0), rank(1)))
    assert text.startswith("no message was seen")
    other = rank(0, gloo=False)
    assert judged(ranks(evidence, other, other)) == []
    assert told(ranks(evidence, other, other)) == [
        "no process group with gloo, so nothing was measured"
    ]


@pytest.mark.parametrize(
    "wrong", [{"blocked": ["x"]}, {"exchanges": 7}, {"gloo": None}, {"collectives": [{}]}]
)
def test_what_is_malformed_is_refused(evidence: MakeEvidence, wrong: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        judged(ranks(evidence, rank(0, **wrong), rank(1)))
