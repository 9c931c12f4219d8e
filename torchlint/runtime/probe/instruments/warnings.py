"""What torch itself warns of that takes time, and whether the lines run in the steps.

Torch says most of it once in a process, so it is heard from the start of the script. A line that is
warned of may be one that prepares the training: the first steps of the window are traced to see
which of these lines they run. Nothing is kept from the script, nor from its standard error.

One warning goes past Python: that DDP looks for unused parameters although there are none. It may
be wrong, since later steps may have some, so DDP is asked for what it knows after each step.
"""

from __future__ import annotations

import sys
import weakref
from typing import TYPE_CHECKING, Any

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.instrument_messages import UNUSED, TorchWarning, WarningsSeen
from torchlint.runtime.probe.instruments.observer import Observer
from torchlint.runtime.probe.wrapping.interpose import shielded

if TYPE_CHECKING:
    from types import FrameType

    from torchlint.runtime.probe.messages import Place
    from torchlint.runtime.probe.wrapping.interpose import Function

WORDS = {
    "bucket-strides": "Grad strides do not match bucket view strides",
    "gradient-layout": "grad and param do not obey the gradient layout contract",
    "list-of-arrays": "Creating a tensor from a list of numpy.ndarrays is extremely slow",
    "tf32": "TensorFloat32 tensor cores for float32 matrix multiplication available but not",
    "non-contiguous": "is non-contiguous, this will lower the performance",
    "vmap": "There is a performance drop because we have not yet implemented",
    "capturable": "capturable=True can impair performance",
    "flex-attention": "flex_attention called without torch.compile()",
    "graph-fast-path": "Unable to hit fast path of CUDAGraphs",
    "flat-weights": "RNN module weights are not part of single contiguous chunk of memory",
    "mps": "will fall back to run on the CPU",
}
"""By a name of ours, what torch's warnings about time have in them: torch 2.1 to 2.13."""
_UNUSED_TEXT = (
    "find_unused_parameters=True was specified in DDP constructor, but did not find any unused "
    "parameters in the forward pass. This flag results in an extra traversal of the autograd graph "
    "every iteration, which can adversely affect performance."
)
_MOST = 100
_TRACED_STEPS = 5


class _Searching:
    """A `DistributedDataParallel` that may look for unused parameters.

    Args:
        module: it is not kept.
        place: where it was made.
    """

    def __init__(self, module: Any, place: Place | None) -> None:
        self.module = weakref.ref(module)
        self.place = place
        self.looked = 0
        self.found = False

    def look(self) -> None:
        """At what it found in the last step."""
        module = self.module()
        size = None if module is None else private.unused_bytes(module)
        self.looked += size is not None
        self.found = self.found or bool(size)

    def rate(self, every: int) -> None:
        """How often it notes what it finds."""
        module = self.module()
        if module is not None:
            private.time_each_exchange(module, every)


class WarningObserver(Observer):
    """Hears what is shown, on any thread of this process."""

    def prepare(self) -> None:
        """Listen from now on."""
        self._heard: dict[tuple[str, Place | None], TorchWarning] = {}
        self._files: dict[str, set[int]] = {}
        """Rows of lines to look for, by the names of their files."""
        self._ran: set[tuple[str, int]] = set()
        """Those that this step has run."""
        self._hears = True
        self._models: list[_Searching] = []
        self.at_end(private.around_warnings(self._make))
        self.around(torch.nn.parallel.DistributedDataParallel, private.DDP_MADE, self._maker)

    def rest(self) -> None:
        """This process is a copy, as a loader's worker."""
        super().rest()
        self._hears = False

    def begin(self) -> None:
        """Look for the lines in the steps, unless something else does so."""
        for model in self._models:
            model.rate(1)
        if not self._files or sys.gettrace() is not None or private.compiled_frames():
            return
        sys.settrace(self._called)
        self.at_end(self._untrace)
        frame: FrameType | None = sys._getframe()
        while frame is not None:
            if frame.f_code.co_filename in self._files:
                frame.f_trace = self._line
            frame = frame.f_back

    def step(self) -> None:
        for model in self._models:
            model.look()
        if sys.gettrace() != self._called:
            return
        for warning in self._heard.values():
            warning.watched += 1
            warning.ran += warning.place is not None and warning.place in self._ran
        self._ran.clear()
        if self.steps + 1 >= _TRACED_STEPS:
            self._untrace()

    def end(self) -> WarningsSeen:
        self._hears = False
        for model in self._models:
            model.rate(100)  # as it is made
        unused = [
            TorchWarning(UNUSED, _UNUSED_TEXT, each.place, 1, each.looked)
            for each in self._models
            if each.looked and not each.found
        ]
        return WarningsSeen([*self._heard.values(), *unused])

    def _make(self, plain: Function) -> Function:
        hear = shielded(self._hear)

        def show(message: Any) -> Any:
            hear(message)
            return plain(message)

        return show

    def _maker(self, plain: Function) -> Function:
        made = shielded(self._made)

        def helper(module: Any, *args: Any, **kwargs: Any) -> Any:
            made(module)
            return plain(module, *args, **kwargs)

        return helper

    def _made(self, module: Any) -> None:
        if self._hears and len(self._models) < _MOST:
            self._models.append(_Searching(module, self.places.here()))

    def _hear(self, message: Any) -> None:
        text = str(message.message)
        name = next((each for each, words in WORDS.items() if words in text), None)
        if name is None or not self._hears or len(self._heard) >= _MOST:
            return
        frame: FrameType | None = sys._getframe()
        while frame is not None and self.places.path_of(frame.f_code) is None:
            frame = frame.f_back
        place = self.places.of(frame)
        if frame is not None and place is not None:
            self._files.setdefault(frame.f_code.co_filename, set()).add(frame.f_lineno)
        warning = self._heard.setdefault((name, place), TorchWarning(name, text, place))
        warning.count += 1

    def _called(self, frame: FrameType, *_: object) -> Any:
        return self._line if frame.f_code.co_filename in self._files else None

    def _line(self, frame: FrameType, event: str, _: object) -> Any:
        name = frame.f_code.co_filename
        if event == "line" and frame.f_lineno in self._files[name]:
            place = self.places.of(frame)
            if place is not None:
                self._ran.add(place)
        return self._line

    def _untrace(self) -> None:
        if sys.gettrace() == self._called:
            sys.settrace(None)


watch = WarningObserver
