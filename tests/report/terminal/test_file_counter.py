from __future__ import annotations

import io
from typing import TYPE_CHECKING

from torchlint.report.terminal.file_counter import FileCounter

if TYPE_CHECKING:
    import pytest


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_short_run_shows_nothing() -> None:
    stream, clock = Terminal(), Clock()
    progress = FileCounter(stream, clock)
    clock.now += 1.9
    progress(1, 10)
    progress.clear()
    assert stream.getvalue() == ""


def test_a_long_run_counts_and_cleans_up() -> None:
    stream, clock = Terminal(), Clock()
    progress = FileCounter(stream, clock)
    clock.now += 2.0
    progress(1, 10)
    progress(2, 10)
    clock.now += 0.2
    progress(3, 10)
    progress.clear()
    progress.clear()
    drawn = "\rChecking: 1 of 10 files\rChecking: 3 of 10 files"
    assert stream.getvalue() == drawn + "\r" + " " * 23 + "\r"


def test_a_shorter_line_covers_a_longer_one() -> None:
    stream, clock = Terminal(), Clock()
    with FileCounter(stream, clock) as progress:
        for done in (100, 1):
            clock.now += 2.0
            progress(done, 100)
    assert "\rChecking: 1 of 100 files  \r" in stream.getvalue()
    assert stream.getvalue().endswith(" \r")


def test_a_terminal_that_cannot_go_back_gets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    stream, clock = Terminal(), Clock()
    progress = FileCounter(stream, clock)
    clock.now += 60
    progress(1, 10)
    assert stream.getvalue() == ""


def test_nothing_is_drawn_off_a_terminal() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = FileCounter(stream, clock)
    clock.now += 60
    progress(1, 10)
    progress.clear()
    assert stream.getvalue() == ""
