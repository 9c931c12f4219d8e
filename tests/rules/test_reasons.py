"""No rule falls silent on what it looks for without a sentence about why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.case_files import read_cases
from tests.rules.silent_exits import silent_exits
from torchlint.ruleapi.registry import all_rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.analysis.module import Module
    from torchlint.ruleapi.rule_definition import Rule

CASES = Path(__file__).parent / "cases"
RULES = [rule for rule in all_rules().values() if rule.code.startswith("TL")]


@pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])
def test_a_rule_tells_why_it_is_silent(rule: Rule, module_of: Callable[..., Module]) -> None:
    found: dict[str, str] = {}
    for case in read_cases(CASES / f"{rule.name.replace('-', '_')}.py"):
        for path, text in case.texts().items():
            for place in silent_exits(rule, module_of(text, path)):
                found.setdefault(place, case.where)
    assert not found
