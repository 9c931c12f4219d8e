"""The report for coding assistants: what it leaves out, and that its edits are those of the fixes."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.notebook_files import notebook
from torchlint.finding import (
    Applicability,
    Diagnostic,
    Edit,
    Finding,
    Fix,
    Position,
    Related,
    Tier,
)
from torchlint.fixes.splice import with_fixes
from torchlint.library import check_paths
from torchlint.report.formats import agent
from torchlint.report.terminal.excerpt import Excerpts
from torchlint.silence.tiers import Shown

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
MakeFinding = Callable[..., Finding]
SOURCE = "import torch\n\nfor x in y:\n    total += loss.item()\n    steps += 1\nprint(total)\n"


def report(*findings: Finding, source: str = SOURCE) -> list[str]:
    texts = {finding.path: source.encode() for finding in findings}
    return list(agent.render(Shown(findings), (), Excerpts(texts)))


def fixed(
    finding: Finding,
    *edits: tuple[int, int, int, int, str],
    kind: Applicability = Applicability.UNSAFE,
    message: str = "Mend",
) -> Finding:
    made = tuple(
        Edit(Position(row, column), Position(last, end), content)
        for row, column, last, end, content in edits
    )
    return finding._replace(fix=Fix(kind, message, made))


def test_findings_are_under_their_file_with_row_code_and_reason(
    make_finding: MakeFinding,
) -> None:
    assert report(
        make_finding(path="a.py", row=3, message="It waits."),
        make_finding(path="a.py", row=9, message="Maybe.", tier=Tier.HINT, code="TL102"),
        make_finding(path="b.py", row=1, message="It waits.", withheld="what it is for is unknown"),
    ) == [
        "a.py:",
        "3 TL201 It waits.",
        "9 TL102 hint: Maybe.",
        "b.py:",
        "1 TL201 It waits.",
        "no fix: what it is for is unknown",
    ]


def test_a_fix_is_words_of_a_row_or_a_hunk_without_context(make_finding: MakeFinding) -> None:
    finding = make_finding(row=4, column=14, message="It waits.")
    insertion = "    total = float(total)\n"
    assert report(fixed(finding, (4, 18, 4, 25, ""), (6, 1, 6, 1, insertion))) == [
        "train.py:",
        "4 TL201 It waits.",
        "unsafe fix:",
        "4: `loss.item()` -> `loss`",
        "@@ -5,0 +6 @@",
        "+    total = float(total)",
    ]


@pytest.mark.parametrize(
    ("line", "edit", "shown"),
    [
        ("f(a=1, b=2)", (11, 11, ", c=3"), ["1: `b=2)` -> `b=2, c=3)`"]),
        ("f(a, a)", (3, 4, "b"), ["1: `f(a,` -> `f(b,`"]),
        ("x a a", (5, 6, "b"), ["@@ -1 +1 @@", "-x a a", "+x a b"]),
        ("aa aaa", (1, 3, "b"), ["@@ -1 +1 @@", "-aa aaa", "+b aaa"]),
        ("'`' + a", (7, 8, "b"), ["1: `a` -> `b`"]),
        ("`a`", (2, 3, "b"), ["@@ -1 +1 @@", "-`a`", "+`b`"]),
        ("a + b", (1, 6, "a\n    + b"), ["@@ -1 +1,2 @@", "-a + b", "+a", "+    + b"]),
        ("\ta = 1", (2, 3, "b"), ["1: `a` -> `b`"]),
        ("\ta", (1, 2, "    "), ["@@ -1 +1 @@", "-\ta", "+    a"]),
    ],
)
def test_words_are_only_shown_if_the_row_has_them_once(
    make_finding: MakeFinding, line: str, edit: tuple[int, int, str], shown: list[str]
) -> None:
    start, end, content = edit
    finding = fixed(make_finding(row=1), (1, start, 1, end, content))
    assert report(finding, source=line + "\n")[3:] == shown


@pytest.mark.parametrize("line", ["a = '\x1b[2J'", "a = '\u202e'", "a = " + "b" * 20_000])
def test_an_edit_that_cannot_be_shown_exactly_is_not_shown(
    make_finding: MakeFinding, line: str
) -> None:
    finding = fixed(make_finding(row=1), (1, 1, 1, len(line) + 1, "c"))
    assert report(finding, source=line)[2:] == [
        "unsafe fix:",
        "its lines cannot be shown exactly; `torchlint fix` has it",
    ]


def test_the_same_finding_at_many_rows_is_said_once(make_finding: MakeFinding) -> None:
    findings = [make_finding(row=row, message="It waits.") for row in (3, 4, 5, 6)]
    findings[0] = fixed(findings[0], (3, 5, 3, 6, "z"), kind=Applicability.SAFE)
    findings[1] = fixed(findings[1], (4, 18, 4, 25, ""), (6, 1, 6, 1, "z\n"))
    findings[2] = fixed(findings[2], (5, 14, 5, 15, "2"), (6, 1, 6, 1, "z\n"))
    findings[3] = findings[3]._replace(withheld="it is printed")
    assert report(*findings) == [
        "train.py:",
        "3, 4, 5, 6 TL201 It waits.",
        "safe fix:",
        "3: `x` -> `z`",
        "unsafe fix:",
        "4: `loss.item()` -> `loss`",
        "@@ -5,0 +6 @@",
        "+z",
        "@@ -5 +5,2 @@",
        "-    steps += 1",
        "+    steps += 2",
        "+z",
        "no fix at 6: it is printed",
    ]


def test_other_messages_and_tiers_are_other_findings(make_finding: MakeFinding) -> None:
    one, two = make_finding(row=1, message="It waits."), make_finding(row=2, message="It stops.")
    hint = make_finding(row=3, message="It waits.", tier=Tier.HINT)
    again = fixed(one._replace(start=Position(1, 9)), (1, 1, 1, 7, "x"))
    assert report(one, two, hint, again) == [
        "train.py:",
        "1 TL201 It waits.",
        "unsafe fix:",
        "1: `import` -> `x`",
        "no fix at 1",
        "2 TL201 It stops.",
        "3 TL201 hint: It waits.",
    ]


def test_a_hunk_counts_the_lines_that_those_before_it_add(make_finding: MakeFinding) -> None:
    finding = fixed(make_finding(row=1), (1, 1, 1, 1, "a\nb\n"), (6, 1, 6, 1, "c\n"))
    assert report(finding)[3::] == ["@@ -0,0 +1,2 @@", "+a", "+b", "@@ -5,0 +8 @@", "+c"]


def test_many_short_lines_are_one_hunk(make_finding: MakeFinding) -> None:
    finding = fixed(make_finding(row=1), (1, 1, 1, 2, "x"), (2, 1, 2, 2, "y"), (3, 1, 3, 2, "z"))
    whole = ["@@ -1,3 +1,3 @@", "-a", "-b", "-c", "+x", "+y", "+z"]
    assert report(finding, source="a\nb\nc\n")[3:] == whole


def test_a_suggestion_and_what_an_unsafe_fix_changes_are_named(make_finding: MakeFinding) -> None:
    message = "Load with four workers; random numbers will differ"
    one = fixed(make_finding(row=5, code="TL101"), (5, 14, 5, 15, "2"), message=message)
    two = fixed(make_finding(row=6), kind=Applicability.SUGGEST, message=message)
    assert two.fix is not None
    assert report(one, two)[2] == "unsafe fix (random numbers will differ):"
    safe = fixed(one, (5, 14, 5, 15, "2"), kind=Applicability.SAFE, message=message)
    assert report(safe)[2] == "safe fix:"
    assert report(two)[2:] == [f"suggested fix ({message.partition('; ')[2]}):", message]


def test_other_places_are_named_once(make_finding: MakeFinding) -> None:
    related = [
        Related(path, Position(row, 1), "Here.") for path, row in (("train.py", 7), ("b", 8))
    ]
    one = make_finding(row=1, message="It waits.", related=tuple(related))
    two = make_finding(row=2, message="It waits.", related=tuple(related[:1]))
    assert report(one, two)[1] == "1, 2 TL201 It waits. (see 7, b:8)"


def test_rows_of_a_notebook_have_their_cell(make_finding: MakeFinding) -> None:
    source = notebook("a = 1\nb = 2\n", "a = 1\nb = 2\n").decode()
    finding = make_finding(path="lab.ipynb", message="It waits.")
    edits = (
        Edit(Position(1, 5, 2), Position(1, 6, 2), "3"),
        Edit(Position(2, 1, 2), Position(2, 1, 2), "c = 1\n"),
    )
    finding = finding._replace(start=Position(1, 5, 2), fix=Fix(Applicability.SAFE, "Mend", edits))
    assert report(finding, source=source) == [
        "lab.ipynb:",
        "cell 2:1 TL201 It waits.",
        "safe fix:",
        "cell 2 @@ -1 +1,2 @@",
        "-a = 1",
        "+a = 3",
        "+c = 1",
    ]


def test_what_could_not_be_checked_and_hidden_hints_are_at_the_end(
    make_finding: MakeFinding,
) -> None:
    shown = Shown((make_finding(message="It waits."),), (("b.py", 2), ("c.py", 1)))
    diagnostics = [Diagnostic("bad.py", "Not Python.", Position(2, 7))]
    lines = list(agent.render(shown, diagnostics, Excerpts({})))
    assert lines[2:] == ["bad.py:2:7: error: Not Python."]
    assert (
        agent.closing(shown, "Found 1 problem.") == "Found 1 problem. At least 3 hints not shown."
    )
    assert agent.closing(Shown(()), "Found nothing.") == "Found nothing."


def test_hostile_text_stays_on_its_line(make_finding: MakeFinding, hostile: str) -> None:
    finding = fixed(make_finding(path=hostile, message=hostile, row=1), (1, 1, 1, 1, hostile))
    shown = report(finding._replace(withheld=hostile), source="a\n")
    assert not shown[0].startswith(("::", "##"))
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u202e\u2066\ud800-\udfff]", "\n".join(shown)
    )
    plain = make_finding(path=hostile, message=hostile, withheld=hostile)
    assert [len(line.split("\n")) for line in report(plain)] == [1, 1, 1]


def places() -> Iterator[str]:
    return (str(path) for path in sorted((ROOT / "fixtures").glob("*/bad.py")))


@pytest.fixture(scope="module")
def findings() -> tuple[Finding, ...]:
    """Real ones with fixes of all kinds."""
    found = check_paths(list(places()), isolated=True, hints=True, pedantic=True).findings
    assert sum(each.fix is not None for each in found) > 100
    return found


def test_the_edits_of_each_fix_make_it(findings: tuple[Finding, ...], tmp_path: Path) -> None:
    forms = set()
    for finding in findings:
        if finding.fix is None or not finding.fix.edits:
            continue
        before = Path(finding.path).read_text(encoding="utf-8")
        (_, (_, _, _, *edits)) = next(agent.blocks([finding], Excerpts({})))
        assert made(before, edits, tmp_path, forms) == with_fixes(before, [finding]), edits
    assert forms == {"words", "hunk"}


def made(text: str, edits: list[str], folder: Path, forms: set[str]) -> str:
    """The text after these edits: words by row, the rest by `git apply`."""
    lines = text.split("\n")
    patch: list[str] = []
    rows = [re.fullmatch(r"(\d+): `([^`]*)` -> `([^`]*)`", line) for line in edits]
    for line, found in zip(edits, rows, strict=True):
        if found is None:
            patch.append(line)
            continue
        forms.add("words")
        row, words, becomes = int(found[1]) - 1, found[2], found[3]
        assert lines[row].count(words) == 1
        lines[row] = lines[row].replace(words, becomes)
    if not patch:
        return "\n".join(lines)
    forms.add("hunk")
    (folder / "a.py").write_text("\n".join(lines), encoding="utf-8")
    subprocess.run(
        ["git", "apply", "--unidiff-zero", "-"],
        input="\n".join(["--- a/a.py", "+++ b/a.py", *patch, ""]),
        text=True,
        check=True,
        cwd=folder,
    )
    return (folder / "a.py").read_text(encoding="utf-8")
