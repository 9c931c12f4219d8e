"""The formats and files of `torchlint profile`, and what it is held against. Nothing is run."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.profile.results import profile as plain
from tests.profile.results import read_at, written
from tests.report.profile.sample_profiles import failed, profile, rich, static
from torchlint.cli import held_against, measured_reports
from torchlint.cli.commands import verify_command as verify
from torchlint.files.reading import SourceError
from torchlint.profile import profiling as session

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Outcome, Run
    from torchlint.profile.profile_result import Profile


SCRIPT = "def step(x):\n    return x.item()\n"
BUDGET = '{"version": 1, "entries": [{"path": "train.py", "rule": "TR201", "scope": "step"}]}'


class Session:
    """Stands in for the runs: set what they show, see whether there were any."""

    def __init__(self) -> None:
        self.result: Profile = rich()
        self.runs = 0

    def profile(self, *_: Any, **__: Any) -> Profile:
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


def test_text_is_for_people(call: Run) -> None:
    done = call()
    assert done.code == 0
    assert done.text.startswith("torchlint profile train.py --epochs 1 ")
    assert "TR101 input-wait" in done.text


def test_json_goes_to_a_file_and_to_standard_output(call: Run, here: Path) -> None:
    done = call("--json", "out.json", "--output-format", "json")
    assert json.loads(done.text) == json.loads((here / "out.json").read_text())
    assert json.loads(done.text)["command"] == "profile"
    assert done.text == (here / "out.json").read_text()


def test_sarif_is_a_log_relative_to_the_repository(call: Run) -> None:
    log = json.loads(call("--output-format", "sarif").text)
    (run,) = log["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "cells/data.py", "uriBaseId": "%SRCROOT%"}
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [
        "TR101",
        "TR201",
        "TR401",
        "TR501",
        "TR702",
    ]


def test_github_gets_a_command_for_each_finding(call: Run) -> None:
    lines = call("--output-format", "github").text.splitlines()
    assert len(lines) == 7
    assert lines[0].startswith("::warning file=cells/data.py,line=31,")


@pytest.mark.parametrize("chosen", ["json", "sarif", "github"])
def test_programs_get_nothing_else_on_standard_output(call: Run, chosen: str) -> None:
    done = call("--output-format", chosen)
    assert "profile executes" not in done.text
    assert "profile executes" in done.err


@pytest.mark.parametrize("chosen", ["text", "json", "sarif", "github"])
def test_a_script_that_failed_is_reported_and_keeps_its_exit_code(
    call: Run, runs: Session, chosen: str
) -> None:
    runs.result = failed()
    done = call("--output-format", chosen)
    assert done.code == 4
    assert "The script failed: ValueError: no data" in done.text


def test_html_goes_to_a_file_in_addition_to_the_report(call: Run, here: Path) -> None:
    done = call("--html", "out.html")
    assert (here / "out.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert "TR101 input-wait" in done.text


def test_a_name_that_is_not_text_is_written_all_the_same(
    call: Run, runs: Session, here: Path
) -> None:
    runs.result = profile(argv=("caf\udce9.py",), limit="日本")
    assert call("--html", "out.html", "--json", "out.json", "--trace", "t.json").code == 0
    assert "caf\\xe9.py" in (here / "out.html").read_text(encoding="utf-8")
    assert json.loads((here / "out.json").read_text())["argv"] == ["caf\udce9.py"]


@pytest.mark.parametrize("option", ["--json", "--html", "--trace"])
def test_a_report_that_cannot_be_written_says_so_before_anything_runs(
    call: Run, runs: Session, option: str
) -> None:
    done = call(option, "no/such/folder.json")
    assert done.code == 2
    said = "Error: There is no folder no/such for no/such/folder.json; make it first.\n"
    assert (done.err, done.out, runs.runs) == (said, b"", 0)


def test_a_profile_is_printed_although_its_report_cannot_be_written(
    call: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: str, data: bytes) -> None:
        raise SourceError(path, "Cannot write the file: No space left on device.", kind="write")

    monkeypatch.setattr("torchlint.files.writing.write_report", full)
    done = call("--html", "out.html")
    assert done.code == 2
    assert "TR101 input-wait" in done.text
    assert "out.html: Cannot write the file: No space left on device." in done.err


def test_details_show_all(call: Run, runs: Session) -> None:
    runs.result = profile(findings=rich().findings * 10)
    assert "more, --details shows them" in call().text
    assert "more, --details" not in call("--details").text


def test_an_option_of_the_script_is_told_where_to_be(torchlint: Run, here: Path) -> None:
    outcome = torchlint("profile", "train.py", "--epochs", "5")
    assert outcome.code == 2
    assert "No such option --epochs. The script's own arguments go after --." in outcome.err


def test_the_next_command_runs_the_script_in_the_same_way(call: Run, runs: Session) -> None:
    found = replace(rich().findings[0], static=(static(),))
    runs.result = profile(argv=("train.py", "--epochs", "1"), findings=(found,))
    how = ["--nproc-per-node", "2", "--threads", "1", "--target-torch", "2.1", "--keep-env"]
    how += ["--launcher", "torchrun", "--slurm=--partition=gpu", "--slurm=-N"]
    said = " ".join(call(*how, "--steps", "5", "--details").text.split())
    (words,) = re.findall(r"next (torchlint verify .*) took", said)
    with verify.command.make_context("verify", shlex.split(words)[2:]) as context:
        assert context.params["words"] == ("train.py", "--epochs", "1")
        assert context.params["select"] == ("TL201",)
        assert context.params["slurm_options"] == ("--partition=gpu", "-N")
        assert [context.params[name] for name in ("nproc", "threads", "launcher")] == [
            2,
            1,
            "torchrun",
        ]
        assert (context.params["keep_env"], context.params["target_torch"]) == (True, (2, 1))


@pytest.mark.parametrize(("columns", "widest"), [(None, 100), ("20", 72), ("120", 120)])
def test_in_a_pipe_a_report_is_a_page(
    call: Run, runs: Session, monkeypatch: pytest.MonkeyPatch, columns: str | None, widest: int
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    runs.result = profile(argv=("train.py", "--word" * 90), findings=rich().findings)
    lines = call().text.splitlines()
    assert max(len(line) for line in lines if not line.startswith("next ")) == widest
    assert lines[0].endswith("…")


# what it is held against -------------------------------------------------------------------


@pytest.fixture
def reading(runs: Session) -> Session:
    runs.result = plain(read_at(row=2))
    return runs


def test_a_read_that_the_budget_allows_passes(call: Run, reading: Session, here: Path) -> None:
    (here / "b.json").write_text(BUDGET)
    done = call("--budget", "b.json")
    assert done.code == 0
    assert done.text.endswith("b.json is kept: 1 finding allowed, nothing new, nothing stale.\n")


def test_a_new_read_fails(call: Run, reading: Session, here: Path) -> None:
    (here / "b.json").write_text('{"version": 1, "entries": []}')
    done = call("--budget", "b.json")
    assert done.code == 1
    assert "budget: train.py:2 TR201 item in step, 1 a step, is new; remove it, or" in done.text
    assert done.text.endswith("b.json is broken in 1 place.\n")


def test_a_stale_entry_fails(call: Run, reading: Session, here: Path) -> None:
    (here / "b.json").write_text(BUDGET)
    reading.result = plain()
    done = call("--budget", "b.json")
    assert done.code == 1
    assert "budget: TR201 in step of train.py is allowed and nothing needs it;" in done.text


def test_a_script_that_failed_keeps_its_exit_code(call: Run, reading: Session, here: Path) -> None:
    (here / "b.json").write_text(BUDGET)
    reading.result = replace(plain(), exit=4, summary="It failed.")
    done = call("--budget", "b.json", "--write-budget", "new.json")
    assert done.code == 4
    assert "no budget is judged or written" in done.err
    assert not (here / "new.json").exists()


def test_a_budget_that_is_written_is_kept(call: Run, reading: Session, here: Path) -> None:
    done = call("--write-budget", "b.json")
    assert (done.code, "Wrote b.json" in done.err) == (0, True)
    ((entry),) = json.loads((here / "b.json").read_bytes())["entries"]
    assert (entry["scope"], entry["kind"], entry["most"]) == ("step", "item", 1)
    assert call("--budget", "b.json").code == 0
    (here / "b.json").write_text(BUDGET.replace('"step"', '"step", "reason": "it logs"'))
    assert call("--write-budget", "b.json").code == 0
    assert len(json.loads((here / "b.json").read_bytes())["entries"]) == 1


def test_what_changed_is_printed_and_in_the_json(call: Run, reading: Session, here: Path) -> None:
    (here / "before.json").write_bytes(written(plain(read_at(path="old.py", row=5))))
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
        (["--budget", "no.json"], "no.json: There is no such file"),
        (["--budget", "2m"], "--budget-time 2m ends the profile after that time."),
        (["--compare", "no.json"], "no.json: There is no such file"),
        (["--compare", "train.py"], "train.py: This is not a profile; write one with"),
        (["--write-budget", "train.py"], "train.py: This is not valid JSON"),
        (["--write-budget", "no/b.json"], "There is no folder no"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_before_anything_runs(
    call: Run, reading: Session, words: list[str], said: str
) -> None:
    done = call(*words)
    assert (done.code, said in done.err, reading.runs) == (2, True, 0)


def test_what_was_written_is_said_below_the_report(
    call: Run, reading: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed: list[str] = []
    for module in (held_against, measured_reports):
        monkeypatch.setattr(module, "print_lines", lambda lines, **_: printed.extend(lines))
    call("--write-budget", "b.json")
    assert printed[0].startswith("torchlint profile train.py")
    assert printed[-1] == "Wrote b.json; say in it why its entries are allowed."


def test_what_changed_is_a_command_for_github(call: Run, reading: Session, here: Path) -> None:
    (here / "before.json").write_bytes(written(plain(read_at(path="old.py", row=5))))
    done = call("--compare", "before.json", "--output-format", "github")
    *_, last = done.text.splitlines()
    assert last.startswith("::notice title=torchlint profile::since the profile of 2026-07-01: ")
    assert "%0A  gone: old.py:5 TR201%0A  new: train.py:2 TR201" in last
    assert "since" not in call("--output-format", "github").text
