from __future__ import annotations

import json
import re
from collections.abc import Callable
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote_to_bytes

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
from torchlint.report.formats import sarif
from torchlint.ruleapi.rule_definition import Rule
from torchlint.version import __version__

MakeFinding = Callable[..., Finding]
ROOT = "/repo"
RULES = {
    "TL201": Rule(
        code="TL201",
        name="item-in-step-loop",
        family="sync",
        summary="Waits on every step",
        page="Do not wait.\n",
    ),
    "TL301": Rule(
        code="TL301",
        name="cudnn-benchmark-missing",
        family="cudnn",
        summary="Never sets it",
        tier=Tier.PEDANTIC,
    ),
}


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getcwd", lambda: "/repo/sub")


@pytest.fixture
def run_of(read_json: Callable[..., Any]) -> Callable[..., Any]:
    """The only run of a valid log."""

    def rendered(
        findings: list[Finding], diagnostics: list[Diagnostic] | None = None
    ) -> dict[str, Any]:
        lines = sarif.render(findings, diagnostics or [], MappingProxyType(RULES), ROOT)
        log = read_json("sarif-schema-2.1.0.json", lines)
        assert log["version"] == "2.1.0"
        (run,) = log["runs"]
        assert isinstance(run, dict)
        return run

    return rendered


def test_nothing_found_is_a_run_without_results(run_of: Callable[..., Any]) -> None:
    run = run_of([])
    assert run["results"] == []
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]
    assert run["tool"]["driver"] == {
        "name": "torchlint",
        "version": __version__,
        "rules": [],
    }


def test_a_result_has_every_part(run_of: Callable[..., Any], make_finding: MakeFinding) -> None:
    finding = make_finding(
        message="It waits.",
        fix=Applicability.UNSAFE,
        scope="Trainer.step",
        fingerprint="0123456789abcdef",
        related=(Related("main.py", Position(40, 9), "the loop [0]"),),
    )
    (result,) = run_of([finding])["results"]
    place = {"uri": "sub/train.py", "uriBaseId": "%SRCROOT%"}
    region = {"startLine": 3, "startColumn": 5, "endLine": 3, "endColumn": 9}
    assert re.fullmatch("[0-9a-f]{32}", result["partialFingerprints"].pop("torchlintIdentity/v1"))
    assert result == {
        "ruleId": "TL201",
        "ruleIndex": 0,
        "level": "warning",
        "message": {"text": "It waits. See [the loop \\[0\\]](1)."},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": place, "region": region},
                "logicalLocations": [{"name": "step", "fullyQualifiedName": "Trainer.step"}],
            }
        ],
        "partialFingerprints": {},
        "relatedLocations": [
            {
                "id": 1,
                "physicalLocation": {
                    "artifactLocation": {"uri": "sub/main.py", "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": 40, "startColumn": 9},
                },
                "message": {"text": "the loop [0]"},
            }
        ],
        "fixes": [
            {
                "description": {
                    "text": "Read it after the loop "
                    "(unsafe fix: it may change results, memory or checkpoints)"
                },
                "artifactChanges": [
                    {
                        "artifactLocation": place,
                        "replacements": [
                            {"deletedRegion": region, "insertedContent": {"text": "loss"}}
                        ],
                    }
                ],
            }
        ],
    }


@pytest.mark.parametrize(
    ("tier", "level"), [(Tier.DEFAULT, "warning"), (Tier.HINT, "note"), (Tier.PEDANTIC, "note")]
)
def test_the_level_follows_the_tier(
    run_of: Callable[..., Any], make_finding: MakeFinding, tier: Tier, level: str
) -> None:
    (result,) = run_of([make_finding(tier=tier)])["results"]
    assert result["level"] == level


def test_the_rules_of_the_findings_are_described_once(
    run_of: Callable[..., Any], make_finding: MakeFinding
) -> None:
    run = run_of(
        [
            make_finding(code="TL301", name="cudnn-benchmark-missing"),
            make_finding(),
            make_finding(row=4),
            make_finding(code="XX9", name="of-a-plugin"),
        ]
    )
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["TL201", "TL301", "XX9"]
    assert [result["ruleIndex"] for result in run["results"]] == [1, 0, 0, 2]
    first, second, unknown = rules
    assert first["shortDescription"] == first["fullDescription"] == {"text": "Waits on every step"}
    assert first["help"]["markdown"].startswith("# item-in-step-loop (TL201)")
    assert "Do not wait." in first["help"]["text"]
    assert first["properties"] == {"tags": ["performance", "sync"], "problem.severity": "warning"}
    assert second["defaultConfiguration"] == {"level": "note"}
    assert unknown["help"] == {"text": "XX9 of-a-plugin"}


def test_what_could_not_be_done_is_a_notification(run_of: Callable[..., Any]) -> None:
    diagnostics = [Diagnostic("bad.py", "Not {0}.", Position(2, 7)), Diagnostic("gone.py", "Gone.")]
    (invocation,) = run_of([], diagnostics)["invocations"]
    assert invocation["executionSuccessful"] is False
    first, second = invocation["toolExecutionNotifications"]
    assert first["level"] == "error"
    assert first["message"] == {"text": "Not {{0}}."}
    assert first["locations"][0]["physicalLocation"]["region"] == {
        "startLine": 2,
        "startColumn": 7,
    }
    assert "region" not in second["locations"][0]["physicalLocation"]


@pytest.mark.parametrize(
    ("path", "uri", "base"),
    [
        ("a b#?%é.py", b"sub/a b#?%\xc3\xa9.py", "%SRCROOT%"),
        ("c:d.py", b"sub/c:d.py", "%SRCROOT%"),
        ("caf\udce9.py", b"sub/caf\xe9.py", "%SRCROOT%"),
        ("../top.py", b"top.py", "%SRCROOT%"),
        ("../../else where.py", b"file:///else where.py", None),
        ("/repo-2/x.py", b"file:///repo-2/x.py", None),
    ],
)
def test_a_file_is_named_by_its_uri(
    run_of: Callable[..., Any], make_finding: MakeFinding, path: str, uri: bytes, base: str | None
) -> None:
    (result,) = run_of([make_finding(path=path)])["results"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact.get("uriBaseId") == base
    assert unquote_to_bytes(artifact["uri"]) == uri
    assert re.fullmatch(r"(file:///)?[A-Za-z0-9._~%/-]+", artifact["uri"])


def test_in_a_notebook_rows_of_a_cell_are_not_lines_of_the_file(
    run_of: Callable[..., Any], make_finding: MakeFinding
) -> None:
    start, end = Position(5, 9, 3), Position(5, 12, 3)
    fix = Fix(Applicability.SAFE, "Mend", (Edit(start, end, "x"),))
    related = (Related("a.ipynb", Position(1, 1, 2), "the loop"),)
    finding = make_finding(path="a.ipynb", message="It waits.", related=related)
    (result,) = run_of([finding._replace(start=start, end=end, fix=fix)])["results"]
    assert result["message"]["text"] == "cell 3, line 5: It waits. See [the loop](1)."
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}
    assert result["relatedLocations"][0]["physicalLocation"]["region"] == {"startLine": 1}
    assert result["relatedLocations"][0]["message"]["text"] == "cell 2, line 1: the loop"
    assert "fixes" not in result


def test_a_fix_that_json_cannot_hold_is_left_out(
    run_of: Callable[..., Any], make_finding: MakeFinding
) -> None:
    place = Position(1, 1)
    for edits in ((Edit(place, place, "\udce9"),), ()):
        finding = make_finding()._replace(fix=Fix(Applicability.SAFE, "Mend", edits))
        (result,) = run_of([finding])["results"]
        assert "fixes" not in result


def test_no_more_results_than_github_takes_and_problems_before_hints(
    run_of: Callable[..., Any], make_finding: MakeFinding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sarif, "MOST_RESULTS", 3)
    tiers = [Tier.HINT, Tier.DEFAULT, Tier.PEDANTIC, Tier.HINT, Tier.DEFAULT]
    run = run_of([make_finding(row=row, tier=tier) for row, tier in enumerate(tiers, start=1)])
    assert [result["level"] for result in run["results"]] == ["warning", "warning", "note"]
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["level"] == "warning"
    assert note["message"]["text"].startswith("2 results omitted")
    assert run["invocations"][0]["executionSuccessful"] is True


def test_no_more_related_locations_than_github_shows(
    run_of: Callable[..., Any], make_finding: MakeFinding
) -> None:
    many = tuple(Related("a.py", Position(row, 1), "here") for row in range(1, 200))
    (result,) = run_of([make_finding(related=many)])["results"]
    assert len(result["relatedLocations"]) == 100


def test_hostile_text_stays_text(
    run_of: Callable[..., Any], make_finding: MakeFinding, hostile: str
) -> None:
    finding = make_finding(
        path=f"{hostile}.py".replace("\0", ""),
        message=hostile,
        scope=hostile,
        related=(Related("a.py", Position(1, 1), hostile),),
    )
    place = Position(1, 1)
    finding = finding._replace(fix=Fix(Applicability.SAFE, hostile, (Edit(place, place, hostile),)))
    diagnostics = [Diagnostic("a.py", hostile)]
    run = run_of([finding], diagnostics)
    (result,) = run["results"]
    text = result["message"]["text"]
    # One link, to the related location, and no placeholder.
    assert re.findall(r"(?<!\\)\]\((.*?)\)", text) == ["1"]
    assert not re.search(r"(?<!\{)\{\d+\}(?!\})", text)
    assert "\n" not in text
    for fix in result.get("fixes", ()):
        (replacement,) = fix["artifactChanges"][0]["replacements"]
        assert replacement["insertedContent"]["text"] == hostile


def test_a_log_is_one_result_a_line(make_finding: MakeFinding) -> None:
    findings = [make_finding(row=row) for row in (1, 2, 3)]
    lines = list(sarif.render(findings, [], RULES, ROOT))
    results = [line for line in lines if line.startswith('  {"ruleId"')]
    assert len(results) == 3
    assert json.loads(results[-1])["ruleId"] == "TL201"
