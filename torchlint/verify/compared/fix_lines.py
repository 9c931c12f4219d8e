"""The lines that show whether a change was executed."""

from __future__ import annotations

import ast
import os
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from torchlint.files.lines import LineIndex
from torchlint.files.reading import SourceError, decode
from torchlint.fixes.splice import spans
from torchlint.runtime.probe.run_settings import FixLines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.fixes.splice import Span
    from torchlint.verify.compared.measured_fixes import Fixes, MeasuredFix

Watched = dict[str, tuple[FixLines, ...]]
"""Real path → the lines to watch."""


def places_before(fixes: Fixes) -> Watched:
    """The statements of the original files that fixes change. A place's id is the fix's id,
    a colon and the number of the finding in the fix."""
    watched: dict[str, list[FixLines]] = {}
    for fix in fixes.fixes:
        text = fixes.sources[fix.path].text
        statements = _Statements(text)
        for name, span in _telling_spans(fix, text):
            if not _is_whole_lines(span, text):
                first, last = statements.around(span[0], span[1])
                watched.setdefault(_real(fix), []).append(FixLines(name, first, last))
    return {path: tuple(places) for path, places in watched.items()}


def places_after(fixes: Fixes) -> Watched:
    """The statements of the files with all fixes made that hold what the fixes wrote."""
    changed = fixes.changed(fixes.ids)
    watched: dict[str, list[FixLines]] = {}
    for path, (_, after) in changed.items():
        source = fixes.sources[path]
        text = decode(path, after).text
        statements = _Statements(text)
        here = [fix for fix in fixes.fixes if fix.path == path]
        everything = spans(
            (edit for fix in here for each in fix.findings if each.fix for edit in each.fix.edits),
            LineIndex(source.text),
        )
        for fix in here:
            for name, span in _telling_spans(fix, source.text):
                if not span[2].strip():
                    continue
                start = span[0] + _shift(span, everything)
                first, last = statements.around(start, start + len(span[2]))
                watched.setdefault(_real(fix), []).append(FixLines(name, first, last))
    return {path: tuple(places) for path, places in watched.items()}


def places_of_pair(
    shown: str, before: bytes, after: bytes
) -> tuple[tuple[FixLines, ...], tuple[FixLines, ...]]:
    """The changed statements of one file: in the text before, those that are only removed, and in
    the text after all others. A place's id says where it is: the shown path, a colon, the row.

    Empty where one of the texts does not parse.
    """
    try:
        texts = [decode(shown, data).text for data in (before, after)]
        old, new = (_Statements(text) for text in texts)
    except (SourceError, SyntaxError, ValueError, RecursionError, MemoryError):
        return (), ()
    before_lines, after_lines = (text.splitlines() for text in texts)
    removed: set[int] = set()
    written: set[int] = set()
    matcher = SequenceMatcher(None, before_lines, after_lines, autojunk=False)
    for kind, old_first, old_end, new_first, new_end in matcher.get_opcodes():
        if kind == "delete":
            removed.update(range(old_first + 1, old_end + 1))
        elif kind != "equal":
            written.update(range(new_first + 1, new_end + 1))
    return _places_at(shown, old, removed, " (removed)"), _places_at(shown, new, written)


def _places_at(
    shown: str, statements: _Statements, rows: set[int], more: str = ""
) -> tuple[FixLines, ...]:
    found = dict.fromkeys(filter(None, map(statements.at, sorted(rows))))
    return tuple(FixLines(f"{shown}:{first}{more}", first, last) for first, last in found)


def _real(fix: MeasuredFix) -> str:
    return os.path.realpath(fix.path)


def _telling_spans(fix: MeasuredFix, text: str) -> Iterator[tuple[str, Span]]:
    """The edits of a fix without the imports that it adds, which always run."""
    lines = LineIndex(text)
    for number, finding in enumerate(fix.findings):
        found = spans(finding.fix.edits if finding.fix else (), lines)
        telling = [span for span in found if not _is_import(span)] or found
        for span in telling:
            yield f"{fix.id}:{number}", span


def _is_import(span: Span) -> bool:
    return span[0] == span[1] and span[2].lstrip().startswith(("import ", "from "))


def _is_whole_lines(span: Span, text: str) -> bool:
    """An insertion between two lines: no statement of the original is part of it."""
    at_start = span[0] == 0 or text[span[0] - 1] in "\r\n"
    return span[0] == span[1] and at_start and span[2].endswith(("\n", "\r"))


def _shift(span: Span, everything: list[Span]) -> int:
    """How far the edits before this one move it."""
    moved = 0
    for other in everything:
        if other == span:
            break
        moved += len(other[2]) - (other[1] - other[0])
    return moved


class _Statements:
    """The statements of a text by the lines they are on."""

    def __init__(self, text: str) -> None:
        self._lines = LineIndex(text)
        self._text = text
        self._ranges = sorted(_ranges(ast.parse(text)))

    def around(self, start: int, end: int) -> tuple[int, int]:
        """First and last row of the statement that holds the first word of the place."""
        stripped = len(self._text[start:end]) - len(self._text[start:end].lstrip())
        row = self._lines.position(min(start + stripped, len(self._text))).row
        return self.at(row) or (row, max(row, self._lines.position(end).row))

    def at(self, row: int) -> tuple[int, int] | None:
        """First and last row of the statement on a row, if there is one."""
        for first, last in self._ranges:
            if first <= row <= last:
                return first, last
        return None


def _ranges(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """First and last row of each simple statement, and of the head of each compound one."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        body = getattr(node, "body", None)
        if isinstance(body, list) and body:
            yield (node.lineno, max(node.lineno, body[0].lineno - 1))
        else:
            yield (node.lineno, node.end_lineno or node.lineno)
