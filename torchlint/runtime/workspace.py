"""Where runs live, and what makes sure that nothing of them stays."""

from __future__ import annotations

import os
import re
import tempfile
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from torchlint.runtime import temporary_folders as folders
from torchlint.runtime.probe.files.territory import missing_caches
from torchlint.runtime.processes.interrupts import Interrupts
from torchlint.runtime.processes.process_tree import (
    ProcessTree,
    adopted,
    children,
    end_all,
    is_foreign,
    reap,
    set_subreaper,
    sweep,
)
from torchlint.runtime.processes.watchdog import Guard
from torchlint.runtime.sandbox import fence
from torchlint.runtime.sandbox.disk_space import cut_output
from torchlint.runtime.sandbox.shared_memory import sweep as sweep_shared_memory

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    import psutil


class Workspace:
    """One temporary folder and all processes of the runs in it. A context manager.

    At its end, however it comes, every process that a run left is gone, and so is the folder.
    Ctrl-C, SIGTERM and SIGHUP end it in order; if this process is killed, a guard cleans up.

    Runs may be started from several threads.

    Args:
        parent: where the folder is made; None: where temporary files are.
        deadline: of `time.monotonic`; no run continues after it. None: there is none.
    """

    def __init__(self, parent: str | None = None, deadline: float | None = None) -> None:
        self.root = ""
        self.deadline = deadline
        self._parent = parent
        self._stopping = threading.Event()
        self._interrupts = Interrupts(self._stopping.set)
        self._lock = threading.Lock()
        self._folders: list[str] = []
        self._sockets = 0
        self._temporaries = 0
        self._trees: dict[int, ProcessTree] = {}
        self._guard: Guard | None = None
        self._before: set[psutil.Process] = set()
        self._was_subreaper = False
        self._made: list[str] = []

    def __enter__(self) -> Workspace:
        try:
            self._interrupts.install()
            self.root = folders.create(self._parent)
            self._guard = Guard(self.root)
            self._before = children()
            self._was_subreaper = set_subreaper(True)
            if not fence.why_not():
                # Behind the fence a run cannot make them, and what it downloads is to be kept.
                self._made = folders.make_missing(missing_caches(os.environ))
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        self._close()

    @property
    def stopping(self) -> bool:
        """Whether all runs should end now."""
        return self._stopping.is_set()

    @property
    def is_late(self) -> bool:
        """Whether the deadline is over."""
        return self.deadline is not None and time.monotonic() > self.deadline

    def stop(self) -> None:
        """Make the runs in all threads fail, soon."""
        self._stopping.set()

    def folder(self, name: str) -> str:
        """A new, empty folder for one run."""
        with self._lock:
            slug = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:40]
            path = os.path.join(self.root, f"{len(self._folders)}-{slug}")
            os.mkdir(path)
            self._folders.append(path)
            return path

    def folders(self) -> tuple[str, ...]:
        """All folders so far, in the order in which they were made."""
        with self._lock:
            return tuple(self._folders)

    def socket(self) -> str:
        """A path for a new socket."""
        with self._lock:
            self._sockets += 1
            return os.path.join(self.root, f"s{self._sockets}")

    def temporary(self) -> str:
        """A new folder for one run's temporary files; it shows what is among the user's."""
        with self._lock:
            self._temporaries += 1
            path = os.path.join(self.root, f"t{self._temporaries}")
        folders.show(tempfile.gettempdir(), path)
        return path

    def start(self, begin: Callable[[], subprocess.Popen[bytes]], mark: str) -> ProcessTree:
        """Start a process in a session of its own, and keep it in mind until `end`."""
        with self._interrupts.held(), self._lock:
            root = begin()
            tree = ProcessTree(root, mark)
            self._trees[root.pid] = tree
            if self._guard is not None:
                self._guard.watch(root.pid)
        return tree

    def tend(self) -> None:
        """Keep small what runs leave while they are under way.

        Nobody else reaps their orphans, and where there are many no process can start any more.
        """
        with self._lock:
            known = {process.pid for process in self._before}.union(self._trees)
            reap(pid for pid in adopted() if is_foreign(pid, known))
            for tree in self._trees.values():
                cut_output(tree.folder)

    def end(self, tree: ProcessTree) -> None:
        """End all processes of a run."""
        if end_all([tree]):
            with self._lock:
                if self._trees.pop(tree.session, None) and self._guard is not None:
                    self._guard.forget(tree.session)

    def _close(self) -> None:
        self._interrupts.begin_closing()
        self._stopping.set()
        try:
            # All at once: what cannot be ended takes its time once, and not for each run.
            end_all(tuple(self._trees.values()))
            if self._guard is not None:
                sweep(self._before)
                set_subreaper(self._was_subreaper)
            if self.root:
                for folder in self._folders:
                    sweep_shared_memory(folder)
                folders.remove(self.root)
            for path in reversed(self._made):
                with suppress(OSError):
                    os.rmdir(path)  # if nothing is in it
            if self._guard is not None:
                self._guard.dismiss()
                self._guard = None
        finally:
            self._interrupts.restore()
