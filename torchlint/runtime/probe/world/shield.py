"""Keeps a run from changing the world: files, trackers, uploads; and writes down what it tried."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from torchlint.runtime.probe.files import native_files, redirect, territory
from torchlint.runtime.probe.files.copy_on_write import CopyOnWrite
from torchlint.runtime.probe.world import (
    inherit,
    journal,
    shared_memory_owners,
    started_programs,
    trackers,
    uploads,
)

if TYPE_CHECKING:
    from torchlint.runtime.probe.run_settings import RunSettings

_installed: set[int] = set()
"""This process, and those that it was forked from. What is installed cannot be taken away."""


def install(settings: RunSettings) -> None:
    """Shield this process and those that it starts from Python; the second time does nothing.

    To be called before torch or anything of the script's is imported.

    Under overlayfs the kernel keeps the project's files, and only what is elsewhere is redirected:
    a checkpoint that is written to another disk.
    """
    if _installed:
        return
    _installed.add(os.getpid())
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    scratch = os.path.realpath(settings.scratch)
    ground = territory.of_run(settings)
    book = journal.Journal(scratch)
    view = CopyOnWrite(scratch, ground)
    redirect.install(view, [started_programs.shell(book)])
    native_files.install(view)
    started_programs.install(book, view)
    shared_memory_owners.install(settings.local or scratch)
    trackers.install(scratch, book)
    uploads.install(book)
    inherit.install(scratch)
    journal.install(book, ground, settings.socket, fenced=settings.fenced)
