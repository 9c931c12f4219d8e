"""Why a run failed, in words for the user."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from torchlint.runtime.probe.messages import Ended

ERROR: Final = "error"
"""The script raised, or left with a code other than 0."""
CRASHED: Final = "crashed"
"""The process ended without a message: a signal, `os._exit`, a fault in native code."""
TIMEOUT: Final = "timeout"
FINISHED: Final = "finished"
"""The script ended before it did what was asked."""
NO_GPU: Final = "no GPU"
"""One was asked for, and torch sees none; the script has not been started."""

_TAIL_BYTES: Final = 16_384
_TAIL_LINES: Final = 20


class Failed(Exception):  # noqa: N818 - what happened to the run, not a mistake of the caller
    """One run did not do what was asked.

    Args:
        status: ERROR, CRASHED, TIMEOUT, FINISHED or NO_GPU.
        message: one sentence.
        name: of the run.
        kind: class of the exception, name of the signal, or `exit code 3`.
        tail: the traceback, or the last lines that the run wrote to stderr, or to stdout if there
            are none.
        printed: the last lines that it wrote to stdout, if it ended without an error.
        oom: memory ran out, as far as is known.
        steps: steps that were taken.
        place: file and row of the script where it was raised, if known.
    """

    def __init__(
        self,
        status: str,
        message: str,
        *,
        name: str = "",
        kind: str = "",
        tail: str = "",
        printed: str = "",
        oom: bool = False,
        steps: int = 0,
        place: tuple[str, int] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.name = name
        self.kind = kind
        self.tail = tail
        self.printed = printed
        self.oom = oom
        self.steps = steps
        self.place = place

    @property
    def below(self) -> str:
        """The tail as what follows the message: on lines of its own; empty if there is none."""
        return f"\n{self.tail.rstrip()}" if self.tail.strip() else ""


class OutOfTime(Exception):  # noqa: N818 - the user's limit, no failure of a run
    """The time that the user allows for all runs together is over. Its text says what a run was
    still doing, if that is known."""


def from_exit(code: int, name: str, stderr: str, who: str = "The process") -> Failed:
    """A process ended without saying so; `code` as in `Popen.returncode`."""
    kind = f"exit code {code}" if code >= 0 else _signal_name(-code)
    if code == 0:
        message = "The script ended through os._exit."
    elif code > 0:
        message = f"{who} died with {kind}."
    else:
        message = f"{who} was ended by {kind}."
    return Failed(
        CRASHED if code else FINISHED,
        message,
        name=name,
        kind=kind,
        tail=tail_of(stderr),
        oom=kind == "SIGKILL",  # nobody but us and the kernel, short of memory, sends it
    )


def from_ended(ended: Ended, name: str, stderr: str, stdout: str) -> Failed:
    """How a script ended.

    Args:
        stderr: the file of what it wrote there; `stdout` likewise.
    """
    code, steps, error = ended.code, ended.steps, ended.error
    if error is None:
        printed = tail_of(stdout)
        if code == 0:
            said = "The script ended."
            return Failed(FINISHED, said, name=name, kind="end", printed=printed, steps=steps)
        return Failed(
            ERROR,
            f"The script exited with code {code}.",
            name=name,
            kind=f"exit code {code}",
            tail=tail_of(stderr) or printed,
            printed=printed,
            steps=steps,
        )
    kind, trace = error.type, error.traceback
    words = error.text.strip().partition("\n")[0][:200].rstrip(".")
    return Failed(
        ERROR,
        f"The script raised {kind}: {words}." if words else f"The script raised {kind}.",
        name=name,
        kind=kind,
        tail=_last_lines(trace) if trace else tail_of(stderr),
        oom=error.oom,
        steps=steps,
        place=(error.path, error.row or 0) if error.path else None,
    )


def not_understood(error: ValueError, name: str, tail: str = "") -> Failed:
    """A run sent something that it should not have."""
    message = f"The run sent what torchlint does not understand ({error})."
    return Failed(ERROR, message, name=name, kind="protocol", tail=tail)


def tail_of(path: str) -> str:
    """The last lines of a file, however long it is; empty if there is none."""
    try:
        with open(path, "rb") as stream:
            stream.seek(0, os.SEEK_END)
            stream.seek(max(0, stream.tell() - _TAIL_BYTES))
            return _last_lines(stream.read().decode("utf-8", errors="replace"))
    except OSError:
        return ""


def _last_lines(text: str) -> str:
    """Without what a terminal would obey: the text is shown to the user."""
    lines = [
        "".join(char for char in line if char.isprintable() or char == "\t").rstrip()
        for line in text.splitlines()
    ]
    return "\n".join([line for line in lines if line][-_TAIL_LINES:])


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
