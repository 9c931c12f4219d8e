"""What a whole process costs: seconds and peak memory, as the kernel accounts for them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds (user and system) and peak resident bytes of a process and the children that
    it waited for, and the wall-clock seconds that it took."""

    cpu: float
    peak: int
    wall: float


class UnexpectedExitError(Exception):
    """A measured command ended with an exit code that makes its time meaningless."""


def measure(
    command: Sequence[str],
    *,
    folder: Path,
    expect: Sequence[int] = (0,),
    environment: Mapping[str, str] | None = None,
) -> Cost:
    """Runs a command and returns what it cost. Its output goes to a file in `folder`.

    The peak includes what this process held when it forked, so keep this process small.

    Raises:
        UnexpectedExitError: it exited with a code that is not in `expect`.
    """
    log = folder / "output.txt"
    start = time.perf_counter()
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in expect:
        last = "\n".join(log.read_text(errors="replace").splitlines()[-5:])
        raise UnexpectedExitError(f"{' '.join(command)} exited with {process.returncode}:\n{last}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _RSS_UNIT, wall)
