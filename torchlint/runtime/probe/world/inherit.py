"""Serves changed sources in other Python programs that the script starts, and shields them.

They begin with `sitecustomize` (https://docs.python.org/3/library/site.html). Ours comes before any
other, steps aside, and lets the real one follow. Under overlayfs the kernel shields whatever the
script starts. `python -I`, `-E` and `-S` do not look for it.
"""

from __future__ import annotations

import os
from textwrap import indent

from torchlint.runtime.probe.files import system
from torchlint.runtime.probe.package import LOAD
from torchlint.runtime.probe.run_settings import VARIABLE

_FILE = '''\
"""Written by torchlint: what a program that the script of a run starts does first."""
import sys


def _enter():
{load}    from torchlint.runtime.probe import lifecycle

    lifecycle.enter_program({settings!a})


def _follow():
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    sys.path[:] = [path for path in sys.path if path != {folder!a}]
    spec = PathFinder.find_spec("sitecustomize")
    if spec is not None and spec.loader is not None:
        sys.modules["sitecustomize"] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules["sitecustomize"])


try:
    _enter()
except Exception:  # an interpreter that is too old for it
    pass
_follow()
'''


def install(scratch: str) -> None:
    """Have every Python program that starts from now on call `lifecycle.enter_program` first."""
    folder = os.path.join(scratch, "site")
    system.make_folders(folder)
    text = _FILE.format(load=indent(LOAD, "    "), settings=os.environ[VARIABLE], folder=folder)
    draft = os.path.join(folder, f"{os.getpid()}.part")
    with system.open_file(draft, "w", encoding="ascii") as stream:
        stream.write(text)
    system.replace(draft, os.path.join(folder, "sitecustomize.py"))
    before = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    os.environ["PYTHONPATH"] = os.pathsep.join([folder, *(p for p in before if p != folder)])
