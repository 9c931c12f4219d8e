"""Files as bytes and as text; outside of edits, writing gives back what was read."""

from __future__ import annotations

import codecs
import errno
import os
import re
import stat
from functools import cache
from typing import Final

from torchlint.finding import Diagnostic, Position

_OTHER_UNICODE = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
MAX_BYTES: Final = 4 << 20
"""A file of more bytes is not checked: nobody writes programs of this length by hand."""
MOST_LINES: Final = 50_000
"""The same for its lines, including empty ones: each is a token, see `MOST_TOKENS`."""
NOTEBOOK: Final = ".ipynb"
_PYTHON: Final = ("", ".py", ".pyi", ".pyw", NOTEBOOK)
"""Suffixes of what is Python if the user names it."""
MAX_NOTEBOOK_BYTES: Final = 32 << 20
"""The same for a notebook, which contains plots and pictures."""


@cache
def _coding() -> re.Pattern[bytes]:
    # PEP 263: the second line counts only if the first is blank or a comment. Python reads these
    # lines with universal newlines, so a lone carriage return ends one too.
    return re.compile(
        rb"\A(?:[ \t\f]*(?:\#[^\r\n]*)?(?:\r\n|\r|\n))?[ \t\f]*\#[^\r\n]*?coding[:=][ \t]*([-\w.]+)"
    )


@cache
def _not_text() -> re.Pattern[bytes]:
    return re.compile(rb"[\x01-\x08\x0e-\x1a\x7f]")


class SourceError(Exception):
    """A file that cannot be read, decoded, parsed or written.

    `kind` is the kind of the `Diagnostic` that it becomes.
    """

    def __init__(
        self, path: str, message: str, position: Position | None = None, kind: str = "unreadable"
    ) -> None:
        # All of them as `args`, so that the exception survives pickling.
        super().__init__(path, message, position, kind)
        self.path = path
        self.message = message
        self.position = position
        self.kind = kind

    @property
    def diagnostic(self) -> Diagnostic:
        return Diagnostic(self.path, self.message, self.position, self.kind)

    def __str__(self) -> str:
        row = f":{self.position.row}:{self.position.column}" if self.position else ""
        return f"{self.path}{row}: {self.message}"


class UnconcernedError(SourceError):
    """The same for a file that may not concern torchlint; `head` is its content, or the beginning,
    which decides that."""

    head: bytes


class TooLargeError(UnconcernedError):
    """A file of more bytes than `most_bytes`."""

    def __init__(self, path: str, head: bytes) -> None:
        limit = f"{most_bytes(path) >> 20} MiB"
        super().__init__(path, f"The file is over {limit}, too large to check; exclude it.")
        self.args = (path, head)
        self.head = head


class Source:
    """A file's bytes and its text, without the byte order mark, line endings as they are."""

    def __init__(self, path: str, data: bytes, text: str, encoding: str, *, bom: bool) -> None:
        self.path = path
        self.data = data
        self.text = text
        self.encoding = encoding
        self.bom = bom


class PythonIn:
    """The Python in a file, all of it, and the way back to the file."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def written(self, after: Source) -> bytes:
        """The bytes of the file with other Python in it.

        Raises:
            SourceError: of kind `fix`: the file cannot hold it.
        """
        return after.data


def is_python(path: str) -> bool:
    """Whether a file that the user names is Python, by its suffix or its first line."""
    if os.path.splitext(path)[1].lower() in _PYTHON:
        return True
    try:
        with open(path, "rb") as file:
            return re.match(rb"#![^\n]{0,200}\bpython", file.read(256)) is not None
    except OSError:
        return True  # reading it gives a better message


def is_notebook(path: str) -> bool:
    """Whether a file is a notebook, by its suffix."""
    return path.endswith(NOTEBOOK)


def most_bytes(path: str) -> int:
    """How many bytes a file of this name may have."""
    return MAX_NOTEBOOK_BYTES if is_notebook(path) else MAX_BYTES


def read_bytes(path: str) -> bytes:
    """The content of a regular file.

    Raises:
        SourceError: missing, a folder, unreadable, a symlink that dangles or loops, or neither
            file nor folder (reading a fifo or a device could wait forever).
        TooLargeError: it has more than `most_bytes`, which is all that was read.
    """
    most = most_bytes(path)
    try:
        _refuse_special(path, os.stat(path))
        # O_NONBLOCK, since a fifo may have taken the file's place after the look at it.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with open(os.open(path, flags), "rb") as file:
            # A buffer of the largest size for each file would leave holes all over the heap.
            status = os.fstat(file.fileno())
            _refuse_special(path, status)
            size = min(status.st_size, most)
            data = file.read(size + 1)
            if len(data) > size:
                data += file.read(most + 1 - len(data))
    except (OSError, ValueError) as error:
        raise SourceError(path, _why_unreadable(path, error)) from error
    if len(data) > most:
        raise TooLargeError(path, data)
    return data


def decode(path: str, data: bytes) -> Source:
    """The text of a file, by its byte order mark or coding line (PEP 263), else UTF-8.

    Raises:
        SourceError: of kind `undecodable`, with the place where it is known.
    """
    _refuse_binary(path, data)
    bom = data.startswith(codecs.BOM_UTF8)
    body = data[len(codecs.BOM_UTF8) :] if bom else data
    coding = _coding().match(body) if b"coding" in body[:1000] else None
    encoding = _encoding(path, body, coding, bom=bom)
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        raise _undecodable(path, body, error, encoding, declared=coding is not None) from error
    except (ValueError, LookupError) as error:
        # Codecs for bytes (`hex`), and text codecs that fail in their own ways (`undefined`).
        raise _wrong_coding(path, body, coding) from error
    return Source(path, data, text, encoding, bom=bom)


def with_text(path: str, text: str) -> Source:
    """A file with this text, which may begin with a byte order mark, in the encoding that its
    coding line names, else UTF-8.

    Raises:
        SourceError: of kind `undecodable`: there is no such encoding, or it lacks a character.
    """
    bom = text.startswith("\ufeff")
    body = text.removeprefix("\ufeff")
    head = body[:1000].encode("utf-8", "replace")
    coding = _coding().match(head) if b"coding" in head else None
    source = Source(path, b"", body, _encoding(path, head, coding, bom=bom), bom=bom)
    try:
        source.data = encode(source, body)
    except LookupError as error:  # codecs for bytes, such as `hex`
        raise _wrong_coding(path, head, coding) from error
    return source


def encode(source: Source, text: str) -> bytes:
    """`text` as bytes in the file's own encoding, with its byte order mark if it had one.

    Raises:
        SourceError: of kind `undecodable`: a character that the encoding does not have.
    """
    try:
        body = text.encode(source.encoding)
    except UnicodeEncodeError as error:
        from torchlint.files.lines import LineIndex

        sign = f"{text[error.start]!r} (U+{ord(text[error.start]):04X})"
        message = f"The file's encoding, {source.encoding}, has no {sign}; save the file as UTF-8."
        if "\ud800" <= text[error.start] <= "\udfff":
            message = f"No file can hold {sign}, half of a surrogate pair; remove it."
        place = LineIndex(text).position(error.start)
        raise SourceError(source.path, message, place, kind="undecodable") from error
    except UnicodeError as error:  # `idna` gives no place
        message = f"The file's encoding, {source.encoding}, cannot hold it; save it as UTF-8."
        raise SourceError(source.path, message, kind="undecodable") from error
    return codecs.BOM_UTF8 + body if source.bom else body


def _refuse_special(path: str, status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise SourceError(path, "This is a folder, named like a file; rename or exclude it.")
    if not stat.S_ISREG(status.st_mode):
        sort = _sort_of(status.st_mode)
        raise SourceError(path, f"This is {sort}, not a regular file; exclude it.")


def _sort_of(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    if stat.S_ISSOCK(mode):
        return "a socket"
    return "a device"


def _why_unreadable(path: str, error: OSError | ValueError) -> str:
    if not isinstance(error, OSError):
        return "No file can have this name; check the path."
    if error.errno == errno.ELOOP:
        return "This symlink leads back to itself; remove or exclude it."
    if error.errno == errno.ENOENT and os.path.islink(path):
        return "This symlink leads to a file that does not exist; remove or exclude it."
    if error.errno == errno.ENOENT:
        return "No such file; check the path."
    if error.errno in (errno.EACCES, errno.EPERM):
        return "No permission to read the file; change its mode or exclude it."
    return f"Cannot read the file: {error.strerror or error}."


def _refuse_binary(path: str, data: bytes) -> None:
    nul = data.find(b"\0")
    for mark, name in _OTHER_UNICODE.items():
        if nul >= 0 and data.startswith(mark):
            message = f"The file is {name}, which Python does not read; save it as UTF-8."
            raise SourceError(path, message, Position(1, 1), kind="undecodable")
    if nul >= 0:
        message = "There is a NUL byte here, so this is not Python text; fix or exclude the file."
        raise SourceError(path, message, _place(data, nul, "utf-8"), kind="undecodable")


def _encoding(path: str, body: bytes, coding: re.Match[bytes] | None, *, bom: bool) -> str:
    """The name of the codec to use.

    Raises:
        SourceError: no such codec, or it contradicts the byte order mark.
    """
    if coding is None:
        return "utf-8"
    name = coding.group(1).decode("ascii", "replace")
    try:
        codec = codecs.lookup(name).name
    except (LookupError, ValueError) as error:
        raise _wrong_coding(path, body, coding) from error
    if codec in ("utf-8", "utf-8-sig"):
        return "utf-8"
    if bom:
        message = f"The byte order mark says UTF-8, the coding line {name}; remove one of them."
        place = _place(body, coding.start(1), "utf-8")
        raise SourceError(path, message, place, kind="undecodable")
    return codec


def _wrong_coding(path: str, body: bytes, coding: re.Match[bytes] | None) -> SourceError:
    place = _place(body, coding.start(1), "utf-8") if coding else Position(1, 1)
    name = coding.group(1).decode("ascii", "replace") if coding else "utf-8"
    message = f"Python cannot read text in the declared encoding {name!a}; correct the coding line."
    return SourceError(path, message, place, kind="undecodable")


def _undecodable(
    path: str, body: bytes, error: UnicodeDecodeError, encoding: str, *, declared: bool
) -> SourceError:
    byte = body[error.start] if error.start < len(body) else 0
    if not declared and _not_text().search(body[:4096]):
        message = "This is not Python text; exclude the file or give it another name."
    elif declared:
        message = f"The file says it is {encoding}, but byte 0x{byte:02x} here is not; correct one."
    else:
        message = (
            f"Byte 0x{byte:02x} here is not UTF-8 and no coding line names another encoding; "
            "save the file as UTF-8 or add one."
        )
    return SourceError(path, message, _place(body, error.start, encoding), kind="undecodable")


def _place(body: bytes, offset: int, encoding: str) -> Position:
    """The position of a byte; the bytes before it may not decode either."""
    before = body[:offset].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    line = before[before.rfind(b"\n") + 1 :]
    try:
        column = len(line.decode(encoding, "replace")) + 1
    except ValueError:  # `idna` replaces nothing
        column = len(line) + 1
    return Position(before.count(b"\n") + 1, column)
