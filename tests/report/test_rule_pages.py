from __future__ import annotations

import json
from typing import TYPE_CHECKING

from torchlint.finding import Applicability, Effect, Tier
from torchlint.report import rules
from torchlint.ruleapi.rule_definition import Rule

if TYPE_CHECKING:
    import pytest

RULE = Rule(
    code="TL201",
    name="item-in-step-loop",
    family="sync",
    summary="Reads a number on every step",
    effect=Effect.LARGE,
    fix=Applicability.UNSAFE,
    page="Keep numbers on the device.\n\n## What it does\nReports `[bold].item()`.\x1b[2J\n",
)
OTHER = Rule(code="TL9", name="x", family="y", summary="Z", tier=Tier.PEDANTIC)


def test_the_list_has_aligned_columns() -> None:
    assert list(rules.table([RULE, OTHER])) == [
        "CODE   NAME               SHOWN     EFFECT  FIX     SUMMARY",
        "TL201  item-in-step-loop  default   large   unsafe  Reads a number on every step",
        "TL9    x                  pedantic  small   none    Z",
    ]


def test_json_has_what_programs_need() -> None:
    first, second = json.loads(rules.as_json([RULE, OTHER]))
    assert first == {
        "code": "TL201",
        "name": "item-in-step-loop",
        "family": "sync",
        "tier": "default",
        "effect": "large",
        "fix": "unsafe",
        "fixes": ["unsafe"],
        "summary": RULE.summary,
        "added": "0.1",
        "torch": {"since": None, "until": None},
        "page": rules.page(RULE),
        "url": None,
    }
    assert second["fix"] is None


def test_a_page_has_its_heading_facts_and_text() -> None:
    assert rules.page(RULE) == (
        "# item-in-step-loop (TL201)\n\n"
        "sync · default · large effect: usually more than 5 % of a step, an epoch or the memory · "
        "unsafe fix · added in 0.1\n\n"
        "Keep numbers on the device.\n\n## What it does\nReports `[bold].item()`.\\x1b[2J"
    )


def test_a_page_on_a_terminal_is_markdown_without_markup(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rules.print_page(RULE)
    shown = capsys.readouterr().out
    assert "[bold].item()" in shown
    assert "## What" not in shown
