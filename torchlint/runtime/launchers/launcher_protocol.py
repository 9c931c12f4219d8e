"""What a run needs to know of the program that starts its processes.

To add one, write a file next to this one with a frozen dataclass that has these members, and give
an instance of it to `Job`. Whatever it starts has to run on this machine: the processes talk to
the parent through a Unix socket and are stopped by signals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class Launcher(Protocol):
    """Starts the processes that run the script."""

    @property
    def processes(self) -> int:
        """How many greetings to expect before the script may start."""

    def command(self, arguments: Sequence[str]) -> list[str]:
        """The command line that runs Python with these arguments in every process; it begins
        with an absolute path."""

    def ended(self, code: int, stderr: str, rank: int | None) -> tuple[int, int | None]:
        """How a process of the script ended, as in `Popen.returncode`, and its rank, if known.

        Args:
            code: of the launcher itself.
            stderr: the last lines that it and the script have written there.
            rank: of the process that is meant; None: the one that failed first.
        """
