"""Starts programs where a view has their files, and in place of uploaders one that does nothing.

A program that is not Python's sees the real files. What it is given to read is passed by its real
path; what it writes of its own is not redirected.
"""

from __future__ import annotations

import functools
import inspect
import os
import stat
import subprocess
from typing import TYPE_CHECKING, Any

from torchlint.runtime.probe.files import system
from torchlint.runtime.probe.files.opening import text_of
from torchlint.runtime.probe.files.stand_in import StandIn
from torchlint.runtime.probe.world import commands

if TYPE_CHECKING:
    from torchlint.runtime.probe.files.copy_on_write import CopyOnWrite
    from torchlint.runtime.probe.world.journal import Journal


def install(journal: Journal, view: CopyOnWrite) -> None:
    """Have `subprocess` ask here first, and all that goes through it."""
    start = subprocess.Popen.__init__
    parameters = list(inspect.signature(start).parameters)[2:]

    @functools.wraps(start)
    def init(self: Any, args: Any, *more: Any, **named: Any) -> None:
        named.update(zip(parameters, more, strict=False))
        if not isinstance(args, (str, bytes, os.PathLike)):
            # It may be an iterator, which can be read once.
            args = list(args)
        words = commands.words_of(args)
        if _refuses(journal, words[:1] if named.get("shell") else words):
            args = commands.NOTHING
            named.update(shell=False, executable=None)
        elif view.begun and not named.get("shell") and isinstance(args, list):
            args = _found(view, words)
        folder = named.get("cwd")
        if folder is not None:
            text = text_of(folder)
            place = None if text is None else view.folder_to_enter(text)
            named["cwd"] = folder if place is None else place
        start(self, args, **named)

    subprocess.Popen.__init__ = init  # type: ignore[method-assign]


def shell(journal: Journal) -> tuple[object, StandIn]:
    """`os.system`, and what asks here first in its place."""
    run = os.system

    def run_in_shell(command: Any) -> Any:
        return 0 if _refuses(journal, commands.words_of(command)) else run(command)

    return run, StandIn(run, "os", run_in_shell)


def _refuses(journal: Journal, words: list[str]) -> bool:
    if not words or not commands.uploads(words):
        return False
    journal.note("upload", commands.described(words), kept=False)
    return True


def _found(view: CopyOnWrite, words: list[str]) -> list[str]:
    """The words, with the paths of files that the run has written replaced by where they are.

    A Python program has the same view, and has to be found itself only.
    """
    python = os.path.basename(words[0]).startswith("python") if words else False
    changed = list(words)
    for at, word in enumerate(words):
        if word.startswith("-"):
            continue
        changed[at] = _place(view, word)
        if python and at:
            break
    return changed


def _place(view: CopyOnWrite, word: str) -> str:
    """A plain word may be a name only: it has to be that of a file."""
    try:
        place = view.for_reading(word) if word else None
    except ValueError:
        return word
    except OSError:
        # Nothing yet; but a folder may be there only where the run has made it.
        folder, slash, name = word.rpartition("/")
        place = _place(view, folder) if folder and name else ""
        return place + slash + name if place.startswith(view.above) else word
    if place is None or not place.startswith(view.above):
        return word
    return place if "/" in word or stat.S_ISREG(system.lstat(place).st_mode) else word
