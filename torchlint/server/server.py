"""The language server: what the protocol asks, answered from what the worker finds."""

from __future__ import annotations

import asyncio
import os
import sys
import uuid
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types
from pygls import uris
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

from torchlint.report.terminal.safe_text import visible
from torchlint.server.editor_settings import ClientSettings, read, section
from torchlint.server.notebooks import SYNC, OpenNotebook
from torchlint.server.render import PublishedFindings, uri_of
from torchlint.server.worker import Worker
from torchlint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from torchlint.engine.targets import Wishes
    from torchlint.memory.cache import Cache
    from torchlint.server.buffers import Buffer, Outcome

_WORTH_PROGRESS: Final = 25
"""Files below which a scan is over before anybody reads that it has begun."""


class Document:
    """An open document.

    Attributes:
        shown: what was last published.
        current: set while that is about the newest version.
    """

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer
        self.shown: PublishedFindings | None = None
        self.current = asyncio.Event()


class Protocol(LanguageServerProtocol):
    """Answers requests that cannot be read, too: an editor waits for them."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise


class Server(LanguageServer):
    """Holds what editors sent, and publishes what the worker finds.

    The editor sends the whole text with each change: few get the difference between ranges of the
    protocol and lines of Python right, and the checked text has to be that of the editor.
    """

    def __init__(self, given: Wishes, open_cache: Callable[[], Cache | None] | None) -> None:
        super().__init__(
            "torchlint",
            __version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Full,
            notebook_document_sync=SYNC,
            protocol_cls=Protocol,
            max_workers=2,
        )
        self.worker = Worker(self, given, open_cache)
        self.documents: dict[str, Document] = {}
        self.notebooks: dict[str, OpenNotebook] = {}
        self._cells: dict[str, str] = {}
        """The notebook that each cell is in, by their URIs."""
        self.folders: dict[str, str] = {}
        """Absolute paths by URI."""
        self.settings = ClientSettings()
        self.initial = ClientSettings()
        self.said_goodbye = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._progress: ScanProgress | None = None

    # from the editor ---------------------------------------------------------------------

    def begin(self, params: types.InitializeParams) -> None:
        self._loop = asyncio.get_running_loop()
        self.folders = self._folders()
        first = next(iter(self.folders.values()), None)
        if first is not None and os.path.isdir(first):
            # What can be imported must not change with it.
            sys.path[:] = map(os.path.abspath, sys.path)
            os.chdir(first)
        sent = section(params.initialization_options)
        self.initial = self._read(sent or {}, ClientSettings())
        self.settings = self.initial
        self.worker.start()

    def set_up(self) -> None:
        self.worker.set_up(self.folders.values(), self.settings)

    def change_folders(self) -> None:
        self.folders = self._folders()
        self.set_up()

    def configure(self, sent: object) -> None:
        """Takes new settings; those that the editor omits get their values from the start."""
        found = section(sent)
        settings = self.initial if found is None else self._read(found, self.initial)
        if settings != self.settings:
            self.settings = settings
            self.set_up()

    def edit(self, buffer: Buffer) -> None:
        document = self.documents.get(buffer.uri)
        if document is None:
            self.documents[buffer.uri] = Document(buffer)
        else:
            document.buffer = buffer
            document.current.clear()
        self.worker.edit(buffer)

    def close(self, uri: str) -> None:
        document = self.documents.pop(uri, None)
        if document is not None:
            self.worker.close(uri)
            cells = document.buffer.cells
            self.clear([uri] if cells is None else [cell.uri for cell in cells])

    def open_notebook(self, params: types.DidOpenNotebookDocumentParams) -> None:
        uri = params.notebook_document.uri
        self.notebooks[uri] = OpenNotebook(params, path_of(uri))
        self._edit_notebook(uri)

    def change_notebook(self, params: types.DidChangeNotebookDocumentParams) -> None:
        uri = params.notebook_document.uri
        if uri in self.notebooks:
            self.clear(self.notebooks[uri].change(params, self.encoding))
            self._edit_notebook(uri)

    def close_notebook(self, uri: str) -> None:
        self.notebooks.pop(uri, None)
        self.close(uri)

    def _edit_notebook(self, uri: str) -> None:
        notebook = self.notebooks[uri]
        self._cells = {cell: each for cell, each in self._cells.items() if each != uri}
        self._cells.update(dict.fromkeys(notebook.cells(), uri))
        self.edit(notebook.buffer())

    async def shown(self, uri: str) -> PublishedFindings | None:
        """What is found in the newest version of a document; waits until that is known."""
        document = self.documents.get(self._cells.get(uri, uri))
        if document is None:
            return None
        await document.current.wait()
        return document.shown

    @property
    def encoding(self) -> str:
        """In which columns are counted."""
        return self.workspace.position_encoding or types.PositionEncodingKind.Utf16

    def _folders(self) -> dict[str, str]:
        found = {uri: path_of(uri) for uri in self.workspace.folders}
        if not found and self.workspace.root_uri:
            found = {self.workspace.root_uri: path_of(self.workspace.root_uri)}
        return {uri: path for uri, path in found.items() if path is not None}

    def _read(self, sent: Mapping[str, object], base: ClientSettings) -> ClientSettings:
        settings, wrong = read(sent, base)
        for sentence in wrong:
            self._show(sentence)
        return settings

    # from the worker, in its thread ------------------------------------------------------

    def found(self, outcome: Outcome) -> None:
        self._soon(self._take, outcome)

    def warn(self, sentence: str) -> None:
        self._soon(self._show, sentence)

    def looked(self, done: int, of: int) -> None:
        if of >= _WORTH_PROGRESS:
            self._soon(self._show_progress, done, of)

    def _soon(self, call: Callable[..., None], *arguments: object) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call, *arguments)

    # to the editor -----------------------------------------------------------------------

    def _take(self, outcome: Outcome) -> None:
        document = self.documents.get(outcome.buffer.uri)
        if document is None or document.buffer is not outcome.buffer:
            return  # the text has changed since
        before = document.shown
        workspace = self.client_capabilities.workspace
        edits = workspace and workspace.workspace_edit
        versioned = bool(edits and edits.document_changes)
        document.shown = PublishedFindings(
            outcome, self.encoding, self._uri_of, versioned=versioned
        )
        document.current.set()
        if before is None or before.outcome != outcome:
            if before is not None:  # a cell may have become text
                self.clear(sorted(before.uris() - document.shown.uris()))
            for part, found in document.shown.diagnostics():
                self._publish(part.uri, part.version, found)

    def _uri_of(self, path: str) -> str:
        absolute = os.path.abspath(path)
        names = (uri for uri, each in self.documents.items() if each.buffer.path == absolute)
        return next(names, None) or uri_of(path)

    def clear(self, uris: Iterable[str]) -> None:
        """Nothing is found any more in what is closed."""
        for uri in uris:
            self._publish(uri, None, [])

    def _publish(self, uri: str, version: int | None, found: list[types.Diagnostic]) -> None:
        params = types.PublishDiagnosticsParams(uri=uri, version=version, diagnostics=found)
        self.text_document_publish_diagnostics(params)

    def _show(self, sentence: str) -> None:
        params = types.ShowMessageParams(types.MessageType.Warning, visible(sentence))
        self.window_show_message(params)

    def report_server_error(self, error: Exception, source: object) -> None:
        """Something that the editor sent could not be used; its log says so."""
        text = visible(f"A message of the editor could not be used: {error}")
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, text[:2_000]))

    def _show_progress(self, done: int, of: int) -> None:
        window = self.client_capabilities.window
        if not (window and window.work_done_progress):
            return
        if self._progress is None:
            self._progress = ScanProgress(self)
        self._progress.report(done, of)
        if done >= of:
            self._progress = None


class ScanProgress:
    """The bar of a first look at a project; it shows once the editor has said that it may."""

    def __init__(self, server: Server) -> None:
        self._bar = server.work_done_progress
        self._token = uuid.uuid4().hex
        self._begun = self._over = False
        self._bar.create(self._token, self._begin)

    def report(self, done: int, of: int) -> None:
        self._over = done >= of
        if not self._begun:
            return
        if self._over:
            self._bar.end(self._token, types.WorkDoneProgressEnd())
            return
        said = types.WorkDoneProgressReport(
            message=f"{done} of {of} files", percentage=100 * done // of
        )
        self._bar.report(self._token, said)

    def _begin(self, _answer: object) -> None:
        if not self._over:
            self._begun = True
            title = "torchlint looks at the project"
            self._bar.begin(self._token, types.WorkDoneProgressBegin(title=title, percentage=0))


def path_of(uri: str) -> str | None:
    """The absolute path of a file; None of anything else, such as a document without a name."""
    try:
        path = uris.to_fs_path(uri) if uri.startswith("file:") else None
    except ValueError:
        return None
    if not path or "\0" in path:
        return None
    return os.path.normpath(os.path.abspath(path))
