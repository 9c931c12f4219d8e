"""The processes of a run: found, stopped, continued, and ended to the last one.

A run is started in a session of its own, so one signal to its process group reaches the script
and the workers it forked, all at the same moment. What has gone into other groups or sessions
(torchrun's ranks, daemons) is found below this process: on Linux it is the subreaper of whatever
a run leaves behind, so nothing can slip out from under it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import psutil

from torchlint.runtime.probe.settings import VARIABLE

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Collection, Iterable

_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_GET_CHILD_SUBREAPER: Final = 37
_PATIENCE_S: Final = 10.0
"""A process that the kernel itself holds (a dead network disk) may outlive every signal."""


def set_subreaper(on: bool) -> bool:
    """Make this process inherit the orphans below it, or not; returns what it was before.

    Does nothing where the system is not Linux.
    """
    if not sys.platform.startswith("linux"):
        return False
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    before = ctypes.c_int(0)
    prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0)
    prctl(_PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0)
    return bool(before.value)


class Tree:
    """All processes of one run.

    Args:
        root: the process that was started, leader of its session.
        mark: the run's settings file, which its processes carry in their environment.
    """

    def __init__(self, root: subprocess.Popen[bytes], mark: str) -> None:
        self._root = root
        self._mark = mark
        self._seen: set[psutil.Process] = set()
        self._sessions = {root.pid}
        self._stopped: set[int] = set()

    @property
    def session(self) -> int:
        """Number of the session that the run was started in."""
        return self._root.pid

    @property
    def exit_code(self) -> int | None:
        """Of the process that was started, as in `Popen.returncode`; None while it runs."""
        return self._root.poll()

    def look(self) -> set[psutil.Process]:
        """The processes that are alive now, stopped ones too."""
        return {process for process in self._there() if _is_alive(process)}

    def freeze(self) -> None:
        """Stop every process. Of the group that the run was started in, all at once."""
        self._stopped = self._signal_all(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let what `freeze` stopped go on."""
        for group in self._stopped:
            _signal_group(group, signal.SIGCONT)
        self._stopped = set()

    def kill(self) -> bool:
        """End every process, stopped ones too, and reap them; whether none is left."""
        return _until_none_is_left(self._kill_once)

    def _kill_once(self) -> bool:
        self._signal_all(signal.SIGKILL)
        over = self._root.poll() is not None
        _reap(self._seen, besides={self._root.pid})
        return over and not self._there()

    def _signal_all(self, number: int) -> set[int]:
        """Signals every group, those first that are known; returns the groups."""
        done: set[int] = set()
        if self._root.returncode is None:
            # Not yet waited for: its number cannot belong to anyone else.
            _signal_group(self._root.pid, number)
            done.add(self._root.pid)
        # What has not been stopped yet may still move to another group.
        while fresh := _groups(self._there()) - done:
            for group in fresh:
                _signal_group(group, number)
            done |= fresh
        return done

    def _there(self) -> set[psutil.Process]:
        """The processes that exist. Dead ones that nobody has reaped yet lead to their groups."""
        found = _below(self._is_ours)
        for process in found - self._seen:
            with suppress(OSError):
                self._sessions.add(os.getsid(process.pid))
        self._sessions.discard(os.getsid(0))
        self._seen = {process for process in self._seen | found if process.is_running()}
        return self._seen

    def _is_ours(self, top: psutil.Process) -> bool:
        """Whether a child of this process is the run's root, or an orphan that the run left."""
        if top.pid == self._root.pid or top in self._seen:
            return True
        with suppress(OSError, psutil.Error):
            return os.getsid(top.pid) in self._sessions or top.environ().get(VARIABLE) == self._mark
        return False


def children() -> set[psutil.Process]:
    """Everything below this process."""
    return set(psutil.Process().children(recursive=True))


def sweep(before: Collection[psutil.Process]) -> bool:
    """End whatever stands below this process in another session, and was not there `before`:
    orphans that cannot be assigned to a run. Whether none is left."""

    def foreign(top: psutil.Process) -> bool:
        with suppress(OSError):
            return top not in before and os.getsid(top.pid) != os.getsid(0)
        return False

    def once() -> bool:
        found = _below(foreign)
        # By group: a process that forks and exits again and again is gone before it is found.
        for group in _groups(found):
            _signal_group(group, signal.SIGKILL)
        _reap(found)
        return not found

    return _until_none_is_left(once)


def end_marked(folder: str, sessions: Collection[int]) -> bool:
    """End all processes, wherever they stand, that belong to one of the sessions or carry a mark
    inside the folder; whether none is left."""

    def ours(process: psutil.Process) -> bool:
        with suppress(OSError, psutil.Error):
            if os.getsid(process.pid) in sessions:
                return True
            return bool(process.environ().get(VARIABLE, "").startswith(folder + os.sep))
        return False

    def once() -> bool:
        found = {each for each in psutil.process_iter() if _is_alive(each) and ours(each)}
        for process in tuple(found):
            with suppress(psutil.Error):
                found |= set(process.children(recursive=True))
        found.discard(psutil.Process())
        for process in found:
            with suppress(psutil.Error):
                process.kill()
        return not found

    return _until_none_is_left(once)


def _below(wanted: Callable[[psutil.Process], bool]) -> set[psutil.Process]:
    """What stands below this process under children that are wanted."""
    own = os.getpid()
    parents: dict[psutil.Process, int] = {}
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            parents[process] = process.ppid()
    answers: dict[int, bool] = {
        process.pid: wanted(process) for process, parent in parents.items() if parent == own
    }
    by_pid = {process.pid: parent for process, parent in parents.items()}

    def answer(pid: int) -> bool:
        if pid not in answers:
            answers[pid] = pid in by_pid and answer(by_pid[pid])
        return answers[pid]

    return {process for process in parents if answer(process.pid)}


def _is_alive(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def _groups(processes: Iterable[psutil.Process]) -> set[int]:
    """Their process groups, without the one of this process."""
    groups: set[int] = set()
    for process in processes:
        with suppress(OSError):
            groups.add(os.getpgid(process.pid))
    return groups - {os.getpgrp()}


def _signal_group(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _reap(processes: Iterable[psutil.Process], besides: Collection[int] = ()) -> None:
    """Reap the dead ones whose parent this process has become."""
    for process in processes:
        if process.pid not in besides:
            with suppress(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)


def _until_none_is_left(once: Callable[[], bool]) -> bool:
    """Repeat: what was about to fork has one more child now."""
    deadline = time.monotonic() + _PATIENCE_S
    pause = 0.001
    while not once():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
        pause = min(2 * pause, 0.05)
    return True
