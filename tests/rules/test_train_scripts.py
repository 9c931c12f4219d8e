"""Each rule with a fix has a whole script that can be trained and measured, before and after."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from torchlint.config.settings import Selection
from torchlint.engine.check import check
from torchlint.finding import Applicability, Tier
from torchlint.fixes.fixer import fix_targets
from torchlint.project.target import Target
from torchlint.ruleapi.registry import all_rules
from torchlint.silence.tiers import Wanted

if TYPE_CHECKING:
    from torchlint.finding import Finding
    from torchlint.ruleapi.rule_definition import Rule

FIXTURES = Path(__file__).parents[2] / "fixtures"
EVERYTHING = Wanted(hints=True, pedantic=True)
NEEDED = {"numpy", "torch"}
APPLIED = frozenset({Applicability.SAFE, Applicability.UNSAFE})
RULES = [
    rule
    for rule in all_rules().values()
    if APPLIED.intersection(rule.promises) and not rule.about_comments
]
each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)


def target(rule: Rule, text: bytes | None = None) -> Target:
    """The script with all rules on, hints too."""
    data = (FIXTURES / rule.name / "train.py").read_bytes() if text is None else text
    return Target(f"{rule.name}/train.py", Selection(), (2, 13), data)


def findings(script: Target) -> list[Finding]:
    report = check([script])
    assert report.diagnostics == ()
    return list(report.findings)


def fixed(rule: Rule) -> bytes:
    alone = target(rule)._replace(selection=Selection(select=(rule.code,)))
    report = fix_targets([alone], unsafe=True, wanted=EVERYTHING)
    assert report.diagnostics == ()
    (file,) = report.files
    return file.after


def shown(rule: Rule, script: Target) -> list[Finding]:
    """What is found apart from the pedantic findings of other rules, which are matters of taste."""
    found = findings(script)
    return [each for each in found if each.tier is not Tier.PEDANTIC or each.code == rule.code]


@each_rule
def test_a_script_shows_the_finding_of_its_rule_and_no_other(rule: Rule) -> None:
    found = shown(rule, target(rule))
    assert {finding.code for finding in found} == {rule.code}
    assert all(finding.tier is rule.tier for finding in found)


@each_rule
def test_a_script_is_fixed_altogether(rule: Rule) -> None:
    assert shown(rule, target(rule, fixed(rule))) == []


@each_rule
def test_a_script_compiles_before_and_after(rule: Rule) -> None:
    before = target(rule).data
    assert before is not None
    for text in (before, fixed(rule)):
        compile(text, "train.py", "exec")


@each_rule
def test_a_script_needs_torch_and_numpy_alone(rule: Rule) -> None:
    imported = set()
    for node in ast.walk(ast.parse(fixed(rule))):
        if isinstance(node, ast.Import):
            imported |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(str(node.module).partition(".")[0])
    assert imported - sys.stdlib_module_names <= NEEDED


@each_rule
def test_a_script_takes_the_device_that_is_there_and_a_seed(rule: Rule) -> None:
    text = fixed(rule).decode()
    assert 'torch.device("cuda" if torch.cuda.is_available() else "cpu")' in text
    assert "torch.manual_seed(args.seed)" in text
