"""TR705: what comes between steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.profile.kinds.conftest import evidence, facts, findings
from torchlint.profile.kinds import outside_steps
from torchlint.runtime.probe.instrument_messages import (
    InputSeen,
    LoaderOptions,
    LoaderWaits,
    OutsidePart,
    OutsideSeen,
)

if TYPE_CHECKING:
    from torchlint.profile.kind import Observed

LOOP, NEXT, SAVE = ("/p/train.py", 20), ("/p/train.py", 12), ("/p/train.py", 21)


def seen(*parts: OutsidePart, between_s: float = 3.0, **more: object) -> OutsideSeen:
    """Two epochs of 1000 steps of 10 ms."""
    values: dict[str, object] = {"step_s": 0.01, "ends": 2, "epoch_steps": 1000.0, **more}
    return OutsideSeen(1.5, between_s=between_s, parts=list(parts), **values)  # type: ignore[arg-type]


def judged(*about: object) -> list[Observed]:
    return findings(outside_steps.kind, evidence(*about))


def test_an_evaluation_is_compared_with_the_epoch() -> None:
    evaluates = OutsidePart(LOOP, "__main__.evaluate", "computes", 2, 1.0)
    loads = OutsidePart(LOOP, "__main__.evaluate", "loads", 2, 4.0)
    (found,) = judged(seen(evaluates, loads, between_s=5.0))
    assert found.place == LOOP
    assert found.fact == "2.5 s after each epoch of 1000 steps (10 s) in `evaluate`"
    assert found.action == "evaluate less often, on less, or in larger batches"
    assert found.share == pytest.approx(2.5 / 12.5)


def test_what_has_to_be_may_take_a_tenth_of_an_epoch_and_a_checkpoint_less() -> None:
    evaluates = OutsidePart(LOOP, "__main__.evaluate", "computes", 2, 2.0)
    assert judged(seen(evaluates, between_s=2.0)) == []
    (found,) = judged(seen(OutsidePart(SAVE, "torch.save", "saves", 2, 2.0), between_s=2.0))
    assert found.action == "save less often, and only what is needed"


def test_what_follows_the_only_epoch_and_does_not_end_takes_at_least_so_long() -> None:
    tests = OutsidePart(LOOP, "__main__.test", "computes", 1, 60.0)
    (found,) = judged(seen(tests, ends=1, between_s=60.0, unfinished=True))
    assert found.fact.startswith("at least 1 min after each epoch")


def test_an_epoch_of_unknown_length_has_no_share() -> None:
    assert judged(seen(OutsidePart(SAVE, "torch.save", "saves", 2, 20.0), epoch_steps=None)) == []


def test_the_start_of_workers_is_said_once() -> None:
    first = OutsidePart(NEXT, "torch.utils.data.dataloader.__next__", "loads", 2, 3.0)
    assert len(judged(seen(first))) == 1
    watched = LoaderWaits(NEXT, None, LoaderOptions("Set", 2, False, 1000), firsts=1)
    assert judged(seen(first), InputSeen([watched])) == []


def test_what_some_steps_come_to_is_seen_twice_before_it_is_said() -> None:
    once = OutsidePart(LOOP, "__main__.evaluate", "computes", 1, 5.0)
    twice = OutsidePart(LOOP, "__main__.evaluate", "computes", 2, 5.0)
    assert judged(seen(seldom=[once], within_s=20.0)) == []
    (found,) = judged(seen(seldom=[twice], within_s=20.0))
    assert found.fact == "2.5 s in 2 of the steps that were watched in `evaluate`"
    assert found.share == 0.25


def test_what_was_hardly_seen_is_not_said() -> None:
    assert judged(seen(OutsidePart(SAVE, "torch.save", "saves", 2, 0.04), epoch_steps=1.0)) == []


def test_the_start_and_the_epoch_are_told() -> None:
    assert facts(outside_steps.kind, evidence(seen())) == [
        "1.5 s from the start of the script to the end of its first step",
        "1000 steps take 10 s, and 1.5 s pass until the next epoch's first",
    ]
    assert len(facts(outside_steps.kind, evidence(seen(epoch_steps=None)))) == 1
