"""Sees which of the changed lines run, in this process and in the workers that it forks."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import FrameType

    from torchlint.runtime.probe.run_settings import FixLines, RunSettings

    Trace = Callable[[FrameType, str, Any], Any]

NOTES = "exercised"
"""File in the run's scratch folder: every process appends the ids of the places it has run."""


class Watch:
    """A trace function that looks at the lines of some files, until it has seen all their places.

    Args:
        places: by the real path of their file.
        journal: where ids are written, one a line.
    """

    def __init__(self, places: Mapping[str, Iterable[FixLines]], journal: str) -> None:
        self.seen: set[str] = set()
        self._journal = journal
        self._unseen = {path: list(those) for path, those in places.items() if those}
        self._paths: dict[str, str | None] = {}
        """The watched file, if it is one, by the name that a code object has for it."""

    @property
    def complete(self) -> bool:
        """Whether a place that was not seen has not been run by this thread: the script may have
        set a trace function of its own, or started the thread by other means than Python's."""
        return not self._unseen or sys.gettrace() == self.called

    def begin(self) -> None:
        """Watch what this thread calls from now on, and threads that start later."""
        if self._unseen:
            threading.settrace(self.called)
            sys.settrace(self.called)

    def end(self) -> None:
        """Leave this thread alone, and threads that start later."""
        if threading.gettrace() == self.called:
            threading.settrace(None)
        if sys.gettrace() == self.called:
            sys.settrace(None)

    def called(self, frame: FrameType, *_: object) -> Trace | None:
        """Python is about to call a function."""
        name = frame.f_code.co_filename
        try:
            path = self._paths[name]
        except KeyError:
            path = self._paths[name] = self._watched(name)
        return self._reached if path in self._unseen else None

    def _watched(self, name: str) -> str | None:
        with suppress(OSError):  # a relative name, and no current folder any more
            path = os.path.realpath(name)
            return path if path in self._unseen else None
        return None

    def _reached(self, frame: FrameType, event: str, _: object) -> Trace | None:
        """Python is about to run a line."""
        path = self._paths[frame.f_code.co_filename]
        places = self._unseen.get(path or "")
        if path is None or places is None:
            return None
        row = frame.f_lineno
        reached = [
            place for place in places if event == "line" and place.first <= row <= place.last
        ]
        if reached:
            self._note(path, reached)
        return self._reached

    def _note(self, path: str, reached: list[FixLines]) -> None:
        self.seen.update(place.id for place in reached)
        left = [place for place in self._unseen[path] if place.id not in self.seen]
        if left:
            self._unseen[path] = left
        else:
            del self._unseen[path]
        # An exception in a trace function is raised in the function that it looks at.
        with suppress(OSError):
            append(self._journal, [place.id for place in reached])
        if not self._unseen:
            self.end()


def append(path: str, lines: Iterable[str]) -> None:
    """Append lines to a file that other processes append to as well."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, "".join(f"{line}\n" for line in lines).encode())
    finally:
        os.close(descriptor)


_watch: Watch | None = None


def install(settings: RunSettings) -> Watch:
    """Watch the places of the settings; the same watch if this process has one already."""
    global _watch  # noqa: PLW0603 - a process has one trace function
    if _watch is None:
        _watch = Watch(settings.places, os.path.join(settings.scratch, NOTES))
        _watch.begin()
    return _watch
