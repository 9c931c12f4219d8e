"""One file to check: what it is, what it contains, and how far it is analyzed."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from torchlint.analysis.frameworks.mentions import MENTIONS
from torchlint.files.digests import blake2b
from torchlint.files.reading import NOTEBOOK, read_bytes

if TYPE_CHECKING:
    from torchlint.config.settings import Selection
    from torchlint.notebooks.cells import Borders

CHANGED: Final = b""
"""The digest of a file that changes while it is looked at; no content has it."""


class Target(NamedTuple):
    """One file to check.

    Args:
        path: the name shown to the user and used in findings.
        selection: which rules are on.
        torch: the oldest torch that the file must run with, as (major, minor).
        data: the content, if it does not come from disk.
        named: the user named this very file, so that it is an error if it is not Python; a file
            found in a folder is parsed only if its words concern a rule.
    """

    path: str
    selection: Selection
    torch: tuple[int, int]
    data: bytes | None = None
    named: bool = False

    def read(self) -> bytes:
        """The Python in it: the content, or of a notebook the module that its cells make.

        Raises:
            SourceError: the file cannot be read.
        """
        data = self.content()
        if not self.is_notebook:
            return data
        from torchlint.notebooks.module import NotebookModule

        return NotebookModule(self.path, data).text.encode("utf-8")

    def content(self) -> bytes:
        """The content as it lies in the file.

        Raises:
            SourceError: the file cannot be read.
        """
        return read_bytes(self.path) if self.data is None else self.data

    @property
    def is_notebook(self) -> bool:
        return self.path.endswith(NOTEBOOK)


class Depth(str, Enum):
    """How far a file is looked into."""

    IMPORTS = "imports"
    """Only what it imports, off its lines."""
    RULES = "rules"
    """Parsed if a rule wants to see it."""
    WOKEN = "woken"
    """Parsed and summarized, since hot code of another file may lead here."""


class Known:
    """A target whose content was seen: a digest of it, its size in bytes, whether any rule can
    have something to say about it, and of a notebook the borders of its cells."""

    __slots__ = ("borders", "digest", "relevant", "size", "target")

    def __init__(
        self,
        target: Target,
        digest: bytes,
        size: int,
        *,
        relevant: bool,
        borders: Borders | None = None,
    ) -> None:
        self.borders = borders
        self.target = target
        self.digest = digest
        self.size = size
        self.relevant = relevant


def digest_of(data: bytes) -> bytes:
    """What tells one content of a file from another."""
    return blake2b(data, digest_size=16).digest()


def mentions_torch(data: bytes) -> bool:
    """Whether any rule at all can have something to say about a file with these bytes."""
    return any(word in data for word in MENTIONS)
