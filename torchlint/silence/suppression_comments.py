"""Parses suppression comments and the layout that decides which lines they cover."""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal

from torchlint.files.lines import LineIndex, split_lines
from torchlint.finding import Position
from torchlint.silence.until import parse_date

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date

    _Open = dict[int, dict[frozenset[str], list["Comment"]]]
    """The open `disable` comments, by their indentation and what they suppress."""

WORDS: Final = ("ignore", "ignore-file", "disable", "enable")
ALL: Final = "ALL"

_OWN = re.compile(r"#\s*torchlint:\s*([A-Za-z][\w-]*)(?:\s*(\[)([^\]#\[]*)(\])?)?")
_NEXT = re.compile(r"(?<=\s)#(?=\s*[^\W\d])|#(?=\s*torchlint:)")
"""Where another part of the same comment begins: `# noqa`, but not the `#` of "see #12"."""
_UNBRACKETED = re.compile(r"\s{0,20}[:=(]?\s{0,20}[A-Z]{1,16}\d{3}\b", re.IGNORECASE)
"""A code where `[` should be: without brackets a comment suppresses all rules."""
_NAME = re.compile(r"[^,\s]+")
_NOQA = re.compile(r"#\s*noqa\s*:\s*((?:[A-Z]+\d+[,\s]*)+)", re.IGNORECASE)
_FSTRINGS: Final = {
    getattr(tokenize, f"{kind}_{end}"): step
    for kind in ("FSTRING", "TSTRING")
    for end, step in (("START", 1), ("END", -1))
    if hasattr(tokenize, f"{kind}_{end}")
}
"""Tokens around the parts of a formatted string in newer Python versions."""
_UNTIL = re.compile(r"\s*\buntil(?:\s*[=:]\s*|\s+(?=\d))(\S*)", re.IGNORECASE)
_MISPLACED = re.compile(r"\buntil\s*=\s*\d{4}-", re.IGNORECASE)
_MOST_DAYS: Final = 100
"""Each finding may be asked about each day."""

Fault = Literal["word", "bracket", "until", "days", "place", "indent", "unopened", "unclosed"]
"""What is wrong with a comment: an unknown keyword, rules outside of brackets, an end that is not a
day or in the wrong place, more different days than `_MOST_DAYS`, a `disable` or `enable` that is
not between statements, is not indented like them, or has no counterpart."""


@dataclass(frozen=True, slots=True)
class Name:
    """A rule named in a comment, and the offsets of the name in the text."""

    text: str
    start: int
    end: int


@dataclass(eq=False, slots=True)
class Comment:
    """One suppression: `# torchlint: ignore[TL201] until=2027-01-31 -- reason`.

    One comment of the file may contain several suppressions and other text. `start` and `end` are
    the offsets of this suppression with its reason; `begins` and `stops` are those of the whole
    comment.

    Args:
        word: `ignore`, `ignore-file`, `disable`, `enable`, or an unknown keyword.
        names: the rules in the brackets, or None without brackets, which means all rules.
        alone: the line contains only the comment.
        nested: it is inside brackets of the code.
        indent: the indentation, if it is alone.
        prose: other text follows without the `--` that marks a reason.
        until: the last day on which it suppresses anything, if it has an end.
        ends: the offsets of the text that says so, with the whitespace before it.
        fault: why it has no effect, or another effect than intended.
        last: the last row of the block that a `disable` opens.
        partner: the `enable` that closes the block.
    """

    word: str
    names: tuple[Name, ...] | None
    reason: str
    start: int
    end: int
    prose: bool
    until: date | None
    ends: tuple[int, int]
    fault: Fault | None
    begins: int = 0
    stops: int = 0
    row: int = 0
    alone: bool = False
    nested: bool = False
    indent: int = 0
    last: int = 0
    partner: Comment | None = None

    @property
    def effective(self) -> bool:
        """Whether it can suppress anything."""
        return self.word in WORDS[:3] and self.fault in (None, "unclosed")

    @property
    def selectors(self) -> frozenset[str]:
        """The codes and names that it suppresses."""
        if self.names is None:
            return frozenset({ALL})
        return frozenset(name.text for name in self.names)


@dataclass(frozen=True, slots=True)
class LogicalLine:
    """The rows of a simple statement, or of the header of a compound one."""

    first: int
    last: int
    indent: int


def may_suppress(content: bytes) -> bool:
    """Whether a file may have comments that suppress findings: a test without a parse."""
    return b"torchlint:" in content or b"noqa" in content.lower()


class CommentLayout:
    """Where the comments of a text are, and where others may be added.

    Args:
        text: Python code; what follows the first invalid token is not read.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.comments: list[Comment] = []
        self.noqa: list[tuple[int, frozenset[str]]] = []
        """Row and codes of each `# noqa: TL201`."""
        self.lines: list[LogicalLine] = []
        self.commented: set[int] = set()
        """Rows that end with a comment."""
        self.code: list[int] = []
        """Rows in which a token of code begins, in order."""
        self.inside: list[tuple[int, int]] = []
        """The first and last row of each multi-line string."""
        self._index = LineIndex(text)
        self._days: set[date] = set()
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
            pass  # what was read before the error is kept

    def _read(self, text: str, start: tuple[int, int], line: str, *, nested: bool) -> None:
        row, column = start
        self.commented.add(row)
        begins = self._index.offset(Position(row, column + 1))
        if not self.text.startswith(text, begins):
            return  # this tokenizer counts rows differently
        starts = [0, *(match.start() for match in _NEXT.finditer(text, 1)), len(text)]
        for here, there in pairwise(starts):
            part = text[here:there]
            if match := _OWN.match(part):
                comment = _comment(match, part, begins + here)
                comment.begins, comment.stops = begins, begins + len(text)
                comment.row, comment.indent = row, column
                comment.alone, comment.nested = not line[:column].strip(), nested
                if comment.until is not None and len(self._days) < _MOST_DAYS:
                    self._days.add(comment.until)
                if comment.until is not None and comment.until not in self._days:
                    comment.fault = comment.fault or "days"
                self.comments.append(comment)
            elif match := _NOQA.search(part):
                codes = frozenset(code.upper() for code in _NAME.findall(match[1]))
                self.noqa.append((row, codes))

    # where a comment may be added ------------------------------------------------------------

    @cached_property
    def _open_rows(self) -> list[int]:
        """For each row, the first row from there on whose end a comment may follow."""
        lines = split_lines(self.text)
        taken = {row for first, last in self.inside for row in range(first, last)}
        rows = [len(lines) + 1] * (len(lines) + 2)
        for row in range(len(lines), 0, -1):
            continued = lines[row - 1].endswith("\\") and row not in self.commented
            rows[row] = rows[row + 1] if continued or row in taken else row
        return rows

    def open_row(self, first: int, last: int) -> int | None:
        """The first of these rows whose end a comment may follow."""
        row = self._open_rows[first]
        return row if row <= last else None

    def end_of(self, row: int) -> int:
        """The offset after the last character of a row that is not blank."""
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
_LONE_RETURN = re.compile(r"\r(?!\n)")
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
    # Not all tokenizers take a lone carriage return for the end of a line.
    same = _LONE_RETURN.sub("\n", text)
    return tokenize.generate_tokens(io.StringIO(same, newline="").readline)


def _comment(match: re.Match[str], part: str, offset: int) -> Comment:
    """Parse one part of a comment; the caller fills in the position."""
    word, opened, listed, closed = match.groups()
    fault: Fault | None = None
    if word not in WORDS:
        fault = "word"
    elif not closed if opened else _UNBRACKETED.match(part, match.end()):
        fault = "bracket"
    names = None
    if opened:
        inner = offset + match.start(3)
        found = _NAME.finditer(listed) if closed else ()
        names = tuple(Name(each[0], inner + each.start(), inner + each.end()) for each in found)
    until, end = _end_of(part, match.end())
    ends = (offset + match.end(), offset + end)
    rest = part[end:]
    ended = end > match.end() and (word == "enable" or rest.lstrip().startswith("["))
    if ended or (end > match.end() and until is None) or _MISPLACED.search(rest):
        fault = fault or "until"
    dashes = rest.lstrip().startswith("--")
    reason = rest.lstrip().lstrip("-").strip() if dashes else ""
    prose = bool(rest.strip()) and not dashes
    end += len(rest.rstrip()) if dashes else 0
    return Comment(word, names, reason, offset, offset + end, prose, until, ends, fault)


def _end_of(part: str, start: int) -> tuple[date | None, int]:
    """The day of `until=2027-01-31` from here on, None if it cannot be read, and where it stops."""
    match = _UNTIL.match(part, start)
    if match is None:
        return None, start
    well_formed = match[0].lstrip() == f"until={match[1]}"
    return parse_date(match[1]) if well_formed else None, match.end()


# blocks ------------------------------------------------------------------------------------

_PAIR: Final = ("disable", "enable")
_OF_THE_END: Final = ("until", "days")
"""Faults with which a comment opens or closes its block all the same."""


def _pair(comments: Iterable[Comment], lines: Sequence[LogicalLine]) -> None:
    """Find where the block of each `disable` ends, and what is wrong with `disable` and `enable`.

    The block ends at the `enable` with the same rules and the same indentation, else with the
    block of code around it.
    """
    open_: _Open = {}
    indents = [0]
    done = 0
    ends = lines[-1].last if lines else 0
    for comment in comments:
        if comment.word not in _PAIR or comment.fault not in (None, *_OF_THE_END):
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
    """Close the blocks of code that a line is no longer part of."""
    for indent in [each for each in open_ if each > line.indent]:
        _close(open_.pop(indent), line.first - 1)
    while indents[-1] > line.indent:
        indents.pop()
    if indents[-1] < line.indent:
        indents.append(line.indent)


def _close(names: dict[frozenset[str], list[Comment]], last: int) -> None:
    for comments in names.values():
        for comment in comments:
            comment.last, comment.fault = max(last, comment.row), comment.fault or "unclosed"
