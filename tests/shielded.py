"""Runs scripts under the shield, without a parent and, unless they import it, without torch.

Each run asserts that the project is byte for byte what it was.
"""

from __future__ import annotations

import difflib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

import torchlint
from torchlint.runtime.probe import run_settings as settings_file
from torchlint.runtime.probe.files.territory import missing_caches
from torchlint.runtime.probe.run_settings import VARIABLE, RunSettings
from torchlint.runtime.sandbox import fence
from torchlint.runtime.sandbox import overlayfs as sandboxes
from torchlint.runtime.sandbox.fenced import fenced
from torchlint.runtime.sandbox.overlayfs import OVERLAYFS, REDIRECT
from torchlint.runtime.sandbox.side_effects import collect
from torchlint.runtime.temporary_folders import make_missing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.warm_start import Start

BOTH = pytest.mark.parametrize("sandbox", [REDIRECT, OVERLAYFS])

_RUNNER = f"""
import sys
sys.path[0] = {str(Path(torchlint.__file__).parents[1])!r}
from torchlint.runtime.probe.world import shield
from torchlint.runtime.probe.run_settings import read
settings = read(sys.argv[1])
del sys.path[0]
shield.install(settings)
import os, runpy
sys.argv = [settings.main, *settings.argv]
sys.path.insert(0, os.path.dirname(settings.main))
runpy.run_path(settings.main, run_name="__main__")
"""


@dataclass(frozen=True)
class Run:
    """What came of a run."""

    code: int
    stdout: str
    stderr: str
    scratch: Path
    project: Path

    @property
    def lines(self) -> list[str]:
        """What it printed; fails with its standard error if it did not succeed."""
        assert self.code == 0, self.stderr
        return self.stdout.splitlines()

    def effects(self, *, kept: bool = False) -> set[tuple[str, str]]:
        """Kinds and objects of what it did."""
        found = collect([str(self.scratch)], str(self.project))
        return {(effect.kind, effect.what) for effect in found if effect.kept is kept}


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write a project; a name with a slash at its end is a folder, a text after `->` a link."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir(exist_ok=True)
        elif isinstance(text, str) and text.startswith("->"):
            path.symlink_to(text[2:])
        else:
            path.write_bytes(text if isinstance(text, bytes) else dedent(text).encode())
    return folder


def tree(folder: Path) -> list[tuple[object, ...]]:
    """All that is in a folder: names, kinds, permissions, times and contents."""
    found: list[tuple[object, ...]] = []
    for path, folders, files in os.walk(os.fsencode(folder)):
        for name in [b".", *folders, *files]:
            inner = os.path.join(path, name)
            status = os.lstat(inner)
            content: object = None
            if stat.S_ISLNK(status.st_mode):
                content = os.readlink(inner)
            elif stat.S_ISREG(status.st_mode):
                with open(inner, "rb") as stream:
                    content = stream.read()
            found.append((inner, status.st_mode, status.st_mtime_ns, content))
    return sorted(found, key=lambda entry: str(entry[0]))


def run_plainly(
    folder: Path,
    script: str,
    *,
    env: Mapping[str, str] | None = None,
    argv: Sequence[str] = (),
    start: Start = subprocess.Popen,
) -> Run:
    """Run a script of a project without any shield; it changes the project."""
    child = start(
        [sys.executable, str(folder / script), *argv],
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = child.communicate(timeout=600)
    return Run(child.returncode, out.decode(), err.decode(), folder, folder)


@cache
def _scratches() -> tempfile.TemporaryDirectory[str]:
    """Whose paths are short enough for sockets."""
    return tempfile.TemporaryDirectory(prefix="t-")


def run_shielded(
    project: Path,
    script: str,
    sandbox: str = REDIRECT,
    *,
    env: Mapping[str, str] | None = None,
    argv: Sequence[str] = (),
    scratch: Path | None = None,
    behind_fence: bool = True,
) -> Run:
    """Run a script of a project under the shield; skips the test where there is no overlayfs.

    Args:
        behind_fence: with Landlock, where there is some.
    """
    scratch = scratch or Path(tempfile.mkdtemp(dir=_scratches().name))
    scratch.mkdir(exist_ok=True)
    temporary = scratch / "t"
    temporary.mkdir(exist_ok=True)
    if sandbox == OVERLAYFS and sandboxes.available(str(project), str(scratch)) != OVERLAYFS:
        pytest.skip("overlayfs is not to be had here")
    settings = _settings(project, script, sandbox, scratch, argv)
    settings = replace(settings, fenced=behind_fence and fence.version() > 0)
    path = scratch / "settings.json"
    settings_file.write(settings, str(path))
    environ = {**os.environ, "TMPDIR": str(temporary), **(env or {}), VARIABLE: str(path)}
    # A workspace does so for all.
    inside = f"{project.parent}{os.sep}"
    make_missing([path for path in missing_caches(environ) if path.startswith(inside)])
    command = fenced([sys.executable, "-c", _RUNNER, str(path)], settings, environ)
    if sandbox == OVERLAYFS:
        command = sandboxes.wrap(command, str(project), str(scratch))
    before = tree(project)
    done = subprocess.run(
        command,
        cwd=project,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert tree(project) == before, f"the project has changed\n{done.stderr}"
    return Run(done.returncode, done.stdout, done.stderr, scratch, project)


def _settings(
    project: Path, script: str, sandbox: str, scratch: Path, argv: Sequence[str]
) -> RunSettings:
    return RunSettings(
        main=str(project / script),
        argv=tuple(argv),
        socket=str(scratch / "s"),
        scratch=str(scratch),
        project=str(project),
        sandbox=sandbox,
    )


def run_both(
    folder: Path,
    files: Mapping[str, str | bytes],
    sandbox: str,
    *,
    script: str = "train.py",
    env: Mapping[str, str] | None = None,
    argv: Sequence[str] = (),
    start: Start = subprocess.Popen,
) -> Run:
    """Run a script plainly in a twin of the project, started by `start`, and under the shield;
    asserts that it prints the same, the same of its errors too, and gives the shielded run.

    The plain run is the same for every shield, and made once.
    """
    key = (*files.items(), script, *argv)
    if key not in _PLAIN:
        twin = write_files(folder / "plain" / "project", files)
        plain = run_plainly(twin, script, env=env, argv=argv, start=start)
        assert plain.code == 0, plain.stderr
        _PLAIN[key] = _seen(plain)
        shutil.rmtree(twin)
    project = write_files(folder / "shield" / "project", files)
    shielded = run_shielded(project, script, sandbox, env=env, argv=argv)
    difference = difflib.unified_diff(_PLAIN[key], _seen(shielded), "without", "with", n=3)
    assert _seen(shielded) == _PLAIN[key], "\n".join([*difference, shielded.stderr])
    return shielded


_PLAIN: dict[tuple[object, ...], list[str]] = {}


def _seen(run: Run) -> list[str]:
    text = f"{run.stdout}\nexit code {run.code}"
    return text.replace(str(run.project), "PROJECT").splitlines()
