"""The messages of the protocol that are answered, and the start and end of the server."""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING, Final, cast

from lsprotocol import types

from torchlint.debug import debugging
from torchlint.report import rules
from torchlint.ruleapi.registry import all_rules
from torchlint.server.buffers import Buffer
from torchlint.server.incoming import Incoming, NoMessageError
from torchlint.server.render import FIX_ALL
from torchlint.server.server import Server, path_of
from torchlint.server.text_positions import changed as changed_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import BinaryIO

    from torchlint.engine.targets import Wishes
    from torchlint.memory.cache import Cache

WATCHED: Final = (
    "**/{*.py,*.ipynb,pyproject.toml,torchlint.toml,.gitignore,requirements*.txt,setup.cfg}"
)
_KINDS: Final = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL])


def serve(given: Wishes, open_cache: Callable[[], Cache | None] | None) -> int:
    """Answers on standard input and output until the editor says goodbye or is gone.

    Returns:
        the exit code that the protocol asks for: 1 if there was no goodbye, also after something
        that cannot be a message.
    """
    if not debugging():
        logging.getLogger("pygls").setLevel(logging.CRITICAL)
    # Printed text must not get between the messages.
    channel = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    server = server_for(given, open_cache)
    try:
        server.start_io(cast("BinaryIO", Incoming(sys.stdin.buffer)), channel)
    except NoMessageError as error:
        sys.stderr.write(f"torchlint: {error} The server ends; restart it.\n")
        return 1
    finally:
        server.worker.stop()
    return 0 if server.said_goodbye else 1


def server_for(given: Wishes, open_cache: Callable[[], Cache | None] | None = None) -> Server:
    """A server that answers all of these."""
    server = Server(given, open_cache)
    for register in (_life, _documents, _notebooks, _surroundings, _answers):
        register(server)
    return server


def _life(server: Server) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.begin(params)

    @server.feature(types.INITIALIZED)
    async def initialized(_params: types.InitializedParams) -> None:
        server.set_up()
        await _pull(server)
        await _watch(server)

    @server.feature(types.SHUTDOWN)
    def shutdown(_params: None) -> None:
        server.said_goodbye = True


async def _watch(server: Server) -> None:
    workspace = server.client_capabilities.workspace
    watching = workspace and workspace.did_change_watched_files
    if watching and watching.dynamic_registration:
        watchers = [types.FileSystemWatcher(glob_pattern=WATCHED)]
        registration = types.Registration(
            id="torchlint-files",
            method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
            register_options=types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers),
        )
        params = types.RegistrationParams(registrations=[registration])
        await server.client_register_capability_async(params)


async def _pull(server: Server) -> None:
    """Asks the editor for its settings, if it can be asked."""
    workspace = server.client_capabilities.workspace
    if workspace and workspace.configuration:
        items = [types.ConfigurationItem(section="torchlint")]
        params = types.ConfigurationParams(items=items)
        (sent, *_) = await server.workspace_configuration_async(params) or (None,)
        server.configure(sent)


def _documents(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        if document.language_id in ("python", ""):
            path = path_of(document.uri)
            server.edit(Buffer(document.uri, path, document.version, document.text))

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        document = server.documents.get(params.text_document.uri)
        if document is not None:
            text = changed_text(document.buffer.text, params.content_changes, server.encoding)
            version = params.text_document.version
            server.edit(document.buffer._replace(version=version, text=text))

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(_params: types.DidSaveTextDocumentParams) -> None:
        server.worker.look_on_disk()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri)


def _notebooks(server: Server) -> None:
    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenNotebookDocumentParams) -> None:
        server.open_notebook(params)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeNotebookDocumentParams) -> None:
        server.change_notebook(params)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def saved(_params: types.DidSaveNotebookDocumentParams) -> None:
        server.worker.look_on_disk()

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseNotebookDocumentParams) -> None:
        server.close_notebook(params.notebook_document.uri)


def _surroundings(server: Server) -> None:
    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configured(params: types.DidChangeConfigurationParams) -> None:
        if params.settings:
            server.configure(params.settings)
        else:
            await _pull(server)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(_params: types.DidChangeWatchedFilesParams) -> None:
        server.worker.look_on_disk()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders_changed(_params: types.DidChangeWorkspaceFoldersParams) -> None:
        server.change_folders()


def _answers(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, _KINDS)
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri, only = params.text_document.uri, params.context.only
        shown = await server.shown(uri)
        if shown is None:
            return []
        code_actions: list[types.CodeAction] = []
        if _asked(types.CodeActionKind.QuickFix, only):
            code_actions += shown.quick_fixes(uri, params.range)
        if _asked(FIX_ALL, only):
            code_actions += shown.fix_all()
        return code_actions

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri
        shown = await server.shown(uri)
        if shown is None:
            return None
        where = types.Range(start=params.position, end=params.position)
        return shown.hover(uri, where, lambda code: rules.page(all_rules()[code]))


def _asked(kind: str, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Whether a client that wants only some kinds wants this one: it may name a part of it."""
    return only is None or any(
        kind == wanted or kind.startswith(f"{_word(wanted)}.") or not _word(wanted)
        for wanted in only
    )


def _word(kind: types.CodeActionKind | str) -> str:
    return kind.value if isinstance(kind, types.CodeActionKind) else kind
