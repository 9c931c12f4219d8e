"""A scan of the text before it is parsed: some shapes keep LibCST's parser busy forever, or crash
it.

Its native parser overflows the stack on thousands of nested brackets and needs gigabytes for a few
hundred more than Python allows. Its time grows with the square of the length of chains such as
`x[0][0][0]…` and of the depth of brackets, and is two to four times longer with each bracket
around a pattern of `match`. Each name and sign takes up to 3 KB, so that there may not be millions
of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate
from operator import sub
from typing import TYPE_CHECKING, Final

from torchlint.files.reading import MOST_LINES

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_BRACKETS: Final = 200
"""CPython's own limit, `MAXLEVEL` in Parser/tokenizer.h."""
MOST_OPERATIONS: Final = 1_000
"""Length of a chain that LibCST still reads in about a second."""

MOST_CHAINED: Final = 12 * MOST_OPERATIONS**2
"""The squares of the lengths of all chains, together: about five seconds."""
MOST_NESTED: Final = 300_000
"""How deep the brackets of a file that are more than `_USUAL_DEPTH` deep are, together: about three
seconds."""
MOST_PATTERNS: Final = 1 << 18
"""What patterns of `match` may cost, in units of about three microseconds: see `_Patterns`."""
MOST_TOKENS: Final = 250_000
"""Names, numbers and signs of a file that still takes less than a gigabyte and ten seconds; the
longest files of transformers and timm have 35,000."""
_USUAL_DEPTH = 20
_BRACKETS = b"()[]{}"
_OTHER_BYTES = bytes(set(range(256)) - set(_BRACKETS))
_STEP = tuple((code in b"([{") - (code in b")]}") for code in range(256))
"""By how much each byte changes the depth."""
_LINKS = b".+-*/%@&|^~([{"
_ENDS = b")]}\n"
_NEITHER = bytes(set(range(256)) - set(_LINKS + _ENDS))
_IS_LINK = bytes(code in _LINKS for code in range(256))
_LINK_SIGNS = _LINKS.decode()
_NEWLINE = ord("\n")
_CONTINUATION = re.compile(r"\\(?:\r\n|\r|\n)")
_OPERATOR_WORDS = frozenset({"not", "if", "lambda", "await"})
_OTHER_WORDS = frozenset({"and", "or", "in", "is", "else", "for", "return", "yield", "print"})
_WORDS = re.compile(rf"\b(?:{'|'.join(sorted(_OPERATOR_WORDS))})\b")
# The first sign alone says what it is, so that the search for the next one is quick.
_STRING_OR_COMMENT = re.compile(
    r"""
      [\#"'](?:
          (?<=\#)[^\r\n]*
        | (?<=")(?:
              ""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*(?:"{3}|\\?\Z)
            | [^"\\\r\n]*(?:\\(?:\r\n|.)[^"\\\r\n]*)*"?)
        | (?<=')(?:
              ''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*(?:'{3}|\\?\Z)
            | [^'\\\r\n]*(?:\\(?:\r\n|.)[^'\\\r\n]*)*'?))
    """,
    re.VERBOSE | re.DOTALL,
)
_TRIPLE = re.compile("\"\"\"|'''")
_FORMATTED = re.compile(r"[fFtT][rR]?(?=[\"'])")
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
    | (?P<end>[\r\n]) | (?P<separator>[,;]) | (?P<colon>:)
    | (?P<word>[^\W\d]\w*) | (?P<number>\d[\w.]*)
    | (?P<operator>\*\*|//|<<|>>|->|[-+*/%@&|^~.])
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class TooMuch:
    """Why a text is not worth parsing, and the offset where that shows."""

    message: str
    offset: int


def too_much(text: str) -> TooMuch | None:
    """Whether `text` nests or chains more than can be parsed; about 50 MB/s for usual text."""
    if len(text) > MOST_LINES and text.count("\n") + text.count("\r") > MOST_LINES:
        return TooMuch(f"The file has more than {MOST_LINES:,} lines; split or exclude it.", 0)
    if len(text) > MOST_TOKENS or _may_match(text) or _may_nest(text) or _may_chain(text):
        return _Scan().over(text)
    return None


def _may_match(text: str) -> bool:
    lines = text.replace("\r", "\n").split("\n") if "case" in text else []
    return any(line.lstrip(" \t\f").startswith("case") for line in lines)


def _may_nest(text: str) -> bool:
    """An upper bound of the nesting, since brackets in strings only ever add to the rises."""
    brackets = text.encode("utf-8", "replace").translate(None, _OTHER_BYTES)
    depths = list(accumulate(map(_STEP.__getitem__, brackets), initial=0))
    rises: Iterator[int] = map(sub, depths, accumulate(depths, min))
    return max(rises) > _USUAL_DEPTH


def _may_chain(text: str) -> bool:
    """An upper bound of the chains: all links of a logical line, whatever separates them."""
    code = _STRING_OR_COMMENT.sub("", text)
    if "\\" in code:
        code = _CONTINUATION.sub("", code)
    words = sum(map(code.count, _OPERATOR_WORDS))
    if words > MOST_OPERATIONS // 2:
        code, words = _WORDS.sub("~", code), 0
    signs = code.encode("utf-8", "replace").translate(None, _NEITHER)
    depths = accumulate(map(_STEP.__getitem__, signs))
    is_link = signs.translate(_IS_LINK)
    ends = [
        links
        for links, depth, sign in zip(accumulate(is_link), depths, signs, strict=True)
        if sign == _NEWLINE and depth <= 0
    ]
    ends.append(is_link.count(1))
    lengths = list(map(sub, ends, [0, *ends]))
    lengths += _links_of_formatted(text, len(text) - len(code))
    squares: int = sum(length * length for length in lengths)
    return max(lengths) + words > MOST_OPERATIONS or squares > MOST_CHAINED


def _links_of_formatted(text: str, in_strings: int) -> list[int]:
    """An upper bound of the links in each f-string that can matter.

    Args:
        in_strings: how many characters are in strings and comments.
    """
    longest = max(map(len, text.split("\n")))
    if longest > MOST_OPERATIONS or longest * in_strings > MOST_CHAINED:
        starts = [match.end() for match in _FORMATTED.finditer(text)]
    else:
        quotes = (match.start() for match in _TRIPLE.finditer(text))
        starts = [at for at in quotes if not {"f", "t"}.isdisjoint(text[at - 2 : at].lower())]
    strings = (_STRING_OR_COMMENT.match(text, at) for at in starts)
    return [sum(map(each.group().count, _LINK_SIGNS)) for each in strings if each is not None]


class _Scan:
    """Counts open brackets, and the operations of the current expression in each of them."""

    def __init__(self) -> None:
        self._chains = [0]
        self._lambdas = [0]
        """Of the lambdas in each bracket, those whose parameters have not ended: their commas do
        not end the chain."""
        self._after_operand = False
        self._deepest = 0
        self._place = 0
        self._tokens = 0
        self._chained = 0
        self._nested = 0
        self._patterns = _Patterns()

    def over(self, text: str) -> TooMuch | None:
        for token in _TOKEN.finditer(text):
            self._take(token)
            self._patterns.take(token, len(self._chains) - 1)
            message = self._excess()
            if message:
                return TooMuch(message, token.start())
        self._patterns.finish()
        message = self._excess()
        if message:
            return TooMuch(message, len(text))
        if self._deepest <= MOST_BRACKETS:
            return None
        message = (
            f"Brackets are nested {self._deepest:,} deep here and Python's own limit is "
            f"{MOST_BRACKETS}; split the expression into several."
        )
        return TooMuch(message, self._place)

    def _excess(self) -> str:
        """What there is too much of so far, in a sentence."""
        if self._chains[-1] > MOST_OPERATIONS:
            return (
                f"More than {MOST_OPERATIONS:,} operations are chained in one expression here; "
                "split it into several."
            )
        if self._chained > MOST_CHAINED:
            return (
                "The long chains of operations up to here take too long to parse; split them into "
                "several statements, or exclude the file."
            )
        if self._nested > MOST_NESTED and self._deepest <= MOST_BRACKETS:
            return (
                "The deeply nested brackets up to here take too long to parse; split them into "
                "several statements, or exclude the file."
            )
        if self._patterns.cost > MOST_PATTERNS:
            return (
                "The patterns of `case` up to here are nested too deeply to parse; match in "
                "several steps, or exclude the file."
            )
        if self._tokens > MOST_TOKENS:
            return (
                f"The file has more than {MOST_TOKENS:,} names, numbers and signs, too many to "
                "check; split or exclude it."
            )
        return ""

    def _take(self, token: re.Match[str]) -> None:
        kind = token.lastgroup
        self._tokens += kind not in (None, "colon")
        if kind == "open":
            self._chains[-1] += self._after_operand
            self._chains.append(0)
            self._lambdas.append(0)
            self._nested += max(0, len(self._chains) - _USUAL_DEPTH)
            self._note_depth(len(self._chains) - 1, token.start())
            self._after_operand = False
        elif kind == "close":
            self._end_chain()
            if len(self._chains) > 1:
                self._chains.pop()
                self._lambdas.pop()
            self._after_operand = True
        elif kind == "operator":
            self._chains[-1] += 1
            self._after_operand = False
        elif kind == "word":
            word = token.group()
            self._chains[-1] += word in _OPERATOR_WORDS
            self._lambdas[-1] += word == "lambda"
            self._after_operand = word not in _OPERATOR_WORDS and word not in _OTHER_WORDS
        elif kind == "separator":
            if not self._lambdas[-1]:
                self._end_chain()
            self._after_operand = False
        elif kind == "end" and len(self._chains) == 1:
            self._end_chain()
            self._lambdas[-1] = 0
            self._after_operand = False
        elif kind == "colon":
            self._lambdas[-1] = max(0, self._lambdas[-1] - 1)
        elif kind not in (None, "separator", "end"):
            self._after_operand = True
            if not {"f", "t"}.isdisjoint((token["prefix"] or "").lower()):
                self._look_into(token[kind], token.start(kind))

    def _end_chain(self) -> None:
        self._chained += self._chains[-1] ** 2
        self._chains[-1] = 0

    def _look_into(self, content: str, start: int) -> None:
        """The replacement fields of an f-string nest on top of what is open around it."""
        depth = links = 0
        for sign in re.finditer(r"\{\{|[(\[{}\])]|[-+*/%@&|^~.]", content):
            if sign.group() in ("{", "(", "["):
                depth += bool(depth) or sign.group() == "{"
                links += bool(depth)
                self._note_depth(len(self._chains) - 1 + depth, start + sign.start())
            elif sign.group() in ("}", ")", "]"):
                depth = max(0, depth - 1)
            elif depth:
                links += 1
        self._chains[-1] += links if links > MOST_OPERATIONS else 0
        self._chained += links**2

    def _note_depth(self, depth: int, offset: int) -> None:
        if depth > self._deepest:
            if self._deepest <= MOST_BRACKETS:
                self._place = offset
            self._deepest = depth


class _Patterns:
    """What the patterns of `match` cost: the parser tries what is in square brackets twice, and
    what is in others up to four times, such as the first of `C(x, a=y)` and of `(x, y)`."""

    def __init__(self) -> None:
        self.cost = 0
        self._costs: list[int] = []
        """Of the brackets that are open in a pattern; empty outside."""
        self._tries: list[int] = []
        """How often the parser tries what is in each of them."""
        self._depth = 0
        self._starts_line = True
        self._matches = False
        """Whether a line began with `match`; without one, `case` is a name."""

    def take(self, token: re.Match[str], depth: int) -> None:
        """Args:
        depth: how many brackets are open after the token.
        """
        kind = token.lastgroup
        if self._costs:
            self._add(token, depth)
        elif self._starts_line and kind == "word":
            if token.group() == "case" and self._matches:
                self._costs, self._depth = [0], depth
            self._matches |= token.group() == "match"
        if kind is not None:
            self._starts_line = kind == "end"

    def finish(self) -> None:
        """What is still open at the end of the text is tried as often, before it is an error."""
        while len(self._costs) > 1:
            self._close()
        self.cost += sum(self._costs)

    def _add(self, token: re.Match[str], depth: int) -> None:
        kind, text = token.lastgroup, token.group()
        if kind == "open":
            self._tries.append(2 if text == "[" else 4)
            self._costs.append(self._tries[-1])
        elif kind == "close" and len(self._costs) > 1:
            self._close()
        elif depth <= self._depth and (kind in ("colon", "end") or text == "if"):
            self.cost += self._costs[0]
            self._costs, self._tries = [], []

    def _close(self) -> None:
        inside = self._costs.pop()
        self._costs[-1] += inside * self._tries.pop()
