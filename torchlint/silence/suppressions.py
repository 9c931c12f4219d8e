"""Comments that suppress findings: `# torchlint: ignore[TL201]`, `# noqa: TL201`."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Final

import libcst as cst

from torchlint.config.settings import nearest
from torchlint.silence.known_findings import OF_A_RUN
from torchlint.silence.suppression_comments import ALL, Comment, CommentLayout

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from torchlint.analysis.module import Module
    from torchlint.finding import Finding
    from torchlint.silence.suppression_comments import Name

    Rows = tuple[int, int]

_COMPOUND: Final = (cst.For, cst.While, cst.If, cst.With, cst.FunctionDef, cst.ClassDef, cst.Try)
_MOST_HINTS: Final = 50
"""Each suggestion takes a millisecond."""


class Suppressions:
    """The suppression comments of one file, and what each of them suppressed.

    A comment on a line covers the findings that start on it or span it; a comment alone
    on its line covers the statement below it (of a compound statement, the header), or inside
    brackets the next line of code; `disable` covers what starts before its `enable`.

    Args:
        about: the codes of the rules about comments. Only a comment that names such a rule
            suppresses it: else a comment for all rules would hide that it is unused.
        names: the name of every installed rule by its code.
    """

    def __init__(
        self,
        module: Module,
        about: Collection[str] = (),
        names: Mapping[str, str] | None = None,
    ) -> None:
        self.module = module
        self.comments: list[Comment] = []
        self.finished: frozenset[str] = frozenset()
        """The rules that can report nothing more in this file."""
        self.reasons_required = False
        self._about = frozenset(about)
        self._names = names or {}
        self._codes = {name: code for code, name in self._names.items()}
        self._spans: dict[Comment, tuple[Rows, ...]] = {}
        self._covers: dict[str, _Cover] = {}
        """By the last day, `2027-01-31`, on which the comments suppress anything; empty: no end."""
        self._hints: dict[str, str] = {}
        self._seen: dict[str, list[Rows]] = defaultdict(list)
        if "torchlint:" in module.text or "noqa" in module.text.lower():
            self._read()

    def left(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings that no comment suppresses for good; those that one suppresses up to a day
        have that day. Every comment that suppresses one counts as used, also after its day."""
        asked = ((finding, self.until(finding)) for finding in findings)
        return [
            finding._replace(until=day) if day else finding for finding, day in asked if day != ""
        ]

    def until(self, finding: Finding) -> str | None:
        """The last day on which a comment suppresses the finding: None if none does, and empty if
        one does for good."""
        if not self._covers:
            return None
        rows = finding.start.row, finding.end.row
        self._seen[finding.code].append(rows)
        selectors = [finding.code, finding.name]
        if finding.code not in self._about:
            self._seen[ALL].append(rows)
            selectors.append(ALL)
        days = [day for day, cover in self._covers.items() if cover.meets(selectors, rows)]
        return None if not days else "" if "" in days else max(days)

    # for rules about comments --------------------------------------------------------------

    def unused_names(self, comment: Comment) -> tuple[Name, ...]:
        """The names in a comment that suppress nothing, although their rules have finished."""
        return tuple(name for name in comment.names or () if self._is_unused(comment, name.text))

    def is_unused(self, comment: Comment) -> bool:
        """Whether nothing in a comment suppresses anything."""
        if comment.names is None:
            return self._is_unused(comment, ALL)
        return len(self.unused_names(comment)) == len(comment.names)

    def unknown(self, comment: Comment) -> list[tuple[Name, str]]:
        """The names in a comment that are not rules, each with a suggestion of the nearest one as
        the end of a sentence. Codes of a run count as known."""
        if not self._names:
            return []
        return [
            (name, self._nearest(name.text))
            for name in comment.names or ()
            if name.text != ALL
            and name.text not in self._names
            and name.text not in self._codes
            and not OF_A_RUN.fullmatch(name.text)
        ]

    def _nearest(self, word: str) -> str:
        hint = self._hints.get(word)
        if hint is None:
            if len(self._hints) >= _MOST_HINTS:
                return ""
            hint = self._hints[word] = nearest(word, (*self._names, *self._codes))
        return hint

    def scope(self, comment: Comment) -> str:
        """The dotted class and function around a comment."""
        return self.module.scope_at(comment.row)

    def _is_unused(self, comment: Comment, selector: str) -> bool:
        if selector == ALL:
            everything = self._names.keys() - self._about
            return everything <= self.finished and not self._used(comment, ALL)
        code = self._codes.get(selector, selector)
        if code in self._about:
            return False
        return code in self.finished and not self._used(comment, code)

    def _used(self, comment: Comment, code: str) -> bool:
        if comment.word == "ignore-file":
            return bool(self._seen.get(code))
        seen = self._sorted.get(code)
        if seen is None:
            return False
        if comment.word == "disable":
            return seen.start_in(comment.row, comment.last)
        return any(seen.meet(*span) for span in self._spans[comment])

    @cached_property
    def _sorted(self) -> dict[str, _Spans]:
        return {code: _Spans(rows) for code, rows in self._seen.items()}

    # reading -------------------------------------------------------------------------------

    def _read(self) -> None:
        layout = CommentLayout(self.module.text)
        strings = _Spans(_strings_with_comments(self.module) if layout.comments else ())
        self.comments = [
            comment for comment in layout.comments if not strings.meet(comment.start, comment.start)
        ]
        effective = [comment for comment in self.comments if comment.effective]
        below = _Below(self.module, layout) if any(each.alone for each in effective) else None
        covers: dict[str, _Cover] = defaultdict(_Cover)
        for comment in effective:
            cover = covers["" if comment.until is None else comment.until.isoformat()]
            if comment.word == "ignore-file":
                cover.whole_file |= comment.selectors
                continue
            spans: tuple[Rows, ...] = ((comment.row, comment.row),)
            if comment.word == "disable":
                spans = ((comment.row, comment.last),)
            elif comment.alone and below is not None:
                spans += below.rows(comment)
            self._spans[comment] = spans
            here = cover.in_blocks if comment.word == "disable" else cover.on_lines
            for selector in comment.selectors:
                here[selector] += spans
        for row, codes in layout.noqa:
            for code in codes:
                covers[""].on_lines[code].append((row, row))
        self._covers = dict(covers)


class _Cover:
    """What the comments with the same end suppress."""

    def __init__(self) -> None:
        self.whole_file: frozenset[str] = frozenset()
        self.on_lines: dict[str, list[Rows]] = defaultdict(list)
        self.in_blocks: dict[str, list[Rows]] = defaultdict(list)

    @cached_property
    def _lines(self) -> dict[str, _Spans]:
        return {selector: _Spans(spans) for selector, spans in self.on_lines.items()}

    @cached_property
    def _blocks(self) -> dict[str, _Spans]:
        return {selector: _Spans(spans) for selector, spans in self.in_blocks.items()}

    def meets(self, selectors: Iterable[str], rows: Rows) -> bool:
        return any(
            selector in self.whole_file
            or (selector in self._lines and self._lines[selector].meet(*rows))
            or (selector in self._blocks and self._blocks[selector].meet(rows[0], rows[0]))
            for selector in selectors
        )


class _Below:
    """The code below a comment that is alone on its line."""

    def __init__(self, module: Module, layout: CommentLayout) -> None:
        self._statements = sorted(_statement_rows(module))
        self._starts = [first for first, _ in self._statements]
        self._code = layout.code

    def rows(self, comment: Comment) -> tuple[Rows, ...]:
        """The rows of the statement below, or inside brackets of the next line of code."""
        if comment.nested:
            index = bisect_right(self._code, comment.row)
            return tuple((row, row) for row in self._code[index : index + 1])
        index = bisect_right(self._starts, comment.row)
        return tuple(self._statements[index : index + 1])


class _Spans:
    """Spans of rows, with a quick test for overlaps."""

    __slots__ = ("_lasts", "_starts")

    def __init__(self, spans: Iterable[Rows]) -> None:
        ordered = sorted(spans)
        self._starts = [first for first, _ in ordered]
        self._lasts = list(accumulate((last for _, last in ordered), max))

    def meet(self, first: int, last: int) -> bool:
        """Whether one of the spans overlaps these rows."""
        index = bisect_right(self._starts, last) - 1
        return index >= 0 and self._lasts[index] >= first

    def start_in(self, first: int, last: int) -> bool:
        """Whether one of the spans starts in these rows."""
        return bisect_left(self._starts, first) < bisect_right(self._starts, last)


def _strings_with_comments(module: Module) -> list[Rows]:
    """Offsets of strings that contain what looks like a comment. An older Python that does not
    know nested quotes in f-strings tokenizes it as one."""
    strings: list[cst.SimpleString | cst.FormattedStringText] = []
    strings += module.nodes(cst.SimpleString)
    strings += module.nodes(cst.FormattedStringText)
    return [module.offsets(each) for each in strings if "torchlint:" in each.value]


def _statement_rows(module: Module) -> list[Rows]:
    rows = []
    for line in module.nodes(cst.SimpleStatementLine):
        start, end = module.span(line)
        rows.append((start.row, end.row))
    for statement in module.nodes(*_COMPOUND):
        start = module.span(statement)[0]
        body = statement.body.body
        last = module.span(body[0])[0].row - 1 if body else start.row
        rows.append((start.row, max(start.row, last)))
        above = [module.span(each)[0].row for each in getattr(statement, "decorators", ())]
        rows += [(row, max(start.row, last)) for row in above]
    for match in module.nodes(cst.Match):
        rows += [(module.span(match)[0].row, module.span(match.cases[0])[0].row - 1)]
    return rows
