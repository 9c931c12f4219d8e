"""What runs leave among the temporary files and in shared memory, however they end: nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.shielded import BOTH, write_files
from torchlint.runtime.failures import Failed
from torchlint.runtime.probe.run_settings import PLAIN, RunSettings
from torchlint.runtime.run import Job, Run
from torchlint.runtime.sandbox import overlayfs
from torchlint.runtime.sandbox.overlayfs import OVERLAYFS, REDIRECT
from torchlint.runtime.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHM = Path("/dev/shm")
pytestmark = pytest.mark.skipif(not SHM.is_dir(), reason="Linux alone has such a folder")

WORKERS = """
import json, multiprocessing, os, signal, sys, tempfile
from multiprocessing import shared_memory
import torch
from torch.utils.data import DataLoader

class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 1000
    def __getitem__(self, index):
        return torch.full((4,), index)

if __name__ == "__main__":
    torch.multiprocessing.set_sharing_strategy("file_system")
    context = multiprocessing.get_context("spawn")
    lock, block = context.Lock(), shared_memory.SharedMemory(create=True, size=64)
    loaders = [iter(DataLoader(Numbers(), num_workers=2, persistent_workers=each))
               for each in (True, False)]
    kept = [next(loader) for loader in loaders]
    os.makedirs(tempfile.gettempdir() + "/run1")
    open(tempfile.gettempdir() + "/run1/ckpt.pt", "w").close()
    names = [lock._semlock.name, block.name, kept[0].untyped_storage()._share_filename_cpu_()[1]]
    print(json.dumps([name if isinstance(name, str) else name.decode() for name in names]))
    sys.stdout.flush()
    signal.pause()
"""
RESUMES = """
import os, sys, tempfile, torch
for folder in (tempfile.gettempdir(), {there!r}):
    path = folder + "/run1/ckpt.pt"
    print(os.path.exists(path), torch.load(folder + "/pretrained.pt"))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    torch.save(1, path)
    torch.save(torch.load(path) + 1, folder + "/pretrained.pt")
    print(os.path.exists(path), torch.load(folder + "/pretrained.pt"))
print("end")
sys.stdout.flush()
"""

PARENT = """
import os, sys
from pathlib import Path
from tests.runtime.test_leftovers import job, printed
from tests.scenes import wait_until
from torchlint.runtime.run import Run
from torchlint.runtime.workspace import Workspace

with Workspace() as workspace, Run(job(Path(sys.argv[1]), sys.argv[2]), workspace) as run:
    print(printed(run, wait_until, "]")[0], flush=True)
    while True:
        run.poll(600)
"""


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The user's folder for temporary files, with a path that is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="t-") as folder:
        monkeypatch.setenv("TMPDIR", folder)
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield Path(folder)


def job(project: Path, sandbox: str) -> Job:
    if sandbox == OVERLAYFS and overlayfs.available(str(project)) != OVERLAYFS:
        pytest.skip("overlayfs is not to be had here")
    main = str(project / "train.py")
    settings = RunSettings(
        main=main, project=str(project), mode=PLAIN, sandbox=sandbox, device="cpu"
    )
    return Job(settings, cwd=str(project))


def printed(run: Run, waits_until: Callable[[Callable[[], bool]], bool], until: str) -> list[str]:
    """What the script prints, as soon as that is in it."""
    out = Path(run.folder, "stdout")
    run.greet(200)
    run.start()

    def is_there() -> bool:
        with suppress(Failed):  # it may have ended since; what it printed is there
            run.poll(0)
        return until in out.read_text()

    assert waits_until(is_there)
    return out.read_text().splitlines()


def in_shared_memory(names: list[str]) -> list[str]:
    """Of the names of blocks and semaphores, those that are left."""
    wanted = {name.strip("/") for name in names}
    return [name for name in os.listdir(SHM) if name.removeprefix("sem.") in wanted]


@BOTH
def test_a_run_that_is_killed_leaves_nothing(
    sandbox: str, tmp_path: Path, temporary: Path, waits_until: Any
) -> None:
    project = write_files(tmp_path / "project", {"train.py": WORKERS})
    (temporary / "mine").mkdir()
    with Workspace() as workspace:
        with Run(job(project, sandbox), workspace) as run:
            names = json.loads(printed(run, waits_until, "]")[0])
            assert len(names) == 3
        assert in_shared_memory(names) == []
        assert not list(Path(workspace.root).glob("t[0-9]*"))
    assert os.listdir(temporary) == ["mine"]


@BOTH
def test_every_run_begins_with_what_the_user_has_among_the_temporary_files(
    sandbox: str, tmp_path: Path, temporary: Path, waits_until: Any
) -> None:
    """By the folder's own name, too, and not with what the run before has saved."""
    project = write_files(tmp_path / "project", {"train.py": RESUMES.format(there=str(temporary))})
    import torch

    torch.save(7, temporary / "pretrained.pt")
    before = (temporary / "pretrained.pt").read_bytes()
    with Workspace() as workspace:
        for _ in range(2):
            with Run(job(project, sandbox), workspace) as run:
                lines = printed(run, waits_until, "end")
            assert lines == ["False 7", "True 2", "False 2", "True 2", "end"]
            assert sorted(os.listdir(temporary)) == [
                "pretrained.pt",
                os.path.basename(workspace.root),
            ]
    assert (temporary / "pretrained.pt").read_bytes() == before


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_whatever_ends_torchlint_nothing_is_left(
    ending: signal.Signals, tmp_path: Path, temporary: Path, waits_until: Any
) -> None:
    project = write_files(tmp_path / "project", {"train.py": WORKERS})
    command = [sys.executable, "-c", PARENT, str(project), REDIRECT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as parent:
        assert parent.stdout is not None
        names = json.loads(parent.stdout.readline())
        assert len(names) == 3
        parent.send_signal(ending)
    assert waits_until(lambda: not os.listdir(temporary))
    assert in_shared_memory(names) == []
