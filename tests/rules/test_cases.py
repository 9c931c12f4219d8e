"""Every case of every rule says what the rule finds in it; `tests/case_files.py` has the format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.case_files import read_cases
from tests.case_judge import problems_of
from torchlint.ruleapi.registry import all_rules

if TYPE_CHECKING:
    from tests.case_files import Case
    from torchlint.ruleapi.rule_definition import Rule

FILES = sorted((Path(__file__).parent / "cases").glob("*.py"))
RULES = {rule.name.replace("-", "_"): rule for rule in all_rules().values()}
RULE_FILES = Path(__file__).parents[2] / "rules"
KNOWN = [file for file in FILES if file.stem in RULES]


@pytest.mark.parametrize(
    ("case", "rule"),
    [
        pytest.param(case, RULES[file.stem], id=f"{file.stem}: {case.title}")
        for file in KNOWN
        for case in read_cases(file)
    ],
)
def test_case(case: Case, rule: Rule) -> None:
    problems = problems_of(case, rule)
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


def test_every_rule_has_a_case_file() -> None:
    assert {file.stem for file in FILES} == set(RULES)


def test_a_rule_of_the_house_says_its_own_folder_as_its_family() -> None:
    built_in = (rule for rule in all_rules().values() if rule.code.startswith("TL"))
    for rule in built_in:
        file = rule.name.replace("-", "_")
        places = (f"{rule.family}/{file}.py", f"{rule.family}/{file}/__init__.py")
        assert Path(rule.path).relative_to(RULE_FILES).as_posix() in places, rule.code
