from __future__ import annotations

from collections.abc import Callable

import pytest

from torchlint.finding import Applicability, Finding
from torchlint.report import fixes
from torchlint.report.terminal import diff
from torchlint.report.terminal.safe_text import Paint

MakeFinding = Callable[..., Finding]


def test_what_was_withheld_is_listed_with_its_reason(make_finding: MakeFinding) -> None:
    assert list(fixes.withheld([make_finding(withheld="it is\ncompared")], Paint())) == [
        "train.py:3:5: TL201 item-in-step-loop: no fix: it is\\ncompared"
    ]


@pytest.mark.parametrize(
    ("applied", "unsafe", "asked", "apply", "expected"),
    [
        (0, 0, False, True, "Nothing to fix (2 problems without a fix); 9 files checked."),
        (0, 2, False, False, "Nothing to fix (2 fixable with `--unsafe`); 9 files checked."),
        (0, 2, True, False, "Nothing to fix (2 not made); 9 files checked."),
        (1, 0, False, True, "Fixed 1 problem in 1 file; 9 files checked."),
        (1, 1, True, True, "Fixed 1 problem in 1 file (1 not made); 9 files checked."),
        (
            3,
            1,
            False,
            False,
            "Would fix 3 problems in 1 file (1 more with `--unsafe`); 9 files checked. "
            "Write with `--apply`.",
        ),
    ],
)
def test_one_sentence_says_what_was_fixed(
    make_finding: MakeFinding, applied: int, unsafe: int, asked: bool, apply: bool, expected: str
) -> None:
    remaining = [
        make_finding(),
        make_finding(fix=Applicability.SUGGEST),
        *[make_finding(fix=Applicability.UNSAFE)] * unsafe,
    ]
    made = [make_finding()] * applied
    got = fixes.sentence(made, remaining, changed=1, files=9, apply=apply, unsafe=asked)
    assert got == expected


def test_nothing_is_fixed_after_an_error() -> None:
    given = {"changed": 0, "files": 9, "apply": True, "unsafe": False}
    got = fixes.sentence([], [], **given, errors=1)
    assert got == "Nothing fixed; 9 files checked, 1 error."
    assert fixes.sentence([], [], **given) == "Nothing to fix; 9 files checked."


def test_a_diff_on_a_terminal_is_painted_and_harmless() -> None:
    lines = diff.render(
        b"--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\x1b[2J\r\n+caf\xe9\tb\r\n c\n", Paint(on=True)
    )
    assert list(lines) == [
        "\x1b[1m--- a/x.py\x1b[0m",
        "\x1b[1m+++ b/x.py\x1b[0m",
        "\x1b[36m@@ -1 +1 @@\x1b[0m",
        "\x1b[1;31m-a\\x1b[2J\x1b[0m",
        "\x1b[32m+caf\\xe9    b\x1b[0m",
        " c",
    ]


def test_a_changed_line_that_looks_like_a_file_name_keeps_its_colour() -> None:
    hunk = b"@@ -1 +1 @@\n--- x\n+++ y\n"
    lines = list(diff.render(b"--- a\n+++ b\n" + hunk, Paint(on=True)))
    assert lines[3:] == ["\x1b[1;31m--- x\x1b[0m", "\x1b[32m+++ y\x1b[0m"]
