"""Code of plugins: what it prints and how it fails is reported under the plugin's name.

A plugin is code of somebody else that the user has installed. It may do anything, but a mistake in
it must not change a report, make a check pass, or write into the output.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn, TypeVar

from torchlint.finding import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")
_MOST: Final = 200
"""Characters of a message that are shown."""
_OURS: Final = "torchlint."
_STDOUT: Final = 1
_STDERR: Final = 2


class Trouble(NamedTuple):
    """What is wrong with a plugin: its file, and a sentence of fact and one of action."""

    path: str
    message: str

    @property
    def diagnostic(self) -> Diagnostic:
        return Diagnostic(self.path, self.message, kind="rule")


class PluginError(Exception):
    """Code of a plugin failed; the message names it."""


def contained(what: str, call: Callable[[], _T]) -> tuple[_T, str]:
    """What a call of a plugin's code returns, and what it printed in the meantime.

    Args:
        what: the code, for the message.

    Raises:
        PluginError: it raised an error, or tried to end this process.
    """
    printed = _Printed()
    streams, leave = (sys.stdout, sys.stderr), os._exit
    stdout = _stdout_to_stderr()
    sys.stdout = sys.stderr = printed
    os._exit = _refused  # type: ignore[assignment]
    try:
        answer = call()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if type(error).__module__.startswith(_OURS):
            raise
        raise PluginError(f"{what} {_failed(error)}") from error
    finally:
        sys.stdout, sys.stderr = streams
        os._exit = leave
        if stdout is not None:
            os.dup2(stdout, _STDOUT)
            os.close(stdout)
    return answer, one_line(printed.getvalue())


def _stdout_to_stderr() -> int | None:
    """Let what is written past `sys.stdout`, in C or by another program, go to standard error.
    Returns what standard output was; None where it is closed."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        stdout = os.dup(_STDOUT)
        try:
            os.dup2(_STDERR, _STDOUT)
        except OSError:
            os.close(stdout)
            return None
        return stdout
    return None


class _Printed(io.StringIO):
    """Keeps the beginning of what is printed."""

    def write(self, text: str) -> int:
        if self.tell() <= _MOST:
            super().write(text[: 2 * _MOST])
        return len(text)


def _refused(code: int = 0) -> NoReturn:
    raise SystemExit(code)


def _failed(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"tried to end torchlint with exit code {one_line(str(error.code))}"
    return f"failed ({type(error).__name__}: {one_line(str(error))})"


def one_line(text: str) -> str:
    """The text on one line, cut."""
    line = " ".join(text.split())
    return line if len(line) <= _MOST else f"{line[: _MOST - 1]}…"
