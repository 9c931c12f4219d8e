"""Which jobs a profile runs, and what is made of what they say."""

from __future__ import annotations

import os
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.profile.conftest import survey, timing
from tests.profile.kinds.conftest import NAMES
from tests.profile.kinds.test_input_wait import loader
from torchlint.experiment import session
from torchlint.experiment.errors import ExperimentError
from torchlint.experiment.request import Request
from torchlint.experiment.subject import Linted
from torchlint.profile import profiling
from torchlint.profile.evidence import Window
from torchlint.profile.wish import Wish
from torchlint.runtime.failures import ERROR, TIMEOUT, Failed, OutOfTime
from torchlint.runtime.probe.instrument_messages import (
    INSTRUMENTS,
    EvaluatedLine,
    EvaluationSeen,
    GradientsSeen,
    InputSeen,
    KernelsSeen,
    LaunchSeen,
    MemorySeen,
    PaddedPlace,
    PaddingSeen,
    ShapesSeen,
    SwitchesSeen,
    TimelineSeen,
)
from torchlint.runtime.program import script
from torchlint.runtime.run_variables import malloc_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import MakeFinding
    from torchlint.finding import Finding
    from torchlint.profile.profile_result import Profile, RunFinding
    from torchlint.runtime.run import Job

    Profiled = Callable[..., tuple[Profile, dict[str, Job]]]


NOTHING = {
    **INSTRUMENTS,
    "switches": partial(SwitchesSeen, [], False),
    "gradients": partial(GradientsSeen, False),
    "launch": partial(LaunchSeen, 1, False, [0]),
    "memory": partial(MemorySeen, "cpu"),
    "shapes": partial(ShapesSeen, False),
}
"""What instruments return that have seen nothing."""


class Silent:
    def stage(self, *_: object, **__: object) -> None:
        """Nobody reads it."""

    def planned(self, *_: object) -> None:
        """Nobody reads it."""

    limited = found = planned


class Hearing(Silent):
    """Writes down what is told while runs go on."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def stage(self, name: str, **_: object) -> None:
        self.heard.append(name)

    def limited(self, limit: str) -> None:
        self.heard.append(f"limit: {limit}")

    def found(self, finding: RunFinding) -> None:
        self.heard.append(finding.code)


@pytest.fixture
def profiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Profiled:
    """`profiled(seen, only=…, saved=…)`: a profile whose runs start no process, and its jobs by
    their first instrument. `seen` is what instruments saw, `saved` what is saved by those that
    change a step."""
    (tmp_path / "train.py").write_text("")
    monkeypatch.chdir(tmp_path)
    jobs: dict[str, Job] = {}
    saying: dict[str, Any] = {}
    look = SimpleNamespace(original=survey(), anchor=survey().anchor)

    def watch(job: Job, *_: object, **__: object) -> dict[str, Window[Any]]:
        names = job.settings.instruments
        jobs[names[0]] = job
        return {name: Window(10, 0.1, saying.get(name) or NOTHING[name]()) for name in names}

    monkeypatch.setattr(profiling, "watch", watch)

    def share_saved(*given: Any, **_: object) -> float | None:
        share = altered[given[3]]
        if isinstance(share, Exception):
            raise share
        return share if share is None or isinstance(share, tuple) else (share, False)

    altered: dict[str, Any] = {"replay": 0.0}
    monkeypatch.setattr(profiling, "share_saved", share_saved)
    monkeypatch.setattr(profiling, "time_steps", lambda *_, **__: timing())

    def looker(*_: object) -> SimpleNamespace:
        return SimpleNamespace(look=lambda: look)

    monkeypatch.setattr(session, "Looker", looker)

    def profile(
        *found: Any,
        only: tuple[str, ...] = (),
        saved: dict[str, Any] | None = None,
        more: Callable[..., tuple[Finding, ...]] | None = None,
        wished: Wish | None = None,
        watcher: Silent | None = None,
        quick: bool = False,
    ) -> tuple[Profile, dict[str, Job]]:
        saying.update({NAMES[type(each)]: each for each in found})
        altered.update(saved or {})
        program = script("train.py", ())
        request, subject = Request(program, budget_s=300.0), Linted(program, search=more)
        watcher = watcher or Silent()
        return profiling.profile(request, subject, only, watcher, wished, quick=quick), jobs

    return profile


def test_few_steps_are_enough_for_some_runs(profiled: Profiled) -> None:
    _, jobs = profiled()
    steps = {name: job.settings.steps for name, job in jobs.items()}
    assert steps["reads"] == steps["layers"] == 250
    assert (steps["kernels"], steps["memory"]) == (3, 50)
    assert {job.settings.skip for name, job in jobs.items() if name != "outside"} == {10}
    assert (jobs["outside"].settings.skip, jobs["outside"].settings.steps) == (0, 30)


def test_memory_is_watched_where_the_c_library_gives_it_back(profiled: Profiled) -> None:
    _, jobs = profiled()
    settings = malloc_settings()
    assert settings.items() <= jobs["reads"].environment.items()
    assert not settings.keys() & jobs["memory"].environment.keys()


def test_what_an_instrument_could_not_see_is_named_with_its_reason(profiled: Profiled) -> None:
    result, _ = profiled(KernelsSeen("compiled regions are not seen"), only=("operations",))
    assert "kernels and FLOPs (compiled regions are not seen)" in result.not_measured
    assert result.facts == ()


def test_what_cannot_be_read_is_named_and_leaves_the_rest(profiled: Profiled) -> None:
    no_batches = PaddingSeen([PaddedPlace(None, positions=10, padded=5)])
    result, _ = profiled(no_batches, TimelineSeen([1.0, 1.0]))
    assert "what the runs sent cannot be read (division by zero)" in result.not_measured
    assert "time line (timeline: ends do not rise)" in result.not_measured
    assert result.exit == 0


WAITS = InputSeen([loader(wait_s=0.05)])


def test_what_changes_a_step_is_timed_and_no_instrument_of_its_cost(profiled: Profiled) -> None:
    result, jobs = profiled(WAITS, only=("input",), saved={"replay": 0.4})
    (found,) = result.findings
    assert (found.code, found.share) == ("TR101", 0.4)
    assert set(jobs) == {"input"}
    assert set(result.costs) == {"input"}


def test_a_wait_that_is_certain_is_told_whatever_the_noise(
    profiled: Profiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profiling, "time_steps", lambda *_, **__: timing(noise=0.5))
    assert profiled(WAITS, saved={"replay": (0.4, False)})[0].findings == ()
    (found,) = profiled(WAITS, saved={"replay": (0.4, True)})[0].findings
    assert found.code == "TR101"


def test_the_limit_and_each_finding_are_told_as_soon_as_they_are_known(profiled: Profiled) -> None:
    watcher = Hearing()
    profiled(WAITS, saved={"replay": 0.4}, watcher=watcher)
    heard = [
        each for each in watcher.heard if each.startswith(("limit", "TR", "Timing", "Watching"))
    ]
    assert heard[0].startswith("limit: by the first look")
    assert heard[1] == "Timing the step"
    assert heard[2].startswith("limit: processor")
    assert heard[5:7] == ["Timing input, one batch again and again", "TR101"]
    assert heard.count("TR101") == 1


def test_a_quick_profile_watches_in_one_run_what_costs_little(profiled: Profiled) -> None:
    result, jobs = profiled(WAITS, saved={"replay": 0.4}, quick=True)
    assert jobs["input"].settings.instruments == ("input", "timeline", "pauses", "growth")
    assert [each.code for each in result.findings] == ["TR101"]
    assert [each for each in result.not_measured if "--quick" in each] == [
        f"{name} (left out by --quick)" for name in ("layers", "memory", "epochs", "communication")
    ]


@pytest.mark.parametrize(
    ("share", "why"),
    [
        (None, "this version of torch cannot, or this processor"),
        (Failed("died", "It was killed"), "It was killed"),
        (ExperimentError("The script ended too soon.", code=6), "The script ended too soon"),
    ],
)
def test_what_could_not_be_changed_is_named_and_nothing_is_said_about_it(
    profiled: Profiled, share: Any, why: str
) -> None:
    result, _ = profiled(WAITS, only=("input",), saved={"replay": share})
    assert result.findings == ()
    assert f"input, one batch again and again ({why})" in result.not_measured
    assert result.exit == 0


def ends_in(
    monkeypatch: pytest.MonkeyPatch, part: str, how: type[OutOfTime] | Failed = OutOfTime
) -> None:
    def end(*_: object, **__: object) -> None:
        raise how

    monkeypatch.setattr(profiling, part, end)


@pytest.mark.parametrize(("status", "code"), [(TIMEOUT, 7), (ERROR, 4)])
def test_a_run_that_hangs_is_not_a_script_that_fails(
    profiled: Profiled, monkeypatch: pytest.MonkeyPatch, status: str, code: int
) -> None:
    ends_in(monkeypatch, "time_steps", Failed(status, "It said nothing for 60 s."))
    result, _ = profiled()
    assert result.exit == code
    assert result.summary.endswith("while it was timed: It said nothing for 60 s.")


def test_a_budget_that_ends_after_the_timing_leaves_a_result_that_says_so(
    profiled: Profiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends_in(monkeypatch, "watch")
    result, _ = profiled(only=("layers",))
    assert result.exit == 0
    assert result.timing is not None
    assert "layers (the time ended)" in result.not_measured
    assert result.summary == (
        "The budget of 300 s ended before all was watched; `not measured` names what is missing, "
        "give more with --budget-time."
    )


def test_a_budget_that_ends_before_the_step_is_timed_or_a_sweep_is_done_has_failed(
    profiled: Profiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends_in(monkeypatch, "sweep")
    result, _ = profiled(wished=Wish("", (0, 1)))
    assert result.exit == 7
    assert "ended before the values of workers were tried" in result.summary
    assert "workers (the time ended)" in result.not_measured
    ends_in(monkeypatch, "time_steps")
    result, _ = profiled()
    assert result.exit == 7
    assert "ended before the script's step was timed" in result.summary


@pytest.mark.parametrize("loads", [True, False])
def test_findings_in_a_file_that_only_a_run_shows_are_watched_as_well(
    profiled: Profiled, make_finding: MakeFinding, monkeypatch: pytest.MonkeyPatch, *, loads: bool
) -> None:
    plugin = make_finding("plugin.py", 3)
    watched = []

    def look(subject: Linted) -> SimpleNamespace:
        places, _ = subject.places()
        watched.append([os.path.basename(path) for path in places])
        ran = {place.id for each in places.values() for place in each}
        files = (os.path.abspath("plugin.py"),) if loads else ()
        seen = survey(files=files, exercised=frozenset(ran))
        return SimpleNamespace(original=seen, anchor=seen.anchor)

    def looker(_request: object, subject: Linted, *_: object) -> SimpleNamespace:
        return SimpleNamespace(look=lambda: look(subject))

    monkeypatch.setattr(session, "Looker", looker)
    result, _ = profiled(
        more=lambda files, _: (plugin,) if os.path.abspath("plugin.py") in files else ()
    )
    assert watched == ([[], ["plugin.py"]] if loads else [[]])
    told = [(each.path, each.row, each.status) for each in result.static]
    assert told == ([("plugin.py", 3, "ran")] if loads else [])


def test_what_a_later_run_was_in_is_not_called_not_reached(
    profiled: Profiled, make_finding: MakeFinding
) -> None:
    """The first look ends before the evaluation, of which a later run sees twelve."""
    code = "def evaluate():\n    for x in y:\n        model(x)\n\ndef save():\n    pass\n"
    with open("train.py", "w", encoding="utf-8") as stream:
        stream.write(code)
    statics = tuple(make_finding("train.py", row) for row in (2, 6))
    line = EvaluatedLine((os.path.abspath("train.py"), 3), "Net", unused=12)
    result, _ = profiled(EvaluationSeen([line]), more=lambda *_: statics)
    assert "TR701" in [each.code for each in result.findings]
    assert [(each.row, each.status) for each in result.static] == [(6, "not reached")]
    result, _ = profiled(EvaluationSeen(), more=lambda *_: statics)
    assert [each.row for each in result.static] == [2, 6]
