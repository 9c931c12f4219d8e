"""Which files of the project a script has loaded, by whatever means it imports them."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache

from torchlint.runtime.probe.package import is_installed, is_ours
from torchlint.runtime.probe.script import served_sources

_MOST_FILES = 2000


def _file_of(module: object) -> object:
    """None also for one that imports something when it is asked, and cannot."""
    try:
        return getattr(module, "__file__", None)
    except Exception:  # the module's own
        return None


def loaded_files(project: str) -> list[str]:
    """Real paths of the Python files that the modules of this process were made of, also of those
    that are loaded by their path and not among `sys.modules`.

    Args:
        project: real path of the tree whose files are the user's own.
    """
    inside = os.path.join(project, "")
    paths = set()
    real_folder = cache(os.path.realpath)  # most files are torch's, and a folder has many
    modules = [_file_of(module) for module in list(sys.modules.values())]
    for name in {*served_sources.ran(), *(each for each in modules if isinstance(each, str))}:
        if name.endswith(".py"):
            with suppress(OSError, ValueError):
                if is_installed(real_folder(os.path.dirname(name))):
                    continue
                path = os.path.realpath(name)
                own = path.startswith(inside) and not is_installed(path) and not is_ours(path)
                if own and os.path.isfile(path):
                    paths.add(path)
    return sorted(paths)[:_MOST_FILES]
