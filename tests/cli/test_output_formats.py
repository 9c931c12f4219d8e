from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from torchlint.finding import Diagnostic, Finding, Position

if TYPE_CHECKING:
    from pathlib import Path

MakeFinding = Callable[..., Finding]
Run = Callable[..., Any]
STARTS = {
    "text": "train.py:3:5: TL201 item-in-step-loop\n",
    "concise": "train.py:3:5: TL201 ",
    "grouped": "train.py:\n  3:5  TL201  ",
    "json": '[\n  {"code": "TL201"',
    "github": "::warning file=train.py",
    "gitlab": '[\n  {"description"',
    "sarif": '{"$schema": ',
    "junit": "<?xml ",
    "rdjson": '{"source": ',
    "html": "<!DOCTYPE html>",
    "agent": "train.py:\n3 TL201 It waits.\n",
}
MACHINES = ("agent", "gitlab", "html", "junit", "rdjson", "sarif")


@pytest.fixture(autouse=True)
def train_py(here: Path) -> None:
    (here / "train.py").write_text("import torch\n\n    loss.item()\n")


@pytest.mark.parametrize(("chosen", "start"), STARTS.items())
def test_every_format_is_printed_and_written_alike(
    torchlint: Run,
    linter: Any,
    make_finding: MakeFinding,
    rules: None,
    here: Path,
    chosen: str,
    start: str,
) -> None:
    linter.findings = [make_finding(message="It waits.")]
    printed = torchlint("check", "--output-format", chosen)
    written = torchlint("check", "--output-format", chosen, "--output-file", "report")
    assert printed.text.startswith(start)
    assert (printed.code, written.code) == (1, 1)
    assert (here / "report").read_bytes() == printed.out
    assert written.text == "Found 1 problem in 1 file; 1 file checked.\n"


@pytest.mark.parametrize("chosen", MACHINES)
def test_what_could_not_be_done_is_in_the_report_and_on_standard_error(
    torchlint: Run, linter: Any, rules: None, chosen: str
) -> None:
    linter.diagnostics = [Diagnostic("bad.py", "Not Python.", Position(2, 7))]
    outcome = torchlint("check", "--output-format", chosen)
    assert outcome.code == 2
    assert outcome.err == "bad.py:2:7: error: Not Python.\n"
    assert "Not Python." in outcome.text


def test_paths_are_those_of_the_repository(
    torchlint: Run,
    linter: Any,
    make_finding: MakeFinding,
    rules: None,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (here / "src").mkdir()
    monkeypatch.chdir(here / "src")
    linter.findings = [make_finding(path="a.py")]
    (entry,) = json.loads(torchlint("check", "--output-format", "gitlab").out)
    assert entry["location"]["path"] == "src/a.py"
    (run,) = json.loads(torchlint("check", "--output-format", "sarif").out)["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "src/a.py"


def test_sarif_has_the_pages_of_the_rules(
    torchlint: Run, linter: Any, make_finding: MakeFinding, rules: None
) -> None:
    linter.findings = [make_finding(code="TL101", name="dataloader-no-workers")]
    (run,) = json.loads(torchlint("check", "--output-format", "sarif").out)["runs"]
    (rule,) = run["tool"]["driver"]["rules"]
    assert "Load." in rule["help"]["markdown"]


def test_what_standard_input_holds_is_excerpted(
    torchlint: Run, linter: Any, make_finding: MakeFinding
) -> None:
    linter.findings = [make_finding(path="new.py", row=1, column=5)]
    words = ("check", "-", "--stdin-filename", "new.py", "--output-format")
    stdin = "é = loss\n".encode()
    report = json.loads(torchlint(*words, "rdjson", stdin=stdin).out)
    assert report["diagnostics"][0]["location"]["range"]["start"] == {"line": 1, "column": 6}
    assert b"<mark>loss</mark>" in torchlint(*words, "html", stdin=stdin).out


def test_a_file_has_no_colour_whatever_the_terminal_wants(
    torchlint: Run,
    linter: Any,
    make_finding: MakeFinding,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    linter.findings = [make_finding()]
    torchlint("check", "--output-file", "report.txt")
    assert b"\x1b" not in (here / "report.txt").read_bytes()


def test_statistics_go_into_the_file(
    torchlint: Run, linter: Any, make_finding: MakeFinding, here: Path
) -> None:
    linter.findings = [make_finding()]
    outcome = torchlint("check", "--statistics", "--output-file", "report.txt")
    sentence = "Found 1 problem in 1 file; 1 file checked.\n"
    assert (here / "report.txt").read_text() == f"     1  TL201  item-in-step-loop\n{sentence}"
    assert outcome.text == sentence


@pytest.mark.parametrize("chosen", MACHINES)
def test_statistics_are_no_report_of_these_formats(
    torchlint: Run, linter: Any, chosen: str
) -> None:
    outcome = torchlint("check", "--statistics", "--output-format", chosen)
    assert (outcome.code, outcome.out) == (2, b"")
    assert "--statistics counts in text or json" in outcome.err


def test_a_baseline_reports_what_is_new_in_any_format(
    torchlint: Run, linter: Any, make_finding: MakeFinding, rules: None, here: Path
) -> None:
    linter.findings = [make_finding(fingerprint="0" * 16)]
    assert torchlint("baseline", "write").code == 0
    linter.findings.append(make_finding(row=4, fingerprint="1" * 16))
    words = ("baseline", "check", "--output-format", "gitlab", "--output-file", "report.json")
    outcome = torchlint(*words)
    (entry,) = json.loads((here / "report.json").read_bytes())
    assert entry["location"]["lines"]["begin"] == 4
    assert outcome.code == 1
    assert outcome.text == "Found 1 problem in 1 file; 1 file checked.\n"


def test_a_file_keeps_no_width(
    torchlint: Run,
    linter: Any,
    make_finding: MakeFinding,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "40")
    linter.findings = [make_finding(message="word " * 40)]
    assert "word " * 39 not in torchlint("check").text
    torchlint("check", "--output-file", "report.txt")
    assert "word " * 39 in (here / "report.txt").read_text()


def test_a_hyphen_is_standard_output(torchlint: Run, linter: Any, here: Path) -> None:
    assert torchlint("check", "--output-file", "-").text == torchlint("check").text
    assert not (here / "-").exists()


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("gone/report.html", "There is no folder gone for gone/report.html; make it first."),
        ("train.py/report", "There is no folder train.py"),
        ("folder", "`folder` is not a file"),
        ("folder/", "`folder/` is not a file"),
        ("", "`` is not a file"),
        ("train.py", "train.py is being checked; name another file to write."),
        ("link.py", "link.py is being checked"),
    ],
)
def test_a_file_that_cannot_be_the_report_is_refused_before_the_check(
    torchlint: Run, linter: Any, here: Path, file: str, message: str
) -> None:
    (here / "folder").mkdir()
    (here / "link.py").symlink_to("train.py")
    before = (here / "train.py").read_bytes()
    outcome = torchlint("check", "train.py", "--output-file", file)
    assert (outcome.code, outcome.out) == (2, b"")
    assert message in outcome.err
    assert linter.targets == ()
    assert (here / "train.py").read_bytes() == before


def test_a_report_that_cannot_be_written_is_an_error(
    torchlint: Run, linter: Any, make_finding: MakeFinding, here: Path
) -> None:
    (here / "report").write_text("old")
    (here / "report").chmod(0o444)
    linter.findings = [make_finding()]
    outcome = torchlint("check", "--output-file", "report")
    assert (outcome.code, outcome.out) == (2, b"")
    assert outcome.err == "Error: report: The file is read-only; make it writable first.\n"


def test_a_check_that_fails_leaves_the_last_report(
    torchlint: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torchlint import library

    def crash(*_args: object, **_options: object) -> None:
        raise ZeroDivisionError("x")

    monkeypatch.setattr(library, "check", crash)
    (here / "report").write_text("old")
    assert torchlint("check", "--output-file", "report").code == 2
    assert (here / "report").read_text() == "old"


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no /dev/stdout here")
def test_a_device_is_written_to_and_not_replaced(here: Path) -> None:
    words = [sys.executable, "-m", "torchlint", "check", "--output-format", "junit"]
    done = subprocess.run(
        [*words, "--output-file", "/dev/stdout"], capture_output=True, check=True, text=True
    )
    document, _, sentence = done.stdout.partition("No problems found; 1 file checked.")
    assert ElementTree.fromstring(document).tag == "testsuites"
    assert sentence


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no /dev/stdout here")
def test_a_file_that_a_shell_appends_to_keeps_what_it_holds(here: Path) -> None:
    (here / "log").write_text("before\n")
    words = [sys.executable, "-m", "torchlint", "check", "--output-format", "json"]
    with (here / "log").open("a") as log:
        subprocess.run([*words, "--output-file", "/dev/stdout"], stdout=log, check=True)
    text = (here / "log").read_text()
    assert text.startswith("before\n[\n]\nNo problems found; 1 file checked.\n")


def test_a_text_report_imports_no_other_format(here: Path) -> None:
    (here / "train.py").write_text("import torch\nmodel = torch.nn.DataParallel(model)\n")
    code = (
        "import sys; from torchlint.__main__ import run; code = run(['check', '--hints']); "
        "print(code, *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    modules = done.stdout.splitlines()[-1].split()
    assert "torchlint.report.formats.text" in modules
    others = [f"torchlint.report.{each}" for each in (*STARTS, "places", "hunks") if each != "text"]
    assert not set(others) & set(modules)
