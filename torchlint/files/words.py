"""Words and patterns in the bytes of a file, found without parsing it."""

from __future__ import annotations

import re
from functools import cache

UNCOMMENTED = r"(?m)^[^#\n]*"
"""A pattern that starts so is looked for without it, and its line then searched for a `#`."""


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


@cache
def _compiled(pattern: str) -> tuple[tuple[bytes, ...], re.Pattern[bytes]]:
    """Plain words to look for first, since that is far quicker, and the expression itself."""
    from torchlint.files.needles import needles

    words = needles(pattern) or ()
    expression = re.compile(pattern.removeprefix(UNCOMMENTED).encode())
    return tuple(word.encode() for word in sorted(words)), expression
