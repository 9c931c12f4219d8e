"""What `torch.compile` compiles in a window, by the counters of dynamo.

Nothing is hooked, and dynamo is not imported for this.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from torchlint.runtime.probe import private
from torchlint.runtime.probe.instrument_messages import CompiledFunction, RecompilesSeen
from torchlint.runtime.probe.instruments.observer import Observer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from torchlint.runtime.probe.messages import Place

MOST = 64
"""Functions, and reasons, that are told apart."""
_UTILS = "torch._dynamo.utils"
_CLOCKS = (
    # The first that is there; then backward passes, which inductor compiles when they first run.
    ("_compile.compile_inner", "_compile.<locals>.compile_inner", "_compile"),
    ("compile_fx.<locals>.bw_compiler",),
)
_LIMITS = ("recompile limit", "recompile_limit", "cache_size_limit")
"""In the reasons for giving up a function that was compiled too often."""
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_LINE = 160
"""Characters of a reason."""


def _dynamo(name: str) -> Any:
    """Something in dynamo's `utils`; None if nobody has imported it, or it is not there."""
    if _UTILS not in sys.modules:
        return None
    found = private.find(f"{_UTILS}:{name}")
    return None if found is private.MISSING else found


def _seconds() -> float | None:
    """That all compiling has taken so far; None if dynamo does not say."""
    spent: Mapping[str, list[float]] | None = _dynamo("compilation_time_metrics")
    if spent is None:
        return None
    found = [next((spent[name] for name in names if name in spent), None) for names in _CLOCKS]
    return None if found[0] is None else sum(sum(each) for each in found if each is not None)


def _records(count: int) -> list[Any]:
    """What dynamo has kept of its last attempts to compile."""
    kept = _dynamo("get_compilation_metrics")
    return list(kept())[-count:] if kept is not None and count else []


class RecompileObserver(Observer):
    """Counts what a window compiles."""

    def begin(self) -> None:
        self._in_steps = 0
        self._last: int | None = None
        self._first_frames = self._frames = private.compiled_frames()
        self._first_seconds = _seconds()
        self._functions: Counter[tuple[str, int, str]] = Counter()
        self._guards: Counter[str] = Counter()

    def step(self) -> None:
        frames = private.compiled_frames()
        # A reset begins to count at 0.
        new = frames - self._frames if frames >= self._frames else frames
        if new:
            self._in_steps += 1
            self._last = self.steps
            self._note(new)
        self._frames = frames

    def _note(self, new: int) -> None:
        for record in _records(new):
            path, row = (
                getattr(record, f"co_{name}", None) for name in ("filename", "firstlineno")
            )
            if isinstance(path, str) and isinstance(row, int):
                name = str(getattr(record, "co_name", ""))
                self._add(self._functions, (path, row, name))
            reason = getattr(record, "recompile_reason", None)
            if isinstance(reason, str):
                self._add(self._guards, _short(reason))

    def _add(self, counter: Counter[Any], key: object) -> None:
        if key in counter or len(counter) < MOST:
            counter[key] += 1

    def end(self) -> RecompilesSeen:
        frames, seconds = private.compiled_frames(), _seconds()
        if seconds is not None:
            before = self._first_seconds or 0.0
            seconds = seconds - before if seconds >= before else seconds
        return RecompilesSeen(
            frames - self._first_frames if frames >= self._first_frames else frames,
            self._in_steps,
            self._last,
            seconds,
            [
                CompiledFunction(self._place(path, row), name, count)
                for (path, row, name), count in self._functions.most_common()
            ],
            self._guards.most_common(5),
            _breaks().most_common(8),
            [self._user_place(text) for text in _given_up()][:MOST],
        )

    def _place(self, path: str, row: int) -> Place | None:
        """The user's own."""
        # Code that differs only in its file is equal; that is why the path is in it.
        real = self.places.path_of(compile(repr(path), path, "eval"))
        return None if real is None else (real, row)

    def _user_place(self, text: str) -> Place | None:
        found = _FRAME.findall(text)
        return self._place(found[-1][0], int(found[-1][1])) if found else None


def _short(reason: str) -> str:
    """`0/3: n == 3    # return x * n  # train.py:4 in f` without its comments."""
    return reason.split("\n", 1)[0].split("  #", 1)[0].partition(": ")[2].strip()[:_LINE]


def _breaks() -> Counter[str]:
    counters = _dynamo("counters")
    reasons: Mapping[str, int] = counters.get("graph_break", {}) if counters is not None else {}
    shortened: Counter[str] = Counter()
    for reason, count in reasons.items():
        shortened[str(reason).split("\n", 1)[0][:_LINE]] += count
    return shortened


def _given_up() -> Iterator[str]:
    """What dynamo says about each attempt that was one too many."""
    for record in _records(MOST):
        reason = str(getattr(record, "fail_reason", None) or "")
        if any(words in reason for words in _LIMITS):
            yield str(getattr(record, "recompile_reason", None) or reason)


watch = RecompileObserver
