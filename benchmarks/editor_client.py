"""A client of the language server: messages over the pipes of a real process.

The tests drive it, and so do the benchmarks of the editor.
"""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

Json = dict[str, Any]
TRAIN = """\
import torch


def train(model, loader, optimizer, device):
    total = 0.0
    for images, labels in loader:
        optimizer.zero_grad()
        loss = model(images.to(device), labels.to(device)).sum()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total
"""
"""TL201 in row 11, with an unsafe fix."""
TIMEOUT_S = 120
"""How long anybody waits for what never comes."""


class SilentError(Exception):
    """The server has ended, or says nothing."""


class Client:
    """Speaks the protocol; keeps what the server sends."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.notes: list[Json] = []
        """Notifications that nobody has asked for yet."""
        self.requests: list[Json] = []
        """What the server has asked."""
        self.settings: Json | None = None
        """The answer to `workspace/configuration`."""
        self.capabilities: Json = {}
        self._arrived: Queue[Json | None] = Queue()
        self._ids = 0
        self._versions: dict[str, int] = {}
        self._answers: dict[int, Json] = {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    # messages ----------------------------------------------------------------------------

    def write(self, body: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def send(self, **message: object) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def notify(self, method: str, **params: object) -> None:
        self.send(method=method, params=params)

    def ask(self, method: str, **params: object) -> Json:
        """The whole answer to a request."""
        self._ids += 1
        self.send(id=self._ids, method=method, params=params)
        while self._ids not in self._answers:
            self._take()
        return self._answers.pop(self._ids)

    def answer(self, method: str, **params: object) -> Any:
        """The result of a request."""
        answer = self.ask(method, **params)
        assert "error" not in answer, answer
        return answer["result"]

    def wait(self, wanted: Callable[[Json], bool]) -> Json:
        """The first notification that is wanted; those before it are forgotten."""
        while True:
            while self.notes:
                note = self.notes.pop(0)
                if wanted(note):
                    return note
            self._take()

    def arrived(self, message: Json) -> None:
        """Called with each message of the server."""

    def _take(self) -> None:
        try:
            message = self._arrived.get(timeout=TIMEOUT_S)
        except Empty:
            raise SilentError("the server says nothing") from None
        if message is None:
            raise SilentError("the server has ended")
        self.arrived(message)
        if "method" not in message:
            self._answers[message["id"]] = message
        elif "id" in message:
            self.requests.append(message)
            result = [self.settings] if message["method"] == "workspace/configuration" else None
            self.send(id=message["id"], result=result)
        else:
            self.notes.append(message)

    def _read(self) -> None:
        pipe = self.process.stdout
        assert pipe is not None
        while line := pipe.readline():
            size = 0
            while line.strip():
                name, _, value = line.partition(b":")
                if name == b"Content-Length":
                    size = int(value)
                line = pipe.readline()
            body = pipe.read(size)
            if len(body) < size or not size:
                break  # the server was killed in the middle of a message
            self._arrived.put(json.loads(body))
        self._arrived.put(None)

    # the life of a session ---------------------------------------------------------------

    def begin(self, *folders: Path, **options: object) -> Json:
        """Says hello; gives what the server can do."""
        named = [{"uri": folder.as_uri(), "name": folder.name} for folder in folders]
        result = self.answer(
            "initialize",
            processId=None,
            rootUri=folders[0].as_uri() if folders else None,
            workspaceFolders=named or None,
            capabilities=self.capabilities,
            initializationOptions=options or None,
        )
        self.notify("initialized")
        return result["capabilities"]

    def open(self, uri: str | Path, text: str, language: str = "python") -> str:
        name = uri.as_uri() if isinstance(uri, Path) else uri
        self._versions[name] = 1
        document = {"uri": name, "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", textDocument=document)
        return name

    def change(self, uri: str, text: str) -> None:
        self._versions[uri] += 1
        document = {"uri": uri, "version": self._versions[uri]}
        change = [{"text": text}]
        self.notify("textDocument/didChange", textDocument=document, contentChanges=change)

    def close(self, uri: str) -> None:
        self.notify("textDocument/didClose", textDocument={"uri": uri})

    def found(self, uri: str) -> list[Json]:
        """The diagnostics of the newest version, as soon as they come."""
        note = self.wait(
            lambda note: (
                note["method"] == "textDocument/publishDiagnostics"
                and note["params"]["uri"] == uri
                and note["params"].get("version") == self._versions[uri]
            )
        )
        return note["params"]["diagnostics"]

    def codes(self, uri: str) -> list[str]:
        """The same as `TL201:11`, by row from 1."""
        return [f"{each['code']}:{each['range']['start']['line'] + 1}" for each in self.found(uri)]

    def until(self, uri: str, codes: list[str]) -> None:
        """Waits until these are found: a project is looked at after the file itself."""
        while self.codes(uri) != codes:
            pass

    def actions(self, uri: str, where: Json, *only: str) -> list[Json]:
        context: Json = {"diagnostics": [], **({"only": only} if only else {})}
        named = {"uri": uri}
        return self.answer(
            "textDocument/codeAction", textDocument=named, range=where, context=context
        )

    def kill(self) -> None:
        """Ends the server without a word; nobody reads its pipes any more when they close."""
        self.process.kill()
        self._reader.join(TIMEOUT_S)
        with suppress(OSError), self.process:
            pass

    def end(self) -> int:
        """Says goodbye; gives the exit code."""
        assert self.answer("shutdown") is None
        self.notify("exit")
        return self.process.wait(TIMEOUT_S)


def applied(text: str, edits: list[Json]) -> str:
    """The text with the edits of the protocol made, in UTF-16."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def offset(place: Json) -> int:
        start = starts[place["line"]]
        units = text[start:].encode("utf-16-le")[: 2 * place["character"]]
        return start + len(units.decode("utf-16-le"))

    spans = [(offset(e["range"]["start"]), offset(e["range"]["end"]), e["newText"]) for e in edits]
    for start, end, content in sorted(spans, reverse=True):
        text = text[:start] + content + text[end:]
    return text
