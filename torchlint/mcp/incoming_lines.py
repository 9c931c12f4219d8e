"""What an assistant sends, line by line. The SDK drops a line that is not a message of the
protocol; if it was a request, its client would wait forever, so it is answered here."""

from __future__ import annotations

import json
import os
import sys
from collections import deque
from contextlib import asynccontextmanager
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, Final

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError

from torchlint.files.reading import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.shared._stream_protocols import ReadStream, WriteStream

MOST_OF_A_LINE: Final = MAX_BYTES
"""Characters of a message; 1,000 long paths have as many."""
_TOO_LONG: Final = "too long\n"
"""Takes the place of a longer one; it is not a message either."""


@asynccontextmanager
async def channel() -> AsyncIterator[tuple[Messages, WriteStream[SessionMessage]]]:
    """The channel to the client, on standard input and output."""
    # Only here: what else reads standard input, such as a process that is started, finds its end.
    stream = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    os.close(nothing)
    lines = _Lines(stream, encoding="utf-8", errors="replace")
    async with stdio_server(stdin=anyio.wrap_file(lines)) as (read, write):
        yield Messages(read, write, lines), write


class _Lines(TextIOWrapper):
    """Lines that were not yet made into a message, as they are read."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.read_so_far: deque[str] = deque()

    def readline(self, _size: int = -1, /) -> str:  # type: ignore[override]  # as its base does
        line = super().readline(MOST_OF_A_LINE)
        if len(line) == MOST_OF_A_LINE:
            while line and not line.endswith("\n"):
                line = super().readline(MOST_OF_A_LINE)
            line = _TOO_LONG
        if line:
            self.read_so_far.append(line)
        return line


class Messages:
    """The messages of a client; an error is the answer to a request that is not one of them."""

    def __init__(
        self,
        read: ReadStream[SessionMessage | Exception],
        write: WriteStream[SessionMessage],
        lines: _Lines,
    ) -> None:
        self._read = read
        self._write = write
        self._lines = lines

    @property
    def last_context(self) -> object:
        return getattr(self._read, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        while True:
            item = await self._read.receive()
            line = self._lines.read_so_far.popleft()  # of each line came one item
            if not isinstance(item, Exception):
                return item
            answer = _answer(line)
            if answer is not None:
                await self._write.send(SessionMessage(answer))

    async def aclose(self) -> None:
        await self._read.aclose()

    def __aiter__(self) -> Messages:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Messages:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()


def _answer(line: str) -> JSONRPCError | None:
    """The error to send for a line that is not a message; None if nobody waits for an answer."""
    if not line.strip():
        return None
    if line == _TOO_LONG:
        most = f"the limit is {MOST_OF_A_LINE:,} characters"
        return _error(None, INVALID_REQUEST, f"The message is too long: {most}; name fewer files.")
    try:
        sent = json.loads(line)
    except (ValueError, RecursionError):
        return _error(None, PARSE_ERROR, "The message is not JSON; send one JSON object per line.")
    if not isinstance(sent, dict):
        return _error(None, INVALID_REQUEST, "The message is not a JSON object; send one per line.")
    if "id" not in sent or "method" not in sent:
        return None
    asked = sent["id"]
    named = isinstance(asked, str | int) and not isinstance(asked, bool) and _is_text(str(asked))
    if not _is_text(json.dumps(sent, ensure_ascii=False)):
        wrong = "it has a lone surrogate, as in `\\ud800`, which no text can have; leave it out."
        return _error(asked if named else None, PARSE_ERROR, f"The request cannot be read: {wrong}")
    wrong = "it needs a method, an id and params as in JSON-RPC 2.0."
    return _error(asked if named else None, INVALID_REQUEST, f"This is not a request: {wrong}")


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _error(request: int | str | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=request, error=ErrorData(code=code, message=message))
