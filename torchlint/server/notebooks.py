"""Notebooks as editors have them: lists of cells; each cell is a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from torchlint.notebooks.notebook_module import cells_of
from torchlint.server.buffers import Buffer, Cell
from torchlint.server.text_positions import changed

if TYPE_CHECKING:
    from collections.abc import Iterable

SYNC = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithCells(cells=[types.NotebookCellLanguage("python")])
    ],
    save=True,
)


class OpenNotebook:
    """An open notebook; its code cells in Python make one module.

    Args:
        path: its path, if it has one.
    """

    def __init__(self, params: types.DidOpenNotebookDocumentParams, path: str | None) -> None:
        self._uri = params.notebook_document.uri
        self._path = path
        self._version = params.notebook_document.version
        self._order = list(params.notebook_document.cells)
        self._texts: dict[str, types.TextDocumentItem] = {}
        self._open(params.cell_text_documents)

    def change(self, params: types.DidChangeNotebookDocumentParams, encoding: str) -> list[str]:
        """Applies a change, and returns the cells that are gone.

        Args:
            encoding: the unit in which columns are counted.
        """
        self._version = params.notebook_document.version
        cells = params.change.cells
        if cells is None:
            return []
        gone: list[str] = []
        if cells.structure is not None:
            array = cells.structure.array
            self._order[array.start : array.start + array.delete_count] = array.cells or ()
            self._open(cells.structure.did_open or ())
            gone = [each.uri for each in cells.structure.did_close or ()]
            for uri in gone:
                self._texts.pop(uri, None)
        kinds = {cell.document: cell for cell in cells.data or ()}
        self._order = [kinds.get(cell.document, cell) for cell in self._order]
        for content in cells.text_content or ():
            item = self._texts.get(content.document.uri)
            if item is not None:
                item.version = content.document.version
                item.text = changed(item.text, content.changes, encoding)
        return gone

    def buffer(self) -> Buffer:
        """The notebook as it is now."""
        cells = tuple(
            Cell(item.uri, item.version, item.text)
            for cell in self._order
            if cell.kind == types.NotebookCellKind.Code
            and (item := self._texts.get(cell.document)) is not None
            and item.language_id == "python"
        )
        text = cells_of([cell.text for cell in cells]).text
        return Buffer(self._uri, self._path, self._version, text, cells)

    def cells(self) -> list[str]:
        """The names of the cells."""
        return [cell.document for cell in self._order]

    def _open(self, items: Iterable[types.TextDocumentItem]) -> None:
        self._texts.update({item.uri: item for item in items})
