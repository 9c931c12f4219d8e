"""Which files a run must not change, and which it may write."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from torchlint.runtime.probe.files import system

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108
TEMPORARY_CACHES = ("torchinductor_", "torch_extensions", "torchelastic_", "ray")
"""How the names begin of caches in the folder for temporary files."""


class Territory:
    """Tells a path that must stay as it is from one that may be written.

    Args:
        own: the folder of the workspace, with those of its runs.
        project: the tree that is never to change.
        guarded: whether the project's files are to be kept here; otherwise the kernel does it.
        free: folders that anyone may write to, unless they lie in the project.
        temporary: folders for temporary files → the names in each that were there before the run;
            only those must stay as they are.
    """

    def __init__(
        self,
        own: str,
        project: str,
        *,
        guarded: bool,
        free: Iterable[str],
        temporary: Mapping[str, Iterable[str]],
    ) -> None:
        self._own = _slashed(own)
        self._project = _slashed(project)
        self._guarded = guarded
        self._free = tuple(sorted({_slashed(path) for path in free}))
        # The innermost first: TMPDIR often lies in /tmp.
        inner_first = sorted(temporary, key=len, reverse=True)
        self._temporary = {_slashed(path): frozenset(temporary[path]) for path in inner_first}

    def covers(self, path: str) -> bool:
        """Whether what lies at a real, absolute path must stay as it is."""
        below = path + "/"
        if below.startswith(self._own):
            return False
        if below.startswith(self._project):
            return self._guarded
        if below.startswith(self._free):
            return False
        for folder, before in self._temporary.items():
            if below.startswith(folder):
                name = below[len(folder) :].partition("/")[0]
                return name in before and not name.startswith(TEMPORARY_CACHES)
        return True

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
        temporary=_temporary(settings.scratch),
    )


def _own(settings: Settings) -> str:
    """The folder of the socket, if that of the run lies in it: others of its runs lie there too."""
    scratch = os.path.realpath(settings.scratch)
    around = os.path.realpath(os.path.dirname(settings.socket) or scratch)
    return around if scratch.startswith(_slashed(around)) else scratch


def _temporary(scratch: str) -> dict[str, list[str]]:
    """What lay among the temporary files when the run's first process came here."""
    path = os.path.join(scratch, "temporary.json")
    with suppress(OSError):
        return _read(path)
    found: dict[str, list[str]] = {}
    for folder in {os.environ.get("TMPDIR", ""), *TEMPORARY}:
        real = os.path.realpath(folder)
        if os.path.isabs(folder) and real != "/":
            with suppress(OSError):
                found[real] = system.listdir(real)
    draft = f"{path}.{os.getpid()}"
    with system.open_file(draft, "w", encoding="ascii") as stream:
        json.dump(found, stream)
    # Ranks begin together: the first one's answer is everybody's.
    with suppress(FileExistsError):
        system.link(draft, path)
    system.unlink(draft)
    return _read(path)


def _read(path: str) -> dict[str, list[str]]:
    with system.open_file(path, encoding="ascii") as stream:
        found: dict[str, list[str]] = json.load(stream)
        return found


def _slashed(path: str) -> str:
    return path.rstrip("/") + "/"
