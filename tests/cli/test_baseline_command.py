"""`torchlint baseline` and `check --baseline`: what fails, what is hidden, what the file becomes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from torchlint.finding import Diagnostic, Finding, Position, Tier
from torchlint.silence import until

MakeFinding = Callable[..., Finding]
Run = Callable[..., Any]
FILE = "torchlint-baseline.json"


@pytest.fixture(autouse=True)
def project(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (here / "src").mkdir()
    for name in ("src/a.py", "src/b.py", "c.py"):
        (here / name).write_text("import torch\n\n    loss.item()\n")
    monkeypatch.setattr(until, "today", lambda: date(2026, 5, 1))
    return here


@pytest.fixture
def find(make_finding: MakeFinding) -> Callable[..., Finding]:
    def made(path: str = "src/a.py", row: int = 3, **rest: object) -> Finding:
        return make_finding(path, row, **{"message": "It waits.", "scope": "train", **rest})

    return made


def entries(path: str = FILE) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(Path(path).read_bytes())["entries"]
    return found


def edit(**values: object) -> None:
    """Sets keys of the first entry, as somebody does in an editor."""
    data = json.loads(Path(FILE).read_bytes())
    data["entries"][0].update(values)
    Path(FILE).write_text(json.dumps(data))


# write ---------------------------------------------------------------------------------------


def test_the_first_write_takes_everything_and_says_what_to_do(
    torchlint: Run, linter: Any, find: Any
) -> None:
    linter.findings = [find(), find(row=5), find("c.py"), find("c.py", tier=Tier.HINT)]
    outcome = torchlint("baseline", "write", "--owner", "vision", "--reason", "old",
                        "--until", "2026-05-01")  # fmt: skip
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.text == (
        "Wrote torchlint-baseline.json: 3 findings in 2 files.\n"
        'Commit it. With `baseline = "torchlint-baseline.json"` in [tool.torchlint], '
        "`torchlint check` does not report what it covers.\n"
    )
    assert [(each["path"], each["count"]) for each in entries()] == [("c.py", 1), ("src/a.py", 2)]
    assert entries()[0]["expires"] == "2026-05-01"
    assert (entries()[0]["owner"], entries()[0]["reason"]) == ("vision", "old")


def test_hints_are_written_on_request_and_left_in_peace_without(
    torchlint: Run, linter: Any, find: Any
) -> None:
    linter.findings = [find(tier=Tier.HINT)]
    assert "0 findings" in torchlint("baseline", "write").text
    os.unlink(FILE)
    assert torchlint("baseline", "write", "--hints").code == 0
    assert entries()[0]["tier"] == "hint"
    assert "1 known finding is" in torchlint("check", "--hints", "--baseline", FILE).text
    linter.findings = []
    assert torchlint("baseline", "check").code == 0
    assert torchlint("baseline", "check", "--hints").code == 1


def test_writing_again_takes_what_is_new_and_says_so(
    torchlint: Run, linter: Any, find: Any
) -> None:
    linter.findings = [find()]
    torchlint("baseline", "write", "--owner", "vision")
    linter.findings = [find(), find(row=9), find("c.py")]
    grown = torchlint("baseline", "write", "--owner", "audio")
    assert (grown.code, grown.text) == (0, "torchlint-baseline.json: 1 → 3 findings.\n")
    assert [(each["owner"], each["count"]) for each in entries()] == [("audio", 1), ("vision", 2)]


def test_an_option_that_went_names_what_to_do(torchlint: Run, linter: Any) -> None:
    outcome = torchlint("baseline", "write", "--allow-growth")
    assert outcome.code == 2
    assert "records new findings without --allow-growth; leave it out" in outcome.err


def test_entries_of_a_run_stay_as_they_are(torchlint: Run, linter: Any, find: Any) -> None:
    linter.findings = [find()]
    torchlint("baseline", "write")
    of_a_run = {"path": "src/a.py", "rule": "TR201", "kind": "item", "most": 2, "reason": "log"}
    Path(FILE).write_text(json.dumps({"version": 1, "entries": [*entries(), of_a_run]}))
    assert torchlint("baseline", "check").code == torchlint("check", "--baseline", FILE).code == 0
    linter.findings = []
    for command in ("write", "prune"):
        assert torchlint("baseline", command).code == 0
        assert entries() == [of_a_run]


def test_write_takes_out_what_is_gone_and_keeps_the_notes(
    torchlint: Run, linter: Any, find: Any
) -> None:
    linter.findings = [find(), find(row=5), find("c.py")]
    torchlint("baseline", "write", "--owner", "vision")
    linter.findings = [find()]
    assert torchlint("baseline", "write").text.endswith("torchlint-baseline.json: 3 → 1 finding.\n")
    assert [(each["path"], each["count"], each["owner"]) for each in entries()] == [
        ("src/a.py", 1, "vision")
    ]


def test_what_changes_nothing_writes_nothing(torchlint: Run, linter: Any, find: Any) -> None:
    linter.findings = [find()]
    torchlint("baseline", "write")
    edit(owner="vision")
    before = Path(FILE).read_bytes()
    for command in ("write", "prune"):
        outcome = torchlint("baseline", command)
        assert outcome.text == "torchlint-baseline.json: 1 finding, as before.\n"
    assert Path(FILE).read_bytes() == before


@pytest.mark.parametrize("day", ["2026-04-30", "tomorrow", "20270131"])
def test_a_day_that_is_over_is_not_an_expiry(torchlint: Run, linter: Any, day: str) -> None:
    outcome = torchlint("baseline", "write", "--expires", day)
    assert (outcome.code, Path(FILE).exists()) == (2, False)
    assert "--until needs a day in the future" in outcome.err


def test_write_does_not_replace_what_is_not_a_baseline(torchlint: Run, linter: Any) -> None:
    Path(FILE).write_text("precious")
    outcome = torchlint("baseline", "write")
    assert outcome.code == 2
    assert outcome.err.startswith("Error: torchlint-baseline.json: This is not valid JSON")
    assert Path(FILE).read_text() == "precious"


def test_a_folder_that_is_missing_is_one_sentence(torchlint: Run, linter: Any) -> None:
    outcome = torchlint("baseline", "write", "--baseline", "no/b.json")
    assert (outcome.code, outcome.err) == (
        2,
        "Error: no/b.json: Cannot write the file: No such file or directory.\n",
    )


# check ---------------------------------------------------------------------------------------


def test_the_gate_is_green_on_what_is_known(torchlint: Run, linter: Any, find: Any) -> None:
    linter.findings = [find(), find("c.py")]
    torchlint("baseline", "write")
    outcome = torchlint("baseline", "check")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.text == (
        "No problems found; 3 files checked.\n2 known findings are in torchlint-baseline.json.\n"
    )


def test_a_new_finding_is_red_and_printed_as_check_prints_it(
    torchlint: Run, linter: Any, find: Any
) -> None:
    linter.findings = [find()]
    torchlint("baseline", "write")
    linter.findings = [find(), find("c.py")]
    outcome = torchlint("baseline", "check")
    assert outcome.code == 1
    assert outcome.text == (
        "c.py:3:5: TL201 item-in-step-loop\n"
        "    It waits.\n"
        "    3 |     loss.item()\n"
        "      |     ^^^^\n"
        "\n"
        "Found 1 problem in 1 file; 3 files checked.\n"
        "1 known finding is in torchlint-baseline.json.\n"
    )
    assert torchlint("baseline", "check", "--output-format", "concise").text == (
        "c.py:3:5: TL201 It waits.\n"
    )


def test_stale_entries_are_red_and_only_a_note_in_check(
    torchlint: Run, linter: Any, find: Any, project: Path
) -> None:
    linter.findings = [find(), find(row=4), find("src/b.py"), find("c.py")]
    torchlint("baseline", "write")
    (project / "c.py").unlink()
    linter.findings = [find()]
    outcome = torchlint("baseline", "check")
    assert outcome.code == 1
    assert outcome.text.endswith(
        "src/a.py: TL201 in train: 1 of 2 left\n"
        "src/b.py: TL201 in train: none of 1 left\n"
        "c.py: TL201 in train: none of 1 left (there is no such file)\n"
        "1 known finding is in torchlint-baseline.json.\n"
        "3 entries of torchlint-baseline.json are stale; run `torchlint baseline prune`.\n"
    )
    assert torchlint("baseline", "check", "--output-format", "json").text == "[\n]\n"
    checked = torchlint("check", "--baseline", FILE)
    assert checked.code == 0
    assert "3 entries of torchlint-baseline.json are stale" in checked.text


def test_what_is_stale_is_counted_by_function_and_rule(
    torchlint: Run, linter: Any, find: Any
) -> None:
    linter.findings = [find(fingerprint=sign * 16) for sign in "aabc"]
    torchlint("baseline", "write")
    linter.findings = [find(fingerprint=sign * 16) for sign in "ac"]
    outcome = torchlint("baseline", "check")
    assert "src/a.py: TL201 in train: 1 of 3 left\n" in outcome.text
    assert "2 entries of torchlint-baseline.json are stale" in outcome.text


def test_files_that_were_not_checked_are_not_stale(
    torchlint: Run, linter: Any, find: Any, project: Path
) -> None:
    linter.findings = [find(), find("c.py")]
    torchlint("baseline", "write")
    linter.findings = [find()]
    assert torchlint("baseline", "check", "src").code == 0
    assert "2 findings, as before" in torchlint("baseline", "prune", "src").text
    linter.findings = []
    (project / "c.py").unlink()
    outcome = torchlint("baseline", "check", "src/b.py")
    assert (outcome.code, "src/a.py" in outcome.text) == (1, False)
    assert "c.py: TL201 in train: none of 1 left (there is no such file)" in outcome.text


@pytest.mark.usefixtures("rules")
def test_rules_that_are_off_are_not_stale(torchlint: Run, linter: Any, find: Any) -> None:
    linter.findings = [find(), find("gone.py")]
    torchlint("baseline", "write")
    linter.findings = []
    for words in (("--select", "TL1"), ("--ignore", "TL201")):
        assert torchlint("baseline", "check", *words).code == 0
        torchlint("baseline", "prune", *words)
    assert len(entries()) == 2
    Path("pyproject.toml").write_text('[tool.torchlint.per-file-ignores]\n"src/*" = ["TL201"]\n')
    torchlint("baseline", "prune")
    assert [each["path"] for each in entries()] == ["src/a.py"]


@pytest.mark.usefixtures("rules")
def test_an_entry_of_a_rule_that_does_not_exist_is_stale(
    torchlint: Run, linter: Any, find: Any
) -> None:
    linter.findings = [find(code="TL999")]
    torchlint("baseline", "write")
    linter.findings = []
    assert "TL999 in train: none of 1 left" in torchlint("baseline", "check").text


def test_an_expired_entry_is_red_with_owner_and_day(torchlint: Run, linter: Any, find: Any) -> None:
    linter.findings = [find()]
    torchlint("baseline", "write")
    edit(owner="vision\x1b", expires="2026-04-30")
    for command in (("baseline", "check"), ("check", "--baseline", FILE)):
        outcome = torchlint(*command)
        assert outcome.code == 1
        assert "It waits. The baseline covered it until 2026-04-30 (owner: vision\\x1b)." in (
            outcome.text
        )
        assert "1 entry of torchlint-baseline.json has expired; " in outcome.text
    written = torchlint("baseline", "write")
    assert (written.code, "1 entry of torchlint-baseline.json has expired" in written.text) == (
        0,
        True,
    )
    assert entries()[0]["expires"] == "2026-04-30", "writing again renews nothing"
    edit(expires="2026-05-01")
    assert torchlint("baseline", "check").code == 0


def test_a_missing_baseline_is_2_and_says_how_to_make_one(torchlint: Run, linter: Any) -> None:
    for words in (("baseline", "check"), ("baseline", "prune"), ("check", "--baseline", FILE)):
        outcome = torchlint(*words)
        assert (outcome.code, outcome.err) == (
            2,
            "Error: torchlint-baseline.json: There is no such file; "
            "make it with `torchlint baseline write`.\n",
        )


def test_standard_input_has_no_baseline_to_write(torchlint: Run, linter: Any) -> None:
    outcome = torchlint("baseline", "check", "-")
    assert outcome.code == 2
    assert "A baseline is for files" in outcome.err


# what cannot be checked ----------------------------------------------------------------------


def test_nothing_is_stale_if_a_file_could_not_be_checked(
    torchlint: Run, linter: Any, find: Any
) -> None:
    linter.findings = [find(), find("c.py")]
    torchlint("baseline", "write")
    before = Path(FILE).read_bytes()
    linter.findings = [find()]
    linter.diagnostics = [Diagnostic("src/b.py", "Not Python.", Position(2, 7))]
    checked = torchlint("baseline", "check")
    assert (checked.code, "stale" in checked.text) == (2, False)
    pruned = torchlint("baseline", "prune")
    assert pruned.code == 2
    assert "src/b.py:2:7: error: Not Python." in pruned.err
    assert "Nothing was pruned" in pruned.err
    assert torchlint("baseline", "write").code == 2
    assert Path(FILE).read_bytes() == before


def test_a_first_write_keeps_what_could_be_checked(torchlint: Run, linter: Any, find: Any) -> None:
    linter.findings = [find()]
    linter.diagnostics = [Diagnostic("src/b.py", "Not Python.", Position(2, 7))]
    assert torchlint("baseline", "write").code == 2
    assert len(entries()) == 1


# prune ---------------------------------------------------------------------------------------


def test_prune_shrinks_and_says_by_how_much(torchlint: Run, linter: Any, find: Any) -> None:
    linter.findings = [find(), find(row=4), find("src/b.py")]
    torchlint("baseline", "write")
    linter.findings = [find(), find("c.py")]
    outcome = torchlint("baseline", "prune")
    assert (outcome.code, outcome.text) == (
        0,
        "src/a.py: TL201 in train: 1 of 2 left\n"
        "src/b.py: TL201 in train: none of 1 left\n"
        "torchlint-baseline.json: 3 → 1 finding.\n"
        "1 finding is not in torchlint-baseline.json; see `torchlint baseline check`.\n",
    )
    assert [(each["path"], each["count"]) for each in entries()] == [("src/a.py", 1)]
    assert torchlint("baseline", "prune").text.startswith("torchlint-baseline.json: 1 finding, as")


def test_a_moved_file_is_green_and_prune_follows_it(
    torchlint: Run, linter: Any, find: Any, project: Path
) -> None:
    linter.findings = [find()]
    torchlint("baseline", "write", "--owner", "vision")
    (project / "src/a.py").rename(project / "new.py")
    linter.findings = [find("new.py")]
    checked = torchlint("baseline", "check")
    assert checked.code == 0
    assert (
        "1 file in torchlint-baseline.json moved; `torchlint baseline prune` follows it.\n"
        in checked.text
    )
    assert torchlint("baseline", "write").code == 0
    assert [(each["path"], each["owner"]) for each in entries()] == [("new.py", "vision")]
    (project / "new.py").rename(project / "newer.py")
    linter.findings = [find("newer.py")]
    assert torchlint("baseline", "prune").text == (
        "new.py is now newer.py\ntorchlint-baseline.json: 1 finding, as before.\n"
    )
    assert [each["path"] for each in entries()] == ["newer.py"]


# check --baseline and the configuration ------------------------------------------------------


def test_check_shows_only_what_is_left_in_every_format(
    torchlint: Run, linter: Any, find: Any
) -> None:
    linter.findings = [find(), find("c.py")]
    torchlint("baseline", "write")
    linter.findings = [find(), find(row=9), find("c.py")]
    assert torchlint("check").text.endswith("Found 3 problems in 2 files; 3 files checked.\n")
    outcome = torchlint("check", "--baseline", FILE)
    assert outcome.code == 1
    assert outcome.text.endswith(
        "Found 1 problem in 1 file; 3 files checked.\n"
        "2 known findings are in torchlint-baseline.json.\n"
    )
    (left,) = json.loads(torchlint("check", "--baseline", FILE, "--output-format", "json").out)
    assert left["message"] == "It waits. 1 more like it is in the baseline; this one is new."
    counted = torchlint("check", "--baseline", FILE, "--statistics").text
    assert counted.startswith("     1  TL201  item-in-step-loop\nFound 1 problem in 1 file;")


def test_the_configuration_names_the_baseline(
    torchlint: Run, linter: Any, find: Any, project: Path
) -> None:
    (project / "pyproject.toml").write_text('[tool.torchlint]\nbaseline = "ci/known.json"\n')
    (project / "ci").mkdir()
    linter.findings = [find()]
    assert torchlint("check").code == 2
    assert torchlint("baseline", "write").text == "Wrote ci/known.json: 1 finding in 1 file.\n"
    assert entries("ci/known.json")[0]["path"] == "../src/a.py"
    assert "1 known finding is in ci/known.json." in torchlint("check").text
    assert torchlint("check", "--no-baseline").code == 1
    assert torchlint("check", "--isolated").code == 1
    both = torchlint("check", "--no-baseline", "--baseline", "ci/known.json")
    assert (both.code, "exclude each other" in both.err) == (2, True)


def test_paths_hold_from_every_folder(
    torchlint: Run, linter: Any, find: Any, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "pyproject.toml").write_text(f'[tool.torchlint]\nbaseline = "{FILE}"\n')
    linter.findings = [find()]
    torchlint("baseline", "write")
    monkeypatch.chdir(project / "src")
    linter.findings = [find("a.py")]
    assert torchlint("check").code == torchlint("baseline", "check").code == 0
    monkeypatch.chdir(project.parent)
    linter.findings = [find(f"{project.name}/src/a.py")]
    assert torchlint("baseline", "check", project.name).code == 0


def test_each_project_has_its_own_baseline(
    torchlint: Run, linter: Any, find: Any, project: Path
) -> None:
    for name in ("src", "."):
        (project / name / "torchlint.toml").write_text(f'baseline = "{FILE}"\n')
    linter.findings = [find()]
    torchlint("baseline", "write", "src")
    linter.findings = [find("c.py")]
    torchlint("baseline", "write", "c.py")
    linter.findings = [find("c.py"), find()]
    assert torchlint("check").code == 0
    outcome = torchlint("baseline", "check")
    assert outcome.code == 2
    assert "do not agree on one baseline" in outcome.err


def test_an_empty_project_still_knows_its_baseline(
    torchlint: Run, linter: Any, find: Any, project: Path
) -> None:
    (project / "pyproject.toml").write_text('[tool.torchlint]\nbaseline = "known.json"\n')
    linter.findings = [find()]
    torchlint("baseline", "write")
    for path in project.rglob("*.py"):
        path.unlink()
    linter.findings = []
    assert torchlint("baseline", "check").code == 1
    torchlint("baseline", "prune")
    assert entries("known.json") == []


def test_a_check_without_a_baseline_imports_nothing_of_it(project: Path) -> None:
    code = (
        "import sys; from torchlint.__main__ import run; run(['check']); "
        "print([name for name in sys.modules if 'baselin' in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("command", ["write", "prune"])
@pytest.mark.parametrize("configured", [False, True])
def test_a_link_out_of_the_project_is_never_written(
    torchlint: Run, linter: Any, find: Any, project: Path, command: str, configured: bool
) -> None:
    linter.findings = [find()]
    assert torchlint("baseline", "write").code == 0
    outside = project.parent / "outside.json"
    os.replace(project / FILE, outside)
    linter.findings = []
    if configured:
        (project / "torchlint.toml").write_text('baseline = "deep/known.json"\n')
        (project / "deep").symlink_to(project.parent)
        os.replace(outside, outside := project.parent / "known.json")
    else:
        (project / FILE).symlink_to(outside)
    before = outside.read_bytes()
    outcome = torchlint("baseline", command)
    assert outcome.code == 2
    assert "a link that leads out of" in outcome.err
    assert outside.read_bytes() == before
