"""Words and patterns in the bytes of a file, found without parsing it."""

from __future__ import annotations

import re
from functools import cache, cached_property
from typing import Final, NamedTuple

from torchlint.files.plain_layout import plain_layout

UNCOMMENTED: Final = r"(?m)^[^#\n]*"
"""A pattern that starts so is looked for without it, and its line then searched for a `#`."""

_TO_SPACES: Final = bytes(each if re.match(rb"\w", bytes((each,))) else 32 for each in range(256))
_OF_ONE_WORD: Final = re.compile(r"\\b\(\?:[\w|]+\)(?:\\b|(?![*?{]))|\\b\w+\\b")
"""The beginning of a pattern that is in one word of a match: `\\b(?:SGD|Adam)\\b`."""
_GUARDED: Final = re.compile(
    r"((?:\\b|\(\?<[!=][^()|]{0,30}\)){1,9})((?:\w|\\\.){3,40})(?![\w*?+{]|\\\.)"
)
"""Assertions and then plain letters: `\\btensor`, `(?<!re)\\.compile`."""
_GUARD: Final = re.compile(r"\\b|\(\?<[!=][^()|]{0,30}\)")
_FLAGS: Final = re.compile(r"\(\?[a-zA-Z]+\)")
_FEW: Final = 4
"""Words up to which the whole text is quicker to look through than to make a vocabulary of."""


class Words:
    """The bytes of one file in a plain layout, with the answers to what was looked for in them."""

    def __init__(self, written: bytes) -> None:
        self.written = written
        self._contains: dict[bytes, bool] = {}
        self._branches: dict[str, list[_Branch]] = {}
        self._matches: dict[str, bool] = {}

    @cached_property
    def data(self) -> bytes:
        """The plain layout, which files that lack the words of all patterns never need."""
        return plain_layout(self.written)

    @cached_property
    def vocabulary(self) -> bytes:
        """Each word of the file once, a small part of its length."""
        return b" ".join(set(self.written.translate(_TO_SPACES).split()))

    def contain(self, word: bytes) -> bool:
        contained = self._contains.get(word)
        if contained is None:
            letters = _longest_word(word)
            few = len(self._contains) < _FEW
            contained = letters in (self.written if few else self.vocabulary)
            # Mostly the letters are not there; then the layout does not matter.
            if contained and letters != word:
                contained = word in self.data
            self._contains[word] = contained
        return contained

    def may_match(self, pattern: str) -> bool:
        """Whether nothing in the words alone excludes a pattern, which is quicker."""
        return bool(self._that_may_match(pattern))

    def _that_may_match(self, pattern: str) -> list[_Branch]:
        likely = self._branches.get(pattern)
        if likely is None:
            branches, _ = _compiled(pattern)
            likely = self._branches[pattern] = [each for each in branches if self._has_words(each)]
        return likely

    def _has_words(self, branch: _Branch) -> bool:
        known = self._contains
        for words in branch.words:
            for word in words:
                if known[word] if word in known else self.contain(word):
                    break
            else:
                return False
        one_word = branch.one_word
        return not one_word or _expression(one_word).search(self.vocabulary) is not None

    def match(self, pattern: str) -> bool:
        """Whether a rule's pattern is found."""
        matched = self._matches.get(pattern)
        if matched is None:
            uncommented = _compiled(pattern)[1]
            matched = self._matches[pattern] = any(
                self._has(each.text, uncommented) for each in self._that_may_match(pattern)
            )
        return matched

    def rows_of(self, pattern: str) -> list[int]:
        """The rows, from 1, of all matches of a pattern."""
        matches = _expression(pattern).finditer(self.data)
        return [self.data.count(b"\n", 0, match.start()) + 1 for match in matches]

    def row_of(self, pattern: str) -> int | None:
        """The first row, from 1, where a rule's pattern is found."""
        branches, uncommented = _compiled(pattern)
        found = (self._find(each.text or each.one_word, uncommented) for each in branches)
        match = min(filter(None, found), key=lambda each: each.start(), default=None)
        if match is None:
            return None
        # A match may begin with the lines above what it is about.
        start = match.end() - len(match[0].lstrip())
        return self.data.count(b"\n", 0, start) + 1

    def _has(self, text: str, uncommented: bool) -> bool:
        return not text or self._find(text, uncommented) is not None

    def _find(self, text: str, uncommented: bool) -> re.Match[bytes] | None:
        data, expression = self.data, _expression(text)
        if not uncommented:
            return expression.search(data)
        at = 0
        while (match := expression.search(data, at)) is not None:
            line = data.rfind(b"\n", 0, match.start()) + 1
            if b"#" not in data[line : match.start()]:
                return match
            # Everything else in this line comes after the same sign.
            at = data.find(b"\n", match.start()) + 1
            if at == 0:
                break
        return None


class _Branch(NamedTuple):
    """One of the alternatives of a pattern."""

    words: tuple[tuple[bytes, ...], ...]
    """Plain words: each match has one word of each tuple, and looking for them is far quicker."""
    one_word: str
    """A pattern that one of the words must match; empty for none."""
    text: str
    """A pattern that the text must match; empty if there is nothing more to look for."""


@cache
def _longest_word(text: bytes) -> bytes:
    return max(text.translate(_TO_SPACES).split(), key=len, default=b"")


@cache
def _compiled(pattern: str) -> tuple[tuple[_Branch, ...], bool]:
    """The alternatives of a pattern, and whether they are looked for outside of comments."""
    from torchlint.files.needles import branches

    rest = pattern.removeprefix(UNCOMMENTED)
    uncommented = rest != pattern
    parts = [rest] if _FLAGS.match(rest) else branches(rest)
    return tuple(_branch(part, by_words=not uncommented) for part in parts), uncommented


def _branch(pattern: str, *, by_words: bool) -> _Branch:
    from torchlint.files.needles import needles

    words = tuple(tuple(word.encode() for word in sorted(each)) for each in needles(pattern))
    beginning = _OF_ONE_WORD.match(pattern) if by_words else None
    one_word = beginning[0] if beginning is not None else ""
    return _Branch(words, one_word, "" if one_word == pattern else _led_by_letters(pattern))


@cache
def _expression(pattern: str) -> re.Pattern[bytes]:
    """Compiled when it is first looked for: the words of most patterns are in no file of a
    project."""
    return re.compile(pattern.encode())


def _led_by_letters(pattern: str) -> str:
    """The same pattern with its first letters before what is asserted of them, since `re` looks
    for letters quickly: `tensor(?<=\\btensor)` for `\\btensor`."""
    match = _GUARDED.match(pattern)
    if match is None:
        return pattern
    letters = match[2]
    guards = (
        f"(?<=\\b{letters})" if guard == "\\b" else f"{guard[:-1]}{letters})"
        for guard in _GUARD.findall(match[1])
    )
    return letters + "".join(guards) + pattern[match.end() :]
