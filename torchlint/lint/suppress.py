"""Comments that silence findings: `# torchlint: ignore[TL201]`, `# noqa: TL201`."""

from __future__ import annotations

import io
import re
import tokenize
from typing import TYPE_CHECKING

import libcst as cst

if TYPE_CHECKING:
    from torchlint.lint.finding import Finding
    from torchlint.syntax.module import Module

_OWN = re.compile(r"#\s*torchlint:\s*(ignore-file|ignore)(?![\w-])\s*(?:\[([^\]#]*)\])?")
_NOQA = re.compile(r"#\s*noqa\s*:\s*((?:[A-Z]+\d+[,\s]*)+)", re.IGNORECASE)
_SPLIT = re.compile(r"[,\s]+")
ALL = frozenset({"ALL"})


class Suppressions:
    """The suppression comments of one file.

    A comment on a line covers the findings that start on it or reach over it; a comment alone
    on its line covers the statement below it (of a compound statement, the header).
    """

    def __init__(self, module: Module) -> None:
        self._module = module
        self._whole_file: set[str] = set()
        self._lines: dict[int, set[str]] = {}
        if "torchlint:" in module.text or "noqa" in module.text.lower():
            self._read()

    def cover(self, finding: Finding) -> bool:
        """Whether a comment silences the finding."""
        if _matches(self._whole_file, finding):
            return True
        if not self._lines:
            return False
        return any(
            _matches(self._lines.get(row, set()), finding)
            for row in range(finding.start.row, finding.end.row + 1)
        )

    def _read(self) -> None:
        alone: list[tuple[int, set[str]]] = []
        for row, comment, own_line in _comments(self._module.text):
            match = _OWN.search(comment)
            if match:
                selectors = _selectors(match.group(2))
                if match.group(1) == "ignore-file":
                    self._whole_file |= selectors
                    continue
                if own_line:
                    alone.append((row, selectors))
                self._lines.setdefault(row, set()).update(selectors)
                continue
            match = _NOQA.search(comment)
            if match:
                codes = {code.upper() for code in _SPLIT.split(match.group(1)) if code}
                self._lines.setdefault(row, set()).update(codes)
        if alone:
            self._extend(alone)

    def _extend(self, alone: list[tuple[int, set[str]]]) -> None:
        """Carries comments that stand alone over to the statement below them."""
        starts = sorted(self._statement_rows())
        for row, selectors in alone:
            below = next((span for span in starts if span[0] > row), None)
            if below is not None:
                for covered in range(below[0], below[1] + 1):
                    self._lines.setdefault(covered, set()).update(selectors)

    def _statement_rows(self) -> list[tuple[int, int]]:
        module = self._module
        rows = []
        for line in module.nodes(cst.SimpleStatementLine):
            start, end = module.span(line)
            rows.append((start.row, end.row))
        compound = (cst.For, cst.While, cst.If, cst.With, cst.FunctionDef, cst.ClassDef, cst.Try)
        for statement in module.nodes(*compound):
            start = module.span(statement)[0]
            body = statement.body.body
            last = module.span(body[0])[0].row - 1 if body else start.row
            rows.append((start.row, max(start.row, last)))
            above = [module.span(each)[0].row for each in getattr(statement, "decorators", ())]
            rows += [(row, max(start.row, last)) for row in above]
        for match in module.nodes(cst.Match):
            rows += [(module.span(match)[0].row, module.span(match.cases[0])[0].row - 1)]
        return rows


def _comments(text: str) -> list[tuple[int, str, bool]]:
    """Row, text, and whether nothing else stands on the line, of each comment."""
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.type == tokenize.COMMENT:
                own = not token.line[: token.start[1]].strip()
                found.append((token.start[0], token.string, own))
    except (tokenize.TokenError, SyntaxError, IndentationError):
        pass  # what was read so far still counts
    return found


def _selectors(listed: str | None) -> set[str]:
    if listed is None:
        return set(ALL)
    return {item for item in _SPLIT.split(listed.strip()) if item}


def _matches(selectors: set[str], finding: Finding) -> bool:
    return bool(selectors) and (
        "ALL" in selectors or finding.code in selectors or finding.name in selectors
    )
