"""Looks at a script's first steps: where they end, how long they take, when they are warm."""

from __future__ import annotations

import gc
import os
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.batches import loader_iterators
from torchlint.runtime.probe.machine.clock import MEGABYTE, is_capturing, peak_memory_mb
from torchlint.runtime.probe.machine.own_rank import has_ranks
from torchlint.runtime.probe.messages import Surveyed
from torchlint.runtime.probe.run_settings import Anchor
from torchlint.runtime.probe.script import served_sources
from torchlint.runtime.probe.script.loaded_files import loaded_files
from torchlint.runtime.probe.steps import events, step_times
from torchlint.runtime.probe.steps.boundary import KINDS, Chooser, EventStream, Moment, Streams
from torchlint.runtime.probe.steps.events import BACKWARD, FORWARD, GRAD, LOADER, OPTIMIZER
from torchlint.runtime.probe.steps.input_shapes import on_gpu, signature
from torchlint.runtime.probe.steps.lane_clock import LaneClock
from torchlint.runtime.probe.wrapping import executed_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.runtime.probe.link import Link
    from torchlint.runtime.probe.played.step_counter import StepCounter
    from torchlint.runtime.probe.run_settings import RunSettings

_SCAN_S = 1.0
"""Between two looks at everything that Python has made."""


def install(settings: RunSettings, link: Link) -> Surveyor:
    """Listen for every kind of event, and watch the places of the settings."""
    surveyor = Surveyor(settings, link, executed_lines.install(settings))
    surveyor.listen()
    os.register_at_fork(after_in_child=surveyor.begin_again)
    private.when_worker_ends(surveyor.finish)
    return surveyor


def _rehearsal(settings: RunSettings) -> StepCounter | None:
    """What counts in a run on a played device."""
    if settings.played is None:
        return None
    from torchlint.runtime.probe.played.state import PLAYED
    from torchlint.runtime.probe.played.step_counter import StepCounter

    return StepCounter(settings, PLAYED.ledger)


class Surveyor:
    """Writes down what it hears until it has heard enough, or the script has ended.

    Args:
        settings: `steps` are wanted.
        link: where the report goes.
        watch: sees which places run.
    """

    def __init__(self, settings: RunSettings, link: Link, watch: executed_lines.Watch) -> None:
        self._settings = settings
        self._link = link
        self._watch = watch
        self._rehearsal = _rehearsal(settings)
        self._lanes = LaneClock() if self._rehearsal is None else self._rehearsal.lanes
        self._undo: list[Callable[[], None]] = []
        self._scanned = (float("-inf"), False)
        self._forget()

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._done = False
        self._streams = Streams()
        self._news: list[float] = []
        self._shapes: set[object] = set()
        self._compiled = private.compiled_frames()
        self._skipped = 0
        self._ahead = 0
        self._stream_workers = 0
        self._on_gpu: bool | None = None

    def begin_again(self) -> None:
        """This process is a copy, as a loader's worker. If it trains, it is one of its own."""
        self._forget()

    @property
    def steps(self) -> int:
        """Steps seen so far, as far as is known."""
        best = self._chooser.at_the_end(self._streams)
        return best.count if best is not None else 0

    def listen(self) -> None:
        """Begin."""
        lanes = self._lanes
        self._undo = [
            events.watch_optimizers(self._listener(OPTIMIZER), lanes, self._skip),
            events.watch_backward(self._listener(BACKWARD), lanes),
            events.watch_forward(self._listener(FORWARD), lanes),
            events.watch_loader(self._listener(LOADER), lanes),
        ]

    def finish(self) -> None:
        """The script has ended; report what was heard, unless this has been done."""
        with self._lock:
            if self._done:
                return
            self._done = True
        best = self._chooser.at_the_end(self._streams)
        if best is not None or self._link.role == "main":
            self._link.send("survey", self._report(best, finished=True))

    @property
    def _chooser(self) -> Chooser:
        kinds = tuple(kind for kind in KINDS if events.may_end_steps(kind, self._link.role))
        wanted, give_up_s = self._settings.steps, self._settings.give_up_s
        return Chooser(wanted, give_up_s, kinds, self._optimizer_exists)

    def _skip(self) -> None:
        self._skipped += 1

    def _listener(self, kind: str) -> events.Heard:
        def heard(number: int, subject: object, inputs: object) -> None:
            if not self._done:
                self._hear(kind, number, subject, inputs)

        return heard

    def _hear(self, kind: str, number: int, subject: Any, inputs: object) -> None:
        now = time.perf_counter()
        self._note_news(number, inputs if kind == FORWARD else None, now)
        if kind == LOADER:
            self._ahead = max(self._ahead, loader_iterators.ahead(subject))
            if loader_iterators.is_stream(subject):
                workers = loader_iterators.workers(subject)
                self._stream_workers = max(self._stream_workers, workers)
        elif self._on_gpu is None:
            self._on_gpu = on_gpu(subject)
        if self._rehearsal is not None:
            self._rehearsal.heard(kind, number, subject)
        name = type(subject).__name__
        moment = Moment(now, self._lanes.seconds(), self._mark())
        stream = self._streams.add(kind, number, name, moment)
        if self._chooser.enough(self._streams, stream):
            self._stop(stream)

    def _mark(self) -> Any:
        """This place in the GPU's stream, since the host may be far ahead of what it queues."""
        cuda: Any = torch.cuda
        if not self._on_gpu or self._settings.device == "cpu" or is_capturing(cuda):
            return None
        with private.out_of_compiler():
            event = cuda.Event(enable_timing=True)
            event.record()
        return event

    def _note_news(self, number: int, inputs: object, now: float) -> None:
        shape = (number, signature(inputs)) if inputs is not None else None
        if shape is not None and shape not in self._shapes:
            self._shapes.add(shape)
            self._news.append(now)
        compiled = private.compiled_frames()
        if compiled != self._compiled:
            self._compiled = compiled
            self._news.append(now)

    def _stop(self, best: EventStream) -> None:
        with self._lock:
            if self._done:
                return
            self._done = True
        report = self._report(best, finished=False)
        for undo in self._undo:
            undo()
        self._watch.end()
        self._link.send("survey", report)
        if not has_ranks():
            self._link.wait_to_be_killed()
        # The other ranks may need this one to come as far as it has come.

    def _report(self, best: EventStream | None, *, finished: bool) -> Surveyed:
        moments = list(best.moments) if best is not None else []
        if any(moment.mark is not None for moment in moments):
            # An error of the GPU is the script's own, and the marks say nothing then.
            with suppress(RuntimeError):
                torch.cuda.synchronize()
        times, warm = step_times.durations(moments), step_times.warm_up(moments, self._news)
        report = Surveyed(
            steps=best.count if best is not None else 0,
            step_s=step_times.steady(times, warm),
            finished=finished,
            exercise_known=self._watch.complete and not private.compiled_frames(),
            compiled=bool(private.compiled_frames()),
            memory_mb=peak_memory_mb(),
            device="cpu",
            anchor=Anchor(best.kind, best.number) if best is not None else None,
            words=self._words(best) if best is not None else "",
            times=times,
            warm=warm,
            counts=self._counts(),
            lanes=step_times.lanes(moments),
            exercised=sorted(self._watch.seen),
            served=served_sources.served(),
            files=loaded_files(self._settings.project),
            ahead=self._ahead,
            stream_workers=self._stream_workers,
        )
        self._add_gpu(report)
        if self._rehearsal is not None:
            report.rehearsed = self._rehearsal.report(report.anchor)
        return report

    def _words(self, best: EventStream) -> str:
        several = len(self._streams.of(best.kind))
        if best.kind == OPTIMIZER:
            which = f" (optimizer {best.number + 1} of {several})" if several > 1 else ""
            return f"{best.name}.step{which}"
        if best.kind == FORWARD:
            which = f" (model {best.number + 1} of {several})" if several > 1 else ""
            return f"{best.name}.forward{which}"
        if best.kind == BACKWARD:
            return "torch.autograd.grad" if best.number == GRAD else "backward"
        return "a batch of the DataLoader"

    def _counts(self) -> dict[str, int | tuple[int, ...]]:
        streams = self._streams
        return {
            OPTIMIZER: tuple(stream.count for stream in streams.of(OPTIMIZER)),
            **{kind: streams.count(kind) for kind in (BACKWARD, FORWARD, LOADER)},
            "skipped": self._skipped,
        }

    def _add_gpu(self, report: Surveyed) -> None:
        """In MiB: the most that torch has reserved in this process, and what it could reserve now
        if it held nothing."""
        cuda: Any = torch.cuda
        uses = self._settings.device != "cpu" and cuda.is_initialized()
        if uses and self._on_gpu is None:
            uses = cuda.memory_allocated() > 0
        if not uses or self._on_gpu is False:
            return
        free, _ = cuda.mem_get_info()
        report.device, report.gpu_name = "cuda", cuda.get_device_name()
        report.gpu_mb = cuda.max_memory_reserved() / MEGABYTE
        report.gpu_free_mb = (free + cuda.memory_reserved()) / MEGABYTE

    def _optimizer_exists(self) -> bool:
        from torch.optim import Optimizer

        scanned, exists = self._scanned
        if time.perf_counter() - scanned > _SCAN_S:
            exists = any(issubclass(type(each), Optimizer) for each in gc.get_objects())
            self._scanned = (time.perf_counter(), exists)
        return exists
