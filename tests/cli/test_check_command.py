from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from torchlint.files import reading as source
from torchlint.finding import Applicability, Diagnostic, Finding, Position, Tier

if TYPE_CHECKING:
    from pathlib import Path

MakeFinding = Callable[..., Finding]
Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def train_py(here: Path) -> None:
    (here / "train.py").write_text("import torch\n\n    loss.item()\n")


def test_nothing_found_is_0_and_one_sentence(torchlint: Run, linter: Any) -> None:
    outcome = torchlint("check")
    assert (outcome.code, outcome.err) == (0, "")
    assert linter.targets[0].selection.enabled("TL201", "item-in-step-loop")
    assert outcome.text == "No problems found; 1 file checked.\n"


def test_findings_are_1_with_source_and_a_closing_sentence(
    torchlint: Run, linter: Any, make_finding: MakeFinding
) -> None:
    linter.findings = [make_finding(message="It waits.", fix=Applicability.UNSAFE)]
    outcome = torchlint("check", "train.py")
    assert outcome.code == 1
    assert outcome.text == (
        "train.py:3:5: TL201 item-in-step-loop [unsafe fix]\n"
        "    It waits.\n"
        "    3 |     loss.item()\n"
        "      |     ^^^^\n"
        "\n"
        "Found 1 problem in 1 file (1 fixable with `torchlint fix --unsafe`); 1 file checked.\n"
    )


def test_hints_are_hidden_and_do_not_count(
    torchlint: Run, linter: Any, make_finding: MakeFinding
) -> None:
    linter.findings = [make_finding(tier=Tier.HINT)]
    hidden, shown = torchlint("check"), torchlint("check", "--hints")
    assert (hidden.code, shown.code) == (0, 0)
    assert "at least 1 hint in 1 file (--hints shows all)" in hidden.text
    assert "TL201 item-in-step-loop hint" in shown.text


def test_pedantic_findings_are_shown_on_request(
    torchlint: Run, linter: Any, make_finding: MakeFinding, rules: None
) -> None:
    linter.findings = [make_finding(tier=Tier.PEDANTIC)]
    assert torchlint("check").code == 0
    assert torchlint("check", "--pedantic").code == 1
    assert torchlint("check", "--select", "tl201").code == 1


def test_trouble_is_2_before_1_and_does_not_hide_findings(
    torchlint: Run, linter: Any, make_finding: MakeFinding
) -> None:
    linter.findings = [make_finding()]
    linter.diagnostics = [Diagnostic("bad.py", "Not Python.", Position(2, 7))]
    for words in (("check", "nope.py", "train.py"), ("check", "nope.py", "--exit-zero")):
        outcome = torchlint(*words)
        assert outcome.code == 2
        assert outcome.err == (
            "bad.py:2:7: error: Not Python.\n"
            "nope.py: error: There is no such file or folder; check the name.\n"
        )
        assert "TL201" in outcome.text


def test_exit_zero_turns_findings_into_0(
    torchlint: Run, linter: Any, make_finding: MakeFinding
) -> None:
    linter.findings = [make_finding()]
    outcome = torchlint("check", "--exit-zero")
    assert outcome.code == 0
    assert "TL201" in outcome.text


def test_json_is_all_of_standard_output(
    torchlint: Run, linter: Any, make_finding: MakeFinding, rules: None
) -> None:
    linter.findings = [make_finding(), make_finding(row=4, tier=Tier.HINT)]
    outcome = torchlint("check", "--output-format", "json", "nope.py", "train.py")
    (entry,) = json.loads(outcome.out)
    assert entry["code"] == "TL201"
    assert entry["help"] == "torchlint rule TL201"
    assert outcome.err.startswith("nope.py: error: ")
    assert len(json.loads(torchlint("check", "--hints", "--output-format", "json").out)) == 2


def test_quiet_is_findings_and_errors_alone(
    torchlint: Run, linter: Any, make_finding: MakeFinding, rules: None
) -> None:
    linter.findings = [make_finding(), make_finding(row=4, tier=Tier.HINT)]
    outcome = torchlint("check", "-q", "--output-format", "grouped", "nope.py", "train.py")
    assert outcome.text.splitlines() == [
        "train.py:",
        "  3:5  TL201  " + linter.findings[0].message,
        "",
    ]
    assert outcome.err.splitlines() == [
        "nope.py: error: There is no such file or folder; check the name."
    ]
    linter.findings = []
    assert torchlint("check", "--quiet", "train.py").text == ""


def test_json_of_nothing_is_an_empty_list(torchlint: Run, linter: Any) -> None:
    assert json.loads(torchlint("check", "--output-format", "json").out) == []


@pytest.mark.parametrize(
    ("output_format", "expected"),
    [
        ("concise", "train.py:3:5: TL201 M\n"),
        (
            "github",
            "::warning file=train.py,line=3,col=5,endLine=3,endColumn=9,"
            "title=TL201 item-in-step-loop::M\n"
            "::error file=bad.py,title=torchlint::B\n",
        ),
    ],
)
def test_the_other_formats_print_only_their_lines(
    torchlint: Run, linter: Any, make_finding: MakeFinding, output_format: str, expected: str
) -> None:
    linter.findings = [make_finding(message="M")]
    linter.diagnostics = [Diagnostic("bad.py", "B")]
    assert torchlint("check", "--output-format", output_format).text == expected


def test_statistics_replace_the_list(
    torchlint: Run, linter: Any, make_finding: MakeFinding
) -> None:
    linter.findings = [make_finding(), make_finding()]
    outcome = torchlint("check", "--statistics")
    assert outcome.code == 1
    assert outcome.text == (
        "     2  TL201  item-in-step-loop\nFound 2 problems in 1 file; 1 file checked.\n"
    )
    concise = torchlint("check", "--statistics", "--output-format", "concise")
    assert concise.text == "     2  TL201  item-in-step-loop\n"
    entries = json.loads(torchlint("check", "--statistics", "--output-format", "json").out)
    assert entries[0]["count"] == 2


def test_select_and_ignore_take_commas_and_repeat(torchlint: Run, linter: Any, rules: None) -> None:
    torchlint("check", "--select", "tl1, TL201", "--select", "ALL", "--ignore", "TL101")
    assert linter.targets[0].selection.select == ("TL1", "TL201", "ALL")
    assert linter.targets[0].selection.ignore == ("TL101",)


def test_the_target_torch_and_jobs_reach_the_engine(torchlint: Run, linter: Any) -> None:
    torchlint("check", "--target-torch", "2.1", "--jobs", "3")
    assert (linter.targets[0].torch, linter.jobs) == ((2, 1), 3)


def test_jobs_default_to_the_processors_this_process_may_use(
    torchlint: Run, linter: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1, 2}, raising=False)
    torchlint("check")
    assert linter.jobs == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    torchlint("check")
    assert linter.jobs == 5


def test_standard_input_is_checked_under_its_name(
    torchlint: Run, linter: Any, make_finding: MakeFinding
) -> None:
    linter.findings = [make_finding(path="new.py", row=1, column=1)]
    outcome = torchlint("check", "-", "--stdin-filename", "new.py", stdin=b"loss.item()\n")
    assert (linter.targets[0].path, linter.targets[0].data) == ("new.py", b"loss.item()\n")
    assert "    1 | loss.item()\n      | ^^^^\n" in outcome.text


def test_standard_input_that_is_too_large_is_refused(
    torchlint: Run, linter: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "MAX_BYTES", 3)
    outcome = torchlint("fix", "-", "--apply", stdin=b"1234")
    assert (outcome.code, outcome.out) == (2, b"")
    assert "Standard input is over" in outcome.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--isolated", "--config", "x.toml"), "--config and --isolated exclude each other"),
        (("-", "train.py"), "give no other path"),
        (("--stdin-filename", "a.py"), "needs `-`"),
        (("--config", "nope.toml"), "nope.toml: There is no such file; check the name"),
        (("--select", "TL999"), "Unknown rule `TL999`"),
        (("--ignore", "item-in-loop"), "the nearest known one is `item-in-step-loop`"),
        (("--target-torch", "new"), '"new" is not a version'),
        (("--jobs", "0"), "--jobs"),
        (("--output-format", "xml"), "'xml' is not one of"),
        (("--no\x1b[31msuch",), "\\x1b[31m"),
    ],
)
def test_wrong_usage_is_2_and_says_what_to_do(
    torchlint: Run, linter: Any, rules: None, words: tuple[str, ...], message: str
) -> None:
    outcome = torchlint("check", *words)
    assert (outcome.code, outcome.out) == (2, b"")
    assert message in outcome.err
    assert "\x1b" not in outcome.err


def test_isolated_and_config_choose_the_settings(torchlint: Run, linter: Any, here: Path) -> None:
    (here / "torchlint.toml").write_text('exclude = ["train.py"]\n')
    (here / "other.toml").write_text('exclude = ["b.py"]\n')
    (here / "b.py").touch()

    def checked(*words: str) -> list[str]:
        torchlint("check", *words)
        return [target.path for target in linter.targets]

    assert checked() == ["b.py"]
    assert checked("--isolated") == ["b.py", "train.py"]
    assert checked("--config", "other.toml") == ["train.py"]


def test_colour_is_forced_by_the_environment(
    torchlint: Run, linter: Any, make_finding: MakeFinding, monkeypatch: pytest.MonkeyPatch
) -> None:
    linter.findings = [make_finding()]
    assert b"\x1b[" not in torchlint("check").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert b"\x1b[1;31mTL201\x1b[0m" in torchlint("check").out


def test_the_counter_is_cleared_before_an_error_is_shown(
    torchlint: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torchlint import library
    from torchlint.report.terminal.file_counter import FileCounter

    cleared: list[bool] = []
    monkeypatch.setattr(FileCounter, "clear", lambda self: cleared.append(True))

    def crash(*_args: object, **_options: object) -> None:
        raise ZeroDivisionError("x")

    monkeypatch.setattr(library, "check", crash)
    assert torchlint("check").code == 2
    assert cleared == [True]


def test_a_folder_without_torch_is_checked_for_real(torchlint: Run, here: Path) -> None:
    (here / "train.py").write_text("x = 1\n")
    (here / "gone.py").symlink_to("nowhere")
    outcome = torchlint("check", ".", "gone.py")
    assert outcome.code == 2
    assert outcome.text == "1 error; no problems found; 2 files checked.\n"
    assert outcome.err.startswith("gone.py: error: ")


@pytest.mark.parametrize(
    ("words", "colour"),
    [
        (("check", "--color", "always"), True),
        (("--color", "always", "check"), True),
        (("--color", "never", "check", "--color", "always"), True),
        (("check", "--color", "auto"), False),
        (("--color", "always", "check", "--color", "never"), False),
    ],
)
def test_colour_can_be_asked_for_at_either_place(
    torchlint: Run, linter: Any, make_finding: MakeFinding, words: tuple[str, ...], colour: bool
) -> None:
    linter.findings = [make_finding()]
    assert (b"\x1b[" in torchlint(*words).out) is colour


def test_never_goes_before_the_environment(
    torchlint: Run, linter: Any, make_finding: MakeFinding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    linter.findings = [make_finding()]
    assert b"\x1b[" not in torchlint("check", "--color", "never").out


def test_fixes_are_shown_in_text_only(
    torchlint: Run, linter: Any, make_finding: MakeFinding
) -> None:
    linter.findings = [make_finding(fix=Applicability.SAFE)]
    assert "    fix: Read it after the loop\n" in torchlint("check", "--show-fixes").text
    for words in (("--statistics",), ("--output-format", "json")):
        outcome = torchlint("check", "--show-fixes", *words)
        assert outcome.code == 2
        assert "--show-fixes is for text" in outcome.err


def test_a_check_that_saw_no_step_or_left_a_file_out_says_so(torchlint: Run, here: Path) -> None:
    (here / "train.py").write_text("import torch\nimport sac\n")
    (here / "sac.py").write_text("import torch\n")
    assert torchlint("check", "train.py").text.splitlines() == [
        "No problems found; 1 file checked.",
        "No training step was seen here, so rules about steps had nothing to look at; "
        "`torchlint hot` shows what was seen.",
        "`sac.py`, which train.py imports, was not checked; `torchlint check .` checks it too.",
    ]
    assert torchlint("check", "-q", "train.py").text == ""
    assert "sac.py" not in torchlint("check", ".").text


BESIDE = "concise json github gitlab sarif junit rdjson html json,--statistics"
WITHIN = "text grouped agent text,--statistics"


@pytest.mark.parametrize("chosen", [*BESIDE.split(), *WITHIN.split()])
def test_what_was_not_looked_at_is_told_once_with_every_format(
    torchlint: Run, here: Path, chosen: str
) -> None:
    (here / "train.py").write_text("import torch\nimport sac\n")
    (here / "sac.py").write_text("import torch\n")
    words = ["check", "train.py", "--output-format", *chosen.split(",")]
    outcome = torchlint(*words)
    told = outcome.text if chosen in WITHIN.split() else outcome.err
    assert (outcome.text + outcome.err).count("No training step was seen") == 1
    assert told.count("No training step was seen") == told.count("`sac.py`, which") == 1
    assert chosen == "agent" or told.count("\n") <= 3
    assert torchlint(*words, "-q").err == ""
