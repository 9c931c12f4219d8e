"""Which line of the user a thread is at, and what it does there, seen by another thread."""

from __future__ import annotations

import math
import sys
import threading
import time
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from torchlint.runtime.probe.instrument_messages import OwnTime
from torchlint.runtime.probe.steps.events import BACKWARD, LOADER
from torchlint.runtime.probe.steps.lane_clock import OTHER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

    from torchlint.runtime.probe.messages import Place
    from torchlint.runtime.probe.wrapping.user_lines import Places

    Where = tuple[Place, str]
    Counted = dict[Where, tuple[int, float]]

_INTERVAL_S = 0.001
_SWITCH_S = 0.0001
"""After which a thread lets another one have the interpreter that asks for it. In Python's five
milliseconds, a loop of one would end, and be counted for the operation of torch behind it."""
MOST_PLACES = 500
_MOST_FRAMES = 200
_MOST_CALLS = 20
"""Library functions of a line."""
_RESIDUE = {
    "logging": "logging",
    "json": "json",
    "csv": "csv",
    "pickle": "pickle",
    "zipfile": "zipfile",
    "copy": "copy.deepcopy",
    "tqdm": "tqdm",
    "rich": "rich",
    "wandb": "wandb",
    "mlflow": "mlflow",
    "tensorboard": "tensorboard",
    "tensorboardX": "tensorboard",
    "torch.utils.tensorboard": "tensorboard",
    "torch.serialization": "torch.save",
    "matplotlib": "matplotlib",
    "PIL": "PIL",
    "h5py": "h5py",
}
"""What a module, or all modules of a package, do apart from the training."""
_COMPILING = ("torch._dynamo", "torch._inductor")
_TRAINING = ("torch.nn", "torch.autograd", "torch.optim", *_COMPILING)
_LOADING = "torch.utils.data"
"""What a data set does is input."""
_NO_RESIDUE = ""
OURS = f"{__name__.partition('.')[0]}."
_FRAMES: Callable[[], dict[int, FrameType]] | None = getattr(sys, "_current_frames", None)


def looked_at_soon() -> Callable[[], None]:
    """Let threads of Python be looked at wherever they are; the function that is returned takes
    that back."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_S)
    return partial(sys.setswitchinterval, before)


class ThreadWatcher:
    """Looks at the frames of one thread from another one, again and again.

    Each look counts for the time since the one before.

    Args:
        thread: to look at; the one of now if it is not given.
        interval_s: between two looks.
    """

    def __init__(self, thread: int | None = None, interval_s: float = _INTERVAL_S) -> None:
        self._watched = thread or threading.get_ident()
        self._interval_s = interval_s
        self._enough = threading.Event()
        self._thread: threading.Thread | None = None

    def note(self, frame: FrameType | None) -> Callable[[float], None] | None:
        """What is seen there, to be called with its seconds if the thread has not gone on in the
        meantime. No frame may be held in it: that would keep tensors alive."""
        raise NotImplementedError

    def begin(self) -> None:
        """Have another thread look until `end`."""
        self._thread = threading.Thread(target=self.look, name="torchlint-lines", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Look no more."""
        self._enough.set()
        if self._thread not in (None, threading.current_thread()):
            self._thread.join()

    def look(self, seconds: float = math.inf) -> None:
        """Look from the thread of now for some seconds, or until `end`."""
        begun = last = time.perf_counter()
        while (
            _FRAMES is not None
            and last - begun < seconds
            and not self._enough.wait(self._interval_s)
        ):
            add = self._now(_FRAMES)
            now = time.perf_counter()
            if add is not None:
                add(now - last)
            last = now

    def _now(self, frames: Callable[[], dict[int, FrameType]]) -> Callable[[float], None] | None:
        """What the thread does; None: it went on in the meantime, so lines and frames do not
        fit."""
        frame = frames().get(self._watched)
        at = frame and frame.f_lasti
        add = self.note(frame)
        went_on = frames().get(self._watched) is not frame or (frame and frame.f_lasti) != at
        return None if went_on else add


class Sampler(ThreadWatcher):
    """Looks where in the user's code a thread is.

    Args:
        places: of the user's code, used by the thread that looks alone.
        lanes: the parts of a step that have begun and not ended.
        thread: to look at; the one of now if it is not given.

    Attributes:
        found: samples and seconds of the residue.
        own: the user's lines.
        busy_s: seconds of what is neither a wait for work nor done by torch.
    """

    def __init__(self, places: Places, lanes: Sequence[str], thread: int | None = None) -> None:
        super().__init__(thread)
        self._places = places
        self._lanes = lanes
        self.busy_s = 0.0
        self.found: Counted = {}
        self.own: dict[tuple[Place, str], _OwnLine] = {}

    def told(self) -> list[OwnTime]:
        """The user's lines."""
        return [each.told() for each in list(self.own.values())]

    def note(self, frame: FrameType | None) -> Callable[[float], None] | None:
        """The line of the user."""
        part = self._lanes[-1] if self._lanes else OTHER
        sight = sight_of(self._places, frame, part)
        return None if sight is None else partial(self._add, sight)

    def _add(self, sight: Sight, seconds: float) -> None:
        residue = sight.residue
        if residue is not None:
            count(self.found, residue, seconds)
        elif not sight.computes:
            self.busy_s += seconds
            key = sight.place, sight.part
            line = self.own.get(key)
            if line is None and len(self.own) < MOST_PLACES:
                line = self.own[key] = _OwnLine(sight)
            if line is not None:
                line.add(sight.call, seconds)


@dataclass(frozen=True, slots=True)
class Sight:
    """What a thread does at a moment.

    Args:
        place: the innermost line of the user.
        function: that the line is in, and the row where it begins.
        part: of a step.
        what: of the residue it does; None if nothing of it.
        call: the outermost library function that the line has called; empty if there is none.
        loads: a data set or a loader has called it.
    """

    place: Place
    function: tuple[str, int]
    part: str
    what: str | None
    call: str
    loads: bool

    @property
    def residue(self) -> Where | None:
        """What a data set does is input."""
        return (self.place, self.what) if self.what and not self.loads else None

    @property
    def computes(self) -> bool:
        """Whether torch does it for the line: a layer, an optimizer, a loss. A backward pass may
        call back, but that is part of it."""
        if self.part == LOADER:
            return f"{self.call}.".startswith(f"{_LOADING}.")
        return self.part == BACKWARD or self.call.startswith("torch.")


@dataclass(slots=True)
class _OwnLine:
    first: Sight
    samples: int = 0
    seconds: float = 0.0
    calls: dict[str, float] = field(default_factory=dict)

    def add(self, call: str, seconds: float) -> None:
        self.samples += 1
        self.seconds += seconds
        if call in self.calls or len(self.calls) < _MOST_CALLS:
            self.calls[call] = self.calls.get(call, 0.0) + seconds

    def told(self) -> OwnTime:
        name, row = self.first.function
        most = max(self.calls, key=lambda call: self.calls[call])
        call = most if 2 * self.calls[most] >= self.seconds else ""
        return OwnTime(
            self.first.place, name, row, self.first.part, call, self.samples, self.seconds
        )


def count(found: Counted, where: Where, seconds: float) -> None:
    """Add a sample or a call."""
    number, before = found.get(where, (0, 0.0))
    if number or len(found) < MOST_PLACES:
        found[where] = (number + 1, before + seconds)


def sight_of(
    places: Places, frame: FrameType | None, part: str, what: str | None = None
) -> Sight | None:
    """What the innermost line of the user does.

    The outermost library counts: that an optimizer copies its state is training. It is named by its
    outermost function that no other one has made, since that is what the user calls.

    Args:
        places: of the user's code.
        frame: the innermost.
        part: of a step.
        what: of the residue is known to run inside of it.
    """
    outermost: FrameType | None = None
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return None
        path = places.path_of(frame.f_code)
        if path is not None:
            code = frame.f_code
            loads = bool(what) and is_inside(frame, (_LOADING,))
            function = code.co_name, code.co_firstlineno
            return Sight((path, frame.f_lineno), function, part, what, named(outermost), loads)
        module = str(frame.f_globals.get("__name__"))
        kind = _kind_of(module)
        what = None if kind == _NO_RESIDUE else kind or what
        if not module.startswith(OURS) and (outermost is None or not _is_local(frame)):
            outermost = frame
        frame = frame.f_back
    return None


def _is_local(frame: FrameType) -> bool:
    """Whether its function was made in another one, as what a decorator puts around a function."""
    return "<locals>" in getattr(frame.f_code, "co_qualname", "")


def named(frame: FrameType | None) -> str:
    """`numpy.linalg.norm`; a method by its class, where Python tells it."""
    if frame is None:
        return ""
    code = frame.f_code
    return f"{frame.f_globals.get('__name__')}.{getattr(code, 'co_qualname', code.co_name)}"


def is_inside(frame: FrameType | None, modules: tuple[str, ...]) -> bool:
    """Whether a function of one of these modules has called it."""
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return False
        if str(frame.f_globals.get("__name__")).startswith(modules):
            return True
        frame = frame.f_back
    return False


@lru_cache(maxsize=4096)
def _kind_of(module: str) -> str | None:
    """What of the residue is in a library's module; None: it may do anything."""
    if any(f"{module}.".startswith(f"{each}.") for each in (*_TRAINING, _LOADING)):
        return _NO_RESIDUE
    parts = module.split(".")
    names = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((_RESIDUE[name] for name in names if name in _RESIDUE), None)
