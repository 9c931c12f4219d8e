"""The folder that an assistant may look at, and nothing outside of it."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Final

from torchlint.config.settings import shortened
from torchlint.report.terminal.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST: Final = 4_096
"""Characters of a path; systems allow no more bytes."""


class RefusedPathError(Exception):
    """What an assistant asked for and does not get; the message is safe to print."""


class AllowedFolder:
    """A folder. Paths count from it, links are followed, and where they lead must be in it."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.realpath(folder)

    def paths(self, given: Iterable[str]) -> list[str]:
        """The absolute paths, each once: a folder is not searched a thousand times.

        Raises:
            RefusedPathError: as for `path`.
        """
        return list(dict.fromkeys(map(self.path, given)))

    def path(self, given: str) -> str:
        """The absolute path of a file or folder in this one.

        Raises:
            RefusedPathError: it is outside, it does not exist, or it is neither file nor folder.
        """
        shown = visible(shortened(given))
        if "\0" in given or len(given) > _LONGEST or not _is_encodable(given):
            raise RefusedPathError(f"`{shown}` cannot be the name of a file; check the path.")
        # As the rest of torchlint reads `..`: without asking where the links before it lead.
        path = os.path.normpath(os.path.join(self.folder, given))
        real = os.path.realpath(path)
        if not self._is_inside(real):
            raise RefusedPathError(
                f"`{shown}` is outside of {self.folder}, the folder that this server reads; name a "
                "path in it."
            )
        try:
            mode = os.stat(real).st_mode
        except FileNotFoundError:
            raise RefusedPathError(
                f"There is no file or folder `{shown}`; check the path."
            ) from None
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise RefusedPathError(f"`{shown}` cannot be read: {reason}; check the path.") from None
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise RefusedPathError(f"`{shown}` is neither a file nor a folder; name one.")
        return path if self._is_inside(path) else real

    def holds(self, path: str) -> bool:
        """Whether a path of a message leads to something in the folder."""
        return self._is_inside(os.path.realpath(os.path.join(self.folder, path)))

    def _is_inside(self, absolute: str) -> bool:
        return absolute == self.folder or absolute.startswith(os.path.join(self.folder, ""))


def _is_encodable(name: str) -> bool:
    try:
        os.fsencode(name)
    except UnicodeEncodeError:  # a lone surrogate, which JSON can spell
        return False
    return True
