"""Notebooks as one Python module: from the bytes of the file to its text, and back."""

from __future__ import annotations

from functools import lru_cache
from textwrap import dedent
from typing import TYPE_CHECKING

from torchlint.files.reading import PythonIn, Source, SourceError
from torchlint.finding import Diagnostic, Position
from torchlint.notebooks.cells import Cells, SpreadError
from torchlint.notebooks.document import Notebook
from torchlint.source.syntax_errors import compiles, parsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from torchlint.finding import Finding, Related
    from torchlint.notebooks.cells import Borders


class NotebookModule(PythonIn):
    """A notebook as one Python module: the code cells as a text that `Borders` can read.

    Raises:
        SourceError: it cannot be read.
    """

    def __init__(self, path: str, data: bytes) -> None:
        self._notebook = Notebook(path, data)
        self._cells = cells_of([cell.source for cell in self._notebook.cells])
        super().__init__(self._cells.text.encode("utf-8"))

    def written(self, after: Source) -> bytes:
        """The bytes of the notebook with a module that edits have made of its own.

        Raises:
            SourceError: of kind `fix`: an edit crosses the border of a cell.
        """
        try:
            return self._notebook.with_sources(self._cells.sources(after.text))
        except SpreadError as error:
            raise SourceError(self._notebook.path, str(error), kind="fix") from None


@lru_cache(maxsize=1)
def notebook_module(path: str, data: bytes) -> NotebookModule:
    """The module of a notebook. The last one is kept: a fix asks six times for each.

    Raises:
        SourceError: it cannot be read.
    """
    return NotebookModule(path, data)


def cells_of(sources: Sequence[str]) -> Cells:
    """Code cells as one text, without the cells that Python cannot parse."""
    return Cells(sources, _trouble)


def unread_cells(path: str, borders: Borders) -> Iterator[Diagnostic]:
    """The cells of a notebook that are not Python, in the places of the cells."""
    for place, reason in borders.unread:
        if reason:
            yield Diagnostic(path, reason, place, kind="syntax")


def in_cells(finding: Finding, borders: Mapping[str, Borders]) -> Finding:
    """The finding with its places in notebooks given by cell and row.

    Args:
        borders: those of each notebook, by its path.
    """
    if not borders:
        return finding
    related = tuple(_related(each, borders) for each in finding.related)
    if (own := borders.get(finding.path)) is None:
        return finding._replace(related=related)
    fix = finding.fix
    return finding._replace(
        start=own.located(finding.start),
        end=own.located(finding.end),
        fix=fix and fix._replace(edits=tuple(map(own.located_edit, fix.edits))),
        related=related,
    )


def diagnosed_in_cells(diagnostic: Diagnostic, borders: Mapping[str, Borders]) -> Diagnostic:
    """The same for a diagnostic."""
    own, place = borders.get(diagnostic.path), diagnostic.position
    if own is None or place is None or place.cell is not None:
        return diagnostic
    return diagnostic._replace(position=own.located(place))


def _related(related: Related, borders: Mapping[str, Borders]) -> Related:
    own = borders.get(related.path)
    return related if own is None else related._replace(position=own.located(related.position))


def _trouble(code: str) -> tuple[Position, str] | None:
    """Why Python cannot parse a cell, and where; no reason for one that IPython would unindent."""
    source = _source(code)
    if compiles(source):
        return None
    if "\0" in code or not _encodable(code):
        return Position(1, 1), "This cell has characters that no program can have; it was skipped."
    if code.lstrip("\r\n")[:1].isspace() and compiles(_source(dedent(code))):
        return Position(1, 1), ""
    try:
        parsed(source)
    except SourceError as error:
        reason = " ".join(error.message.partition(";")[0].split())
        return error.position or Position(1, 1), f"{reason}; this cell was skipped."
    return None


def _source(code: str) -> Source:
    return Source("<cell>", b"", code, "utf-8", bom=False)


def _encodable(code: str) -> bool:
    try:
        code.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
