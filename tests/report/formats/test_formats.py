from __future__ import annotations

import json as stdlib_json
from collections.abc import Callable

import pytest

from torchlint.finding import Applicability, Diagnostic, Effect, Finding, Position, Related, Tier
from torchlint.report import check_summary as summary
from torchlint.report.formats import concise, github, json, statistics
from torchlint.report.terminal.safe_text import Paint

MakeFinding = Callable[..., Finding]
EVIL = "\x1b[2J\r\n::error::%,: \u202e"


def test_concise_is_one_line_per_finding(make_finding: MakeFinding) -> None:
    findings = [
        make_finding(message="It waits.", fix=Applicability.SAFE),
        make_finding(message="Maybe.", tier=Tier.HINT, path=EVIL),
    ]
    assert list(concise.render(findings, Paint())) == [
        "train.py:3:5: TL201 It waits. [safe fix]",
        "\\x1b[2J\\r\\n::error::%,: \\u202e:3:5: TL201 hint: Maybe.",
    ]


@pytest.mark.parametrize(
    ("position", "line"),
    [
        (Position(3, 5), "a.py:3:5: error: Bad.\\n"),
        (None, "a.py: error: Bad.\\n"),
    ],
)
def test_a_diagnostic_has_its_place_if_it_has_one(position: Position | None, line: str) -> None:
    assert concise.diagnostic_line(Diagnostic("a.py", "Bad.\n", position), Paint()) == line


def test_json_has_every_part_of_a_finding(make_finding: MakeFinding) -> None:
    related = (Related("main.py", Position(40, 9), "the loop"),)
    finding = make_finding(fix=Applicability.UNSAFE, related=related)
    (entry,) = stdlib_json.loads("\n".join(json.render([finding])))
    assert entry == {
        "code": "TL201",
        "name": "item-in-step-loop",
        "tier": "default",
        "severity": "default",
        "effect": "small",
        "message": finding.message,
        "filename": "train.py",
        "location": {"row": 3, "column": 5},
        "end_location": {"row": 3, "column": 9},
        "fix": {
            "applicability": "unsafe",
            "message": "Read it after the loop",
            "edits": [
                {
                    "location": {"row": 3, "column": 5},
                    "end_location": {"row": 3, "column": 9},
                    "content": "loss",
                }
            ],
        },
        "withheld": None,
        "related": [
            {"filename": "main.py", "location": {"row": 40, "column": 9}, "message": "the loop"}
        ],
        "scope": "",
        "fingerprint": "",
        "url": None,
        "help": "torchlint rule TL201",
    }


def test_json_without_a_fix_says_null_and_why(make_finding: MakeFinding) -> None:
    (entry,) = stdlib_json.loads("\n".join(json.render([make_finding(withheld="why")])))
    assert entry["fix"] is None
    assert entry["withheld"] == "why"


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_json_is_a_list_of_any_length(make_finding: MakeFinding, count: int) -> None:
    lines = json.render([make_finding()] * count)
    assert len(stdlib_json.loads("\n".join(lines))) == count


def test_json_is_ascii_and_keeps_names_exactly(make_finding: MakeFinding) -> None:
    shown = "\n".join(json.render([make_finding(path=EVIL, message="größe")]))
    assert shown.isascii()
    assert "\x1b" not in shown
    assert stdlib_json.loads(shown)[0]["filename"] == EVIL


def test_github_gets_one_command_per_finding(make_finding: MakeFinding) -> None:
    assert list(github.render([make_finding(message="It waits.")], [])) == [
        "::warning file=train.py,line=3,col=5,endLine=3,endColumn=9,"
        "title=TL201 item-in-step-loop::It waits."
    ]


def test_github_gets_no_columns_over_several_lines(make_finding: MakeFinding) -> None:
    (command,) = github.render([make_finding(end=(5, 2), message="M")], [])
    assert command == "::warning file=train.py,line=3,endLine=5,title=TL201 item-in-step-loop::M"


@pytest.mark.parametrize(
    ("tier", "level"), [(Tier.DEFAULT, "warning"), (Tier.HINT, "notice"), (Tier.PEDANTIC, "notice")]
)
def test_github_levels_follow_the_tier(make_finding: MakeFinding, tier: Tier, level: str) -> None:
    (command,) = github.render([make_finding(tier=tier)], [])
    assert command.startswith(f"::{level} ")


def test_github_cannot_be_told_other_commands(make_finding: MakeFinding) -> None:
    (command,) = github.render([make_finding(path=EVIL, message=EVIL)], [])
    assert command.startswith(
        "::warning file=\\x1b[2J%0D%0A%3A%3Aerror%3A%3A%25%2C%3A \\u202e,line=3,"
    )
    assert command.endswith("::\\x1b[2J%0D%0A::error::%25,: \\u202e")


def test_github_gets_diagnostics(make_finding: MakeFinding) -> None:
    diagnostics = [Diagnostic("a.py", "Bad.", Position(3, 5)), Diagnostic("b.py", "Gone.")]
    assert list(github.render([], diagnostics)) == [
        "::error file=a.py,line=3,col=5,title=torchlint::Bad.",
        "::error file=b.py,title=torchlint::Gone.",
    ]


def test_github_gets_no_rows_of_a_cell_for_lines_of_a_notebook(make_finding: MakeFinding) -> None:
    finding = make_finding(path="a.ipynb", message="M")._replace(start=Position(5, 9, 3))
    diagnostics = [Diagnostic("a.ipynb", "Bad.", Position(5, 9, 3))]
    assert list(github.render([finding], diagnostics)) == [
        "::warning file=a.ipynb,line=1,title=TL201 item-in-step-loop::cell 3, line 5: M",
        "::error file=a.ipynb,line=1,title=torchlint::cell 3, line 5: Bad.",
    ]


def test_statistics_count_the_most_frequent_rule_first(make_finding: MakeFinding) -> None:
    findings = [
        make_finding(code="TL101", name="dataloader-no-workers"),
        make_finding(fix=Applicability.SAFE),
        make_finding(),
    ]
    assert list(statistics.render(findings)) == [
        "     2  TL201  item-in-step-loop (1 with a fix)",
        "     1  TL101  dataloader-no-workers",
    ]
    assert stdlib_json.loads(statistics.render_json(findings))[0] == {
        "code": "TL201",
        "name": "item-in-step-loop",
        "count": 2,
        "fixable": 1,
    }


SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE


@pytest.mark.parametrize(
    ("fixes", "hints", "files", "errors", "expected"),
    [
        ([], 0, 0, 0, "No Python files to check; name a file or another folder."),
        ([], 0, 0, 1, "1 error; no problems found; 0 files checked."),
        ([], 0, 1, 0, "No problems found; 1 file checked."),
        ([None], 0, 3, 0, "Found 1 problem in 1 file; 3 files checked."),
        (
            [SAFE, SAFE, UNSAFE, None],
            0,
            40,
            0,
            "Found 4 problems in 1 file (2 fixable with `torchlint fix`, 1 more with `--unsafe`); "
            "40 files checked.",
        ),
        (
            [SAFE, Applicability.SUGGEST],
            0,
            3,
            2,
            "Found 2 problems in 1 file (1 fixable with `torchlint fix`); "
            "3 files checked, 2 errors.",
        ),
        (
            [UNSAFE],
            0,
            3,
            0,
            "Found 1 problem in 1 file (1 fixable with `torchlint fix --unsafe`); 3 files checked.",
        ),
        ([None], 2, 3, 0, "Found 1 problem and 2 hints in 2 files; 3 files checked."),
        ([], 1, 3, 0, "Found no problems and 1 hint in 1 file; 3 files checked."),
    ],
)
def test_one_sentence_counts_what_happened(
    make_finding: MakeFinding,
    fixes: list[Applicability | None],
    hints: int,
    files: int,
    errors: int,
    expected: str,
) -> None:
    findings = [make_finding(fix=fix) for fix in fixes]
    findings += [make_finding(path="hints.py", tier=Tier.HINT)] * hints
    assert summary.sentence(findings, files, errors) == expected


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            ("a.py",),
            "`a.py`, which t.py imports, was not checked; `torchlint check .` checks it too.",
        ),
        (("a.py", "b.py"), "`a.py` and `b.py`, which t.py imports, were not checked"),
        (tuple("abcde"), "`a`, `b`, `c` and 2 more, which t.py imports, were not checked"),
    ],
)
def test_files_that_were_not_checked_are_named(files: tuple[str, ...], said: str) -> None:
    assert summary.not_checked(files, "t.py", ".").startswith(said)


def test_a_report_says_where_to_begin_unless_that_is_seen_at_once(
    make_finding: MakeFinding,
) -> None:
    findings = [make_finding(row=row) for row in range(1, 7)]
    assert summary.costliest(findings) is None
    findings[1:5] = [each._replace(effect=Effect.LARGE) for each in findings[1:5]]
    findings[2] = findings[2]._replace(tier=Tier.HINT)
    said = "Expected to cost most: train.py:2 TL201, train.py:4 TL201, train.py:5 TL201."
    assert summary.costliest(findings) == said
    assert summary.costliest(findings[:3]) is None
