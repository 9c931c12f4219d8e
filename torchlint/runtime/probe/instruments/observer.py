"""What all instruments have in common: they begin, and leave no trace when they end."""

from __future__ import annotations

import gc
import threading
import time
from typing import TYPE_CHECKING, Any

from torchlint.runtime.probe import private
from torchlint.runtime.probe.wrapping.interpose import replace, shielded
from torchlint.runtime.probe.wrapping.user_lines import Places

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.runtime.probe.run_settings import RunSettings
    from torchlint.runtime.probe.wrapping.interpose import Function, Undo


class Observer:
    """Watches the steps of a window, or changes what a step does.

    A copy of the process, as a loader's worker, does not watch. If it trains, its own window has
    yet to begin.

    Attributes:
        alters: whether it could change what it is for, on this version of torch.
        finish: ends the window from another thread.
        beside_s: seconds that went into its own work so far, on the thread that takes the steps.
        places: of the user's code.
        steps: that have ended in the window.
        thread: the one that takes the steps.
        watching: the window is open. What others have wrapped meanwhile stays in place at its end,
            and asks this.
    """

    alters = True
    beside_s = 0.0

    def __init__(self, settings: RunSettings) -> None:
        self.settings = settings
        self.places = Places(settings)
        self.steps = self.thread = 0
        self.watching = False
        self.finish: Callable[[], None] = lambda: None
        self._undo: list[Undo] = []
        self.prepare()
        self._prepared = len(self._undo)

    # of each instrument ------------------------------------------------------------------------

    def prepare(self) -> None:
        """Before the script runs."""

    def begin(self) -> None:
        """The window begins, on the thread that takes the steps."""

    def step(self) -> None:
        """A step of the window has ended."""

    def end(self) -> object:
        """What was seen: a dataclass of `probe.instrument_messages`; None of what only alters."""
        return None

    @property
    def enough(self) -> bool | None:
        """Whether the window ends, however many steps there were; None: it has its number."""
        return None

    # of all --------------------------------------------------------------------------------------

    def open(self) -> None:
        """Begin the window."""
        self._restore(self._prepared)
        self.steps, self.thread = 0, threading.get_ident()
        self.begin()
        self.watching = True

    def passed(self) -> None:
        """A step has ended."""
        self.step()
        self.steps += 1

    def close(self) -> object:
        """End it: undo what was done, and tell what was seen."""
        self.watching = False
        self._restore()
        return self.end()

    def rest(self) -> None:
        """This process is a copy."""
        self.watching = False

    def at_end(self, *undo: Undo) -> None:
        """Call these when the window ends."""
        self._undo += undo

    def around(self, owner: Any, name: str, make: Callable[[Function], Function]) -> None:
        """Replace an attribute, if it is there, by `make` of it until the end."""
        if getattr(owner, name, None) is not None:
            self._undo.append(replace(owner, name, make))

    def hear_collector(self, listener: Function) -> None:
        """Have it called as `gc.callbacks` are, until the end."""
        hear = shielded(listener)
        gc.callbacks.append(hear)

        def undo() -> None:
            if hear in gc.callbacks:
                gc.callbacks.remove(hear)

        self.at_end(undo)

    def timed(self, note: Callable[[float], None], plain: Function) -> Function:
        """`plain`, with a note of the seconds of each of its calls on the thread that takes the
        steps."""
        compiling, note = private.compiling(), shielded(note)

        def call(*args: Any, **kwargs: Any) -> Any:
            if compiling() or threading.get_ident() != self.thread:
                return plain(*args, **kwargs)
            begun = time.perf_counter()
            try:
                return plain(*args, **kwargs)
            finally:
                note(time.perf_counter() - begun)

        private.keep_from_compiler(call)
        return call

    def _restore(self, left: int = 0) -> None:
        while len(self._undo) > left:
            self._undo.pop()()
