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

from torchlint.runtime.probe.run_settings import VARIABLE

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Collection, Iterable

_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_GET_CHILD_SUBREAPER: Final = 37
_PATIENCE_S: Final = 10.0
"""A process that the kernel itself holds (a dead network disk) may outlive every signal."""
_ROUNDS: Final = 5
"""Of signals to groups that were not there in the round before."""
_GENERATIONS: Final = 1000
"""How often a process may have gone on in its child while it is being ended."""


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


class ProcessTree:
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
    def folder(self) -> str:
        """Of the run."""
        return os.path.dirname(self._mark)

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
        """Continue what `freeze` stopped."""
        for group in self._stopped:
            _signal_group(group, signal.SIGCONT)
        self._stopped = set()

    def kill_once(self) -> bool:
        """End every process, stopped ones too, and reap them; whether none was left."""
        self._signal_all(signal.SIGKILL)
        end_adopted(lambda pid: pid != self._root.pid and self._is_ours(pid))
        over = self._root.poll() is not None
        reap(process.pid for process in self._seen if process.pid != self._root.pid)
        return over and not self._there()

    def _signal_all(self, number: int) -> set[int]:
        """Signals every group, those first that are known; returns the groups."""
        done: set[int] = set()
        if self._root.returncode is None:
            # Not yet waited for: its number cannot belong to anyone else.
            _signal_group(self._root.pid, number)
            done.add(self._root.pid)
        # What has not been stopped yet may still move to another group.
        for _ in range(_ROUNDS):
            fresh = _groups(self._there()) - done
            for group in fresh:
                _signal_group(group, number)
            done |= fresh
            if not fresh:
                break
        return done

    def _there(self) -> set[psutil.Process]:
        """The processes that exist. Dead ones that nobody has reaped yet lead to their groups."""
        processes = _below(lambda top: top in self._seen or self._is_ours(top.pid))
        for process in processes - self._seen:
            with suppress(OSError):
                self._sessions.add(os.getsid(process.pid))
        self._sessions.discard(os.getsid(0))
        self._seen = {process for process in self._seen | processes if process.is_running()}
        return self._seen

    def _is_ours(self, pid: int) -> bool:
        """Whether a child of this process is the run's root, or an orphan that the run left."""
        with suppress(OSError):
            return os.getsid(pid) in self._sessions or mark_of(pid) == self._mark
        return False


def end_all(trees: Collection[ProcessTree]) -> bool:
    """End every process of these runs; whether none is left."""
    return _until_none_is_left(lambda: False not in [tree.kill_once() for tree in trees])


def children() -> set[psutil.Process]:
    """Everything below this process."""
    return set(psutil.Process().children(recursive=True))


def mark_of(pid: int) -> str:
    """The settings file that a process carries in its environment; empty if it has none."""
    with suppress(OSError):
        # On Linux without psutil, which is slower than some processes live.
        with open(f"/proc/{pid}/environ", "rb") as stream:
            words = stream.read().split(b"\0")
        name = f"{VARIABLE}=".encode()
        return next((os.fsdecode(word[len(name) :]) for word in words if word.startswith(name)), "")
    with suppress(psutil.Error):
        return psutil.Process(pid).environ().get(VARIABLE, "")
    return ""


def adopted() -> list[int]:
    """The orphans that have become children of this process, dead ones too, where the kernel lists
    them (Linux); those that the main thread has started are among them."""
    own = os.getpid()
    with suppress(OSError), open(f"/proc/self/task/{own}/children", "rb") as stream:
        return [int(word) for word in stream.read().split()]
    return []


def end_adopted(ours: Callable[[int], bool]) -> None:
    """End those children of this process that are ours, and their children as they come.

    A process that forks and exits again and again, each time in another session, is gone before it
    is found among all processes. As an orphan it becomes a child of this process.
    """
    others: set[int] = set()
    for _ in range(_GENERATIONS):
        found = [pid for pid in adopted() if pid not in others]
        if not found:
            return
        for pid in found:
            if ours(pid):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
                reap([pid])
            else:
                others.add(pid)


def is_foreign(pid: int, before: Collection[int]) -> bool:
    """Whether a child of this process is in another session, and was not there `before`."""
    with suppress(OSError):
        return pid not in before and os.getsid(pid) != os.getsid(0)
    return False


def sweep(before: Collection[psutil.Process]) -> bool:
    """End everything below this process that is in another session and was not there `before`:
    orphans that cannot be assigned to a run. Whether none is left."""
    numbers = {process.pid for process in before}

    def once() -> bool:
        end_adopted(lambda pid: is_foreign(pid, numbers))
        processes = _below(lambda top: top not in before and is_foreign(top.pid, ()))
        for group in _groups(processes):
            _signal_group(group, signal.SIGKILL)
        reap(process.pid for process in processes)
        return not processes

    return _until_none_is_left(once)


def end_marked(folder: str, sessions: Collection[int]) -> bool:
    """End all processes, wherever they are, that belong to one of the sessions or carry a mark
    inside the folder; whether none is left."""

    def ours(process: psutil.Process) -> bool:
        with suppress(OSError, psutil.Error):
            if os.getsid(process.pid) in sessions:
                return True
            return mark_of(process.pid).startswith(folder + os.sep)
        return False

    def once() -> bool:
        processes = {each for each in psutil.process_iter() if _is_alive(each) and ours(each)}
        for process in tuple(processes):
            with suppress(psutil.Error):
                processes |= set(process.children(recursive=True))
        processes.discard(psutil.Process())
        for process in processes:
            with suppress(psutil.Error):
                process.kill()
        return not processes

    return _until_none_is_left(once)


def _below(wanted: Callable[[psutil.Process], bool]) -> set[psutil.Process]:
    """What is below this process under children that are wanted."""
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


def reap(processes: Iterable[int]) -> None:
    """Reap the dead ones whose parent this process has become."""
    for pid in processes:
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


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
