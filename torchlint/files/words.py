"""Words and patterns in the bytes of a file, found without parsing it."""

from __future__ import annotations

import re
from functools import cache, cached_property
from typing import Final

UNCOMMENTED = r"(?m)^[^#\n]*"
"""A pattern that starts so is looked for without it, and its line then searched for a `#`."""

_TO_SPACES: Final = bytes(each if re.match(rb"\w", bytes((each,))) else 32 for each in range(256))
_OF_ONE_WORD: Final = re.compile(r"\\b\(\?:[\w|]+\)(?:\\b|(?![*?{]))|\\b\w+\\b")
"""The beginning of a pattern that lies in one word of a match: `\\b(?:SGD|Adam)\\b`."""


class Words:
    """The bytes of one file, with the answers to what was looked for in them."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._contains: dict[bytes, bool] = {}
        self._may_match: dict[str, bool] = {}
        self._matches: dict[str, bool] = {}

    @cached_property
    def vocabulary(self) -> bytes:
        """Each word of the file once, a small part of its length."""
        return b" ".join(set(self.data.translate(_TO_SPACES).split()))

    def contain(self, word: bytes) -> bool:
        known = self._contains.get(word)
        if known is None:
            whole = b" " not in word and word.translate(_TO_SPACES) == word
            known = self._contains[word] = word in (self.vocabulary if whole else self.data)
        return known

    def may_match(self, pattern: str) -> bool:
        """Whether nothing speaks against a pattern in the words alone, which is quicker."""
        known = self._may_match.get(pattern)
        if known is None:
            words, in_vocabulary, _ = _compiled(pattern)
            known = self._may_match[pattern] = (not words or any(map(self.contain, words))) and (
                in_vocabulary is None or in_vocabulary.search(self.vocabulary) is not None
            )
        return known

    def match(self, pattern: str) -> bool:
        """Whether a rule's pattern is found."""
        known = self._matches.get(pattern)
        if known is None:
            known = self._matches[pattern] = self.may_match(pattern) and self._search(pattern)
        return known

    def _search(self, pattern: str) -> bool:
        expression = _compiled(pattern)[2]
        if expression is None:
            return True
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


@cache
def _compiled(
    pattern: str,
) -> tuple[tuple[bytes, ...], re.Pattern[bytes] | None, re.Pattern[bytes] | None]:
    """Plain words to look for first, since that is far quicker, an expression for words alone, and
    one for the text; None if there is nothing more to look for."""
    from torchlint.files.needles import branches, needles

    words = needles(pattern) or ()
    plain = tuple(word.encode() for word in sorted(words))
    beginning = _OF_ONE_WORD.match(pattern) if len(branches(pattern)) == 1 else None
    if beginning is None:
        return plain, None, re.compile(pattern.removeprefix(UNCOMMENTED).encode())
    in_vocabulary = re.compile(beginning[0].encode())
    if beginning.end() == len(pattern):
        return plain, in_vocabulary, None
    return plain, in_vocabulary, re.compile(pattern.encode())
