"""Each rule's three programs: the bad one, the same one mended, and one with nothing to mend."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from torchlint.config.settings import Selection
from torchlint.engine.check import check
from torchlint.finding import Applicability
from torchlint.fixes.fixer import fix_targets
from torchlint.project.target import Target
from torchlint.ruleapi.registry import all_rules
from torchlint.silence.tiers import Wanted

if TYPE_CHECKING:
    from torchlint.finding import Finding
    from torchlint.ruleapi.rule_definition import Rule

FIXTURES = Path(__file__).parents[2] / "fixtures"
EVERYTHING = Wanted(hints=True, pedantic=True)
each_rule = pytest.mark.parametrize("rule", all_rules().values(), ids=lambda rule: rule.name)


def target(rule: Rule, file: str) -> Target:
    """The program under a name that no rule takes for a test's.

    A rule about comments needs the others, to know what they silence.
    """
    data = (FIXTURES / rule.name / file).read_bytes()
    selection = Selection(select=("ALL",) if rule.about_comments else (rule.code,))
    demanding = selection._replace(require_reason=True)
    return Target(f"{rule.name}/train.py", demanding, (2, 13), data)


def findings(rule: Rule, file: str) -> list[Finding]:
    report = check([target(rule, file)])
    assert report.diagnostics == ()
    return list(report.findings)


@each_rule
def test_a_rule_has_three_programs_that_parse(rule: Rule) -> None:
    for file in ("bad.py", "fixed.py", "clean.py"):
        ast.parse((FIXTURES / rule.name / file).read_text(encoding="utf-8"))


@each_rule
def test_the_bad_program_is_reported_by_its_rule_alone(rule: Rule) -> None:
    found = findings(rule, "bad.py")
    assert {finding.code for finding in found} == {rule.code}
    assert {finding.name for finding in found} == {rule.name}


@each_rule
def test_the_bad_program_shows_a_finding_without_asking_for_hints(rule: Rule) -> None:
    assert any(finding.tier is rule.tier for finding in findings(rule, "bad.py"))


@each_rule
@pytest.mark.parametrize("file", ["fixed.py", "clean.py"])
def test_the_rule_is_silent_on(rule: Rule, file: str) -> None:
    assert findings(rule, file) == []


@each_rule
def test_the_fix_makes_the_fixed_program_of_the_bad_one(rule: Rule) -> None:
    report = fix_targets([target(rule, "bad.py")], unsafe=True, wanted=EVERYTHING)
    assert report.diagnostics == ()
    if set(rule.promises) <= {Applicability.SUGGEST}:
        assert report.files == ()
        return
    (file,) = report.files
    assert file.after.decode() == (FIXTURES / rule.name / "fixed.py").read_text(encoding="utf-8")


@each_rule
def test_fixing_the_fixed_program_changes_nothing(rule: Rule) -> None:
    report = fix_targets([target(rule, "fixed.py")], unsafe=True, wanted=EVERYTHING)
    assert (report.files, report.diagnostics) == ((), ())


def test_every_folder_of_fixtures_belongs_to_a_rule_or_holds_whole_programs() -> None:
    names = {rule.name for rule in all_rules().values()}
    for folder in {path.parent for path in FIXTURES.rglob("*.py")}:
        files = {each.name for each in folder.iterdir() if each.suffix == ".py"}
        if folder.name in names:
            assert {"bad.py", "fixed.py", "clean.py"} <= files
        else:
            assert "train.py" in files or files == {"before.py", "after.py"}


def test_the_pair_whose_numbers_are_compared_is_what_the_fix_makes() -> None:
    pair = FIXTURES / "numerics" / "kept"
    before = Target(
        "kept/train.py", Selection(("TL201",)), (2, 13), (pair / "before.py").read_bytes()
    )
    [mended] = fix_targets([before], unsafe=True).files
    assert mended.after == (pair / "after.py").read_bytes()
