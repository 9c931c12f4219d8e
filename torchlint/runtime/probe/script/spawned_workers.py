"""Continues the run in interpreters that multiprocessing starts.

A spawned or forkserver worker runs the main module again, from disk. It is sent a small file
instead, written for this run, that installs what a fork would have inherited and then does with
the real main module what multiprocessing would have done.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import sys
import threading
import zlib
from typing import TYPE_CHECKING, Any

from torchlint.runtime.probe import private
from torchlint.runtime.probe.package import LOAD
from torchlint.runtime.probe.run_settings import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

FILE = '''\
"""Written by torchlint: what a fresh worker runs before the main module."""
{load}
from torchlint.runtime.probe import lifecycle
lifecycle.enter_worker(globals(), {settings!a}, {kind!a}, {main!a})
'''

PATH, NAME, NONE = "path", "name", "none"
"""What is known of the main module: the path of a script, the name of a module, nothing."""


def send_to_workers(scratch: str) -> None:
    """From now on, have multiprocessing's fresh interpreters begin with a stub in `scratch`."""

    def wrap(prepare: Callable[[str], dict[str, Any]]) -> Callable[[str], dict[str, Any]]:
        def prepare_with_stub(name: str) -> dict[str, Any]:
            data = prepare(name)
            if "init_main_from_name" in data:
                main = write(scratch, NAME, data.pop("init_main_from_name"))
            elif "init_main_from_path" in data:
                main = write(scratch, PATH, data["init_main_from_path"])
            else:
                main = write(scratch, NONE, "")
            data["init_main_from_path"] = main
            # A fork server that preloads modules looks for this key in versions where no main
            # module is preloaded (https://github.com/python/cpython/issues/126631).
            data["main_path"] = write(scratch, NONE, "")
            return data

        return prepare_with_stub

    private.wrap_preparation(wrap)


def write(scratch: str, kind: str, main: str) -> str:
    """Write the file for one main module; give its path. The same file for the same module."""
    text = FILE.format(load=LOAD, settings=os.environ[VARIABLE], kind=kind, main=main)
    data = text.encode("ascii")
    path = os.path.join(scratch, f"worker-{kind}-{zlib.crc32(data):08x}.py")
    if not os.path.exists(path):
        # Two processes may get here together: neither may read half a file.
        draft = f"{path}.{os.getpid()}.{threading.get_ident()}"
        with open(draft, "wb") as stream:
            stream.write(data)
        os.replace(draft, path)
    return path


def run_main(kind: str, main: str) -> dict[str, Any]:
    """Do with the main module what multiprocessing would have done; gives its globals.

    Args:
        kind: what is known of the main module.
        main: its path or name.
    """
    current = sys.modules["__main__"]
    if kind == PATH and _to_be_run_from_path(main, current):
        return runpy.run_path(main, run_name="__mp_main__")
    if kind == NAME and _to_be_run_by_name(main, current):
        return runpy.run_module(main, run_name="__mp_main__", alter_sys=True)
    return dict(vars(current))


# As in CPython's Lib/multiprocessing/spawn.py: _fixup_main_from_path, _fixup_main_from_name.


def _to_be_run_from_path(main: str, current: ModuleType) -> bool:
    if os.path.splitext(os.path.basename(main))[0] == "ipython":
        return False
    return getattr(current, "__file__", None) != main


def _to_be_run_by_name(main: str, current: ModuleType) -> bool:
    if main == "__main__" or main.endswith(".__main__"):
        return False
    # A fork server preloads no main module that has a name; only there the process has none.
    if multiprocessing.current_process().name == "MainProcess":
        return False
    return getattr(getattr(current, "__spec__", None), "name", None) != main
