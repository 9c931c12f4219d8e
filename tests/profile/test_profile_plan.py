"""Which runs there are, and how long their windows are."""

from __future__ import annotations

import re
from dataclasses import replace
from io import StringIO

import pytest

from tests.profile.conftest import survey
from torchlint.experiment.errors import ExperimentError
from torchlint.profile.catalogue import all_kinds
from torchlint.profile.evidence import REHEARSED
from torchlint.profile.planned_runs import (
    DIAGNOSTICS,
    NAMES,
    WITHOUT_CHECKPOINTS,
    WITHOUT_RECOMPILING,
    left_out,
    plan,
    wanted,
)
from torchlint.profile.run_names import chosen, in_words
from torchlint.report.profile.profile_progress import ProfileProgress


@pytest.mark.parametrize(("step_s", "steps"), [(0.001, 300), (0.05, 50), (2.0, 10)])
def test_a_window_takes_some_seconds_and_has_neither_few_nor_many_steps(
    step_s: float, steps: int
) -> None:
    found = plan(survey(step_s=step_s), (), steps=None, warmup=7)
    assert (found.steps, found.skip) == (steps, 7)


def test_a_script_that_ends_by_itself_gets_windows_that_fit_into_it() -> None:
    found = plan(survey(step_s=0.01, finished=True, steps=21), (), steps=None, warmup=10)
    assert found.skip + found.steps == 20
    assert found.steps > found.skip


@pytest.mark.parametrize(("taken", "asked"), [(6, None), (12, 5), (4, 2)])
def test_a_script_of_few_steps_is_profiled_down_to_five_or_as_few_as_asked(
    taken: int, asked: int | None
) -> None:
    seen = survey(step_s=0.01, finished=True, steps=taken)
    assert plan(seen, (), steps=asked, warmup=0).steps == (asked or 5)
    shorter = replace(seen, steps=(asked or 5))
    with pytest.raises(ExperimentError, match=f"ended after {shorter.steps} steps, too few"):
        plan(shorter, (), steps=asked, warmup=0)


def test_one_step_is_not_several_steps() -> None:
    with pytest.raises(ExperimentError, match="after 1 step, too few"):
        plan(survey(step_s=0.01, finished=True, steps=1), (), steps=None, warmup=0)


def test_the_user_may_choose_the_steps() -> None:
    assert plan(survey(), (), steps=12, warmup=0).steps == 12


def test_each_run_instrument_and_finding_has_a_word_for_only() -> None:
    shown = in_words()
    for run in (*DIAGNOSTICS, WITHOUT_RECOMPILING, WITHOUT_CHECKPOINTS):
        for word in (run.name, *run.instruments):
            assert set(chosen(word)) <= set(NAMES)
            assert run.alters or re.search(rf"\b{word}\b", shown)
    for kind in all_kinds().values():
        if kind.judge is not None and REHEARSED not in kind.instruments:
            assert chosen(kind.code.lower()) == chosen(kind.name)
            assert set(chosen(kind.instruments[0])) <= set(chosen(kind.code))
    assert chosen("TR703") == ("pauses", "operations")
    assert chosen("TR704, growth,reads") == ("pauses", "reads")
    assert chosen("replay") == chosen("input-wait") == ("input",)
    assert chosen("") == ()


def test_an_unknown_word_for_only_gets_the_nearest_one() -> None:
    with pytest.raises(
        ValueError, match='there is no "sape"; the nearest known one is `shapes`; ch'
    ):
        chosen("reads,sape")


def test_only_chooses_runs_and_the_rest_is_named() -> None:
    runs = wanted(["input"])
    assert [each.name for each in runs] == ["input", "replay"]
    assert left_out(["input"]) == [
        "reads",
        "layers",
        "operations",
        "memory",
        "pauses",
        "epochs",
        "communication",
    ]
    assert left_out(()) == []
    assert all(wanted([name]) for name in NAMES)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"processes": 1}, "one rank"),
        ({"processes": 2, "device": "cuda"}, "on a GPU it is not timed"),
    ],
)
def test_communication_that_cannot_be_measured_is_named_with_the_reason(
    more: dict[str, object], reason: str
) -> None:
    found = plan(survey(**more), (), steps=None, warmup=0)
    assert "communication" not in [each.name for each in found.diagnostics]
    assert found.impossible == (f"communication ({reason})",)
    assert plan(survey(**more), ["reads"], steps=None, warmup=0).impossible == ()


def test_several_ranks_have_a_run_for_their_communication() -> None:
    found = plan(survey(processes=2), (), steps=None, warmup=0)
    assert found.diagnostics[-1].instruments == ("exchanges",)
    assert found.impossible == ()


@pytest.mark.parametrize(
    ("only", "said"), [((), "8 runs of at most"), (None, "then try the values")]
)
def test_the_plan_that_is_told_is_that_of_what_will_run(
    only: tuple[str, ...] | None, said: str
) -> None:
    stream = StringIO()
    planned = plan(survey(), only or (), steps=None, warmup=0)
    told = planned if only is not None else replace(planned, diagnostics=(), seconds=0.0)
    ProfileProgress(stream).planned(told, 0.01, 3.0)
    assert said in stream.getvalue()
    assert ("runs" in stream.getvalue()) is (only is not None)


def test_a_run_that_needs_few_steps_takes_no_more() -> None:
    (operations,) = wanted(["operations"])
    assert operations.steps(300) == 3
    assert operations.steps(2) == 2
    (reads,) = wanted(["reads"])
    assert reads.steps(300) == 300
    seen = survey(step_s=1.0)
    few, many = (plan(seen, [each], steps=100, warmup=0) for each in ("operations", "reads"))
    assert few.seconds == pytest.approx(seen.start_s + 3 * 1.5)
    assert many.seconds == pytest.approx(seen.start_s + 100 * 1.5)
