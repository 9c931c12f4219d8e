from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from torchlint.finding import Diagnostic, Finding, Position, Tier
from torchlint.report.formats import gitlab

MakeFinding = Callable[..., Finding]
ENTRY = json.loads((Path(__file__).parents[1] / "schemas" / "codeclimate.json").read_text())


@pytest.fixture
def entries_of(read_json: Callable[..., Any]) -> Callable[..., Any]:
    """The entries of a valid report of what is in the working folder."""

    def rendered(
        findings: list[Finding], diagnostics: list[Diagnostic] | None = None
    ) -> list[dict[str, Any]]:
        lines = gitlab.render(findings, diagnostics or [], str(Path.cwd()))
        entries = read_json("gitlab-code-quality.json", lines)
        assert isinstance(entries, list)
        for entry in entries:
            jsonschema.validate(entry, ENTRY)
        # GitLab shows entries with one fingerprint as one.
        assert len({entry["fingerprint"] for entry in entries}) == len(entries)
        return entries

    return rendered


def test_nothing_found_is_an_empty_list(entries_of: Callable[..., Any]) -> None:
    assert entries_of([]) == []


def test_an_entry_has_every_part(entries_of: Callable[..., Any], make_finding: MakeFinding) -> None:
    (entry,) = entries_of([make_finding(path="./src/../a.py", message="It waits.", end=(4, 2))])
    assert len(entry.pop("fingerprint")) == 32
    assert entry == {
        "description": "It waits. (TL201)",
        "check_name": "item-in-step-loop",
        "severity": "major",
        "location": {
            "path": "a.py",
            "lines": {"begin": 3, "end": 4},
            "positions": {"begin": {"line": 3, "column": 5}, "end": {"line": 4, "column": 2}},
        },
    }


@pytest.mark.parametrize(
    ("tier", "severity"), [(Tier.DEFAULT, "major"), (Tier.HINT, "info"), (Tier.PEDANTIC, "minor")]
)
def test_the_severity_follows_the_tier(
    entries_of: Callable[..., Any], make_finding: MakeFinding, tier: Tier, severity: str
) -> None:
    (entry,) = entries_of([make_finding(tier=tier)])
    assert entry["severity"] == severity


def test_a_fingerprint_stays_when_lines_move(
    entries_of: Callable[..., Any], make_finding: MakeFinding
) -> None:
    def fingerprints(*rows: int, **parts: str) -> list[str]:
        found = [make_finding(row=row, **{"fingerprint": "0" * 16, **parts}) for row in rows]
        return [entry["fingerprint"] for entry in entries_of(found)]

    assert fingerprints(3, 9) == fingerprints(13, 90)
    assert fingerprints(3) == fingerprints(3, 9)[:1]
    changed = [{"code": "TL202"}, {"path": "b.py"}, {"scope": "f"}, {"fingerprint": "1" * 16}]
    assert len({*fingerprints(3), *(fingerprints(3, **each)[0] for each in changed)}) == 5


def test_what_could_not_be_done_is_critical(entries_of: Callable[..., Any]) -> None:
    entries = entries_of(
        [],
        [
            Diagnostic("bad.py", "Not Python.", Position(2, 7), "syntax"),
            Diagnostic("bad.py", "Not Python.", Position(3, 7), "syntax"),
            Diagnostic("gone.py", "Gone."),
        ],
    )
    assert {entry["severity"] for entry in entries} == {"critical"}
    assert [entry["check_name"] for entry in entries] == [
        "torchlint-syntax",
        "torchlint-syntax",
        "torchlint-error",
    ]
    assert entries[1]["location"]["lines"]["begin"] == 3
    assert entries[2]["location"] == {"path": "gone.py", "lines": {"begin": 1}}


def test_a_cell_of_a_notebook_is_named_in_the_description(
    entries_of: Callable[..., Any], make_finding: MakeFinding
) -> None:
    finding = make_finding(message="It waits.")
    notebook = finding._replace(start=Position(5, 9, 3), end=Position(5, 12, 3))
    (entry,) = entries_of([notebook])
    assert entry["description"] == "cell 3, line 5: It waits. (TL201)"
    assert entry["location"] == {"path": "train.py", "lines": {"begin": 1}}


def test_hostile_reports_are_valid(
    entries_of: Callable[..., Any], make_finding: MakeFinding, hostile: str
) -> None:
    path = f"{hostile}.py".replace("\0", "")
    entries = entries_of(
        [make_finding(path=path, message=hostile, scope=hostile)], [Diagnostic(path, hostile)]
    )
    assert [entry["check_name"] for entry in entries] == ["item-in-step-loop", "torchlint-error"]
    assert "\n" not in entries[0]["description"]
