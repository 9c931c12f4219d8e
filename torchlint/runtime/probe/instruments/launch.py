"""What this process got of the machine, and how it shares it: processors, threads, GPUs."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from torchlint.runtime.probe import private
from torchlint.runtime.probe.instrument_messages import LaunchSeen, ModelCopies
from torchlint.runtime.probe.instruments.observer import Observer
from torchlint.runtime.probe.machine.clock import uses_gpu
from torchlint.runtime.probe.wrapping.interpose import shielded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.runtime.probe.messages import Place
    from torchlint.runtime.probe.run_settings import RunSettings
    from torchlint.runtime.probe.wrapping.interpose import Function

_MOST_PLACES = 64


class LaunchObserver(Observer):
    """Looks when the window ends; on a GPU it also counts what `DataParallel` copies."""

    def __init__(self, settings: RunSettings, cuda: Any = torch.cuda) -> None:
        self._cuda = cuda
        super().__init__(settings)

    def begin(self) -> None:
        self._copied: dict[tuple[Place | None, int], ModelCopies] = {}
        if uses_gpu(self.settings.device, self._cuda):
            self.around(torch.nn.DataParallel, "replicate", self._copying)

    def end(self) -> LaunchSeen:
        on_gpu, threads = uses_gpu(self.settings.device, self._cuda), torch.get_num_threads()
        gpus = list(_gpus(self._cuda)) if on_gpu else []
        usage = [(name, used) for name, used in gpus if name is not None]
        have_ids = len(usage) == len(gpus)
        return LaunchSeen(
            threads,
            threads == self.settings.threads,
            _processors(),
            quota(),
            list(dict(usage)) if have_ids else None,
            [name for name, used in dict(usage).items() if used] if have_ids else None,
            list(self._copied.values()),
        )

    def _copying(self, plain: Function) -> Function:
        compiling, note = private.compiling(), shielded(self._note)

        def replicate(*args: Any, **kwargs: Any) -> Any:
            result = plain(*args, **kwargs)
            if not compiling() and torch.is_grad_enabled():
                note(result)
            return result

        private.keep_from_compiler(replicate)
        return replicate

    def _note(self, replicas: Any) -> None:
        key = (self.places.here(), len(replicas))
        if key in self._copied or len(self._copied) < _MOST_PLACES:
            self._copied.setdefault(key, ModelCopies(*key, 0)).calls += 1


def _processors() -> list[int]:
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def _gpus(cuda: Any) -> Iterator[tuple[str | None, bool]]:
    """Ids of the visible GPUs, and whether torch holds memory there in this process."""
    for index in range(cuda.device_count()):
        # Up to torch 2.3 there are none.
        known = getattr(cuda.get_device_properties(index), "uuid", None)
        yield None if known is None else str(known), cuda.memory_allocated(index) > 0


def quota(of: str = "/proc/self/cgroup", root: str = "/sys/fs/cgroup") -> float | None:
    """How many processors the control groups of this process let it use at a time.

    A container sees all processors of its host, also in its affinity; its limit is only found here.

    Args:
        of: the file that lists the groups.
        root: where their hierarchy is.
    """
    quotas: list[float] = []
    for line in _lines(of):
        kinds, _, path = line.partition(":")[2].partition(":")
        if kinds and "cpu" not in kinds.split(","):
            continue
        # In a container, the path may be that on its host; the group itself is then at the root.
        top = Path(root) if not kinds else Path(root, "cpu")
        group = Path(top, path.strip().lstrip("/"))
        for folder in (group, *(each for each in group.parents if each.is_relative_to(top))):
            quotas += _limit(folder)
    return min(quotas, default=None)


def _limit(folder: Path) -> list[float]:
    """Of one group: `max 100000` or `200000 100000`; in version 1 each number has its own file."""
    words = " ".join(_lines(str(folder / "cpu.max"))).split()
    if not words:
        words = [
            *_lines(str(folder / "cpu.cfs_quota_us")),
            *_lines(str(folder / "cpu.cfs_period_us")),
        ]
    with suppress(ValueError):
        share, period = (float(each) for each in words)
        if share > 0 and period > 0:
            return [share / period]
    return []


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read().splitlines()
    except (OSError, UnicodeDecodeError):
        return []


watch = LaunchObserver
