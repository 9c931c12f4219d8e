"""What a rule makes of a line, in sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlint.finding import Tier
    from torchlint.ruleapi.rule_definition import Rule


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason: what was found, and what would make the rule report the line."""

    why: str
    change: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one rule makes of a line.

    Args:
        reported: the tier, if it is reported.
        reasons: why it is, or is not.
        near: it came close: something on the line is what it looks for.
    """

    code: str
    name: str
    reported: Tier | None
    reasons: tuple[Reason, ...]
    near: bool


def silent(rule: Rule, *reasons: Reason, near: bool = False) -> Answer:
    """The answer of a rule that does not report a line."""
    return Answer(rule.code, rule.name, None, reasons, near=near)
