"""What a verification is doing, on standard error, without disturbing what it measures."""

from __future__ import annotations

import math
import os
import time
from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import duration, milliseconds
from torchlint.report.terminal.safe_text import plural, visible
from torchlint.report.verify.verification_words import plan as plan_words
from torchlint.verify.budget import room_words

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

    from rich.progress import Progress as Bar
    from rich.progress import ProgressColumn, TaskID

    from torchlint.verify.budget import Layout
    from torchlint.verify.result import Numerics

_PER_SECOND: Final = 1.0


class Progress:
    """A line that lives on a terminal; off a terminal, a line for each stage.

    A stage that counts is one that measures: its line is drawn again when a step is done and at
    no other time, so nothing but the programs runs while they are timed. It therefore says at
    what time it will probably be over, which stays true without a clock that ticks. Use it as a
    context manager, or call `done`: both give the terminal back, also after Ctrl-C.
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        clock: Callable[[], float] = time.monotonic,
        time_of_day: Callable[[float], str] | None = None,
    ) -> None:
        self._stream = stream
        self._clock = clock
        self._time_of_day = time_of_day or _time_of_day
        self._live = stream.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
        self._begun = clock()
        self._stage_begun = self._begun
        self._expected_s: float | None = None
        self._name = ""
        self._last = (0, 0)
        self._goal = 0
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_error: object) -> None:
        self.done()

    def stage(self, name: str, *, of: int | None = None) -> None:
        """What happens from now on; `of` is how many steps it has, None if it does not count."""
        self.done()
        self._name = visible(name)
        self._stage_begun = self._clock()
        self._last, self._goal = (0, of or 0), 0
        if self._live:
            self._open(ticking=of is None)
        else:
            self._line(self._name)

    def plan(self, layout: Layout, step_s: float) -> None:
        """What will be measured, before it is, and roughly how long that takes.

        Args:
            layout: what fits into the budget.
            step_s: seconds of a step of the original.
        """
        self.done()
        needed = layout.needed
        self._expected_s = needed.looks[0] * needed.round
        self._line(f"A step takes {milliseconds(1e3 * step_s)}.")
        self._line(f"Plan: {visible(', '.join(plan_words(layout.plan)))}")
        self._line(
            f"{len(layout.variants)} programs, about {duration(needed.first_verdict)} to the first "
            f"verdict, {self._at_most(layout)}"
        )
        for sentence in room_words(layout):
            self._line(sentence)

    def _at_most(self, layout: Layout) -> str:
        """Until the last look, or the end of the budget where that comes first."""
        budget_s, needed_s = layout.plan.budget_s, layout.needed.at_most
        left_s = math.inf if budget_s is None else budget_s - (self._clock() - self._begun)
        if layout.needed.first_verdict > left_s:
            return f"and {duration(max(1.0, left_s))} are left of the budget"
        ends = "" if needed_s <= left_s else ", when the budget ends"
        return f"at most about {duration(min(needed_s, left_s))}{ends}"

    def numbers(self, who: str, found: Numerics) -> None:
        """How the numbers of a program compare, as soon as it is known."""
        self.done()
        over = f" over {plural(found.steps, 'step')}" if found.agreement.is_good else ""
        why = f": {found.why}" if found.why else ""
        self._line(visible(f"Numbers, {who}: {found.agreement.value}{over}{why}"))

    def step(self, done: int, total: int) -> None:
        """So many steps of the stage are done; a total may grow."""
        if (done, total) == self._last:
            return
        grown = 0 < self._goal < total
        self._last, self._goal = (done, total), total
        if not self._live:
            if grown:
                self._line(f"{self._name}: not settled after {done}, going on to {total}")
            return
        if self._bar is None or self._bar.live.auto_refresh:
            self.done()
            self._open(ticking=False)
        assert self._bar is not None
        assert self._task is not None
        self._bar.update(self._task, completed=done, total=total, left=self._left(done, total))
        self._bar.refresh()

    def done(self) -> None:
        """Takes the line off the terminal again."""
        bar, self._bar, self._task = self._bar, None, None
        if bar is not None:
            bar.stop()

    def _open(self, *, ticking: bool) -> None:
        from rich.console import Console
        from rich.progress import Progress as Bar

        done, total = self._last
        self._bar = Bar(
            *_columns(ticking=ticking),
            console=Console(file=self._stream),
            auto_refresh=ticking,
            refresh_per_second=_PER_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bar.add_task(
            self._name, completed=done, total=total or None, left=self._left(done, total)
        )
        self._bar.start()

    def _left(self, done: int, total: int) -> str:
        """When the stage is probably over, by what its steps took so far."""
        spent = self._clock() - self._stage_begun
        if done:
            rest = spent / done * (total - done)
        elif self._expected_s is not None:
            rest = self._expected_s
        else:
            return ""
        if done >= total:
            return ""
        return f"about {duration(max(1.0, rest))} left, until {self._time_of_day(rest)}"

    def _line(self, text: str) -> None:
        self._stream.write(f"[{self._clock() - self._begun:4.0f} s] {text}\n")
        self._stream.flush()


def _columns(*, ticking: bool) -> list[ProgressColumn]:
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

    name = TextColumn("{task.description}", markup=False)
    if ticking:
        return [SpinnerColumn("line"), name, TimeElapsedColumn()]
    counted = "{task.completed:.0f} of {task.total:.0f}  {task.fields[left]}"
    return [name, BarColumn(bar_width=24), TextColumn(counted, markup=False)]


def _time_of_day(seconds: float) -> str:
    """The time on the clock after so many seconds."""
    return time.strftime("%H:%M:%S", time.localtime(time.time() + seconds))
