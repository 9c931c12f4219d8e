from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

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
from torchlint.report.formats import rdjson
from torchlint.report.terminal.excerpt import Excerpts

MakeFinding = Callable[..., Finding]
SOURCE = "import torch\nfor x in 数据:\n    损 = '𐐀'; loss.item()\n    y = 1\nz = 2\n\na = 3\n"


@pytest.fixture
def entries_of(read_json: Callable[..., Any]) -> Callable[..., Any]:
    """The entries of a valid report on files that all have the same text."""

    def rendered(
        findings: list[Finding], diagnostics: list[Diagnostic] | None = None, source: str = SOURCE
    ) -> list[dict[str, Any]]:
        texts = {finding.path: source.encode() for finding in findings}
        lines = rdjson.render(findings, diagnostics or [], Excerpts(texts))
        report = read_json("DiagnosticResult.json", lines)
        assert report["source"] == {"name": "torchlint"}
        # The schema allows any other property, which reviewdog then passes over.
        entries = report["diagnostics"]
        known = set("message location severity code suggestions related_locations".split())
        assert all(entry.keys() <= known for entry in entries)
        assert isinstance(entries, list)
        return entries

    return rendered


def fixed(finding: Finding, *edits: tuple[int, int, int, int, str]) -> Finding:
    made = tuple(
        Edit(Position(row, column), Position(last, end), content)
        for row, column, last, end, content in edits
    )
    return finding._replace(fix=Fix(Applicability.UNSAFE, "Mend", made))


def test_nothing_found_is_an_empty_list(entries_of: Callable[..., Any]) -> None:
    assert entries_of([]) == []


def test_columns_count_bytes_of_utf_8(
    entries_of: Callable[..., Any], make_finding: MakeFinding
) -> None:
    related = (Related("b.py", Position(4, 2), "the loop"),)
    finding = make_finding(row=3, column=14, end=(3, 25), message="It waits.", related=related)
    (entry,) = entries_of([finding])
    line = SOURCE.split("\n")[2].encode()
    place = entry["location"].pop("range")
    start, end = place["start"]["column"] - 1, place["end"]["column"] - 1
    assert line[start:end] == b"loss.item()"
    assert start != 13
    assert entry == {
        "message": "It waits.",
        "location": {"path": "train.py"},
        "severity": "WARNING",
        "code": {"value": "TL201"},
        "related_locations": [
            {
                "message": "the loop",
                "location": {"path": "b.py", "range": {"start": {"line": 4}}},
            }
        ],
    }


@pytest.mark.parametrize(
    ("tier", "severity"),
    [(Tier.DEFAULT, "WARNING"), (Tier.HINT, "INFO"), (Tier.PEDANTIC, "INFO")],
)
def test_the_severity_follows_the_tier(
    entries_of: Callable[..., Any], make_finding: MakeFinding, tier: Tier, severity: str
) -> None:
    (entry,) = entries_of([make_finding(tier=tier)])
    assert entry["severity"] == severity


def test_a_place_that_the_file_no_longer_has_is_a_line(
    entries_of: Callable[..., Any], make_finding: MakeFinding
) -> None:
    (entry,) = entries_of([make_finding(row=99, fix=Applicability.SAFE)])
    assert entry["location"]["range"] == {"start": {"line": 99}, "end": {"line": 99}}
    assert "suggestions" not in entry


@pytest.mark.parametrize(
    ("edits", "first", "last", "text"),
    [
        ([(3, 14, 3, 25, "total")], 3, 3, "    损 = '𐐀'; total"),
        # Two edits near each other are one suggestion; a line that stays is not in it.
        ([(3, 14, 3, 25, "a"), (4, 1, 4, 1, "    b\r\n")], 3, 3, "    损 = '𐐀'; a\n    b"),
        # A line that goes.
        ([(4, 1, 5, 1, "")], 4, 5, "z = 2"),
        ([(5, 1, 5, 6, "z")], 5, 5, "z"),
    ],
)
def test_a_fix_is_a_suggestion_of_whole_lines(
    entries_of: Callable[..., Any],
    make_finding: MakeFinding,
    edits: list[tuple[int, int, int, int, str]],
    first: int,
    last: int,
    text: str,
) -> None:
    (entry,) = entries_of([fixed(make_finding(message="M"), *edits)])
    assert entry["message"] == "M [unsafe fix]"
    assert entry["suggestions"] == [
        {"range": {"start": {"line": first}, "end": {"line": last}}, "text": text}
    ]


@pytest.mark.parametrize(
    "edits",
    [
        # Half a fix would be accepted with a click.
        [(1, 1, 1, 1, "import os\n"), (7, 1, 7, 2, "b")],
        # These do not fit the file.
        [(3, 99, 3, 100, "x")],
        [(3, 1, 3, 5, "x"), (3, 2, 3, 6, "y")],
        [(3, 1, 3, 1, "\udce9")],
    ],
)
def test_a_fix_that_cannot_be_made_whole_is_not_a_suggestion(
    entries_of: Callable[..., Any],
    make_finding: MakeFinding,
    edits: list[tuple[int, int, int, int, str]],
) -> None:
    (entry,) = entries_of([fixed(make_finding(), *edits)])
    assert "suggestions" not in entry


def test_lines_of_megabytes_are_not_suggested(
    entries_of: Callable[..., Any], make_finding: MakeFinding
) -> None:
    finding = fixed(make_finding(row=1, column=1), (1, 1, 1, 2, "y"))
    (entry,) = entries_of([finding], source="x" * 100_000)
    assert "suggestions" not in entry


def test_what_could_not_be_done_is_listed_too(entries_of: Callable[..., Any]) -> None:
    diagnostics = [
        Diagnostic("bad.py", "Not Python.", Position(2, 7)),
        Diagnostic("gone.py", "Gone."),
    ]
    assert entries_of([], diagnostics) == [
        {
            "message": "Not Python.",
            "location": {"path": "bad.py", "range": {"start": {"line": 2}}},
            "severity": "ERROR",
        },
        {"message": "Gone.", "location": {"path": "gone.py"}, "severity": "ERROR"},
    ]


def test_in_a_notebook_rows_of_a_cell_are_not_lines_of_the_file(
    entries_of: Callable[..., Any], make_finding: MakeFinding
) -> None:
    start, end = Position(3, 5, 2), Position(3, 9, 2)
    fix = Fix(Applicability.SAFE, "Mend", (Edit(start, end, "x"),))
    finding = make_finding(message="It waits.")._replace(start=start, end=end, fix=fix)
    (entry,) = entries_of([finding])
    assert entry["message"] == "cell 2, line 3: It waits. [safe fix]"
    assert entry["location"]["range"] == {"start": {"line": 1}, "end": {"line": 1}}
    assert "suggestions" not in entry


def test_hostile_reports_are_valid(
    entries_of: Callable[..., Any], make_finding: MakeFinding, hostile: str
) -> None:
    related = (Related(hostile, Position(1, 1), hostile),)
    finding = make_finding(path=f"{hostile}.py", message=hostile, related=related)
    entries = entries_of([fixed(finding, (5, 1, 5, 1, hostile))], [Diagnostic(hostile, hostile)])
    assert [entry["severity"] for entry in entries] == ["WARNING", "ERROR"]
    assert "\n" not in entries[0]["message"]
