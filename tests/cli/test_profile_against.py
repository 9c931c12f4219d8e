"""What a profile is held against: `--budget`, `--write-budget`, `--compare`. Nothing is run."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.profile.results import profile, read_at, written
from torchlint.cli import held_against, measured_reports
from torchlint.profile import profiling as session

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Outcome, Run
    from torchlint.profile.result import Profile

SCRIPT = "def step(x):\n    return x.item()\n"
BUDGET = '[[allow]]\ncode = "TR201"\npath = "train.py"\nfunction = "step"\nreason = "it logs"\n'


class Session:
    """Stands in for the runs: set what they show, see whether there were any."""

    def __init__(self) -> None:
        self.result: Profile = profile(read_at(row=2))
        self.runs = 0

    def profile(self, *_: Any) -> Profile:
        self.runs += 1
        return self.result


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch, here: Path) -> Session:
    fake = Session()
    monkeypatch.setattr(session, "profile", fake.profile)
    (here / "train.py").write_text(SCRIPT)
    return fake


@pytest.fixture
def call(torchlint: Run, runs: Session) -> Run:
    def with_script(*words: str) -> Outcome:
        return torchlint("profile", "train.py", "--yes", *words)

    return with_script


def test_a_read_that_the_budget_allows_passes(call: Run, here: Path) -> None:
    (here / "b.toml").write_text(BUDGET)
    done = call("--budget", "b.toml")
    assert done.code == 0
    assert done.text.endswith("b.toml is kept: 1 finding allowed, nothing new, nothing stale.\n")


def test_a_new_read_fails(call: Run, here: Path) -> None:
    (here / "b.toml").write_text("")
    done = call("--budget", "b.toml")
    assert done.code == 1
    assert "budget: train.py:2 TR201 item in step, 1 a step, is new; remove it, or" in done.text
    assert done.text.endswith("b.toml is broken in 1 place.\n")


def test_a_stale_entry_fails(call: Run, runs: Session, here: Path) -> None:
    (here / "b.toml").write_text(BUDGET)
    runs.result = profile()
    done = call("--budget", "b.toml")
    assert done.code == 1
    assert "budget: TR201 in step of train.py is allowed and nothing needs it;" in done.text


def test_a_script_that_failed_keeps_its_exit_code(call: Run, runs: Session, here: Path) -> None:
    (here / "b.toml").write_text(BUDGET)
    runs.result = replace(profile(), exit=4, summary="It failed.")
    done = call("--budget", "b.toml", "--write-budget", "new.toml")
    assert done.code == 4
    assert "no budget is judged or written" in done.err
    assert not (here / "new.toml").exists()


def test_a_budget_that_is_written_waits_for_its_reasons(call: Run, here: Path) -> None:
    done = call("--write-budget", "b.toml")
    assert (done.code, "Wrote b.toml" in done.err) == (0, True)
    assert (
        'function = "step"\nkind = "item"\nmost = 1\nreason = ""\n' in (here / "b.toml").read_text()
    )
    done = call("--budget", "b.toml")
    assert done.code == 2
    assert "b.toml: Entry 1 (TR201 in train.py): `reason` is empty; say why" in done.err
    (here / "b.toml").write_text((here / "b.toml").read_text().replace('""', '"it logs"'))
    assert call("--budget", "b.toml").code == 0


def test_what_changed_is_printed_and_in_the_json(call: Run, here: Path) -> None:
    (here / "before.json").write_bytes(written(profile(read_at(path="old.py", row=5))))
    done = call("--compare", "before.json", "--json", "now.json")
    assert done.code == 0
    assert "since the profile of 2026-07-01: " in done.text
    assert "  gone: old.py:5 TR201\n  new: train.py:2 TR201\n" in done.text
    found = json.loads((here / "now.json").read_bytes())["compared"]
    assert [each["path"] for each in found["gone"]] == ["old.py"]
    assert found["ratio"] == 1.0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--budget", "no.toml"], "no.toml: There is no such file"),
        (["--budget", "2m"], "--budget-time 2m ends the profile after that time."),
        (["--compare", "no.json"], "no.json: There is no such file"),
        (["--compare", "train.py"], "train.py: This is no profile; write one with"),
        (["--write-budget", "train.py"], "train.py is there already"),
        (["--write-budget", "no/b.toml"], "There is no folder no"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_before_anything_runs(
    call: Run, runs: Session, words: list[str], said: str
) -> None:
    done = call(*words)
    assert (done.code, said in done.err, runs.runs) == (2, True, 0)


def test_a_budget_of_some_runs_is_about_their_codes(call: Run, runs: Session, here: Path) -> None:
    runs.result = replace(runs.result, watched=("TR301", "TR201"))
    call("--only", "reads", "--write-budget", "b.toml")
    text = (here / "b.toml").read_text()
    assert text.splitlines()[1] == 'codes = ["TR201", "TR301"]'
    (here / "b.toml").write_text(text.replace('""', '"it logs"'))
    assert call("--budget", "b.toml").code == 0
    call("--write-budget", "all.toml")
    assert "codes" not in (here / "all.toml").read_text()


def test_what_was_written_is_said_below_the_report(
    call: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed: list[str] = []
    for module in (held_against, measured_reports):
        monkeypatch.setattr(module, "print_lines", lambda lines, **_: printed.extend(lines))
    call("--write-budget", "b.toml")
    assert printed[0].startswith("torchlint profile train.py")
    assert printed[-1] == "Wrote b.toml; fill in its reasons."


def test_what_changed_is_a_command_for_github(call: Run, here: Path) -> None:
    (here / "before.json").write_bytes(written(profile(read_at(path="old.py", row=5))))
    done = call("--compare", "before.json", "--output-format", "github")
    *_, last = done.text.splitlines()
    assert last.startswith("::notice title=torchlint profile::since the profile of 2026-07-01: ")
    assert "%0A  gone: old.py:5 TR201%0A  new: train.py:2 TR201" in last
    assert "since" not in call("--output-format", "github").text
