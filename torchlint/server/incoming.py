"""The bytes that an editor sends, as far as they can be messages of the protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.files.reading import MAX_NOTEBOOK_BYTES

if TYPE_CHECKING:
    from typing import BinaryIO

MOST_BYTES: Final = 8 * MAX_NOTEBOOK_BYTES
"""Of one message: JSON may spell a character in six."""
_MOST_OF_HEADER: Final = 1_000


class NoMessageError(Exception):
    """What comes cannot be a message, so that nothing after it can be read either."""


class Incoming:
    """A stream of messages that takes no more memory than one of them may need."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readline(self) -> bytes:
        """A line of a header.

        Raises:
            NoMessageError: it does not end.
        """
        line = self._stream.readline(_MOST_OF_HEADER)
        if len(line) == _MOST_OF_HEADER:
            raise NoMessageError("A header of the editor's message is too long.")
        return line

    def read(self, size: int) -> bytes:
        """
        Raises:
            NoMessageError: nobody sends as much at once.
        """
        if size > MOST_BYTES:
            raise NoMessageError(
                f"The editor announces a message of {size:,} bytes; {MOST_BYTES >> 20} MiB are "
                "the most."
            )
        return self._stream.read(size)
