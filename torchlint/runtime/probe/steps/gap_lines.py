"""Which lines of the loop over the steps the time between two ends of steps goes into."""

from __future__ import annotations

import sys
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING

from torchlint.runtime.probe.steps.line_sampler import OURS, ThreadWatcher, named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType

    from torchlint.runtime.probe.messages import Place
    from torchlint.runtime.probe.wrapping.user_lines import Places

    Part = tuple[Place, str, str]
    """A line, the function that it has called, and what that does."""
    _Stack = tuple["_Level", ...]
    _Frame = tuple[int, int]
    """Numbers of a frame and its code. A frame that has ended may leave both to another one."""
    _Level = tuple[_Frame, str | None, int, str, str]
    """A frame, path of the user's file, row, name and module; outermost first."""

SAVES, COMPUTES, LOADS, OTHER = "saves", "computes", "loads", "other"
_DOES = (
    ("torch.utils.data", LOADS),
    ("torch.serialization", SAVES),
    ("safetensors", SAVES),
    ("torch.nn.modules.module", COMPUTES),
)
"""By module of a frame; what comes first wins."""
_INTERVAL_S = 0.005
_MOST_STACKS = 2000
_MOST_FRAMES = 200


class GapLines(ThreadWatcher):
    """Looks where the thread is between two ends of steps.

    A step ends at some depth of the stack. What a look sees is put to the innermost function that
    is still running since then, or that will run when the next step ends: that is where the loop
    over the steps, or over the epochs, asks for it.

    Args:
        places: of the user's code, used by the thread that looks alone.
        collected: seconds that Python's garbage collector has taken by itself so far. They belong
            to no line: it begins wherever enough objects have been made.
    """

    def __init__(self, places: Places, collected: Callable[[], float] = lambda: 0.0) -> None:
        super().__init__(interval_s=_INTERVAL_S)
        self._places = places
        self._collected = collected
        self._collected_s = collected()
        self._seen: dict[_Stack, float] = {}
        self._before: tuple[_Frame, ...] = ()

    def note(self, frame: FrameType | None) -> Callable[[float], None] | None:
        """The functions that are running."""
        levels: list[_Level] = []
        for _ in range(_MOST_FRAMES):
            if frame is None:
                break
            code, module = frame.f_code, str(frame.f_globals.get("__name__"))
            if not module.startswith(OURS):
                path = self._places.path_of(code)
                levels.append(((id(frame), id(code)), path, frame.f_lineno, named(frame), module))
            frame = frame.f_back
        return partial(self._add, self._seen, tuple(reversed(levels)))

    def _add(self, seen: dict[_Stack, float], stack: _Stack, seconds: float) -> None:
        before, self._collected_s = self._collected_s, self._collected()
        seconds = max(0.0, seconds - (self._collected_s - before))
        if stack in seen or len(seen) < _MOST_STACKS:
            seen[stack] = seen.get(stack, 0.0) + seconds

    def step(self) -> Mapping[Part, float]:
        """A step has ended on this thread: seconds since the one before, by part."""
        return self._parts(_running(sys._getframe(1)))

    def rest(self) -> Mapping[Part, float]:
        """No step will end any more."""
        return self._parts(())

    def _parts(self, now: tuple[_Frame, ...]) -> Mapping[Part, float]:
        seen, self._seen = self._seen, {}
        found: dict[Part, float] = defaultdict(float)
        for stack, seconds in list(seen.items()):
            part = _part(stack, self._before, now)
            if part is not None:
                found[part] += seconds
        self._before = now
        return found


def _running(frame: FrameType | None) -> tuple[_Frame, ...]:
    running = []
    while frame is not None:
        if not str(frame.f_globals.get("__name__")).startswith(OURS):
            running.append((id(frame), id(frame.f_code)))
        frame = frame.f_back
    return tuple(reversed(running))


def _shared(stack: _Stack, running: tuple[_Frame, ...]) -> int:
    """How many of the outermost functions are the same."""
    pairs = enumerate(zip(stack, running, strict=False))
    end = min(len(stack), len(running))
    return next((at for at, (level, frame) in pairs if level[0] != frame), end)


def _part(stack: _Stack, before: tuple[_Frame, ...], now: tuple[_Frame, ...]) -> Part | None:
    """The line of the user that asks for what happens; None if there is none."""
    common = max(_shared(stack, before), _shared(stack, now)) - 1
    inside = stack[common + 1 :]
    at = common
    if common < 0 or stack[common][1] is None:
        # The loop is a library's: what of the user's code it has called, or else has called it.
        called = (at for at in range(common + 1, len(stack)) if stack[at][1] is not None)
        callers = (at for at in range(common, -1, -1) if stack[at][1] is not None)
        at = next(called, next(callers, -1))
        if at < 0:
            return None
    _, path, row, _, _ = stack[at]
    below = stack[at + 1 :] if at > common else inside
    assert path is not None
    modules = [f"{each[4]}." for each in below]
    does = next(
        (what for name, what in _DOES if any(each.startswith(f"{name}.") for each in modules)),
        OTHER,
    )
    return (path, row), below[0][3] if below else "", does
