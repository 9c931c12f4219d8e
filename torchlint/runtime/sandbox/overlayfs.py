"""Keeps the project's files as they are while a run writes over them.

With overlayfs the kernel sends every write below the project to a folder of the run, whoever
writes: Python, a library, another program. Where it is not to be had, the probe redirects what
Python writes (`probe/files/redirect.py`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from torchlint.runtime.sandbox import overlay_mount
from torchlint.runtime.temporary_folders import remove

if TYPE_CHECKING:
    from collections.abc import Sequence

OVERLAYFS: Final = "overlayfs"
REDIRECT: Final = "redirect"
UPPER: Final = "upper"
WORK: Final = "work"

_TRIAL_S: Final = 30.0
_TRIAL: Final = """
import os, sys
folder, name, nested = sys.argv[1:]
path = os.path.join(folder, name)
with open(path, "w") as stream: stream.write(name)
with open(path) as stream: assert stream.read() == name
if nested:
    os.rename(path, os.path.join(folder, nested, "file"))
    os.remove(os.path.join(folder, nested, "file"))
    os.rmdir(os.path.join(folder, nested))
    os.mkdir(os.path.join(folder, nested))
    assert not os.listdir(os.path.join(folder, nested))
"""

_known: dict[tuple[str, str], str] = {}


def available(project: str, scratch: str | None = None) -> str:
    """`overlayfs` or `redirect`, found by trying once in this process.

    Args:
        project: the tree to keep; the attempt writes nothing to it.
        scratch: where the runs' folders will be; None: where temporary files are.
    """
    if not sys.platform.startswith("linux"):
        return REDIRECT
    scratch = scratch or tempfile.gettempdir()
    if (project, scratch) not in _known:
        trial = tempfile.mkdtemp(prefix="try-", dir=scratch)
        try:
            works = _works(project, trial)
        except (OSError, subprocess.SubprocessError):
            works = False
        finally:
            remove(trial)
        _known[project, scratch] = OVERLAYFS if works else REDIRECT
    return _known[project, scratch]


def wrap(
    command: Sequence[str], project: str, folder: str, *, own_network: bool = False
) -> list[str]:
    """The command with the project overlaid: it exits with 125 if that fails.

    Args:
        command: an absolute path and its arguments.
        project: real path of the tree whose files stay as they are.
        folder: folder of the run; what is written goes to `upper` in it.
        own_network: it gets a loopback of its own, and sees no other machine.
    """
    upper, work = os.path.join(folder, UPPER), os.path.join(folder, WORK)
    os.makedirs(upper, exist_ok=True)
    os.makedirs(work, exist_ok=True)
    # The upper folder replaces the project's own, with its permissions and times.
    shutil.copystat(project, upper)
    with suppress(OSError):
        before = os.stat(project)
        os.chown(upper, before.st_uid, before.st_gid)
    launcher = os.path.abspath(overlay_mount.__file__)
    layers = [project, upper, work, _kept(project, folder)]
    network = "own" if own_network else ""
    return [sys.executable, "-I", "-S", launcher, *layers, network, *command]


def _works(project: str, trial: str) -> bool:
    """Whether writes land where they should, and whether a folder can be removed and remade."""
    lower = os.path.join(trial, "lower")
    os.makedirs(os.path.join(lower, "nested"))
    name = f".{os.path.basename(trial)}"
    for tree, nested in ((project, ""), (lower, "nested")):
        run = os.path.join(trial, "run" + nested)
        os.mkdir(run)
        python = [sys.executable, "-I", "-S", "-c", _TRIAL]
        done = subprocess.run(  # noqa: S603 - the paths are arguments, there is no shell
            wrap([*python, tree, name, nested], tree, run),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_TRIAL_S,
            check=False,
        )
        written = os.path.join(tree, name)
        if os.path.lexists(written):
            os.remove(written)
            return False
        if done.returncode:
            return False
        if not nested and not os.path.exists(os.path.join(run, UPPER, name)):
            return False
    return os.path.isdir(os.path.join(lower, "nested"))


def _kept(project: str, folder: str) -> str:
    """The runs' folders where they are in the project: this process writes and reads there too."""
    around = os.path.dirname(folder)
    for path in (around, folder):
        if path.startswith(project.rstrip("/") + "/"):
            return path
    return ""
