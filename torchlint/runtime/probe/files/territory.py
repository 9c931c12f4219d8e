"""Which files a run must not change, and which it may write."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from torchlint.runtime.probe.run_settings import RunSettings

OVERLAYFS = "overlayfs"
"""As in `RunSettings.sandbox`."""

ANYONES = ("/dev", "/proc", "/sys", "/run", "/tmp/nvidia-mps")  # noqa: S108
"""Devices and the kernel's own, and the pipes of a GPU that several processes share."""

CACHES = """
    XDG_CACHE_HOME TORCH_HOME TORCHINDUCTOR_CACHE_DIR TORCH_EXTENSIONS_DIR TRITON_HOME
    TRITON_CACHE_DIR HF_HOME HF_HUB_CACHE HF_DATASETS_CACHE HF_MODULES_CACHE HUGGINGFACE_HUB_CACHE
    TRANSFORMERS_CACHE CUDA_CACHE_PATH CUDA_MPS_PIPE_DIRECTORY MPLCONFIGDIR NUMBA_CACHE_DIR
    KERAS_HOME NLTK_DATA MIOPEN_USER_DB_PATH MIOPEN_CUSTOM_CACHE_DIR PYTHONPYCACHEPREFIX
    XDG_RUNTIME_DIR
""".split()
"""Variables that name folders of what can be fetched or computed again."""

HOME_CACHES = """
    .cache .triton .nv .torch .keras .config/matplotlib .config/miopen nltk_data
""".split()
if sys.platform == "darwin":
    HOME_CACHES.append("Library/Caches")


class Territory:
    """Tells a path that must stay as it is from one that may be written.

    Args:
        own: the folder of the workspace, with those of its runs, and that on the run's own machine.
            Temporary files are there too; everything else where the system keeps temporary files is
            the user's.
        project: the tree that is never to change.
        guarded: whether the project's files are to be kept here; otherwise the kernel does it.
        free: folders that anyone may write to, unless they are in the project.
    """

    def __init__(
        self, own: Iterable[str], project: str, *, guarded: bool, free: Iterable[str]
    ) -> None:
        self._own = tuple(map(_slashed, own))
        self._project = _slashed(project)
        self._guarded = guarded
        self._free = tuple(sorted({_slashed(path) for path in free}))

    def covers(self, path: str) -> bool:
        """Whether what is at a real, absolute path must stay as it is."""
        below = path + "/"
        if below.startswith(self._own):
            return False
        if below.startswith(self._project):
            return self._guarded
        return not below.startswith(self._free)

    def writable(self) -> list[str]:
        """All that may be written, for a kernel that knows no exceptions below a folder."""
        free = [path for path in self._free if not path.startswith(self._project)]
        return [*self._own, *free, *([] if self._guarded else [self._project])]

    def is_layered(self, path: str) -> bool:
        """Whether overlayfs keeps what is at a real, absolute path."""
        return not self._guarded and (path + "/").startswith(self._project)


def of_run(settings: RunSettings, environ: Mapping[str, str] = os.environ) -> Territory:
    """What a run must leave alone, from its settings and the environment."""
    return Territory(
        _own(settings),
        settings.project,
        guarded=settings.sandbox != OVERLAYFS,
        free=[*ANYONES, *caches(environ)],
    )


def caches(environ: Mapping[str, str]) -> list[str]:
    """Real paths of folders that hold what can be fetched or computed again."""
    home = environ.get("HOME") or os.path.expanduser("~")
    named = [environ[name] for name in CACHES if environ.get(name)]
    usual = [os.path.join(home, *name.split("/")) for name in HOME_CACHES]
    return [os.path.realpath(path) for path in (*named, *usual)]


def missing_caches(environ: Mapping[str, str]) -> list[str]:
    """Those of these folders that are not there, and that a run could not make by itself."""
    found = [path for path in caches(environ) if not os.path.lexists(path)]
    return [path for path in found if not path.startswith(tuple(map(_slashed, ANYONES)))]


def _own(settings: RunSettings) -> list[str]:
    """The folder of the socket, if that of the run is in it: others of its runs are there too.
    Where several machines share the folder of the run, those on its own machine as well."""
    scratch = os.path.realpath(settings.scratch)
    if settings.local:
        return [scratch, os.path.realpath(os.path.dirname(settings.local))]
    around = os.path.realpath(os.path.dirname(settings.socket) or scratch)
    return [around if scratch.startswith(_slashed(around)) else scratch]


def _slashed(path: str) -> str:
    return path.rstrip("/") + "/"
