"""The whole shield around a training script, with its workers, in the probe."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.shielded import BOTH, tree, write_files
from torchlint.runtime.probe.files.territory import of_run
from torchlint.runtime.probe.run_settings import RunSettings
from torchlint.runtime.sandbox import overlayfs as sandboxes
from torchlint.runtime.sandbox.overlayfs import OVERLAYFS, REDIRECT

if TYPE_CHECKING:
    from conftest import RunProbe

WORKERS = """
    import json, os, sys
    from pathlib import Path
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Samples(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            with open("log.txt", "a") as log:
                log.write(f"{index}\\n")
            Path("cache").mkdir(exist_ok=True)
            Path(f"cache/{index}.txt").write_text(Path("weights.txt").read_text())
            torch.save(torch.ones(1), f"cache/{index}.pt")
            return torch.load(f"cache/{index}.pt") + len(Path("old/data.txt").read_text())

    if __name__ == "__main__":
        os.makedirs("outputs/today")
        Path("weights.txt").write_text("w")
        loader = DataLoader(Samples(), 2, num_workers=2, multiprocessing_context=sys.argv[1])
        print([batch.tolist() for batch in loader][0])
        print(sorted(Path("log.txt").read_text().split()), len(os.listdir("cache")))
        os.chdir("outputs/today")
        os.chdir("../..")
"""


@BOTH
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_write_and_read_what_the_others_wrote(
    sandbox: str, method: str, tmp_path: Path, run_probe: RunProbe
) -> None:
    project = write_files(
        tmp_path / "project", {"train.py": WORKERS, "log.txt": "", "old/data.txt": "abc"}
    )
    python: list[str] = [sys.executable]
    if sandbox == OVERLAYFS:
        if sandboxes.available(str(project), str(tmp_path)) != OVERLAYFS:
            pytest.skip("overlayfs is not to be had here")
        (tmp_path / "run").mkdir()
        python = sandboxes.wrap(python, str(project), str(tmp_path / "run"))
    before = tree(project)
    run = run_probe(
        str(project / "train.py"), cwd=project, argv=[method], sandbox=sandbox, python=python
    )
    assert run.lines == ["[[4.0], [4.0]]", "['0', '1', '2', '3', '4', '5', '6', '7'] 16"]
    assert tree(project) == before


def settings(tmp_path: Path, **changes: Any) -> RunSettings:
    values: dict[str, Any] = {
        "main": "",
        "socket": str(tmp_path / "workspace/s1"),
        "scratch": str(tmp_path / "workspace/1-run"),
        "project": str(tmp_path / "project"),
        "sandbox": REDIRECT,
        **changes,
    }
    Path(values["scratch"]).mkdir(parents=True, exist_ok=True)
    return RunSettings(**values)


@pytest.mark.parametrize(
    ("path", "guarded", "layered"),
    [
        ("project/x", True, False),
        ("project", True, False),
        ("project-2/x", True, True),
        ("workspace/1-run/x", False, False),
        ("workspace/states/x", False, False),
        ("cache/x", False, False),
        ("cache-2/x", True, True),
        ("project/cache/x", True, False),
    ],
)
def test_what_must_stay_as_it_is(
    path: str, guarded: bool, layered: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`guarded` without overlayfs, `layered` with it."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "project/cache"))
    real = os.path.realpath(tmp_path / path)
    assert of_run(settings(tmp_path)).covers(real) is guarded
    assert of_run(settings(tmp_path, sandbox=OVERLAYFS)).covers(real) is layered


def test_the_folder_of_a_verification_is_nobody_s_even_inside_the_project(tmp_path: Path) -> None:
    ground = of_run(settings(tmp_path, project=str(tmp_path)))
    assert not ground.covers(str(tmp_path / "workspace/states/0"))
    assert ground.covers(str(tmp_path / "x"))


def test_a_socket_elsewhere_does_not_free_its_folder(tmp_path: Path) -> None:
    ground = of_run(settings(tmp_path, socket=str(tmp_path / "project/s")))
    assert ground.covers(str(tmp_path / "project/x"))
    assert not ground.covers(str(tmp_path / "workspace/1-run/x"))


def test_what_is_among_the_temporary_files_is_the_user_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp/old").mkdir(parents=True)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    ground = of_run(settings(tmp_path))
    for path in (str(tmp_path / "tmp/old/x"), str(tmp_path / "tmp/new/x"), "/tmp/new/x"):
        assert ground.covers(path)


@pytest.mark.parametrize("path", ["/dev/null", "/dev/shm/x", "/proc/self/oom_score_adj", "/run/x"])
def test_devices_are_anyones(path: str, tmp_path: Path) -> None:
    assert not of_run(settings(tmp_path)).covers(path)
