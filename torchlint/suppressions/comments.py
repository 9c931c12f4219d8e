"""Reads the comments that silence findings, and what of a text decides where they hold."""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal

from torchlint.files.lines import LineIndex
from torchlint.finding import Position

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    _Open = dict[int, dict[frozenset[str], list["Comment"]]]
    """The comments without an end so far, by their indentation and what they silence."""

WORDS: Final = ("ignore", "ignore-file", "disable", "enable")
ALL: Final = "ALL"

_OWN = re.compile(r"#\s*torchlint:\s*([A-Za-z][\w-]*)(?:\s*(\[)([^\]#\[]*)(\])?)?")
_NEXT = re.compile(r"(?<=\s)#(?=\s*[^\W\d])|#(?=\s*torchlint:)")
"""Where other text of the same comment begins: `# noqa`, but not the `#` of "see #12"."""
_NAME = re.compile(r"[^,\s]+")
_NOQA = re.compile(r"#\s*noqa\s*:\s*((?:[A-Z]+\d+[,\s]*)+)", re.IGNORECASE)
_FSTRINGS: Final = {
    getattr(tokenize, f"{kind}_{end}"): step
    for kind in ("FSTRING", "TSTRING")
    for end, step in (("START", 1), ("END", -1))
    if hasattr(tokenize, f"{kind}_{end}")
}
"""Tokens that newer Pythons have around the parts of a formatted string."""

Fault = Literal["word", "bracket", "place", "indent", "unopened", "unclosed"]
"""What is wrong with a comment: an unknown word, a bracket that is not closed, `disable` or
`enable` that is not between statements or not indented like them, and one without the other."""


@dataclass(frozen=True, slots=True)
class Name:
    """A rule as a comment names it, and where, in characters of the text."""

    text: str
    start: int
    end: int


@dataclass(eq=False, slots=True)
class Comment:
    """One suppression: `# torchlint: ignore[TL201] -- reason`.

    A comment of the file may hold several, and other text. `start` and `end` are where this one
    does, in characters, with its reason; `begins` and `stops` are those of the whole comment.

    Args:
        word: `ignore`, `ignore-file`, `disable` or `enable`, or what stands in their place.
        names: the rules in the brackets, or None without brackets, which means all.
        alone: nothing but the comment stands on its line.
        nested: it stands inside brackets of the code.
        indent: characters in front of it, if it is alone.
        prose: other text follows that no `--` marks as the reason.
        fault: why it does nothing, or not what it should.
        last: the last row of the block that a `disable` begins.
        partner: the `enable` that ends the block.
    """

    word: str
    names: tuple[Name, ...] | None
    reason: str
    start: int
    end: int
    begins: int
    stops: int
    row: int
    alone: bool
    nested: bool
    indent: int
    prose: bool
    fault: Fault | None = None
    last: int = 0
    partner: Comment | None = None

    @property
    def heeded(self) -> bool:
        """Whether it silences anything, or could."""
        return self.word in WORDS[:3] and self.fault in (None, "unclosed")

    @property
    def selectors(self) -> frozenset[str]:
        """The codes and names that it silences."""
        if self.names is None:
            return frozenset({ALL})
        return frozenset(name.text for name in self.names)


@dataclass(frozen=True, slots=True)
class LogicalLine:
    """One statement's line, however many rows it takes, or the header of a compound one."""

    first: int
    last: int
    indent: int


class Layout:
    """The tokens of a text that say where comments stand and where others may be put.

    Args:
        text: Python, or what looks like it; what follows the first broken token is not seen.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.comments: list[Comment] = []
        self.noqa: list[tuple[int, frozenset[str]]] = []
        """Row and codes of each `# noqa: TL201`."""
        self.lines: list[LogicalLine] = []
        self.commented: set[int] = set()
        """The rows that end with a comment."""
        self.code: list[int] = []
        """The rows in which a word of code begins, in order."""
        self.inside: list[tuple[int, int]] = []
        """The first and the last row of each string that has several."""
        self._index = LineIndex(text)
        self._scan()
        _pair(self.comments, self.lines)

    def _scan(self) -> None:
        depth = formatted = began = 0
        first: tuple[int, int] | None = None
        try:
            for kind, string, start, end, line in _tokens(self.text):
                step = _FSTRINGS.get(kind, 0)
                if step > 0 and not formatted:
                    began = start[0]
                formatted += step
                if step < 0 and not formatted and began < end[0]:
                    self.inside.append((began, end[0]))
                if kind == tokenize.STRING and start[0] < end[0]:
                    self.inside.append((start[0], end[0]))
                elif kind == tokenize.COMMENT and not formatted:
                    self._read(string, start, line, nested=depth > 0)
                elif kind == tokenize.OP:
                    depth += (string in "([{") - (string in ")]}")
                elif kind == tokenize.NEWLINE and first is not None:
                    self.lines.append(LogicalLine(first[0], start[0], first[1]))
                    first = None
                if kind not in _BETWEEN_LINES:
                    first = first or start
                    if start[0] not in self.code[-1:]:
                        self.code.append(start[0])
        except (tokenize.TokenError, SyntaxError, IndentationError):
            pass  # what was read so far still counts

    def _read(self, text: str, start: tuple[int, int], line: str, *, nested: bool) -> None:
        row, column = start
        self.commented.add(row)
        alone = not line[:column].strip()
        begins = self._index.offset(Position(row, column + 1))
        if not self.text.startswith(text, begins):
            return  # a tokenizer that counts rows in another way
        starts = [0, *(match.start() for match in _NEXT.finditer(text, 1)), len(text)]
        for here, there in pairwise(starts):
            part = text[here:there]
            if match := _OWN.match(part):
                found = _comment(match, part, begins + here)
                found.begins, found.stops = begins, begins + len(text)
                found.row, found.alone, found.nested = row, alone, nested
                found.indent = column
                self.comments.append(found)
            elif match := _NOQA.search(part):
                codes = frozenset(code.upper() for code in _NAME.findall(match[1]))
                self.noqa.append((row, codes))

    # where a comment may be put ------------------------------------------------------------

    @cached_property
    def _open_rows(self) -> list[int]:
        """Of each row, the next one from there on whose end a comment may follow."""
        lines = re.split(r"\r\n|\r|\n", self.text)
        taken = {row for first, last in self.inside for row in range(first, last)}
        found = [len(lines) + 1] * (len(lines) + 2)
        for row in range(len(lines), 0, -1):
            continued = lines[row - 1].endswith("\\") and row not in self.commented
            found[row] = found[row + 1] if continued or row in taken else row
        return found

    def open_row(self, first: int, last: int) -> int | None:
        """The first of these rows whose end a comment may follow."""
        row = self._open_rows[first]
        return row if row <= last else None

    def end_of(self, row: int) -> int:
        """The offset behind what stands in a row, blanks left out."""
        start = self._index.offset(Position(row, 1))
        match = _LINE.match(self.text, start)
        assert match is not None
        return start + len(match[0].rstrip())

    def start_of(self, row: int) -> int:
        """The offset where a row begins."""
        return self._index.offset(Position(row, 1))

    def position(self, offset: int) -> Position:
        """The row and column of an offset."""
        return self._index.position(offset)


_LINE = re.compile(r"[^\r\n]*")
_BETWEEN_LINES: Final = frozenset(
    {
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.COMMENT,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
)


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    return tokenize.generate_tokens(io.StringIO(text, newline="").readline)


def _comment(match: re.Match[str], part: str, offset: int) -> Comment:
    """What one part of a comment says; the caller knows where the comment stands."""
    word, opened, listed, closed = match.groups()
    fault: Fault | None = None
    if word not in WORDS:
        fault = "word"
    elif opened and not closed:
        fault = "bracket"
    names = None
    if opened:
        inner = offset + match.start(3)
        found = _NAME.finditer(listed) if closed else ()
        names = tuple(Name(each[0], inner + each.start(), inner + each.end()) for each in found)
    rest = part[match.end() :]
    dashes = rest.lstrip().startswith("--")
    reason = rest.lstrip().lstrip("-").strip() if dashes else ""
    end = match.end() + (len(rest.rstrip()) if dashes else 0)
    prose = bool(rest.strip()) and not dashes
    stop = offset + end
    return Comment(
        word, names, reason, offset, stop, offset, stop, 0, False, False, 0, prose, fault
    )


# blocks ------------------------------------------------------------------------------------

_PAIR: Final = ("disable", "enable")


def _pair(comments: Iterable[Comment], lines: Sequence[LogicalLine]) -> None:
    """Finds where the block of each `disable` ends, and what is wrong with those and `enable`.

    The block ends at the `enable` with the same rules and the same indentation, else with the
    block of code around it.
    """
    open_: _Open = {}
    indents = [0]
    done = 0
    ends = lines[-1].last if lines else 0
    for comment in comments:
        if comment.word not in _PAIR or comment.fault is not None:
            continue
        if not comment.alone or comment.nested:
            comment.fault = "place"
            continue
        while done < len(lines) and lines[done].first < comment.row:
            _close_deeper(open_, lines[done], indents)
            done += 1
        below = lines[done].indent if done < len(lines) else 0
        if comment.indent < below or comment.indent not in (below, *indents):
            comment.fault = "indent"
            continue
        same = open_.setdefault(comment.indent, {}).setdefault(comment.selectors, [])
        if comment.word == "disable":
            same.append(comment)
        elif same:
            begun = same.pop()
            begun.last, begun.partner = comment.row, comment
            comment.partner = begun
        else:
            comment.fault = "unopened"
    for line in lines[done:]:
        _close_deeper(open_, line, indents)
    for names in open_.values():
        _close(names, ends)


def _close_deeper(open_: _Open, line: LogicalLine, indents: list[int]) -> None:
    """Ends the blocks of code that a line is no longer part of."""
    for indent in [each for each in open_ if each > line.indent]:
        _close(open_.pop(indent), line.first - 1)
    while indents[-1] > line.indent:
        indents.pop()
    if indents[-1] < line.indent:
        indents.append(line.indent)


def _close(names: dict[frozenset[str], list[Comment]], last: int) -> None:
    for comments in names.values():
        for comment in comments:
            comment.last, comment.fault = max(last, comment.row), "unclosed"
