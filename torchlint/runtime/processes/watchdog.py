"""A small process that outlives this one, to clean up if it is killed.

The processes of a run end by themselves when their parent hangs up, but not while they are
stopped. The guard holds the end of a pipe: when it reads the end of the file without having been
dismissed, it ends every process of the runs and removes their folder. It runs as a script, so
until then it imports only the standard library.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import Final

_DISMISSED: Final = "dismissed"


class Guard:
    """Starts a guard for the runs whose folders are in `folder`."""

    def __init__(self, folder: str) -> None:
        import psutil  # not for the guard itself, which has to start fast

        own = os.path.abspath(__file__)
        root = os.path.abspath(os.path.join(own, *[os.pardir] * 4))
        packages = os.path.dirname(os.path.dirname(os.path.abspath(psutil.__file__)))
        # Isolated: what the user's environment adds to a start of Python is not for the guard.
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-I", "-S", own, folder, root, packages],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=os.sep,
            start_new_session=True,
        )

    def watch(self, session: int) -> None:
        """End this session too."""
        self._say(f"+{session}")

    def forget(self, session: int) -> None:
        """Nothing is left of this session; its number may be reused."""
        self._say(f"-{session}")

    def dismiss(self) -> None:
        """Everything is cleaned up."""
        self._say(_DISMISSED)
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        self._process.wait()

    def _say(self, word: str) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.write(word.encode() + b"\n")
            self._process.stdin.flush()


def _main(folder: str, *path: str) -> None:
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    sessions: set[int] = set()
    for line in sys.stdin:
        word = line.strip()
        if word == _DISMISSED:
            return
        change = sessions.add if word.startswith("+") else sessions.discard
        change(int(word[1:]))
    sys.path += path
    from torchlint.runtime.processes.process_tree import end_marked
    from torchlint.runtime.sandbox.shared_memory import sweep
    from torchlint.runtime.temporary_folders import remove

    end_marked(folder, sessions)
    for name in os.listdir(folder):
        sweep(os.path.join(folder, name))
    remove(folder)


if __name__ == "__main__":
    _main(*sys.argv[1:])
