"""A file that was checked, opened to be changed: the Python in it, and the way back to bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.files.reading import SourceError, decode, encode
from torchlint.project.target import digest_of

if TYPE_CHECKING:
    from torchlint.files.reading import Source
    from torchlint.project.target import Target

_UNFIT: Final = "Text in {encoding} cannot be fixed; save the file as UTF-8."


class Editable:
    """A file as it was checked.

    Args:
        target: the file; it is read now.
        digest: of the Python that was checked.
        changed: what to say if it is another one by now.
        unfit: what to say if its `{encoding}` does not give the file back.

    Attributes:
        content: its bytes.
        source: the Python in it.
        now: the Python that it was changed to so far.
        target: the file with that, to be checked from now on whatever happens to it.

    Raises:
        SourceError: of kind `write` or `fix`, for one of these reasons, or as reading does.
    """

    def __init__(self, target: Target, digest: bytes, *, changed: str, unfit: str = _UNFIT) -> None:
        self.content = target.content()
        self.target = target._replace(data=self.content)
        self._python = target.python(self.content)
        data = self._python.data
        if digest_of(data) != digest:
            raise SourceError(target.path, changed, kind="write")
        self.source = self.now = decode(target.path, data)
        if encode(self.source, self.source.text) != data:
            message = unfit.format(encoding=self.source.encoding)
            raise SourceError(target.path, message, kind="fix")

    def change(self, after: Source) -> None:
        """Put other Python in it.

        Raises:
            SourceError: as for `written`.
        """
        self.target = self.target._replace(data=self.written(after))
        self.now = after

    def written(self, after: Source) -> bytes:
        """The bytes of the whole file with this Python in it.

        Raises:
            SourceError: of kind `fix`: an edit reaches over the border of a notebook's cell.
        """
        return self._python.written(after)
