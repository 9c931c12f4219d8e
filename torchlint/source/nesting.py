"""A scan of the text before it is parsed: some shapes crash LibCST's parser.

Its native parser overflows the stack on thousands of nested brackets, needs gigabytes for a
few hundred more than Python allows, and takes quadratic time on chains such as `x[0][0][0]…`.
Each name and sign takes up to 3 KB, so that there may not be millions of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate
from operator import sub
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_BRACKETS: Final = 200
"""CPython's own limit, `MAXLEVEL` in Parser/tokenizer.h."""
MOST_OPERATIONS: Final = 1_000
"""Length of a chain that LibCST still reads in about a second."""

MOST_TOKENS: Final = 250_000
"""Names, numbers and signs of a file that still takes less than a gigabyte and ten seconds; the
longest files of transformers and timm have 35,000."""
_SUSPICIOUS_DEPTH = 150
_BRACKETS = b"()[]{}"
_OTHER_BYTES = bytes(set(range(256)) - set(_BRACKETS))
_STEP = {ord(sign): 1 for sign in "([{"} | {ord(sign): -1 for sign in ")]}"}
# Every branch can end where its text ends, so that nothing is ever tried twice.
_TOKEN = re.compile(
    r"""
      \#[^\r\n]*
    | (?P<prefix>[A-Za-z]{0,3})
      (?:\"{3}(?P<long2>(?:[^"\\]+|\\.|"(?!""))*)(?:\"{3}|\\?\Z)
        |'{3}(?P<long1>(?:[^'\\]+|\\.|'(?!''))*)(?:'{3}|\\?\Z)
        |"(?P<short2>(?:[^"\\\r\n]+|\\(?:\r\n|.))*)"?
        |'(?P<short1>(?:[^'\\\r\n]+|\\(?:\r\n|.))*)'?)
    | \\(?:\r\n|\r|\n)
    | (?P<open>[(\[{]) | (?P<close>[)\]}])
    | (?P<end>[\r\n]) | (?P<separator>[,;])
    | (?P<word>[^\W\d]\w*) | (?P<number>\d[\w.]*)
    | (?P<operator>\*\*|//|<<|>>|->|[-+*/%@&|^~.])
    """,
    re.VERBOSE | re.DOTALL,
)
_OPERATOR_WORDS = frozenset({"not", "if", "lambda", "await"})
_OTHER_WORDS = frozenset({"and", "or", "in", "is", "else", "for", "return", "yield", "print"})


@dataclass(frozen=True, slots=True)
class TooMuch:
    """Why a text is not worth parsing, and the offset where that shows."""

    message: str
    offset: int


def too_much(text: str) -> TooMuch | None:
    """Whether `text` nests or chains more than can be parsed; about 100 MB/s for usual text."""
    if _may_nest(text) or _may_chain(text) or len(text) > MOST_TOKENS:
        return _Scan().over(text)
    return None


def _may_nest(text: str) -> bool:
    """An upper bound of the nesting, since brackets in strings only ever add to the rises."""
    brackets = text.encode("utf-8", "replace").translate(None, _OTHER_BYTES)
    depths = list(accumulate(map(_STEP.__getitem__, brackets), initial=0))
    rises: Iterator[int] = map(sub, depths, accumulate(depths, min))
    return max(rises) > _SUSPICIOUS_DEPTH


def _may_chain(text: str) -> bool:
    return max(map(len, text.split("\n"))) > MOST_OPERATIONS


class _Scan:
    """Counts open brackets, and the operations of the current expression in each of them."""

    def __init__(self) -> None:
        self._chains = [0]
        self._after_operand = False
        self._deepest = 0
        self._place = 0
        self._tokens = 0

    def over(self, text: str) -> TooMuch | None:
        for token in _TOKEN.finditer(text):
            self._take(token)
            if self._chains[-1] > MOST_OPERATIONS:
                message = (
                    f"More than {MOST_OPERATIONS:,} operations are chained in one expression here; "
                    "split it into several."
                )
                return TooMuch(message, token.start())
            self._tokens += token.lastgroup is not None
            if self._tokens > MOST_TOKENS:
                message = (
                    f"The file has more than {MOST_TOKENS:,} names, numbers and signs, too many "
                    "to check; split or exclude it."
                )
                return TooMuch(message, token.start())
        if self._deepest <= MOST_BRACKETS:
            return None
        message = (
            f"Brackets are nested {self._deepest:,} deep here and Python's own limit is "
            f"{MOST_BRACKETS}; split the expression into several."
        )
        return TooMuch(message, self._place)

    def _take(self, token: re.Match[str]) -> None:
        kind = token.lastgroup
        if kind == "open":
            self._chains[-1] += self._after_operand
            self._chains.append(0)
            self._note_depth(len(self._chains) - 1, token.start())
            self._after_operand = False
        elif kind == "close":
            if len(self._chains) > 1:
                self._chains.pop()
            self._after_operand = True
        elif kind == "operator":
            self._chains[-1] += 1
            self._after_operand = False
        elif kind == "word":
            word = token.group()
            self._chains[-1] += word in _OPERATOR_WORDS
            self._after_operand = word not in _OPERATOR_WORDS and word not in _OTHER_WORDS
        elif kind in ("separator", "end"):
            if kind == "separator" or len(self._chains) == 1:
                self._chains[-1] = 0
                self._after_operand = False
        elif kind is not None:
            self._after_operand = True
            if not {"f", "t"}.isdisjoint((token["prefix"] or "").lower()):
                self._look_into(token[kind], token.start(kind))

    def _look_into(self, content: str, start: int) -> None:
        """The replacement fields of an f-string nest on top of what is open around it."""
        depth = 0
        for sign in re.finditer(r"\{\{|[(\[{}\])]", content):
            if sign.group() in ("{", "(", "["):
                depth += bool(depth) or sign.group() == "{"
                self._note_depth(len(self._chains) - 1 + depth, start + sign.start())
            elif sign.group() != "{{":
                depth = max(0, depth - 1)

    def _note_depth(self, depth: int, offset: int) -> None:
        if depth > self._deepest:
            if self._deepest <= MOST_BRACKETS:
                self._place = offset
            self._deepest = depth
