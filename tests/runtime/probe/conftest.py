"""Runs a script in the probe as `torchlint verify` does, with a parent small enough to read."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from little_parent import Answer, Outcome, Parent, kill_tree

from torchlint.runtime.probe import run_settings as settings_file
from torchlint.runtime.probe.run_settings import VARIABLE, RunSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

MAIN = Path(settings_file.__file__).with_name("__main__.py")
FINAL = ("ended", "survey", "record")


class RunProbe(Protocol):
    def __call__(self, main: str, **how: Any) -> Outcome: ...


@pytest.fixture
def scratches() -> Iterator[Callable[[], Path]]:
    """Fresh folders whose paths are short enough for a socket."""
    with TemporaryDirectory(prefix="probe-", dir="/tmp") as root:
        count = iter(range(1000))

        def fresh() -> Path:
            folder = Path(root, str(next(count)))
            folder.mkdir()
            return folder

        yield fresh


@pytest.fixture
def start_python() -> Callable[..., subprocess.Popen[bytes]]:
    """What starts a run: here a Python of its own. Rooms that care for steps and numbers alone
    start warm."""
    return subprocess.Popen


@pytest.fixture
def run_probe(
    tmp_path: Path,
    scratches: Callable[[], Path],
    start_python: Callable[..., subprocess.Popen[bytes]],
) -> RunProbe:
    """`run_probe("train.py", argv=[…], overlay={path: text}, mode="survey", …)`.

    Paths are relative to `cwd` (`tmp_path`). Other keywords: `as_module`, `env` (on top of the
    test's), `answer` (message → the parent's answer or None), `until` (types of the message of
    the main process after which the run is killed), `fresh` (a Python of its own in any case),
    and any field of `RunSettings`. The mode `none` runs the script and nothing else.
    """

    def run(
        main: str,
        *,
        overlay: Mapping[str | Path, str | bytes] | None = None,
        cwd: Path = tmp_path,
        env: Mapping[str, str] | None = None,
        answer: Answer = lambda message: None,
        until: Sequence[str] = FINAL,
        python: Sequence[str] = (sys.executable,),
        fresh: bool = False,
        timeout: float = 600.0,
        **overrides: Any,
    ) -> Outcome:
        outcome = Outcome(scratches())
        settings = _settings(main, cwd, outcome.scratch, overlay or {}, overrides)
        path = outcome.scratch / "settings.json"
        settings_file.write(settings, str(path))
        parent = Parent(settings.socket, outcome, answer, until)
        with (
            open(outcome.scratch / "stdout", "wb") as out,
            open(outcome.scratch / "stderr", "wb") as err,
        ):
            start = subprocess.Popen if fresh else start_python
            child = start(
                [*python, str(MAIN), str(path)],
                cwd=cwd,
                env=_environment(path, env),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        try:
            _wait(child, parent, outcome, timeout)
        finally:
            kill_tree(str(path), child)
            parent.close()
        return outcome

    return run


def _environment(settings: Path, more: Mapping[str, str] | None) -> dict[str, str]:
    temporary = settings.parent / "t"
    temporary.mkdir(exist_ok=True)
    env = {**os.environ, "TMPDIR": str(temporary), **(more or {}), VARIABLE: str(settings)}
    # Who runs the tests may have it; what the run does about it is to be seen.
    for variable in ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"):
        env.pop(variable, None)
    return env


def _settings(
    main: str,
    cwd: Path,
    scratch: Path,
    overlay: Mapping[str | Path, str | bytes],
    overrides: dict[str, Any],
) -> RunSettings:
    served = {}
    for number, (file, text) in enumerate(overlay.items()):
        stand_in = scratch / f"overlay-{number}"
        stand_in.write_bytes(text if isinstance(text, bytes) else dedent(text).encode())
        served[os.path.realpath(cwd / file)] = str(stand_in)
    values: dict[str, Any] = {
        "main": main,
        "argv": (),
        "sources": served,
        "socket": str(scratch / "s"),
        "scratch": str(scratch),
        "project": os.path.realpath(cwd),
        **overrides,
    }
    values["argv"] = tuple(values["argv"])
    return RunSettings(**values)


def _wait(child: subprocess.Popen[bytes], parent: Parent, outcome: Outcome, timeout: float) -> None:
    deadline = time.monotonic() + timeout
    while not parent.through.wait(0.02):
        outcome.code = child.poll()
        if outcome.code is not None:
            return
        assert time.monotonic() < deadline, f"too slow: {outcome.messages}\n{outcome.stderr}"


@dataclass(frozen=True)
class Served:
    """What a script printed that ran under the overlay alone."""

    code: int
    stdout: str
    stderr: str
    served: list[str]

    @property
    def lines(self) -> list[str]:
        assert self.code == 0, self.stderr
        return self.stdout.splitlines()


class RunServed(Protocol):
    def __call__(self, main: str, **how: Any) -> Served: ...


WITHOUT_TORCH = f"""
import sys
sys.path[0] = {str(MAIN.parents[3])!r}
from torchlint.runtime.probe.script import main_module
from torchlint.runtime.probe.script import served_sources
from torchlint.runtime.probe.script import spawned_workers
from torchlint.runtime.probe.run_settings import read
del sys.path[0]
settings = read()
served_sources.install(settings)
spawned_workers.send_to_workers(settings.scratch)
sys.exit(main_module.run(settings.main, settings.argv, settings.as_module).code)
"""


@pytest.fixture
def run_served(tmp_path: Path, scratches: Callable[[], Path]) -> RunServed:
    """As `run_probe`, without a parent, torch or any part but the overlay and the main module."""

    def run(
        main: str,
        *,
        overlay: Mapping[str | Path, str | bytes] | None = None,
        cwd: Path = tmp_path,
        env: Mapping[str, str] | None = None,
        **overrides: Any,
    ) -> Served:
        scratch = scratches()
        path = scratch / "settings.json"
        settings_file.write(_settings(main, cwd, scratch, overlay or {}, overrides), str(path))
        child = subprocess.Popen(
            [sys.executable, "-c", WITHOUT_TORCH],
            cwd=cwd,
            env=_environment(path, env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        watchdog = threading.Timer(600, kill_tree, (str(path), child))
        watchdog.start()
        try:
            out, err = child.communicate()
        finally:
            watchdog.cancel()
            kill_tree(str(path), child)
        served = scratch / "served"
        real = sorted(served.read_text().splitlines()) if served.exists() else []
        return Served(child.returncode, out, err, real)

    return run


class Write(Protocol):
    def __call__(self, files: Mapping[str, str | bytes]) -> Path: ...


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a project into `tmp_path`; texts are dedented."""

    def put(files: Mapping[str, str | bytes]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else dedent(text).encode())
        return tmp_path

    return put
