"""Pauses between the computations: the garbage collector, logs, files, progress bars."""

from __future__ import annotations

import gc
import sys
import threading
import time
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from torchlint.runtime.probe import private
from torchlint.runtime.probe.instrument_messages import CollectorCalls, PausesSeen, Residue
from torchlint.runtime.probe.instruments.observer import Observer
from torchlint.runtime.probe.wrapping.interpose import shielded
from torchlint.runtime.probe.wrapping.user_lines import Places

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from torchlint.runtime.probe.messages import Place
    from torchlint.runtime.probe.wrapping.interpose import Function

    Where = tuple[Place, str]
    Counted = dict[Where, tuple[int, float]]

_INTERVAL_S = 0.001
_MOST_PLACES = 500
_MOST_FRAMES = 200
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
_TIMED = (
    ("builtins", "print", "print"),
    ("json", "dump", "json"),
    ("json", "dumps", "json"),
    ("pickle", "dump", "pickle"),
    ("pickle", "dumps", "pickle"),
    ("logging:Logger", "handle", "logging"),
)
"""What may hold the interpreter from beginning to end, or has no frame since it is written in C."""
_COMPILING = ("torch._dynamo", "torch._inductor")
_TRAINING = ("torch.nn", "torch.autograd", "torch.optim", *_COMPILING)
_LOADING = "torch.utils.data"
"""What a data set does is input."""
_NO_RESIDUE = ""
_FRAMES: Callable[[], dict[int, FrameType]] | None = getattr(sys, "_current_frames", None)


class PauseObserver(Observer):
    """Hears of the garbage collector, and looks every millisecond where the stepping thread is.

    The thread that looks gets its turn only where the other one lets go of the interpreter: in an
    operation of torch, in a write, or after five milliseconds. Whatever held it until then is
    counted there. So what usually holds it is timed as well, and the larger number counts.
    """

    def begin(self) -> None:
        """Begin to listen and to look."""
        self._collector = _Collector(self.places)
        self.hear_collector(self._collector.collecting)
        self.around(gc, "collect", self._collector.asked)
        self._timed: Counted = {}
        self._inside = False
        for owner, name, what in _TIMED:
            self.around(private.find(owner), name, partial(self._outermost, what))
        # With places of its own: the other thread fills it.
        self._sampler = _Sampler(Places(self.settings))
        self._sampler.begin()
        self.at_end(self._sampler.end)

    def end(self) -> PausesSeen:
        sampled, timed, nothing = self._sampler.found, self._timed, (0, 0.0)
        seen = self._collector.seen
        for place, what in {**sampled, **timed}:
            (samples, sampled_s), (calls, timed_s) = (
                each.get((place, what), nothing) for each in (sampled, timed)
            )
            seen.residue.append(Residue(place, what, samples, calls, max(sampled_s, timed_s)))
        return seen

    def _outermost(self, what: str, plain: Function) -> Function:
        """Times outermost calls, by the user's line and what they are."""
        note, watched = shielded(partial(self._note, what)), self.thread

        def call(*args: Any, **kwargs: Any) -> Any:
            if self._inside or threading.get_ident() != watched:
                return plain(*args, **kwargs)
            self._inside = True
            begun = time.perf_counter()
            try:
                return plain(*args, **kwargs)
            finally:
                self._inside = False
                note(time.perf_counter() - begun)

        private.keep_from_compiler(call)
        return call

    def _note(self, what: str, seconds: float) -> None:
        where = _residue(self.places, sys._getframe(1), what)
        if where is not None:
            _count(self._timed, where, seconds)


class _Collector:
    """Times the garbage collector; a call of `gc.collect` by its line."""

    def __init__(self, places: Places) -> None:
        self.seen = PausesSeen()
        self._places = places
        self._begun = 0.0
        self._asking = threading.local()
        self._asked: dict[Place | None, CollectorCalls] = {}

    def asked(self, plain: Function) -> Function:
        """What replaces `gc.collect`."""
        asking, note = self._asking, shielded(self._note)

        def collect(*args: Any, **kwargs: Any) -> Any:
            begun, asking.now = time.perf_counter(), True
            try:
                return plain(*args, **kwargs)
            finally:
                asking.now = False
                note(time.perf_counter() - begun)

        private.keep_from_compiler(collect)
        return collect

    def _note(self, seconds: float) -> None:
        place = self._places.here()
        asked = self._asked.get(place)
        if asked is None:
            if len(self._asked) >= _MOST_PLACES:
                return
            asked = self._asked[place] = CollectorCalls(place)
            self.seen.asked.append(asked)
        asked.calls += 1
        asked.seconds += seconds

    def collecting(self, phase: str, about: dict[str, int]) -> None:
        if getattr(self._asking, "now", False):
            return
        if phase == "start":
            compiles = _is_inside(sys._getframe(1), _COMPILING)
            self._begun = 0.0 if compiles else time.perf_counter()
        elif self._begun:
            self.seen.gc_seconds += time.perf_counter() - self._begun
            self.seen.collections += 1
            self.seen.full_collections += about.get("generation") == 2
            self._begun = 0.0


class _Sampler:
    """Looks at the frames of one thread from another one.

    `found` has samples and seconds. Each sample counts for the time since the one before.
    """

    def __init__(self, places: Places) -> None:
        self._places = places
        self._enough = threading.Event()
        self._thread: threading.Thread | None = None
        self._watched = 0
        self.found: Counted = {}

    def begin(self) -> None:
        if _FRAMES is None:
            return
        self._watched = threading.get_ident()
        self._thread = threading.Thread(target=self._look, name="torchlint-pauses", daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._enough.set()
        if self._thread is not None:
            self._thread.join()

    def _now(self, frames: Callable[[], dict[int, FrameType]]) -> Where | None:
        """Where the thread is; None: it went on in the meantime, so lines and frames do not fit."""
        # No frame may be held while the other thread runs: it would keep tensors alive.
        frame = frames().get(self._watched)
        at = frame and frame.f_lasti
        found = _residue(self._places, frame, None)
        went_on = frames().get(self._watched) is not frame or (frame and frame.f_lasti) != at
        return None if went_on else found

    def _look(self) -> None:
        assert _FRAMES is not None
        last = time.perf_counter()
        while not self._enough.wait(_INTERVAL_S):
            found = self._now(_FRAMES)
            now = time.perf_counter()
            if found is not None:
                _count(self.found, found, now - last)
            last = now


def _count(found: Counted, where: Where, seconds: float) -> None:
    count, before = found.get(where, (0, 0.0))
    if count or len(found) < _MOST_PLACES:
        found[where] = (count + 1, before + seconds)


def _residue(places: Places, frame: FrameType | None, what: str | None) -> Where | None:
    """The innermost line of the user, and what of the residue it has called.

    The outermost library counts: that an optimizer copies its state is training.

    Args:
        places: of the user's code.
        frame: the innermost.
        what: is known to run inside of it.
    """
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return None
        path = places.path_of(frame.f_code)
        if path is not None:
            place = (path, frame.f_lineno)
            return (place, what) if what and not _is_inside(frame, (_LOADING,)) else None
        kind = _kind_of(str(frame.f_globals.get("__name__")))
        what = None if kind == _NO_RESIDUE else kind or what
        frame = frame.f_back
    return None


def _is_inside(frame: FrameType | None, modules: tuple[str, ...]) -> bool:
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


watch = PauseObserver
