"""Records what a script computes: losses, how its parameters change, or its outputs."""

from __future__ import annotations

import os
import threading
import warnings
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from torchlint.runtime.probe import private
from torchlint.runtime.probe.machine.clock import is_capturing
from torchlint.runtime.probe.messages import History, Recorded
from torchlint.runtime.probe.numbers import computed
from torchlint.runtime.probe.numbers.reached import Reached
from torchlint.runtime.probe.numbers.realign import Realigner
from torchlint.runtime.probe.numbers.sketch import Sketch, Sketcher
from torchlint.runtime.probe.numbers.weights import FirstWeights
from torchlint.runtime.probe.steps import events
from torchlint.runtime.probe.wrapping import executed_lines

if TYPE_CHECKING:
    from torchlint.runtime.probe.link import Link
    from torchlint.runtime.probe.run_settings import RunSettings

SMALL, LARGE = 2_000_000, 100_000_000
"""Up to `SMALL` parameter values all of them are looked at after every step; else after some."""
OFTEN = frozenset((0, 1, 2, 3, 4, 5, 7, 9, 12, 16, 22))
SELDOM = frozenset((0, 1, 3, 7, 15))
MOST_OUTPUTS = 16
"""Tensors that are looked at in one step of a script that only asks a model."""
MOST_MODELS = 64
"""A script that makes models as it goes is not followed any further."""


def install(settings: RunSettings, link: Link) -> Recorder:
    """Realign random numbers as the settings say, and write down the steps from the first on.

    Raises:
        ValueError: the settings name no anchor that can be heard.
    """
    if settings.anchor is None:
        raise ValueError("a record needs an anchor")
    if settings.device != "cpu" and torch.version.cuda is not None:
        _choose_repeatable_kernels()
    recorder = Recorder(settings, link)
    computed.watch_losses(recorder.losses)
    computed.watch_models(recorder.model_is_called, recorder.model_has_answered)
    computed.watch_parameters(recorder.optimizer_steps)
    if settings.perturb is not None:
        private.watch_autocast(recorder.computes_in)
    events.at_anchor(settings.anchor, recorder.boundary)
    os.register_at_fork(after_in_child=recorder.begin_again)
    return recorder


def _choose_repeatable_kernels() -> None:
    # Warnings instead of errors, and none of those either: the script did not ask for this.
    warnings.filterwarnings("ignore", message=".*deterministic")
    # Without it cuBLAS may take another workspace, and with it another order of sums.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True, warn_only=True)
    options: Any = getattr(torch.utils, "deterministic", None)
    if options is not None:
        # It would turn memory that a script forgets to fill into NaN.
        options.fill_uninitialized_memory = False


class Recorder:
    """Notes what the script computes; waits for no device before the last step has ended.

    Args:
        settings: of the run.
        link: gets the record.
    """

    def __init__(self, settings: RunSettings, link: Link) -> None:
        self._settings = settings
        self._link = link
        self._sketcher = Sketcher()
        self._realigner = Realigner(settings.seed or 0, settings.level)
        self._reached = Reached(settings)
        self._watch = executed_lines.install(settings)
        self.begin_again()

    def begin_again(self) -> None:
        """This process is a copy. If it trains, it is a rank that keeps a record of its own."""
        self.steps = 0
        self._lock = threading.RLock()
        self._weights = FirstWeights(self._settings)
        self._models: dict[int, nn.Module] = {}
        self._learns = False
        self._held: set[str] = set()
        self._losses: list[list[Tensor]] = [[]]
        self._outputs: list[list[Sketch]] = [[]]
        self._output_eps = 0.0
        self._start: dict[str, Sketch] = {}
        self._after: dict[int, dict[str, Sketch]] = {}

    # What passes by

    def losses(self, tensors: list[Tensor]) -> None:
        """Gradients are about to be taken of these."""
        self._learns = True
        if self._is_skipped:
            return
        self._losses[-1] += [_as_number(tensor) for tensor in tensors]

    def model_is_called(self, model: nn.Module) -> None:
        """A model is about to compute."""
        self._hold_cudnn()
        known = id(model) in self._models or len(self._models) == MOST_MODELS
        if known or self._is_helper() or any(map(nn.parameter.is_lazy, model.parameters())):
            return
        self._models[id(model)] = model
        self._begin_with(self._weights.meet(model))

    def model_has_answered(self, tensors: list[Tensor]) -> None:
        """A model has computed these."""
        for tensor in tensors:
            self.computes_in(tensor.dtype)
        if not self._learns and not self._is_skipped and not self._is_helper():
            room = MOST_OUTPUTS - len(self._outputs[-1])
            for tensor in tensors[: max(0, room)]:
                self._outputs[-1].append(self._sketcher(tensor))
                self._output_eps = max(self._output_eps, _eps(tensor))

    def computes_in(self, dtype: torch.dtype) -> None:
        """Somewhere in the script numbers are rounded to this type."""
        self._begin_with(self._weights.met_precision(dtype))

    def optimizer_steps(self, parameters: list[Tensor]) -> None:
        """An optimizer is about to change these."""
        self._begin_with(self._weights.meet_parameters(parameters))

    def boundary(self) -> None:
        """A step has ended."""
        if self._is_helper():
            return
        with self._lock, private.out_of_compiler():
            step, self.steps = self.steps, self.steps + 1
            if not is_capturing(torch.cuda):
                if self._is_looked_at(step):
                    parameters = self._weights.parameters
                    self._after[step] = self._sketches(list(parameters))
                self._realigner.after_step(step)
            if self.steps == self._last:
                self._send(finished=False)
                self._link.wait_to_be_killed()
            if step >= self._settings.skip:
                self._losses.append([])
                self._outputs.append([])

    def finish(self) -> None:
        """The script has ended before all steps were seen."""
        if self.steps and self.steps < self._last:
            self._send(finished=True)

    # What is done with it

    @property
    def _is_skipped(self) -> bool:
        """Whether the step that is being taken is not to be written down."""
        return self.steps < self._settings.skip

    @property
    def _last(self) -> int:
        """The step after which the record is complete, counted from 1."""
        return self._settings.skip + self._settings.steps

    def _is_helper(self) -> bool:
        """Whether this process prepares data for one that trains."""
        if torch.utils.data.get_worker_info() is not None:
            return True
        anchor = self._settings.anchor
        trains = anchor is not None and anchor.kind in (events.OPTIMIZER, events.BACKWARD)
        return self._link.role != "main" and not trains

    def _hold_cudnn(self) -> None:
        """A search for the fastest algorithm finds another one in the next run."""
        cudnn: Any = torch.backends.cudnn
        cuda: Any = torch.cuda
        if cudnn.benchmark and cuda.is_initialized():
            cudnn.benchmark = False
            self._held.add("torch.backends.cudnn.benchmark")

    def _begin_with(self, names: list[str]) -> None:
        self._start.update(self._sketches(names))

    def _is_looked_at(self, step: int) -> bool:
        if step < self._settings.skip:
            return False
        size = sum(parameter.numel() for parameter in self._weights.parameters.values())
        if size <= SMALL or step == self._last - 1:
            return True
        return step - self._settings.skip in (OFTEN if size <= LARGE else SELDOM)

    def _sketches(self, names: list[str]) -> dict[str, Sketch]:
        sketches = {}
        for name in names:
            try:
                sketches[name] = self._sketcher(self._weights.parameters[name])
            except (RuntimeError, TypeError, NotImplementedError):
                continue  # Nobody knows its values but its own type.
        return sketches

    def _send(self, *, finished: bool) -> None:
        steps = max(0, self.steps - self._settings.skip)
        losses = self._losses[:steps]
        at = sorted(self._after)
        outputs = [] if self._learns else self._outputs[:steps]
        record = Recorded(
            first=self._settings.skip,
            steps=steps,
            losses=[[float(loss).hex() for loss in step] for step in losses],
            loss_eps=max((_eps(loss) for step in losses for loss in step), default=0.0).hex(),
            at=at,
            parameters={name: self._history(name, at) for name in self._start},
            outputs=[[_row(sketch) for sketch in step] for step in outputs],
            output_eps=self._output_eps.hex(),
            own={
                name: (size, mean.hex(), rms.hex())
                for name, (size, mean, rms) in self._weights.own.items()
            },
            held=sorted(self._held),
            finished=finished,
            reached=self._reached.report(),
            exercised=sorted(self._watch.seen),
            exercise_known=self._watch.complete and not private.compiled_frames(),
        )
        self._link.send("record", record)

    def _history(self, name: str, at: list[int]) -> History:
        parameter = self._weights.parameters[name]
        after = (self._after[step].get(name) for step in at)
        return History(
            parameter.numel(),
            _eps(parameter).hex(),
            _row(self._start[name]),
            [None if sketch is None else _row(sketch) for sketch in after],
        )


def _as_number(tensor: Tensor) -> Tensor:
    tensor = tensor.detach()
    if tensor.is_complex():
        tensor = tensor.real
    return tensor.clone() if tensor.dim() == 0 else tensor.sum()


def _eps(tensor: Tensor) -> float:
    return torch.finfo(tensor.dtype).eps if tensor.is_floating_point() else 0.0


def _row(sketch: Sketch) -> list[int | str]:
    """Digest, buckets and sum of squares; waits for the device."""
    return [int(sketch.digest), *(value.hex() for value in sketch.sums.tolist())]
