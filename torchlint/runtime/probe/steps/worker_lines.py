"""The lines and threads of the first worker of each loader, seen in its own process."""

from __future__ import annotations

import glob
import json
import os
import threading
import time
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from torch.utils.data import get_worker_info

from torchlint.runtime.probe.instrument_messages import OwnTime, WorkerThreads
from torchlint.runtime.probe.machine.native_threads import native_times, pools
from torchlint.runtime.probe.steps.events import LOADER
from torchlint.runtime.probe.steps.line_sampler import Sampler, looked_at_soon
from torchlint.runtime.probe.wrapping.user_lines import Places

if TYPE_CHECKING:
    from torchlint.runtime.probe.run_settings import RunSettings

_INTERVAL_S = 0.01
_EVERY_S = 0.2
_PATIENCE_S = 2.0
"""After which a process that is no worker is none."""


class WorkerLines:
    """Looks at the first workers that this process forks, each in its own process, which writes
    what it saw into a file of the run's folder. Workers that are started afresh are not seen."""

    def __init__(self, settings: RunSettings) -> None:
        self._settings = settings

    def begin(self) -> None:
        """Look at this thread, if it turns out to be that of a first worker."""
        if not self._settings.scratch:
            return
        sampler = Sampler(Places(self._settings), (LOADER,), threading.get_ident())
        threading.Thread(target=self._look, args=(sampler,), daemon=True).start()

    def told(self) -> tuple[float, list[OwnTime], list[WorkerThreads]]:
        """The seconds that workers were busy, their lines and their threads."""
        busy_s, lines, threads = 0.0, [], []
        for path in sorted(glob.glob(self._path("*"))):
            with suppress(OSError, ValueError, TypeError), open(path, encoding="utf-8") as file:
                seen = json.load(file)
                busy_s += seen[0]
                lines += [OwnTime(**{**each, "place": tuple(each["place"])}) for each in seen[1]]
                threads += [WorkerThreads(**each) for each in seen[2]]
        return busy_s, lines, threads

    def _look(self, sampler: Sampler) -> None:
        begun = time.monotonic()
        info = get_worker_info()
        while info is None and time.monotonic() < begun + _PATIENCE_S:
            time.sleep(_INTERVAL_S)
            info = get_worker_info()
        if info is not None and info.id == 0:
            looked_at_soon()
        while info is not None and info.id == 0:
            sampler.look(_EVERY_S)
            self._write(sampler, _threads(info, time.monotonic() - begun))

    def _write(self, sampler: Sampler, threads: list[WorkerThreads]) -> None:
        path = self._path(str(os.getpid()))
        lines, tasks = ([asdict(each) for each in all_] for all_ in (sampler.told(), threads))
        with suppress(OSError):  # the run has ended, and its folder is gone
            with open(f"{path}.new", "w", encoding="utf-8") as file:
                json.dump([sampler.busy_s, lines, tasks], file)
            os.replace(f"{path}.new", path)

    def _path(self, process: str) -> str:
        return os.path.join(self._settings.scratch, f"worker-lines-{process}.json")


def _threads(info: Any, seconds: float) -> list[WorkerThreads]:
    """Of the worker that this process is; none where the system does not tell."""
    times = native_times()
    if times is None:
        return []
    dataset = type(info.dataset).__name__
    loaded = pools() if times[0] > 1 else {}
    return [WorkerThreads(dataset, info.num_workers, times[0], seconds, *times[1:], loaded)]
