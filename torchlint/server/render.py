"""Findings in the words of the protocol: diagnostics, pages to hover over, fixes to choose from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from lsprotocol import types
from pygls import uris

from torchlint.lint.finding import Applicability, Tier
from torchlint.lint.soundness import what_is_wrong
from torchlint.lint.splice import that_fit, with_fixes
from torchlint.report.terminal import visible
from torchlint.server.buffers import data_of
from torchlint.server.places import Places, overlap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from torchlint.lint.finding import Finding, Related
    from torchlint.server.buffers import Outcome

    Edit = Callable[[list[types.TextEdit]], types.WorkspaceEdit]

FIX_ALL: Final = "source.fixAll.torchlint"
_SOURCE: Final = "torchlint"
_SEVERITIES: Final = {
    Tier.DEFAULT: types.DiagnosticSeverity.Warning,
    Tier.PEDANTIC: types.DiagnosticSeverity.Information,
    Tier.HINT: types.DiagnosticSeverity.Hint,
}


class Shown:
    """The findings in one version of a document, ready to be sent.

    Args:
        encoding: in which columns are counted.
        uri_of: the editor's name for a path as findings have it.
    """

    def __init__(self, outcome: Outcome, encoding: str, uri_of: Callable[[str], str]) -> None:
        self.outcome = outcome
        self.places = Places(outcome.buffer.text, encoding)
        self._uri_of = uri_of
        self.diagnostics = [self._diagnostic(finding) for finding in outcome.findings]

    def at(self, where: types.Range) -> Iterator[tuple[Finding, types.Diagnostic]]:
        """The findings that a range touches."""
        for finding, diagnostic in zip(self.outcome.findings, self.diagnostics, strict=True):
            if overlap(diagnostic.range, where):
                yield finding, diagnostic

    def quick_fixes(self, where: types.Range, edit: Edit) -> list[types.CodeAction]:
        """A fix for each finding that a range touches, if it has one that can be made."""
        return [
            types.CodeAction(
                title=_title(finding),
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[diagnostic],
                is_preferred=_is_safe(finding),
                edit=edit(self.places.edits(finding.fix.edits)),
            )
            for finding, diagnostic in self.at(where)
            if finding.fix and finding.fix.applicability is not Applicability.SUGGEST
            if self._sound([finding])
        ]

    def fix_all(self, edit: Edit) -> list[types.CodeAction]:
        """All safe fixes that fit together; those that overlap one of them come the next time."""
        text = self.outcome.buffer.text.removeprefix("\ufeff")
        safe = that_fit(text, filter(_is_safe, self.outcome.findings))
        if not self._sound(safe):
            safe = that_fit(text, [each for each in safe if self._sound([each])])
        edits = [each for finding in safe if finding.fix for each in finding.fix.edits]
        if not edits or not self._sound(safe):
            return []
        action = types.CodeAction(
            title="Make all safe fixes of torchlint",
            kind=FIX_ALL,
            edit=edit(self.places.edits(dict.fromkeys(edits))),
        )
        return [action]

    def hover(self, where: types.Range, page_of: Callable[[str], str]) -> types.Hover | None:
        """What the findings under a cursor say, and the pages of their rules.

        Args:
            page_of: the page of a rule by its code.
        """
        found = list(self.at(where))
        if not found:
            return None
        parts = [_said(finding) for finding, _ in found]
        parts += [page_of(code) for code in dict.fromkeys(finding.code for finding, _ in found)]
        return types.Hover(
            contents=types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(parts)),
            range=found[0][1].range,
        )

    def _sound(self, findings: Sequence[Finding]) -> bool:
        """Whether the text still parses with these fixes, which fit."""
        buffer = self.outcome.buffer
        try:
            text = with_fixes(buffer.text.removeprefix("\ufeff"), findings)
        except ValueError:
            return False
        return what_is_wrong("fixed.py", data_of(buffer._replace(text=text))) is None

    def _diagnostic(self, finding: Finding) -> types.Diagnostic:
        return types.Diagnostic(
            range=self.places.range(finding.start, finding.end),
            message=visible(finding.message),
            severity=_SEVERITIES[finding.tier],
            code=finding.code,
            code_description=types.CodeDescription(href=finding.url),
            source=_SOURCE,
            related_information=[self._related(each, finding) for each in finding.related],
        )

    def _related(self, related: Related, finding: Finding) -> types.DiagnosticRelatedInformation:
        if related.path == finding.path:
            uri, place = self.outcome.buffer.uri, self.places.position(related.position)
        else:
            # A loop or function has nothing but blanks before it: all encodings count them alike.
            uri = self._uri_of(related.path)
            row, column, _ = related.position
            place = types.Position(line=row - 1, character=column - 1)
        return types.DiagnosticRelatedInformation(
            location=types.Location(uri=uri, range=types.Range(start=place, end=place)),
            message=visible(related.message),
        )


def uri_of(path: str) -> str:
    """The URI of a file."""
    return uris.from_fs_path(os.path.abspath(path)) or path


def _title(finding: Finding) -> str:
    assert finding.fix is not None
    unsafe = "" if _is_safe(finding) else " (unsafe)"
    return f"{visible(finding.fix.message)} ({finding.code}){unsafe}"


def _is_safe(finding: Finding) -> bool:
    return finding.fix is not None and finding.fix.applicability is Applicability.SAFE


def _said(finding: Finding) -> str:
    lines = [f"**{finding.code}** {_plain(finding.message)}"]
    if finding.withheld:
        lines.append(f"No fix: {_plain(finding.withheld)}")
    return "\n\n".join(lines)


def _plain(text: str) -> str:
    """The text where Markdown is read: it quotes what is checked, which may try to be a link, a
    picture or markup. What stands between back quotes is code and stays."""
    parts = visible(text).split("`")
    if len(parts) % 2 == 0:
        parts = ["'".join(parts)]
    return "`".join(part if odd else _escaped(part) for odd, part in _numbered(parts))


def _numbered(parts: Iterable[str]) -> Iterator[tuple[int, str]]:
    return ((number % 2, part) for number, part in enumerate(parts))


def _escaped(text: str) -> str:
    return "".join(f"\\{sign}" if sign in r"\*_{}[]<>()#+!|~&" else sign for sign in text)
