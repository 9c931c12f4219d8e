"""Which files a run must not change, and which it may write."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.runtime.probe.settings import Settings

OVERLAYFS = "overlayfs"
"""As in `Settings.sandbox`."""

ANYONES = ("/dev", "/proc", "/sys", "/run")
"""Devices and the kernel's own."""

CACHES = """
    XDG_CACHE_HOME TORCH_HOME TORCHINDUCTOR_CACHE_DIR TORCH_EXTENSIONS_DIR TRITON_HOME
    TRITON_CACHE_DIR HF_HOME HF_HUB_CACHE HF_DATASETS_CACHE HF_MODULES_CACHE HUGGINGFACE_HUB_CACHE
    TRANSFORMERS_CACHE CUDA_CACHE_PATH MPLCONFIGDIR NUMBA_CACHE_DIR KERAS_HOME NLTK_DATA
    PYTHONPYCACHEPREFIX XDG_RUNTIME_DIR
""".split()
"""Variables that name folders of what can be fetched or computed again."""

HOME_CACHES = ".cache .triton .nv .torch .keras .config/matplotlib Library/Caches nltk_data".split()


class Territory:
    """Tells a path that must stay as it is from one that may be written.

    Args:
        own: the folder of the workspace, with those of its runs, and that on the run's own machine.
            Temporary files lie there too; whatever else lies where the system keeps temporary files
            is the user's.
        project: the tree that is never to change.
        guarded: whether the project's files are to be kept here; otherwise the kernel does it.
        free: folders that anyone may write to, unless they lie in the project.
    """

    def __init__(
        self, own: Iterable[str], project: str, *, guarded: bool, free: Iterable[str]
    ) -> None:
        self._own = tuple(map(_slashed, own))
        self._project = _slashed(project)
        self._guarded = guarded
        self._free = tuple(sorted({_slashed(path) for path in free}))

    def covers(self, path: str) -> bool:
        """Whether what lies at a real, absolute path must stay as it is."""
        below = path + "/"
        if below.startswith(self._own):
            return False
        if below.startswith(self._project):
            return self._guarded
        return not below.startswith(self._free)

    def is_layered(self, path: str) -> bool:
        """Whether overlayfs keeps what lies at a real, absolute path."""
        return not self._guarded and (path + "/").startswith(self._project)


def of_run(settings: Settings) -> Territory:
    """What a run must leave alone, from its settings and the environment."""
    home = os.path.expanduser("~")
    caches = [os.environ[name] for name in CACHES if os.environ.get(name)]
    caches += [os.path.join(home, *name.split("/")) for name in HOME_CACHES]
    return Territory(
        _own(settings),
        settings.project,
        guarded=settings.sandbox != OVERLAYFS,
        free=[*ANYONES, *(os.path.realpath(path) for path in caches)],
    )


def _own(settings: Settings) -> list[str]:
    """The folder of the socket, if that of the run lies in it: others of its runs lie there too.
    Where several machines share the folder of the run, those on its own machine as well."""
    scratch = os.path.realpath(settings.scratch)
    if settings.local:
        return [scratch, os.path.realpath(os.path.dirname(settings.local))]
    around = os.path.realpath(os.path.dirname(settings.socket) or scratch)
    return [around if scratch.startswith(_slashed(around)) else scratch]


def _slashed(path: str) -> str:
    return path.rstrip("/") + "/"
