"""The page of tips from the web says what torchlint does, and torchlint gives no wrong advice."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.case_files import read_cases
from tests.case_judge import problems_of
from torchlint.profile.catalogue import all_kinds
from torchlint.ruleapi.registry import all_rules

if TYPE_CHECKING:
    from tests.case_files import Case

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs/tips.md").read_text(encoding="utf-8")
RULES = all_rules()


def cases(name: str) -> list[object]:
    return [pytest.param(case, id=case.title) for case in read_cases(HERE / f"cases/{name}.py")]


@pytest.mark.parametrize("case", cases("wrong_advice"))
def test_wrong_advice_is_not_given(case: Case) -> None:
    judge(case)


def test_each_piece_of_wrong_advice_has_a_program() -> None:
    """W30 is about the display of a GPU's utilization, which no source shows."""
    titles = " ".join(case.title for case in read_cases(HERE / "cases/wrong_advice.py"))
    assert sorted(set(re.findall(r"W\d{2}", titles))) == [f"W{row:02}" for row in range(1, 30)]


@pytest.mark.parametrize("case", cases("reviewed"))
def test_what_a_reviewer_named_is_found_or_listed_as_not_found(case: Case) -> None:
    judge(case)


def judge(case: Case) -> None:
    problems = problems_of(case, RULES["TL201"])
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


def test_every_rule_on_the_page_has_the_code_and_the_name_that_it_says() -> None:
    linked = re.findall(r"\[(TL\d{3})\]\(\.\./rules/\w+/(\w+)(?:/__init__)?\.py\)", PAGE)
    assert linked
    assert dict(linked) == {code: RULES[code].name.replace("-", "_") for code, _ in linked}


def test_every_code_on_the_page_is_a_rule() -> None:
    assert set(re.findall(r"TL\d{3}", PAGE)) <= RULES.keys()


def test_every_finding_of_a_run_on_the_page_has_the_code_and_the_name_that_it_says() -> None:
    linked = dict(re.findall(r"\[(TR\d{3})\]\(\.\./[\w/]+/(\w+)\.py\)", PAGE))
    assert linked == {code: all_kinds()[code].name.replace("-", "_") for code in linked}
    assert set(re.findall(r"TR\d{3}", PAGE)) == linked.keys()
