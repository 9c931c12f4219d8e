"""The names of the rules, without importing a rule before they are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def rule_names() -> Mapping[str, str]:
    """The name of every rule by its code."""
    from torchlint.ruleapi.registry import all_rules

    return {code: rule.name for code, rule in all_rules().items()}
