"""Which rules want to see a file: words in its bytes, before it is parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.files.words import Words
from torchlint.ruleapi.contexts import HOT_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.ruleapi.rule import Rule


def wanted_by(data: bytes, rules: Iterable[Rule], *, woken: bool = False) -> list[str]:
    """The codes of the rules that want to see a file with these bytes.

    Args:
        woken: hot code of another file leads here.
    """
    words = Words(data)
    return [
        rule.code
        for rule in rules
        if _wanted(rule, words) or (woken and _wanted_if_woken(rule, words))
    ]


def may_wake(data: bytes, rules: Iterable[Rule]) -> set[str]:
    """The codes of the rules that may report once hot code of another file leads to these bytes."""
    words = Words(data)
    return {rule.code for rule in rules if _wanted_if_woken(rule, words)}


def _wanted(rule: Rule, words: Words) -> bool:
    return words.match(HOT_WORDS) if rule.about_hot_code else _has_words_of(rule, words)


def _wanted_if_woken(rule: Rule, words: Words) -> bool:
    if rule.about_hot_code and not rule.wakes:
        return _has_words_of(rule, words)
    return bool(rule.wakes) and all(map(words.match, rule.wakes))


def _has_words_of(rule: Rule, words: Words) -> bool:
    if not (rule.triggers or rule.gates) or not all(map(words.match, rule.triggers)):
        return False
    if rule.gates and not any(all(map(words.match, gate)) for gate in rule.gates):
        return False
    return rule.candidate is None or rule.candidate(words.data)
