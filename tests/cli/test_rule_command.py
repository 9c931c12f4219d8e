from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from torchlint.report import rules as pages

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def two_rules(rules: None) -> None:
    """Every test here runs with the same two rules."""


def test_without_a_word_every_rule_is_listed(torchlint: Run) -> None:
    outcome = torchlint("rule")
    assert outcome.code == 0
    assert [line.split()[0] for line in outcome.text.splitlines()] == ["CODE", "TL101", "TL201"]


@pytest.mark.parametrize("word", ["TL101", "tl101", "dataloader-no-workers"])
def test_a_code_or_a_name_gives_the_page(torchlint: Run, word: str) -> None:
    outcome = torchlint("rule", word)
    assert outcome.code == 0
    assert outcome.text.startswith("# dataloader-no-workers (TL101)\n")


def test_json_has_all_rules_or_the_one(torchlint: Run) -> None:
    every = json.loads(torchlint("rule", "--output-format", "json").out)
    one = json.loads(torchlint("rule", "TL201", "--output-format", "json").out)
    assert [entry["code"] for entry in every] == ["TL101", "TL201"]
    assert one == every[1:]


def test_a_family_gives_the_list_of_its_rules(torchlint: Run) -> None:
    outcome = torchlint("rule", "tl2")
    assert outcome.code == 0
    assert [line.split()[0] for line in outcome.text.splitlines()] == ["CODE", "TL201"]
    every = json.loads(torchlint("rule", "TL2", "--output-format", "json").out)
    assert [entry["code"] for entry in every] == ["TL201"]


@pytest.mark.parametrize("word", ["TL2010", "item-in-loop"])
def test_an_unknown_rule_is_2_with_a_suggestion(torchlint: Run, word: str) -> None:
    outcome = torchlint("rule", word)
    assert (outcome.code, outcome.out) == (2, b"")
    assert f"There is no rule `{word}`; the nearest known one is `" in outcome.err


def test_an_empty_word_is_2(torchlint: Run) -> None:
    outcome = torchlint("rule", "")
    assert outcome.code == 2
    assert "There is no rule ``" in outcome.err


def test_a_terminal_gets_the_rendered_page(torchlint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[str] = []
    monkeypatch.setattr(pages, "print_page", lambda rule: printed.append(rule.code))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert torchlint("rule", "TL101").code == 0
    assert printed == ["TL101"]
