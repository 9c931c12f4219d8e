"""Keeps new Python processes from importing modules of the working folder, which are checked and
must not run."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_VARIABLE: Final = "PYTHONSAFEPATH"
_SUPPORTED: Final = sys.version_info >= (3, 11)
_MODULES: Final = (".py", ".pyc", ".so", ".pyd")


@contextmanager
def safe_path() -> Iterator[None]:
    """Processes that are started meanwhile do not look for modules in the working folder.

    What starts them (joblib, Dask) uses `python -m` or `-c`, which put that folder first.
    """
    before = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_VARIABLE]
        else:
            os.environ[_VARIABLE] = before


def is_safe_to_start() -> bool:
    """Whether a process started under `safe_path` imports nothing from the working folder.

    Python 3.10 does not know the variable: there it is only safe if the folder has no module.
    """
    return _SUPPORTED or not _holds_modules(os.curdir)


def _holds_modules(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(
                entry.name.endswith(_MODULES)
                or os.path.lexists(os.path.join(entry.path, "__init__.py"))
                for entry in entries
            )
    except OSError:
        return True
