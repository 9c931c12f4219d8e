"""How often a program is looked at, and what a reader has to know about how it was measured."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from tests.profile.conftest import survey
from tests.report.verify.sample_results import numerics
from torchlint.config.settings import Selection
from torchlint.experiment import session
from torchlint.experiment.figures import listed
from torchlint.experiment.first_look import FirstLook
from torchlint.experiment.request import Request
from torchlint.experiment.rotation import Block
from torchlint.experiment.subject import AGAIN, CHANGED, ORIGINAL
from torchlint.finding import Applicability, Finding, Fix, Position, Tier
from torchlint.project.target import Target
from torchlint.ruleapi.registry import all_rules
from torchlint.runtime.failures import Failed
from torchlint.runtime.program import script
from torchlint.silence.tiers import Wanted
from torchlint.verify import verification
from torchlint.verify.compared.changes import Changes
from torchlint.verify.compared.measured_fixes import find_fixes
from torchlint.verify.counts.counting import CountedSteps
from torchlint.verify.fix_variants import only, variants_of
from torchlint.verify.result import Counters
from torchlint.verify.verification import remarks, verify, without_a_fix

TRAINS = """\
import torch
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in batches:
    optimizer.zero_grad(set_to_none=False)
    model(batch).mean().backward()
    optimizer.step()
"""


STEADY = {
    ORIGINAL: 0.02, AGAIN: 0.02, CHANGED: 0.01, only("TL401:train.py"): 0.02,
    only("TL403:train.py"): 0.01,
}  # fmt: skip


class Told:
    """What a verification tells, word by word."""

    def __init__(self):
        self.said = []

    def stage(self, name, *, of=None):
        self.said.append(name)

    def numbers(self, who, _found):
        self.said.append(f"numbers {who}")

    def judged(self, who, found):
        self.said.append(f"{who} {found.verdict.value}")

    def so_far(self, found):
        self.said.append(f"so far {found.estimate.pairs}")

    def room(self, _layout):
        self.said.append("no room")

    def plan(self, *_):
        self.said.append("plan")

    def step(self, *_):
        """Not of interest here."""


class Measured:
    """Rounds of which each takes `pace_s`; only those that were asked for have pairs."""

    one_at_a_time = finished = False
    clash = ""
    pace_s = 1.0

    def __init__(self, _jobs, _workspace, plan, _variants, **_):
        self.plan = plan
        self.done = 0
        self.has_parts = False

    def measure(self, undecided, *, deadline, progress, goes_on):
        for self.done in range(1, 5):
            progress(self.done, 4)
        self.has_parts = goes_on()
        undecided()
        return False

    def seconds_of(self, programs):
        return self.pace_s * programs

    def pairs(self, before, after):
        if not self.has_parts and not {before, after} <= {ORIGINAL, AGAIN, CHANGED}:
            return []
        return [
            tuple(
                (Block(4, 4 * STEADY[name] * (1 + pair / 1e4), 0.08, None, 300.0, None),) * 6
                for name in (before, after)
            )
            for pair in range(self.done)
        ]

    def strips(self):
        return ()

    def unsteady(self):
        return 0, 1

    def throttled(self):
        return 0, 1


class Looks:
    """Verifications of a script that loads `loaded`; no line of a fix runs. `looks` has the fixes
    of each look."""

    def __init__(self, folder):
        self.loaded = ["train.py"]
        self.looks = []
        self.unsafe = True
        self.rules = ("TL401",)
        self.ran = False
        self._folder = folder

    def looker(self, _request, changes, *_):
        def look(*_):
            self.looks.append(changes.ids)
            paths = tuple(str(self._folder / name) for name in self.loaded)
            ran = [f"{id_}:0" for id_ in changes.ids] if self.ran else []
            seen = survey(files=paths, served=paths, exercised=frozenset(ran))
            return FirstLook(seen, seen)

        return SimpleNamespace(look=look)

    def fixes(self, loaded=(), _deadline=None):
        return find_fixes(
            [
                Target(name, Selection(self.rules), (2, 13))
                for name in sorted({"train.py", *map(os.path.basename, loaded)})
            ],
            all_rules(),
            unsafe=self.unsafe,
            wanted=Wanted(),
        )

    def verify(self, watcher=None, **asked):
        program = script("train.py", ())
        silent = SimpleNamespace(stage=lambda *_, **__: None)
        changes = Changes(program, self.fixes(), more=self.fixes)
        return verify(Request(program, **asked), changes, watcher or silent)


@pytest.fixture
def looks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("train.py", ""), ("plugin.py", TRAINS), ("words.py", "")):
        (tmp_path / name).write_text(text)
    found = Looks(tmp_path)
    monkeypatch.setattr(session, "Looker", found.looker)
    return found


def test_fixes_in_a_file_that_only_a_run_shows_are_no_less_fixes(looks):
    looks.loaded.append("plugin.py")
    result = looks.verify()
    assert looks.looks == [(), ("TL401:plugin.py",)]
    assert result.summary.startswith("None of the fixed lines ran in the steps that were")
    assert result.exit == 3
    assert [fix.id for fix in result.fixes] == ["TL401:plugin.py"]
    assert set(result.sources) == {"train.py", "plugin.py"}


def test_they_join_those_that_were_known(looks, tmp_path):
    (tmp_path / "train.py").write_text(TRAINS)
    looks.loaded.append("plugin.py")
    looks.verify()
    assert looks.looks == [("TL401:train.py",), ("TL401:plugin.py", "TL401:train.py")]


@pytest.mark.parametrize("text", ["", TRAINS])
def test_a_file_without_a_fix_takes_no_second_look(looks, tmp_path, text):
    (tmp_path / "train.py").write_text(text)
    looks.loaded.append("words.py")
    assert looks.verify().summary.startswith("None of the" if text else "There is no fix to verify")
    assert len(looks.looks) == 1


def told_by(looks, monkeypatch, budget_s, pace_s):
    """What a verification of two fixes tells in this time."""
    text = TRAINS.replace("lr=0.1", "lr=0.1, foreach=False").replace("SGD", "AdamW")
    with open("train.py", "w", encoding="utf-8") as stream:
        stream.write(text)
    recorder = SimpleNamespace(run=None, clash="", records={})
    monkeypatch.setattr(verification, "Rounds", Measured)
    monkeypatch.setattr(verification, "VariantRecorder", lambda *_, **__: recorder)
    monkeypatch.setattr(
        verification,
        "compare",
        lambda _, names: ((name, numerics()) for name in (ORIGINAL, *names)),
    )
    monkeypatch.setattr(verification, "count", lambda *_, **__: ({}, []))
    monkeypatch.setattr(Measured, "pace_s", pace_s)
    looks.rules, looks.ran = ("TL401", "TL403"), True
    told = Told()
    return told.said, looks.verify(told, budget_s=budget_s)


def test_numbers_and_total_come_first_then_fix_by_fix(looks, monkeypatch):
    said, result = told_by(looks, monkeypatch, 3600.0, 1.0)
    assert said == [
        "Looking at the program",
        "plan",
        "Comparing the numbers",
        "numbers original",
        "numbers changed",
        "Measuring pairs",
        *("so far 1", "so far 2", "so far 3"),
        "changed CONFIRMED",
        "Counting what a step does",
        "Comparing the numbers",
        "numbers only TL403:train.py",
        "numbers only TL401:train.py",
        "Measuring each fix",
        "TL403:train.py CONFIRMED",
        "TL401:train.py NEUTRAL",
    ]
    assert result.exit == 0
    assert [fix.alone.verdict.value for fix in result.fixes] == ["CONFIRMED", "NEUTRAL"]


def test_fixes_that_no_time_is_left_for_are_named_and_not_begun(looks, monkeypatch):
    said, result = told_by(looks, monkeypatch, 3600.0, 1000.0)
    assert said[-3:] == ["changed CONFIRMED", "no room", "Counting what a step does"]
    assert result.total.verdict.value == "CONFIRMED"
    assert any(note.startswith("The budget has room for all fixes") for note in result.notes)
    assert all(fix.alone.estimate is None for fix in result.fixes)


def test_a_patch_of_lines_that_do_not_run_is_not_measured(looks, tmp_path):
    (tmp_path / "train.py").write_text(TRAINS)
    changed = TRAINS.replace("set_to_none=False", "")
    patched = {str(tmp_path / "train.py"): (TRAINS.encode(), changed.encode())}
    program = script("train.py", ())
    silent = SimpleNamespace(stage=lambda *_, **__: None)
    result = verify(Request(program), Changes(program, patched=patched), silent)
    assert result.exit == 3
    assert result.summary.startswith("None of the changed lines ran in the steps that were")


def test_without_a_fix_the_original_is_counted_if_something_is_required(looks, monkeypatch):
    asked = []

    def count(_jobs, _workspace, variants, steps, **_):
        asked.append((variants, steps))
        return {"original": Counters(10, reads=2)}, []

    monkeypatch.setattr(verification, "count", count)
    assert looks.verify().counters is None
    result = looks.verify(must_count=True)
    assert result.counters == Counters(10, reads=2)
    assert result.summary.startswith("There is no fix to verify")
    assert asked == [((), CountedSteps(10, 10))]


@pytest.mark.parametrize(
    ("left_s", "must_count", "has_room"),
    [(None, False, True), (30.0, False, True), (10.0, False, False), (10.0, True, True)],
    ids="no-budget room no-room required".split(),
)
def test_what_a_step_does_is_counted_where_there_is_room(monkeypatch, left_s, must_count, has_room):
    monkeypatch.setattr("torchlint.experiment.session.processors", lambda: 2)
    monkeypatch.setattr(verification.time, "monotonic", lambda: 100.0)
    request = Request(script(__file__, ()), must_count=must_count)
    session = verification._Verification(request, None, None)
    deadline = None if left_s is None else 100.0 + left_s
    session.workspace = SimpleNamespace(deadline=deadline)
    session.jobs = SimpleNamespace(threads=1)
    planned = SimpleNamespace(
        plan=SimpleNamespace(warmup=10), variants=variants_of(("a",), per_fix=True)
    )
    seen = survey(start_s=4.0, step_s=0.01)
    # Two turns of two, and as many with a played GPU, of 4.5 s each.
    assert session._to_count_s(planned, FirstLook(seen, seen)) == pytest.approx(18.0)
    assert session._has_room_to_count(planned, FirstLook(seen, seen), 10.0) is has_room


def test_a_run_that_could_not_be_counted_is_a_note(looks, monkeypatch):
    failed = Failed("error", "It broke.", name="original")
    monkeypatch.setattr(verification, "count", lambda *_, **__: ({}, [failed]))
    result = looks.verify(must_count=True)
    assert result.counters is None
    assert "A run that counted what a step does failed (original): It broke." in result.notes


def test_what_has_no_fix_in_a_file_that_a_run_shows_says_why(looks):
    looks.unsafe = False
    looks.loaded.append("plugin.py")
    (note,) = looks.verify().notes
    assert "TL401 zero-grad-keeps-tensors at plugin.py:4 has no fix: its fix is not safe" in note
    assert len(looks.looks) == 1


def rounds(unsteady=0, runs=12, *, one_at_a_time=False, throttled=0, clash=""):
    return SimpleNamespace(
        one_at_a_time=one_at_a_time,
        clash=clash,
        unsteady=lambda: (unsteady, runs),
        throttled=lambda: (throttled, 120),
        plan=SimpleNamespace(warmup=20),
    )


def test_a_measurement_as_planned_needs_no_remark():
    assert remarks(rounds()) == []


@pytest.mark.parametrize(("unsteady", "told"), [(3, False), (4, True), (12, True)])
def test_drift_in_more_runs_than_chance_makes_is_told(unsteady, told):
    found = remarks(rounds(unsteady))
    assert [f"{unsteady} of 12 runs" in each for each in found] == [True] * told
    assert all("20 steps" in each and "--warmup" in each for each in found)


def test_programs_that_ran_one_after_the_other_are_told_of():
    (found,) = remarks(rounds(one_at_a_time=True))
    assert "one after the other" in found
    assert "memory" in found
    (found,) = remarks(rounds(one_at_a_time=True, clash="Address already in use."))
    assert "one after the other" in found
    assert "Address already in use)" in found
    assert "memory" not in found


def test_blocks_with_a_clock_that_was_held_back_are_counted():
    (found,) = remarks(rounds(throttled=7))
    assert "in 7 of 120 blocks" in found


def test_a_long_list_of_files_is_cut():
    paths = [f"{number}.py" for number in range(7)]
    assert listed(paths[:2], 2) == "0.py, 1.py"
    assert listed(paths, 2) == "0.py, 1.py and 5 more"


def finding(path="train.py", row=3, withheld=None, fix=None):
    return Finding(
        "TL101", "dataloader-no-workers", Tier.DEFAULT, "", path,
        Position(row, 1), Position(row, 2), fix, withheld,
    )  # fmt: skip


def test_without_a_fix_each_finding_says_why(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    unsafe = Fix(Applicability.UNSAFE, "", ())
    found = without_a_fix(
        [finding("a.py"), finding(withheld="the loader is shuffled"), finding(row=9, fix=unsafe)],
        str(tmp_path / "train.py"),
    )
    head = "TL101 dataloader-no-workers at"
    assert found == [
        f"{head} train.py:3 has no fix: the loader is shuffled",
        f"{head} train.py:9 has no fix: its fix is not safe",
        f"{head} a.py:3 has no fix: its rule has none",
    ]


def test_many_findings_without_a_fix_are_counted():
    found = without_a_fix([finding(row=row) for row in range(13)], "train.py")
    assert len(found) == 11
    assert found[-1] == "3 more findings have no fix; `torchlint check` lists them."
