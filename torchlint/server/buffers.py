"""What an editor holds, and what is said about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from torchlint.project.source import SourceError, decode

if TYPE_CHECKING:
    from torchlint.lint.finding import Finding


class Buffer(NamedTuple):
    """An open document, as it was at one moment.

    Args:
        uri: the editor's name for it.
        path: where it lies or would lie, absolute; None of one that was never saved.
    """

    uri: str
    path: str | None
    version: int
    text: str


class Outcome(NamedTuple):
    """The findings to show in one version of a document."""

    buffer: Buffer
    findings: tuple[Finding, ...]


def data_of(buffer: Buffer) -> bytes:
    """The bytes that the editor would write.

    The text need not be what its coding line says: then it is what UTF-8 makes of it, and whoever
    decodes it says what is wrong.
    """
    data = buffer.text.encode("utf-8", "replace")
    if b"coding" not in data[:1000]:
        return data
    try:
        encoding = decode(buffer.uri, data).encoding
        return buffer.text.encode(encoding)
    except (SourceError, ValueError, LookupError):
        return data
