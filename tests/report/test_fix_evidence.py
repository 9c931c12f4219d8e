"""A rule's page says what was measured of its fix, and where nothing was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from torchlint.report import fix_evidence
from torchlint.rule import Applicability, Rule

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[2]
PAGE = "Be fast.\n\n## What it does\nIt finds.\n\n## References\n- none\n"
CONFIRMED = {
    "machine": "cpu-2cores",
    "torch": "2.13.0",
    "verdict": "CONFIRMED",
    "ratio": 1.5,
    "ci": [1.4, 1.6],
    "ms": [9.0, 6.0],
    "numbers": "bitwise equal",
    "why": "",
}
NOWHERE = {**CONFIRMED, "verdict": "NOT MEASURABLE HERE", "ratio": None, "why": "it needs a GPU"}


def section(rule: Rule) -> str:
    return (
        fix_evidence.page_of(rule)
        .partition("\n## Measured\n")[2]
        .partition("\n\n## References\n")[0]
    )


@pytest.fixture
def rule(monkeypatch: pytest.MonkeyPatch) -> Rule:
    monkeypatch.setattr(fix_evidence, "_known", lambda: {"a-rule": [CONFIRMED, NOWHERE]})
    return Rule(
        code="TL999",
        name="a-rule",
        family="test",
        summary="it finds",
        fix=Applicability.SAFE,
        page=PAGE,
    )


def test_each_machine_has_a_line(rule: Rule) -> None:
    assert section(rule).splitlines() == [
        "- On cpu-2cores with torch 2.13.0: CONFIRMED, \N{MULTIPLICATION SIGN}1.500 [1.400, 1.600], 9 → 6 ms a step, "
        "bitwise equal.",
        "- On cpu-2cores with torch 2.13.0: NOT MEASURABLE HERE (it needs a GPU).",
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "Not measured yet."),
        ({"needs_gpu": True}, "Not measured yet: this needs a GPU."),
        ({"fix": None}, "Not measured: there is no fix."),
    ],
)
def test_what_was_not_measured_says_so(rule: Rule, change: dict[str, object], said: str) -> None:
    rule.name = "another-rule"
    for name, value in change.items():
        setattr(rule, name, value)
    assert section(rule) == said


def test_rules_about_comments_have_nothing_to_measure(rule: Rule) -> None:
    rule.suppression_checks.append(lambda _: ())
    assert fix_evidence.page_of(rule) == PAGE


@pytest.fixture
def evidence(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import evidence

    return evidence


def test_the_pages_say_what_the_evidence_says(evidence: ModuleType) -> None:
    text = (ROOT / "torchlint/report/fix_evidence.json").read_text(encoding="utf-8")
    assert json.loads(text) == evidence.on_pages(ROOT / "docs/evidence")
