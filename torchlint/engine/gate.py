"""Which files are worth parsing: words in the bytes, before anything is imported or parsed."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from torchlint.analysis.frameworks.mentions import MENTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.ruleapi.rule import Rule

UNCOMMENTED = r"(?m)^[^#\n]*"
"""A pattern that starts so is looked for without it, and its line then searched for a `#`."""


def mentions_torch(data: bytes) -> bool:
    """Whether any rule at all can have something to say about a file with these bytes."""
    return any(word in data for word in MENTIONS)


def wanted_by(data: bytes, rules: Iterable[Rule], *, woken: bool = False) -> list[str]:
    """The codes of the rules that want to see a file with these bytes.

    Args:
        woken: hot code of another file leads here, so that `Rule.wakes` counts too.
    """
    words = Words(data)
    return [
        rule.code
        for rule in rules
        if _wanted(rule, words) or (woken and rule.wakes and _all_found(rule.wakes, words))
    ]


def may_wake(data: bytes, rules: Iterable[Rule]) -> set[str]:
    """The codes of the rules that may speak once hot code of another file leads to these bytes."""
    words = Words(data)
    return {rule.code for rule in rules if rule.wakes and _all_found(rule.wakes, words)}


class Words:
    """The bytes of one file, with the answers to what was looked for in them."""

    __slots__ = ("_contains", "_matches", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._contains: dict[bytes, bool] = {}
        self._matches: dict[str, bool] = {}

    def contain(self, word: bytes) -> bool:
        known = self._contains.get(word)
        if known is None:
            known = self._contains[word] = word in self.data
        return known

    def match(self, pattern: str) -> bool:
        """Whether a rule's pattern is found."""
        known = self._matches.get(pattern)
        if known is None:
            known = self._matches[pattern] = self._search(pattern)
        return known

    def _search(self, pattern: str) -> bool:
        words, expression = _compiled(pattern)
        if words and not any(self.contain(word) for word in words):
            return False
        data = self.data
        if not pattern.startswith(UNCOMMENTED):
            return expression.search(data) is not None
        at = 0
        while (match := expression.search(data, at)) is not None:
            line = data.rfind(b"\n", 0, match.start()) + 1
            if data.find(b"#", line, match.start()) < 0:
                return True
            # What else stands in this line stands in the comment, too.
            at = data.find(b"\n", match.start()) + 1
            if at == 0:
                break
        return False


def matches(pattern: str, data: bytes) -> bool:
    """Whether a rule's pattern is found in a file."""
    return Words(data).match(pattern)


def _wanted(rule: Rule, words: Words) -> bool:
    if not rule.triggers or not _all_found(rule.triggers, words):
        return False
    return rule.candidate is None or rule.candidate(words.data)


def _all_found(patterns: tuple[str, ...], words: Words) -> bool:
    return all(words.match(pattern) for pattern in patterns)


@cache
def _compiled(pattern: str) -> tuple[tuple[bytes, ...], re.Pattern[bytes]]:
    """Plain words to look for first, since that is far quicker, and the expression itself."""
    from torchlint.files.needles import needles

    words = needles(pattern) or ()
    expression = re.compile(pattern.removeprefix(UNCOMMENTED).encode())
    return tuple(word.encode() for word in sorted(words)), expression
