"""The thread that checks, so that the server can answer at any time."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, Final

from torchlint.debug import debugging
from torchlint.server.buffers import Outcome
from torchlint.server.editor_settings import ClientSettings
from torchlint.server.open_project import OpenProject
from torchlint.server.server_store import Interrupted, ServerStore
from torchlint.source.reparse import TREES, Trees
from torchlint.workers.bounded import bound_items

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Protocol

    from torchlint.engine.targets import Wishes
    from torchlint.memory.cache import Cache
    from torchlint.server.buffers import Buffer

    class Listener(Protocol):
        """Gets the results of the worker, in its thread."""

        def found(self, outcome: Outcome) -> None: ...
        def warn(self, sentence: str) -> None: ...
        def looked(self, done: int, of: int) -> None: ...


IDLE_S: Final = 0.3
"""How long the user must pause before a large project is joined again."""


class Worker:
    """Checks buffers as they change, and the projects around them when there is time.

    Its methods return at once and may be called from any thread. What is to be done is a set and
    not a queue: of a buffer, only the newest version is looked at.
    """

    def __init__(
        self, listener: Listener, given: Wishes, open_cache: Callable[[], Cache | None] | None
    ) -> None:
        self._listener = listener
        self._given = given
        self._store = ServerStore(open_cache, self._is_urgent)
        self._news = threading.Condition()
        self._buffers: dict[str, Buffer] = {}
        self._edited: dict[str, None] = {}
        """Which buffers to look at, the ones that wait longest first."""
        self._closed: list[str] = []
        self._new_setup: tuple[tuple[str, ...], ClientSettings] | None = None
        self._look_on_disk = False
        self._stopping = False
        self._last_edit = 0.0
        # Of the thread alone:
        self._settings = ClientSettings()
        self._projects: dict[str, OpenProject] = {}
        """By folder; a file outside of all folders by its URI."""
        self._busy_with: str | None = None
        self._warned: set[str] = set()
        self._warned_before: set[str] = set()
        self._thread = threading.Thread(target=self._run, name="checks", daemon=True)

    # from outside ------------------------------------------------------------------------

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread; waits for the file that it is busy with."""
        with self._news:
            self._stopping = True
            self._news.notify()
        if self._thread.is_alive():
            self._thread.join()

    def set_up(self, folders: Iterable[str], settings: ClientSettings) -> None:
        """Which folders there are and how to check them; everything is checked again."""
        with self._news:
            self._new_setup = (tuple(folders), settings)
            self._edited = dict.fromkeys(self._buffers)
            self._news.notify()

    def edit(self, buffer: Buffer) -> None:
        """A document was opened or has changed."""
        with self._news:
            self._buffers[buffer.uri] = buffer
            self._edited.setdefault(buffer.uri)
            self._last_edit = time.monotonic()
            self._news.notify()

    def close(self, uri: str) -> None:
        with self._news:
            if self._buffers.pop(uri, None) is not None:
                self._edited.pop(uri, None)
                self._closed.append(uri)
                self._look_on_disk = True
                self._news.notify()

    def look_on_disk(self) -> None:
        """Files, or the configuration, may have changed."""
        with self._news:
            self._look_on_disk = True
            self._news.notify()

    # the thread --------------------------------------------------------------------------

    def _run(self) -> None:
        TREES.set(Trees())
        bound_items()
        _warm_up()
        while True:
            with self._news:
                while (job := self._next()) is None:
                    self._news.wait(self._pause())
            if job is _end:
                return
            try:
                job()
            except Interrupted:
                pass
            except Exception as error:
                if debugging():
                    raise
                self._warn(
                    f"torchlint failed: {type(error).__name__}: {error}. "
                    "This is a bug in torchlint; please report it."
                )

    def _next(self) -> Callable[[], None] | None:
        """What to do, the most urgent first; the lock is held."""
        if self._stopping:
            return _end
        if self._new_setup is not None:
            (folders, settings), self._new_setup = self._new_setup, None
            return lambda: self._set_up(folders, settings)
        if self._closed:
            closed, self._closed = self._closed, []
            return lambda: self._close(closed)
        if self._edited:
            uri = next(iter(self._edited))
            del self._edited[uri]
            buffer = self._buffers[uri]
            return lambda: self._check_buffer(buffer)
        if self._look_on_disk:
            self._look_on_disk = False
            return self._refresh
        unsettled = [each for each in self._projects.values() if not each.settled]
        if unsettled and time.monotonic() >= self._last_edit + IDLE_S:
            return lambda: self._check(unsettled[0])
        return None

    def _pause(self) -> float | None:
        """How long to wait for the next job, unless there is a notification."""
        if all(each.settled for each in self._projects.values()):
            return None
        return max(self._last_edit + IDLE_S - time.monotonic(), 0.0)

    def _is_urgent(self) -> bool:
        """Whether what the thread is busy with has to wait, or has become useless."""
        if self._stopping or self._new_setup is not None:
            return True
        if self._busy_with is None:
            return bool(self._edited)
        return self._busy_with in self._edited

    def _set_up(self, folders: tuple[str, ...], settings: ClientSettings) -> None:
        self._settings = settings
        self._warned_before.clear()
        self._warned.clear()
        self._projects = {folder: self._project(folder) for folder in folders}
        if settings.enable:
            self._refresh()

    def _project(self, folder: str | None) -> OpenProject:
        settings = self._settings
        wishes = settings.wishes(self._given)
        return OpenProject(folder, self._store, wishes, settings.wanted, self._warn)

    def _close(self, uris: list[str]) -> None:
        for project in self._projects.values():
            for uri in uris:
                project.close(uri)
        for uri in uris:
            self._projects.pop(uri, None)

    def _refresh(self) -> None:
        self._warned_before, self._warned = self._warned, set()
        for project in self._projects.values():
            changed = project.refresh()
            with self._news:
                for uri, buffer in self._buffers.items():
                    # What is not on disk may be under another configuration now.
                    concerned = changed or project.files.lacks(buffer)
                    if concerned and self._folder(buffer) == project.root:
                        self._edited.setdefault(uri)

    def _folder(self, buffer: Buffer) -> str | None:
        """The innermost folder of the workspace that contains a buffer."""
        path = buffer.path
        inside = [
            folder
            for folder, project in self._projects.items()
            if project.root and path and path.startswith(folder.rstrip(os.sep) + os.sep)
        ]
        return max(inside, key=len, default=None)

    def _check_buffer(self, buffer: Buffer) -> None:
        outcomes = [Outcome(buffer, ())]
        self._busy_with = buffer.uri
        try:
            if self._settings.enable:
                folder = self._folder(buffer)
                key = buffer.uri if folder is None else folder
                project = self._projects.get(key) or self._project(None)
                self._projects[key] = project
                outcomes = project.check_buffer(buffer)
        except Exception:
            self._listener.found(Outcome(buffer, ()))  # a request may wait for it
            raise
        finally:
            self._busy_with = None
        for outcome in outcomes:
            self._listener.found(outcome)

    def _check(self, project: OpenProject) -> None:
        if not self._settings.enable:
            project.settled = True
            return
        try:
            outcomes = project.check(self._listener.looked)
        except Exception:
            project.settled = True  # another try would fail like this one
            raise
        for outcome in outcomes:
            self._listener.found(outcome)

    def _warn(self, sentence: str) -> None:
        if sentence not in self._warned | self._warned_before:
            self._listener.warn(sentence)
        self._warned.add(sentence)


def _end() -> None:
    """The last job."""


def _warm_up() -> None:
    """What the first check would import."""
    from torchlint.ruleapi.registry import all_rules

    all_rules()
