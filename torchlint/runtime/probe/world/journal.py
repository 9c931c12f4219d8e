"""Writes down what a run does to the world outside its process, as far as Python sees it.

`sys.addaudithook` cannot be undone and hears of every import and every `id()`, so what it is not
waiting for costs one look into a dictionary. https://docs.python.org/3/library/audit_events.html
"""

from __future__ import annotations

import json
import os
import socket
import sys
from typing import TYPE_CHECKING, Any

from torchlint.runtime.probe.files import system
from torchlint.runtime.probe.package import is_installed
from torchlint.runtime.probe.world import commands

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torchlint.runtime.probe.files.territory import Territory

JOURNAL = "journal"
"""Name of the file in the scratch folder: a JSON object per line with `kind`, `what`, `kept`."""

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_MOST = 1000
"""Different entries of one process; a script may make up names forever."""
_LOCAL = ("127.", "::1", "0.0.0.0", "::ffff:127.", "localhost")  # noqa: S104
_SENDS = (b"PUT ", b"PATCH ", b"DELETE ")
_STANDARD = os.path.dirname(os.__file__)
_PROBE = os.path.dirname(os.path.dirname(__file__))


class RefusedError(ConnectionRefusedError):
    """torchlint refuses uploads while it runs a script."""

    def __init__(self, what: str) -> None:
        super().__init__(f"torchlint refuses uploads while it runs a script, and refused: {what}")


class Journal:
    """One process's part of a run's journal. Each entry once."""

    def __init__(self, scratch: str) -> None:
        self._path = os.path.join(scratch, JOURNAL)
        self._known: set[tuple[str, str, bool]] = set()

    def note(self, kind: str, what: str, *, kept: bool) -> None:
        """Write something down, the first time. The fields are those of `SideEffect`."""
        entry = (kind, what, kept)
        if entry in self._known or len(self._known) >= _MOST:
            return
        self._known.add(entry)
        line = json.dumps({"kind": kind, "what": what, "kept": kept}) + "\n"
        # Opened each time: a script may close every descriptor that it does not know.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        descriptor = system.open_descriptor(self._path, flags, 0o600)
        try:
            system.write(descriptor, line.encode("ascii"))
        finally:
            system.close(descriptor)


def install(
    journal: Journal, territory: Territory, parent: str = "", *, fenced: bool = False
) -> None:
    """Listen from now on, in this process and in those that it forks.

    Args:
        parent: its address, as in `RunSettings.socket`; connecting there is not an effect of the
            script.
        fenced: the kernel refuses writes to the territory.
    """
    listener = _Listener(journal, territory, parent, fenced)
    waiting_for: dict[str, Callable[..., None]] = {
        "open": listener.opened,
        "os.mkdir": listener.made,
        "os.remove": listener.removed,
        "os.rmdir": listener.removed,
        "os.rename": listener.renamed,
        "os.truncate": listener.truncated,
        "subprocess.Popen": listener.started,
        "os.system": listener.ran,
        "os.exec": listener.executed,
        "os.posix_spawn": listener.executed,
        "os.spawn": listener.spawned,
        "pty.spawn": listener.ran,
        "socket.getaddrinfo": listener.looked_up,
        "socket.connect": listener.connected,
        "http.client.send": listener.sent,
    }

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        hear = waiting_for.get(event)
        if hear is not None:
            try:
                hear(*arguments)
            except RefusedError:
                raise
            except Exception:  # noqa: S110 - the script must not feel that it is being watched
                pass

    sys.addaudithook(hook)


def _by_a_package() -> bool:
    """Whether the nearest code outside of the standard library is an installed package's."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_PROBE):
            if is_installed(file):
                return True
            if not file.startswith((_STANDARD, "<frozen")):
                return False
        frame = frame.f_back  # type: ignore[assignment]
    return False


class _Listener:
    def __init__(self, journal: Journal, territory: Territory, parent: str, fenced: bool) -> None:
        self._journal = journal
        self._territory = territory
        self._parent = parent
        self._fenced = fenced
        self._hosts: dict[object, str] = {}

    # Files: only what has gone past the redirection, to where it does not belong.

    def opened(self, path: Any, mode: Any, flags: int) -> None:
        # With a mode it is `io.open`, which says the path that an opener is then asked to open.
        if flags & _WRITES and mode is None:
            self._file("write", path)

    def made(self, path: Any, _mode: int, descriptor: int = -1) -> None:
        self._file("mkdir", path, descriptor)

    def removed(self, path: Any, descriptor: int = -1) -> None:
        self._file("delete", path, descriptor)

    def renamed(self, source: Any, target: Any, out_of: int = -1, into: int = -1) -> None:
        self._file("delete", source, out_of)
        self._file("write", target, into)

    def truncated(self, path: Any, _length: int) -> None:
        self._file("write", path)

    def _file(self, kind: str, path: Any, descriptor: int = -1) -> None:
        if isinstance(path, int):
            return
        text = os.fsdecode(path)
        if not text.startswith("/"):
            folder = system.getcwd() if descriptor < 0 else system.path_of(descriptor)
            text = f"{folder}/{text}"
        text = os.path.normpath(text)
        if self._territory.covers(text):
            if kind == "write" and system.status(text) is None:
                kind = "create"
            self._journal.note(kind, text, kept=not self._fenced)

    # Processes

    def started(self, executable: Any, arguments: Any, _folder: Any, _environment: Any) -> None:
        words = commands.words_of(arguments)
        if words != commands.NOTHING:
            self._process(words or [os.fsdecode(executable)])

    def ran(self, command: Any) -> None:
        self._process(commands.words_of(command))

    def executed(self, path: Any, arguments: Any, _environment: Any = None) -> None:
        self._or_refuse([os.fsdecode(path), *commands.words_of(arguments)[1:]])

    def spawned(self, _mode: int, path: Any, arguments: Any, _environment: Any = None) -> None:
        self.executed(path, arguments)

    def _or_refuse(self, words: Sequence[str]) -> None:
        if commands.uploads(words):
            what = commands.described(words)
            self._journal.note("upload", what, kept=False)
            raise RefusedError(what)
        self._process(words)

    def _process(self, words: Sequence[str]) -> None:
        kind = "helper" if _by_a_package() else "process"
        self._journal.note(kind, commands.described(words), kept=True)

    # The network

    def looked_up(self, host: Any, port: Any, *_more: Any) -> None:
        if isinstance(host, bytes):
            host = host.decode("ascii", "replace")
        if host:
            self._hosts[port] = host

    def connected(self, wire: socket.socket, address: Any) -> None:
        if wire.family not in (socket.AF_INET, socket.AF_INET6) or wire.type & 7 != 1:
            return
        host, port = address[:2]
        if not is_local(host) and self._parent != f"tcp:{host}:{port}":
            name = self._hosts.get(port) or self._hosts.get(str(port)) or host
            self._journal.note("connect", f"{host if is_local(name) else name}:{port}", kept=True)

    def sent(self, connection: Any, data: Any) -> None:
        """What changes something on a server; downloads and log-ins need none of it."""
        if isinstance(data, bytes) and data.startswith(_SENDS) and not is_local(connection.host):
            method = data.partition(b" ")[0].decode("ascii")
            what = f"HTTP {method} to {connection.host}"
            self._journal.note("upload", what, kept=False)
            raise RefusedError(what)


def is_local(host: object) -> bool:
    """Whether a host name or address is this machine."""
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host or "")
    return not name or name.startswith(_LOCAL) or name in ("::", socket.gethostname())
