"""The documents of an editor, and their findings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from torchlint.files.reading import NOTEBOOK, is_notebook, with_text

if TYPE_CHECKING:
    from torchlint.finding import Finding


class Cell(NamedTuple):
    """A code cell of an open notebook: a document of its own to the editor."""

    uri: str
    version: int
    text: str


class Buffer(NamedTuple):
    """An open document, as it was at one moment.

    Args:
        uri: the editor's name for it.
        path: its absolute path; None if it was never saved.
        text: what is checked; of a notebook, the module that its cells make.
        cells: those of a notebook.
    """

    uri: str
    path: str | None
    version: int
    text: str
    cells: tuple[Cell, ...] | None = None

    @property
    def name(self) -> str:
        """Its name in a check, which tells notebooks from programs by the suffix."""
        name = self.uri if self.path is None else self.path
        return name if self.cells is None or is_notebook(name) else name + NOTEBOOK


class Outcome(NamedTuple):
    """The findings to show in one version of a document."""

    buffer: Buffer
    findings: tuple[Finding, ...]


def data_of(buffer: Buffer) -> bytes:
    """The bytes that the editor would write.

    Raises:
        SourceError: the text cannot be encoded as its coding line says.
    """
    if buffer.cells is not None:
        cells = [{"cell_type": "code", "source": cell.text} for cell in buffer.cells]
        return json.dumps({"cells": cells}).encode()
    return with_text(buffer.name, buffer.text).data
