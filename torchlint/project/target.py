"""One file to check: its settings and its content."""

# No postponed annotations here: named tuples would compile each one at start-up.

from typing import TYPE_CHECKING, Final, NamedTuple

from torchlint.config.settings import Selection
from torchlint.files.digests import blake2b
from torchlint.files.reading import PythonIn, decode, is_notebook, read_bytes

if TYPE_CHECKING:
    from torchlint.notebooks.cells import Borders

_MENTIONS: Final = (
    b"torch", b"lightning", b"accelerate", b"transformers", b" trl ", b"mmengine", b"mmcv",
    b"batchgenerators"
)  # fmt: skip
"""The words of files that have to do with torch or a framework; apart from the adapters, because
every check asks for them, even one that finds nothing changed."""
_BACKWARD: Final = b".backward("
_OTHERS: Final = tuple(
    f"{word} {package}".encode()
    for word in ("import", "from")
    for package in ("jittor", "mindspore", "mxnet", "oneflow", "paddle")
)
"""Imports of other libraries whose tensors have the method `backward`."""
CHANGED: Final = b""
"""The digest of a file that changed during the check; no content has it."""


class Target(NamedTuple):
    """One file to check.

    Args:
        path: the path shown to the user and used in findings.
        selection: which rules are on.
        torch: the oldest torch version that the project supports, as (major, minor).
        data: the content, if it is not read from disk.
        named: the user named this file, so it is an error if it is not Python. A file found in a
            folder is parsed only if a rule wants it.
        brought: names that its star imports of other files bind, and what they refer to.
    """

    path: str
    selection: Selection
    torch: tuple[int, int]
    data: bytes | None = None
    named: bool = False
    brought: tuple[tuple[str, str], ...] = ()

    def read(self) -> bytes:
        """The Python source: the content, or for a notebook the module made of its cells.

        Raises:
            SourceError: the file cannot be read.
        """
        return self.python(self.content()).data

    def python(self, content: bytes) -> PythonIn:
        """The Python in a content of the file, and the way back.

        Raises:
            SourceError: the file cannot be read.
        """
        if not self.is_notebook:
            return PythonIn(content)
        from torchlint.notebooks.notebook_module import notebook_module

        return notebook_module(self.path, content)

    def borders(self, data: bytes) -> "Borders | None":
        """Where the cells of a notebook are in what `read` returned; None for other files."""
        if not self.is_notebook:
            return None
        from torchlint.notebooks.cells import Borders

        return Borders(data.decode("utf-8"))

    def content(self) -> bytes:
        """The content of the file, unchanged.

        Raises:
            SourceError: the file cannot be read.
        """
        return read_bytes(self.path) if self.data is None else self.data

    @property
    def is_notebook(self) -> bool:
        return is_notebook(self.path)


def texts_in(path: str, data: bytes) -> list[str]:
    """The text of a file, or of each code cell of a notebook.

    Raises:
        SourceError: it cannot be read.
    """
    if not is_notebook(path):
        return [decode(path, data).text]
    from torchlint.notebooks.document import Notebook

    return [cell.source for cell in Notebook(path, data).cells]


class Known:
    """A target whose content was read: its digest, its size in bytes, whether any rule can
    report something in it, whether it may have a star import, and for a notebook the borders of its
    cells."""

    __slots__ = ("borders", "digest", "relevant", "size", "stars", "target")

    def __init__(
        self,
        target: Target,
        digest: bytes,
        size: int,
        *,
        relevant: bool,
        stars: bool = False,
        borders: "Borders | None" = None,
    ) -> None:
        self.borders = borders
        self.target = target
        self.digest = digest
        self.size = size
        self.relevant = relevant
        self.stars = stars


def digest_of(data: bytes) -> bytes:
    """A digest that identifies the content of a file."""
    return blake2b(data, digest_size=16).digest()


def known_of(target: Target, data: bytes) -> Known:
    """A target with what `read` returned."""
    relevant = mentions_torch(data)
    return Known(
        target,
        digest_of(data),
        len(data),
        relevant=relevant,
        stars=relevant and b"import *" in data,
        borders=target.borders(data) if relevant or target.named else None,
    )


def mentions_torch(data: bytes) -> bool:
    """Whether any rule can report something in a file with these bytes."""
    if any(word in data for word in _MENTIONS):
        return True
    return _BACKWARD in data and not any(word in data for word in _OTHERS)
