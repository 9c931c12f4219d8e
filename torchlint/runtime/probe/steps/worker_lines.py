"""The lines of the first worker of each loader, seen in its own process."""

from __future__ import annotations

import glob
import json
import os
import threading
import time
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING

from torch.utils.data import get_worker_info

from torchlint.runtime.probe.instrument_messages import OwnTime
from torchlint.runtime.probe.steps.events import LOADER
from torchlint.runtime.probe.steps.line_sampler import Sampler
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

    def told(self) -> tuple[float, list[OwnTime]]:
        """The seconds that workers were busy, and their lines."""
        busy_s, lines = 0.0, []
        for path in sorted(glob.glob(self._path("*"))):
            with suppress(OSError, ValueError, TypeError), open(path, encoding="utf-8") as file:
                seen = json.load(file)
                busy_s += seen[0]
                lines += [OwnTime(**{**each, "place": tuple(each["place"])}) for each in seen[1]]
        return busy_s, lines

    def _look(self, sampler: Sampler) -> None:
        until = time.monotonic() + _PATIENCE_S
        info = get_worker_info()
        while info is None and time.monotonic() < until:
            time.sleep(_INTERVAL_S)
            info = get_worker_info()
        while info is not None and info.id == 0:
            sampler.look(_EVERY_S)
            self._write(sampler)

    def _write(self, sampler: Sampler) -> None:
        path = self._path(str(os.getpid()))
        with suppress(OSError):  # the run has ended, and its folder is gone
            with open(f"{path}.new", "w", encoding="utf-8") as file:
                json.dump([sampler.busy_s, [asdict(each) for each in sampler.told()]], file)
            os.replace(f"{path}.new", path)

    def _path(self, process: str) -> str:
        return os.path.join(self._settings.scratch, f"worker-lines-{process}.json")
