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
    from torchlint.ruleapi.rule import Rule

FILES = sorted((Path(__file__).parent / "cases").glob("*.py"))
RULES = {rule.name.replace("-", "_"): rule for rule in all_rules().values()}


@pytest.mark.parametrize(
    ("case", "rule"),
    [
        pytest.param(case, RULES[file.stem], id=f"{file.stem}: {case.title}")
        for file in FILES
        for case in read_cases(file)
    ],
)
def test_case(case: Case, rule: Rule) -> None:
    problems = problems_of(case, rule)
    assert not problems, "\n".join(problems)


def test_every_rule_has_a_case_file() -> None:
    assert {file.stem for file in FILES} == set(RULES)
