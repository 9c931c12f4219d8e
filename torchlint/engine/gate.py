"""Which rules want a file, decided by its text before it is parsed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from torchlint.files.words import Words
from torchlint.ruleapi.outlines import Outline, outline_of
from torchlint.ruleapi.plugins import PluginError, contained
from torchlint.ruleapi.texts import STEP_TEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torchlint.finding import Tier
    from torchlint.ruleapi.rule_definition import Rule


class CandidateError(Exception):
    """A rule of a plugin cannot tell whether it wants a file; the message says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def wanted_by(
    data: bytes,
    rules: Iterable[Rule],
    *,
    path: str = "",
    on_demand: bool = False,
    asked: Callable[[Rule, Tier], bool] | None = None,
) -> list[str]:
    """The codes of the rules that want a file with these bytes.

    Args:
        path: names the file.
        on_demand: the file is loaded because hot code of another file may call into it.
        asked: whether findings of a rule and a tier are asked for; others do not want a file.
    """
    words, rules = Words(data), list(rules)
    asked = asked or (lambda *_: True)
    deciding = [rule for rule in rules if any(asked(rule, tier) for tier in rule.tiers)]
    cold = {rule for rule in deciding if any(asked(rule, tier) for tier in rule.cold_tiers)}
    wanted = [r for r in deciding if _looks_at_steps(r, words) or (r in cold and _wanted(r, words))]
    if wanted:
        sure = on_demand or any(_looks_at_steps(rule, words) for rule in wanted)
        wanted = [rule for rule in rules if rule in wanted or _wanted(rule, words)]
        if not sure and (outline := outline_of(path, data)) is not None:
            wanted = _seen(wanted, outline, asked)
    codes = {rule.code for rule in wanted}
    # What one of them has summarized is not loaded a second time for the others.
    if on_demand or any(rule.summarizes for rule in wanted):
        codes |= {rule.code for rule in rules if _wanted_on_demand(rule, words)}
    return [rule.code for rule in rules if rule.code in codes]


def wanted_on_demand(data: bytes, rules: Iterable[Rule]) -> set[str]:
    """The codes of the rules that want a file with these bytes once hot code calls into it."""
    words = Words(data)
    return {rule.code for rule in rules if _wanted_on_demand(rule, words)}


def _wanted(rule: Rule, words: Words) -> bool:
    return _looks_at_steps(rule, words) or (not rule.about_hot_code and _has_words_of(rule, words))


def _looks_at_steps(rule: Rule, words: Words) -> bool:
    """Whether a rule wants a file for its training steps, whatever else is in it."""
    return (rule.about_hot_code or rule.hints_at_cold_code) and words.match(STEP_TEXT)


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
    if gate.check is None or (gate.unless and words.match(gate.unless)):
        return True
    return _answer(rule, partial(gate.check, words.data))


# a second look ----------------------------------------------------------------------------


def _seen(wanted: list[Rule], outline: Outline, asked: Callable[[Rule, Tier], bool]) -> list[Rule]:
    """The rules for which the outline of the file may show something; [] if none of that is asked
    for."""
    if not any(_is_there(rule, outline, partial(asked, rule)) for rule in wanted):
        return []
    return [rule for rule in wanted if _is_there(rule, outline, lambda _: True)]


def _is_there(rule: Rule, outline: Outline, asked: Callable[[Tier], bool]) -> bool:
    if not any(map(asked, rule.cold_tiers)) or not _has_words_of(rule, outline.words):
        return False
    patterns = [each for each in rule.finds if asked(each.tier or rule.tier)]
    if rule.is_declared and not any(each.may_be_in(outline) for each in patterns):
        return False
    return rule.gate.outline is None or _answer(rule, partial(rule.gate.outline, outline))


def _answer(rule: Rule, ask: Callable[[], bool]) -> bool:
    """
    Raises:
        CandidateError: the rule is of a plugin, and failed.
    """
    if not rule.plugin:
        return ask()
    try:
        answer, printed = contained(rule.label, lambda: bool(ask()))
    except PluginError as error:
        raise CandidateError(rule.code, f"{error}; it is left out here") from error
    if printed:
        raise CandidateError(rule.code, f"{rule.label} printed `{printed}`; it is left out here")
    return answer
