"""TR501: modules that run again in the backward pass."""

from __future__ import annotations

from typing import Any

import pytest

from tests.profile.kinds.conftest import evidence, findings
from torchlint.profile.kinds import recomputed
from torchlint.runtime.probe.instrument_messages import LayersSeen, ModuleTimes


def module(name: str, seconds: float, row: int = 9, calls: int = 100) -> ModuleTimes:
    return ModuleTimes(name, "Block", ("/net.py", row), calls, again_seconds=seconds)


def judged(*modules: ModuleTimes, **more: Any) -> Any:
    return findings(recomputed.kind, evidence(LayersSeen([*modules]), **more))


def test_the_ceiling_is_the_time_of_the_second_run() -> None:
    (found,) = judged(module("blocks.0", 0.1), module("blocks.1", 0.15))
    assert found.place == ("/net.py", 9)
    assert found.fact == "blocks.* run again in the backward pass, 2.5 ms a step"
    assert found.share == pytest.approx(0.25)
    assert found.rules == ("TL509",)


def test_what_a_step_is_shorter_without_checkpoints_counts_if_it_is_more() -> None:
    modules = module("a", 0.1), module("b", 0.05, row=12)
    for saved, shares in ({"uncheckpointed": 0.3}, [0.2, 0.1]), ({}, [0.1, 0.05]):
        shown = [each.share for each in judged(*modules, saved=saved)]
        assert shown == pytest.approx(shares)


def test_it_is_known_whether_modules_run_again_for_long() -> None:
    for seconds, again in ((0.02, False), (0.04, True)):
        seen = evidence(LayersSeen(again_seconds=seconds))
        assert recomputed.recomputes(seen.windows) == again
    assert not recomputed.recomputes({})


def test_each_line_is_a_finding() -> None:
    one, other = judged(module("encoder", 0.1), module("decoder", 0.1, row=12))
    assert one.fact == "encoder runs again in the backward pass, 1 ms a step"
    assert other.place == ("/net.py", 12)


def test_what_runs_once_is_not_a_finding() -> None:
    assert judged(module("blocks.0", 0.0)) == []
    assert judged(module("only_in_backward", 0.1, calls=0)) == []


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["blocks.0", "blocks.1"], "blocks.*"),
        (["0", "1"], "0, 1"),  # beside `head`
        (["blocks.0"], "blocks.0"),
        (["a.x", "b.x"], "a.x, b.x"),
        (["blocks.0", "other.1"], "blocks.0, other.1"),
        (["a", "b", "c", "d", "e"], "a, b, c and 2 more"),
    ],
)
def test_modules_are_named_briefly(names: list[str], words: str) -> None:
    assert recomputed.names_of(names, {*names, "head", "blocks.0.2"}) == words


def test_some_of_several_brothers_are_named_one_by_one() -> None:
    everything = {f"blocks.{index}" for index in range(3)}
    assert recomputed.names_of(["blocks.0", "blocks.1"], everything) == "blocks.0, blocks.1"
