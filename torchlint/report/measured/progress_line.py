"""What a measurement is doing, on standard error, without disturbing what it measures."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, TypeVar

from torchlint.experiment.figures import duration
from torchlint.report.terminal.safe_text import moves, visible

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

    from rich.progress import Progress, TaskID

_PER_SECOND: Final = 1.0
_SILENCE_S: Final = 10.0
"""Off a terminal, a stage that counts says how far it is after so long."""
_L = TypeVar("_L", bound="ProgressLine")


class ProgressLine:
    """A line that lives on a terminal; off a terminal, a line for each stage, and one now and then
    on how far a long stage has come.

    A stage that counts is one that measures: its line is drawn again when a step is done and at
    no other time, so only the programs run while they are timed. It therefore says at
    what time it will probably be over, which stays true without a clock that ticks. Use it as a
    context manager, or call `done`: both give the terminal back, also after Ctrl-C.

    Attributes:
        expected_s: how long the next stage that counts takes, while none of its steps is done.
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        clock: Callable[[], float] = time.monotonic,
        time_of_day: Callable[[float], str] | None = None,
    ) -> None:
        self.expected_s: float | None = None
        self._stream = stream
        self._clock = clock
        self._time_of_day = time_of_day or _time_of_day
        self._live = moves(stream)
        self._begun = self._stage_begun = self._said = clock()
        self._counts = False
        self._name = ""
        self._last = (0, 0)
        self._bar: tuple[Progress, TaskID] | None = None

    def __enter__(self: _L) -> _L:
        return self

    def __exit__(self, *_error: object) -> None:
        self.done()

    @property
    def spent_s(self) -> float:
        """Seconds since it began."""
        return self._clock() - self._begun

    def stage(self, name: str, *, of: int | None = None) -> None:
        """What happens from now on; `of` is how many steps it has, None if it does not count."""
        self.done()
        self._name = visible(name)
        self._stage_begun = self._clock()
        self._counts = of is not None
        self._last = (0, of or 0)
        if self._live:
            self._open(ticking=of is None)
        else:
            self.say(name)

    def step(self, done: int, total: int) -> None:
        """So many steps of the stage are done; a total may grow."""
        if (done, total) == self._last:
            return
        grown = self._counts and done and self._last[1] < total
        self._last = (done, total)
        if not self._live:
            if grown:
                self.say(f"{self._name}: not settled after {done}, going on to {total}")
            elif done and self._clock() - self._said >= _SILENCE_S:
                self.say(f"{self._name}: {done} of {total}")
        elif self._bar is None or self._bar[0].live.auto_refresh:
            self.done()
            self._open(ticking=False)
        else:
            bar, task = self._bar
            bar.update(task, completed=done, total=total, left=self._left(done, total))
            bar.refresh()

    def say(self, text: str) -> None:
        """A line that stays, with the time."""
        self.done()
        self._said = self._clock()
        self._stream.write(f"[{self.spent_s:4.0f} s] {visible(text)}\n")
        self._stream.flush()

    def done(self) -> None:
        """Takes the line off the terminal again."""
        if self._bar is not None:
            self._bar[0].stop()
            self._bar = None

    def _open(self, *, ticking: bool) -> None:
        from rich import progress
        from rich.console import Console

        name = progress.TextColumn("{task.description}", markup=False)
        counted = "{task.completed:.0f} of {task.total:.0f}  {task.fields[left]}"
        columns = (
            [progress.SpinnerColumn("line"), name, progress.TimeElapsedColumn()]
            if ticking
            else [name, progress.BarColumn(24), progress.TextColumn(counted, markup=False)]
        )
        done, total = self._last
        bar = progress.Progress(
            *columns,
            console=Console(file=self._stream),
            auto_refresh=ticking,
            refresh_per_second=_PER_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        left = self._left(done, total)
        self._bar = bar, bar.add_task(self._name, completed=done, total=total or None, left=left)
        bar.start()

    def _left(self, done: int, total: int) -> str:
        """When the stage is probably over, by what its steps took so far."""
        rest = self.expected_s
        if done:
            rest = (self._clock() - self._stage_begun) / done * (total - done)
        if rest is None or done >= total:
            return ""
        return f"about {duration(max(1.0, rest))} left, until {self._time_of_day(rest)}"


def _time_of_day(seconds: float) -> str:
    """The time on the clock after so many seconds."""
    return time.strftime("%H:%M:%S", time.localtime(time.time() + seconds))
