"""Each rule's page has its sections, and its examples behave as it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.markdown_blocks import blocks
from torchlint.config.settings import Selection
from torchlint.engine.check import check
from torchlint.project.target import Target
from torchlint.ruleapi.registry import all_rules

if TYPE_CHECKING:
    from torchlint.ruleapi.rule_definition import Rule

SECTIONS = (
    "What it does",
    "Why it is slow",
    "Example",
    "Use instead",
    "When it is silent",
    "Fix safety",
    "How verify confirms it",
    "References",
)
RULES = [rule for rule in all_rules().values() if not rule.about_comments]
each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
AROUND = (Path(__file__).parent / "page_program.py").read_text(encoding="utf-8")


def section(rule: Rule, heading: str) -> str:
    return re.split(rf"^## {heading}$", rule.page, flags=re.MULTILINE)[1].partition("\n## ")[0]


def reported(rule: Rule, heading: str) -> bool:
    """Whether the rule reports the code of a section, in a program that trains on a GPU; code that
    imports torch is a program of its own."""
    (block, *more) = [each for each in blocks(section(rule, heading)) if each.language == "python"]
    assert not more, "one block of code to a section"
    around, end, rest = AROUND.partition("# the example\n")
    assert end
    whole = block.text.startswith("import torch\n")
    program = block.text if whole else f"{around}{block.text}\n{rest}"
    report = check([Target("train.py", Selection((rule.code,)), (2, 13), program.encode())])
    assert report.diagnostics == (), program
    return bool(report.findings)


@each_rule
def test_a_page_has_all_sections_in_their_order(rule: Rule) -> None:
    headings = re.findall(r"^## (.+)$", rule.page, re.MULTILINE)
    assert tuple(headings) == SECTIONS


@each_rule
def test_the_example_of_a_page_is_reported(rule: Rule) -> None:
    assert reported(rule, "Example")


@each_rule
def test_what_a_page_says_to_use_instead_is_not_reported(rule: Rule) -> None:
    assert not reported(rule, "Use instead")
