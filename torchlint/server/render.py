"""Findings in the words of the protocol: diagnostics, pages to hover over, fixes to choose from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from lsprotocol import types
from pygls import uris

from torchlint.files.reading import Source, SourceError, is_notebook
from torchlint.finding import Applicability, Edit, Finding, Fix, Tier
from torchlint.fixes.add_ignores import edits_that_silence
from torchlint.fixes.splice import that_fit, with_fixes
from torchlint.notebooks.cells import Borders
from torchlint.notebooks.notebook_module import cells_of, in_cells
from torchlint.report.terminal.safe_text import visible
from torchlint.server.buffers import Cell, data_of
from torchlint.server.text_positions import EditorPlaces, overlap
from torchlint.source.syntax_errors import what_is_wrong

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torchlint.finding import Position, Related
    from torchlint.server.buffers import Outcome

FIX_ALL: Final = "source.fixAll.torchlint"
_SOURCE: Final = "torchlint"
_SEVERITIES: Final = {
    Tier.DEFAULT: types.DiagnosticSeverity.Warning,
    Tier.PEDANTIC: types.DiagnosticSeverity.Information,
    Tier.HINT: types.DiagnosticSeverity.Hint,
}


class DocumentPart(NamedTuple):
    """A document as the editor has it: a file, or a cell of a notebook."""

    uri: str
    version: int
    places: EditorPlaces


class ShownFinding(NamedTuple):
    """A finding, where it is shown.

    Args:
        finding: its places are those in what is checked.
        located: the same finding with places in the part.
    """

    finding: Finding
    located: Finding
    part: DocumentPart
    diagnostic: types.Diagnostic


class PublishedFindings:
    """The findings in one version of a document, ready to be sent.

    Args:
        encoding: in which columns are counted.
        uri_of: the editor's name for a path as findings have it.
        versioned: whether the editor takes edits of a version.
    """

    def __init__(
        self, outcome: Outcome, encoding: str, uri_of: Callable[[str], str], *, versioned: bool
    ) -> None:
        self.outcome = outcome
        self._buffer = buffer = outcome.buffer
        self._uri_of = uri_of
        self._versioned = versioned
        self._borders = None if buffer.cells is None else Borders(buffer.text)
        whole = Cell(buffer.uri, buffer.version, buffer.text)
        documents = (whole,) if buffer.cells is None else buffer.cells
        self._parts = [
            DocumentPart(each.uri, each.version, EditorPlaces(each.text, encoding))
            for each in documents
        ]
        self._spots = [self._spot(finding) for finding in outcome.findings]

    def diagnostics(self) -> Iterator[tuple[DocumentPart, list[types.Diagnostic]]]:
        """What to publish, for each document."""
        for part in self._parts:
            yield part, [spot.diagnostic for spot in self._spots if spot.part is part]

    def uris(self) -> set[str]:
        """The names of the documents that it is about."""
        return {part.uri for part in self._parts}

    def at(self, uri: str, where: types.Range) -> list[ShownFinding]:
        """The findings that a range of a document touches."""
        return [
            spot
            for spot in self._spots
            if spot.part.uri == uri and overlap(spot.diagnostic.range, where)
        ]

    def quick_fixes(self, uri: str, where: types.Range) -> list[types.CodeAction]:
        """For each finding that a range touches: its fix, if it has one that can be made, and a
        comment that silences it."""
        spots = self.at(uri, where)
        fixable = [
            spot
            for spot in spots
            if spot.finding.fix and spot.finding.fix.applicability is not Applicability.SUGGEST
        ]
        choices = [(_title(spot.finding), spot) for spot in fixable]
        choices += [(f"Ignore {spot.finding.code} here", self._silenced(spot)) for spot in spots]
        return [
            types.CodeAction(
                title=title,
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[spot.diagnostic],
                is_preferred=spot in fixable and _is_safe(spot.finding),
                edit=self._edit([spot]),
            )
            for title, spot in choices
            if self._sound([spot.finding])
        ]

    def fix_all(self) -> list[types.CodeAction]:
        """All safe fixes that fit together; overlapping ones are offered the next time."""
        text = self._buffer.text.removeprefix("\ufeff")
        safe = that_fit(text, filter(_is_safe, self.outcome.findings))
        if not self._sound(safe):
            safe = that_fit(text, [each for each in safe if self._sound([each])])
        if not safe or not self._sound(safe):
            return []
        edit = self._edit([spot for spot in self._spots if spot.finding in safe])
        return [types.CodeAction(title="Make all safe fixes of torchlint", kind=FIX_ALL, edit=edit)]

    def hover(
        self, uri: str, where: types.Range, page_of: Callable[[str], str]
    ) -> types.Hover | None:
        """What the findings under a cursor say, and the pages of their rules.

        Args:
            page_of: the page of a rule by its code.
        """
        spots = self.at(uri, where)
        if not spots:
            return None
        parts = [_said(spot.finding) for spot in spots]
        parts += [page_of(code) for code in dict.fromkeys(spot.finding.code for spot in spots)]
        return types.Hover(
            contents=types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(parts)),
            range=spots[0].diagnostic.range,
        )

    def _silenced(self, spot: ShownFinding) -> ShownFinding:
        """The finding with a comment in place of its fix."""
        text = self._buffer.text
        source = Source("", b"", text.removeprefix("\ufeff"), "utf-8", bom=False)
        edits = edits_that_silence(source, [spot.finding])
        fix = Fix(Applicability.SAFE, "Ignore it", edits)
        finding = spot.finding._replace(fix=fix)
        return spot._replace(finding=finding, located=self._located(finding))

    def _located(self, finding: Finding) -> Finding:
        return in_cells(finding, {finding.path: self._borders} if self._borders else {})

    def _sound(self, findings: Sequence[Finding]) -> bool:
        """Whether the text still parses with these fixes, which fit."""
        buffer = self._buffer
        try:
            text = with_fixes(buffer.text.removeprefix("\ufeff"), findings)
            if buffer.cells is not None:
                cells_of([cell.text for cell in buffer.cells]).sources(text)
        except ValueError:  # edits that do not fit, or reach over the border of a cell
            return False
        try:
            after = data_of(buffer._replace(text=text, cells=None))
        except SourceError:  # the encoding of the file has no such character
            return False
        return what_is_wrong("fixed.py", after) is None

    def _edit(self, spots: Sequence[ShownFinding]) -> types.WorkspaceEdit:
        edits: dict[DocumentPart, dict[Edit, None]] = {}
        for spot in spots:
            for edit in spot.located.fix.edits if spot.located.fix else ():
                edits.setdefault(self._part(edit.start), {})[edit] = None
        written = {part: part.places.edits(each) for part, each in edits.items()}
        if not self._versioned:
            return types.WorkspaceEdit(changes={part.uri: each for part, each in written.items()})
        changes = [
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(part.uri, part.version), list(each)
            )
            for part, each in written.items()
        ]
        return types.WorkspaceEdit(document_changes=changes)

    def _part(self, place: Position) -> DocumentPart:
        return self._parts[0 if place.cell is None else place.cell - 1]

    def _spot(self, finding: Finding) -> ShownFinding:
        located = self._located(finding)
        part = self._part(located.start)
        diagnostic = types.Diagnostic(
            range=part.places.range(located.start, located.end),
            message=visible(finding.message),
            severity=_SEVERITIES[finding.tier],
            code=finding.code,
            code_description=_description(finding),
            source=_SOURCE,
            related_information=[self._related(each, located) for each in located.related],
        )
        return ShownFinding(finding, located, part, diagnostic)

    def _related(self, related: Related, finding: Finding) -> types.DiagnosticRelatedInformation:
        row, column, _ = related.position
        if related.path == finding.path:
            part = self._part(related.position)
            uri, place = part.uri, part.places.position(related.position)
        elif is_notebook(related.path):
            # An editor cannot open a row of the module that the cells of another notebook make.
            uri, place = self._uri_of(related.path), types.Position(line=0, character=0)
        else:
            # A loop or function has only blanks before it: all encodings count them alike.
            uri = self._uri_of(related.path)
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


def _description(finding: Finding) -> types.CodeDescription | None:
    return None if finding.url is None else types.CodeDescription(href=finding.url)


def _said(finding: Finding) -> str:
    lines = [f"**{finding.code}** {_plain(finding.message)}"]
    if finding.withheld:
        lines.append(f"No fix: {_plain(finding.withheld)}")
    return "\n\n".join(lines)


def _plain(text: str) -> str:
    """The text where Markdown is read: it quotes checked code, which may contain links, images
    or other markup. Text between backticks is code and stays."""
    parts = visible(text).split("`")
    if len(parts) % 2 == 0:
        parts = ["'".join(parts)]
    parts[::2] = map(_escaped, parts[::2])
    return "`".join(parts)


def _escaped(text: str) -> str:
    return "".join(f"\\{sign}" if sign in r"\*_{}[]<>()#+!|~&" else sign for sign in text)
