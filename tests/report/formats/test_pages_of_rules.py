"""Reports lead to the pages of rules where there is a site, and else name the command."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from torchlint import version
from torchlint.report.formats import html, json, junit, rdjson, sarif
from torchlint.report.rules import page
from torchlint.report.terminal.excerpt import Excerpts
from torchlint.ruleapi.registry import all_rules
from torchlint.silence.tiers import Shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import MakeFinding
    from torchlint.finding import Finding

SITE = "https://docs.example/torchlint/"
NOWHERE = Excerpts({})
REPORTS = {
    "json": json.render,
    "sarif": lambda found: sarif.render(found, [], all_rules(), "/"),
    "html": lambda found: html.render(Shown(tuple(found), ()), [], NOWHERE, "Found it."),
    "rdjson": lambda found: rdjson.render(found, [], NOWHERE),
    "junit": lambda found: junit.render(found, []),
}
each_report = pytest.mark.parametrize("render", REPORTS.values(), ids=list(REPORTS))


@each_report
def test_a_report_leads_to_the_page_of_a_rule_on_the_site(
    render: Callable[[list[Finding]], list[str]],
    make_finding: MakeFinding,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(version, "SITE", SITE)
    text = "\n".join(render([make_finding()]))
    assert f"{SITE}rules/item-in-step-loop/" in text


@each_report
def test_without_a_site_a_report_leads_nowhere(
    render: Callable[[list[Finding]], list[str]], make_finding: MakeFinding
) -> None:
    text = "\n".join(render([make_finding()]))
    assert "/rules/item-in-step-loop" not in text


@each_report
def test_a_rule_of_a_plugin_has_no_page_on_the_site(
    render: Callable[[list[Finding]], list[str]],
    make_finding: MakeFinding,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(version, "SITE", SITE)
    text = "\n".join(render([make_finding(code="XX9", name="of-a-plugin")]))
    assert f"{SITE}rules" not in text


def test_the_page_of_a_rule_names_the_site_only_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rule = all_rules()["TL201"]
    assert "https://" not in page(rule)
    monkeypatch.setattr(version, "SITE", SITE)
    assert page(rule).endswith(f"\n{SITE}rules/item-in-step-loop/")
