"""The variables that a run starts with."""

from __future__ import annotations

import getpass
import os
import platform
import re
import sys
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from torchlint.runtime.probe.run_settings import RECORD, VARIABLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torchlint.runtime.probe.run_settings import RunSettings

_THREADS: Final = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
_MALLOC: Final = {
    "MALLOC_MMAP_THRESHOLD_": str(4 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(16 << 30),
    "MALLOC_TOP_PAD_": str(256 << 20),
}


def variables(
    settings: RunSettings, mark: str, temporary: str, more: Mapping[str, str]
) -> dict[str, str]:
    """The environment of a run.

    Args:
        settings: say which threads and devices it may use.
        mark: path of the settings file.
        temporary: folder for the run's temporary files, in that of the workspace.
        more: on top of this process's own variables.
    """
    is_counted = "counts" in settings.instruments
    values = {
        "PYTHONFAULTHANDLER": "1",
        # Sets of strings in the same order each time: vocabularies are made of them.
        **({"PYTHONHASHSEED": "0"} if settings.mode == RECORD or is_counted else {}),
        **_terminal_size(),
        **_compiled(temporary),
        **os.environ,
        **more,
    }
    values |= {VARIABLE: mark, "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": temporary}
    if settings.threads is not None:
        values |= dict.fromkeys(_THREADS, str(settings.threads))
    if settings.device == "cpu":
        values["CUDA_VISIBLE_DEVICES"] = ""
    return values


def _terminal_size() -> dict[str, str]:
    """A run has no terminal; what asks `shutil` for its size gets that of ours."""
    try:
        size = os.get_terminal_size(2)
    except OSError:
        return {}
    return {"COLUMNS": str(size.columns), "LINES": str(size.lines)}


def _compiled(temporary: str) -> dict[str, str]:
    """Where `torch.compile` keeps what it has built: among the user's temporary files if that
    folder exists, else next to those of the runs, which share it."""
    folder = os.path.join(os.path.dirname(temporary), "compiled")
    with suppress(OSError, KeyError, ImportError):  # a user without a name
        name = re.sub(r'[\\/:*?"<>|]', "_", getpass.getuser())
        real = os.path.join(tempfile.gettempdir(), f"torchinductor_{name}")
        folder = real if os.path.isdir(real) else folder
    return {"TORCHINDUCTOR_CACHE_DIR": folder}


def malloc_settings() -> dict[str, str]:
    """Variables that keep glibc from giving large blocks back to the kernel after every step.

    Page faults for the same memory again and again are most of the noise between two processes
    that train a convolutional net on a CPU. Empty where the allocator is not glibc's; what the
    user has set stays.
    """
    if not sys.platform.startswith("linux") or platform.libc_ver()[0] != "glibc":
        return {}
    return {name: value for name, value in _MALLOC.items() if name not in os.environ}
