"""Which rules want a file, decided by its text before it is parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.files.words import Words
from torchlint.ruleapi.plugins import PluginError, contained
from torchlint.ruleapi.texts import STEP_TEXT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.ruleapi.rule_definition import Rule


class CandidateError(Exception):
    """A rule of a plugin cannot tell whether it wants a file; the message says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def wanted_by(data: bytes, rules: Iterable[Rule], *, on_demand: bool = False) -> list[str]:
    """The codes of the rules that want a file with these bytes.

    Args:
        on_demand: the file is loaded because hot code of another file may call into it.
    """
    words = Words(data)
    rules = list(rules)
    wanted = {rule.code for rule in rules if _wanted(rule, words)}
    # What one of them has summarized is not loaded a second time for the others.
    if on_demand or any(rule.summarizes for rule in rules if rule.code in wanted):
        wanted |= {rule.code for rule in rules if _wanted_on_demand(rule, words)}
    return [rule.code for rule in rules if rule.code in wanted]


def wanted_on_demand(data: bytes, rules: Iterable[Rule]) -> set[str]:
    """The codes of the rules that want a file with these bytes once hot code calls into it."""
    words = Words(data)
    return {rule.code for rule in rules if _wanted_on_demand(rule, words)}


def _wanted(rule: Rule, words: Words) -> bool:
    if rule.about_hot_code:
        return words.match(STEP_TEXT)
    return (rule.hints_at_cold_code and words.match(STEP_TEXT)) or _has_words_of(rule, words)


def _wanted_on_demand(rule: Rule, words: Words) -> bool:
    on_demand = rule.gate.on_demand
    if rule.about_hot_code and not on_demand:
        return _has_words_of(rule, words)
    return bool(on_demand) and all(map(words.match, on_demand))


def _has_words_of(rule: Rule, words: Words) -> bool:
    gate, patterns = rule.gate, rule.pattern_words
    if not (gate.words or patterns) and gate.on_demand:
        return False
    for ask in (words.may_match, words.match):
        if patterns and not any(all(map(ask, each)) for each in patterns):
            return False
        alternatives = ((each,) if isinstance(each, str) else each for each in gate.words)
        if not all(any(map(ask, each)) for each in alternatives):
            return False
    if gate.check is None:
        return True
    return (bool(gate.unless) and words.match(gate.unless)) or _is_candidate(rule, words.data)


def _is_candidate(rule: Rule, data: bytes) -> bool:
    """
    Raises:
        CandidateError: the rule is of a plugin, and failed.
    """
    check = rule.gate.check
    assert check is not None
    if not rule.plugin:
        return check(data)
    try:
        answer, printed = contained(rule.label, lambda: bool(check(data)))
    except PluginError as error:
        raise CandidateError(rule.code, f"{error}; it is left out here") from error
    if printed:
        raise CandidateError(rule.code, f"{rule.label} printed `{printed}`; it is left out here")
    return answer
