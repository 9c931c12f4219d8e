"""TR502: what is compiled again while the script trains."""

from __future__ import annotations

from typing import Any

import pytest

from tests.profile.conftest import timing
from tests.profile.kinds.conftest import evidence, findings
from torchlint.profile.kinds import recompile
from torchlint.runtime.probe.instrument_messages import CompiledFunction, RecompilesSeen


def judged(**more: Any) -> Any:
    """Of a window of 100 steps, 1 s in all, that compiles for 5 ms in each."""
    counts = {"frames": 100, "in_steps": 100, "last": 99, "seconds": 0.5}
    functions = [CompiledFunction(("/train.py", 7), "scale", 100)]
    told = {"functions": functions, "guards": [("n == 3", 1)], "breaks": [("a print", 2)]}
    return findings(recompile.kind, evidence(RecompilesSeen(**{**counts, **told, **more})))


def test_what_compiling_takes_is_the_ceiling() -> None:
    (found,) = judged()
    assert found.place == ("/train.py", 7)
    assert found.fact == "`scale` compiled again in each step, 5 ms each time, as `n == 3` fails"
    assert found.share == pytest.approx(0.5)
    assert found.values["breaks"] == [("a print", 2)]


def test_the_trend_is_said() -> None:
    (found,) = judged(in_steps=5, last=80, frames=10)
    assert found.fact.startswith("`scale` compiled again in 5 of 100 steps, 50 ms")
    (found,) = judged(in_steps=5, last=20)
    assert "in 5 of 100 steps, none in the later half" in found.fact


def test_what_a_step_takes_without_compiling_counts_if_it_is_less() -> None:
    found = RecompilesSeen(frames=9, in_steps=9, last=9, seconds=0.5)
    for saved, share in (
        ({"stance": 0.9, "uncompiled": 0.7}, 0.9),
        ({"stance": 0.2, "uncompiled": 0.6}, 0.6),
        ({"stance": 0.2}, 0.5),
        ({}, 0.8),
    ):
        seen = evidence(found, saved=saved, step_s=0.01, timing=timing(step_s=0.00625))
        (each,) = findings(recompile.kind, seen)
        assert each.share == pytest.approx(share)


def test_it_is_known_whether_something_compiles_again() -> None:
    for in_steps, again in ((1, False), (2, True)):
        windows = evidence(RecompilesSeen(in_steps=in_steps)).windows
        assert recompile.recompiles(windows) == again
    assert not recompile.recompiles({})


def test_what_dynamo_does_not_tell_is_left_out() -> None:
    (found,) = judged(seconds=None, functions=[], guards=[])
    assert (found.place, found.share) == (None, None)
    assert found.fact == "code compiled again in each step"


def test_without_anything_new_there_is_no_finding() -> None:
    assert judged(frames=0, in_steps=0, last=None, seconds=0.0, functions=[]) == []
    assert judged(frames=3, in_steps=1, last=4) == []


def test_functions_that_are_given_up_are_found_once() -> None:
    quiet = {"frames": 0, "in_steps": 0, "last": None, "functions": [], "guards": []}
    places = [("/net.py", 3), None, ("/net.py", 3)]
    first, second = judged(given_up=places, **quiet)
    assert (first.place, second.place) == (("/net.py", 3), None)
    assert first.share is None
    assert "given up" in first.fact
