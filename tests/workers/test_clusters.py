"""A real Dask and a real Ray cluster of two workers: the same output, whoever dies."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from torchlint import __main__ as main
from torchlint.workers import clusters
from torchlint.workers import pool as workers
from torchlint.workers.clusters import ClusterError, connected
from torchlint.workers.pool import BACKENDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="kills with SIGKILL"),
    # Both leave sockets and event loops to the garbage collector.
    pytest.mark.filterwarnings("ignore"),
]

TRAIN = dedent(
    """\
    import torch
    from helpers.part{n} import accuracy
    device = torch.device("cuda")
    for x, y in loader:
        output = model(x.to(device))
        loss = output.sum()
        loss.backward()
        optimizer.step()
        accuracy(output, y)
    """
)
HELPER = "def accuracy(output, target):\n    return output.eq(target).sum().item()\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "helpers").mkdir()
    for n in range(12):
        (tmp_path / f"train{n}.py").write_text(TRAIN.format(n=n))
        (tmp_path / "helpers" / f"part{n}.py").write_text(HELPER)
    (tmp_path / "broken.py").write_text("import torch\nloss.backward(\n")
    return tmp_path


def check(project: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "torchlint", "check", "--no-cache", *words]
    return subprocess.run(command, cwd=project, capture_output=True, check=False)


@contextmanager
def two_dask_workers() -> Iterator[str]:
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster:
        yield cluster.scheduler_address


def lame(work: Callable[[list[Any]], object], number: int, share: list[Any]) -> tuple[int, object]:
    """Does a share of the work, and the first worker that gets one dies of it."""
    with suppress(FileNotFoundError):
        os.unlink(os.environ["VICTIM"])
        assert str(os.getpid()) != os.environ["NOT_THIS_ONE"]
        os.kill(os.getpid(), 9)
    return number, work(share)


PACKAGES = {"dask": "distributed", "ray": "ray"}


@pytest.mark.parametrize(
    "backend", [pytest.param(each, marks=pytest.mark.needs(PACKAGES[each])) for each in BACKENDS]
)
def test_a_cluster_says_what_this_machine_does_whoever_dies(
    project: Path,
    tmp_path_factory: pytest.TempPathFactory,
    backend: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Both on one cluster: Ray takes ten seconds to start and to stop."""
    victim = tmp_path_factory.mktemp("victim") / "victim"
    victim.write_text("")
    for name, value in (("NOT_THIS_ONE", os.getpid()), ("VICTIM", victim)):
        monkeypatch.setenv(name, str(value))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    monkeypatch.setattr(workers, "_numbered", lame)
    monkeypatch.chdir(project)
    here = check(project)
    code = main.run(["check", "--no-cache", "--backend", backend])
    there = capfd.readouterr()
    gc.collect()  # The processes of a Ray that gave up would warn during another test.
    if "Ray does not start here" in there.err:
        pytest.skip("this machine is too busy for Ray, which gives up after 30 seconds")
    assert not victim.exists(), "nobody was killed"
    assert here.stdout.count(b"TL201") == 12
    assert (code, there.out) == (2, here.stdout.decode()), "standard output is for findings"
    assert there.err.endswith(here.stderr.decode()), "Ray's own notices may come before"
    assert "gave up" not in there.err


@pytest.mark.needs("distributed")
def test_a_cluster_can_be_named(project: Path) -> None:
    with two_dask_workers() as address:
        there = check(project, "--backend", "dask", "--cluster", address)
    assert there.stdout == check(project).stdout


@pytest.mark.needs("distributed")
def test_nobody_at_the_address_is_a_clear_error(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "_PATIENCE_S", 1)
    with (
        pytest.raises(ClusterError, match="No Dask scheduler answers at tcp://127"),
        connected("dask", "tcp://127.0.0.1:1"),
    ):
        pass


@pytest.mark.parametrize(
    ("address", "said"),
    [(None, "Ray does not start here: too late"), ("a:1", "No Ray cluster answers at a:1: too")],
)
def test_a_ray_that_does_not_start_is_a_clear_error(
    monkeypatch: pytest.MonkeyPatch, address: str | None, said: str
) -> None:
    def init(**options: object) -> None:
        raise Exception("too late")

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(init=init))
    with pytest.raises(ClusterError, match=said), connected("ray", address):
        pass


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with (
        pytest.raises(ClusterError, match="run `pip install ray`"),
        connected("ray", None),
    ):
        pass


def test_an_address_needs_a_backend(project: Path) -> None:
    outcome = check(project, "--cluster", "tcp://x")
    assert outcome.returncode == 2
    assert b"--cluster needs --backend" in outcome.stderr
