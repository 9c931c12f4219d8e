"""What was measured of each rule's fix, as `docs/evidence` has it: the section of its page."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torchlint.ruleapi.rule_definition import Rule

_FILE = os.path.join(os.path.dirname(__file__), "fix_evidence.json")
_NEXT = "\n## References\n"


def page_of(rule: Rule) -> str:
    """The page of a rule with the section `Measured`, which rules about comments do not have."""
    if rule.about_comments or _NEXT not in rule.page:
        return rule.page
    before, _, after = rule.page.partition(_NEXT)
    return f"{before}\n## Measured\n{_measured(rule)}\n{_NEXT}{after}"


def _measured(rule: Rule) -> str:
    rows = [_row(each) for each in _known().get(rule.name, ())]
    if rows:
        return "\n".join(rows)
    if not rule.promises:
        return "Not measured: there is no fix."
    return "Not measured yet" + (": this needs a GPU." if rule.needs_gpu else ".")


def _row(result: dict[str, Any]) -> str:
    where = f"On {result['machine']} with torch {result['torch']}"
    if result["ratio"] is None:
        return f"- {where}: {result['verdict']}{_because(result['why'])}"
    low, high = result["ci"]
    before, after = result["ms"]
    return (
        f"- {where}: {result['verdict']}, ×{result['ratio']:.3f} [{low:.3f}, {high:.3f}], "  # noqa: RUF001
        f"{before:.3g} → {after:.3g} ms a step, {result['numbers']}{_because(result['why'])}"
    )


def _because(why: str) -> str:
    return f" ({why})." if why else "."


@cache
def _known() -> dict[str, list[dict[str, Any]]]:
    """By the names of rules: what was measured of each, machine by machine."""
    with open(_FILE, encoding="utf-8") as stream:
        return dict(json.load(stream))
