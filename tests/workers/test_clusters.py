"""A real Dask and a real Ray cluster of two workers: the same output, whoever dies."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from torchlint.workers import clusters
from torchlint.workers.clusters import ClusterError, connected
from torchlint.workers.pool import BACKENDS, Pool

if TYPE_CHECKING:
    from collections.abc import Iterator

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


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_cluster_says_what_this_machine_does(project: Path, backend: str) -> None:
    pytest.importorskip({"dask": "distributed"}.get(backend, backend))
    here, there = check(project), check(project, "--backend", backend)
    assert here.stdout.count(b"TL201") == 12
    assert (there.returncode, there.stdout) == (2, here.stdout)
    assert there.stderr.endswith(here.stderr), "Ray's own notices may come before"


@contextmanager
def two_dask_workers() -> Iterator[str]:
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster:
        yield cluster.scheduler_address


def lame(items: list[Path]) -> list[str]:
    """Kills the first worker that gets a `victim`, once."""
    for item in items:
        if item.name == "victim":
            try:
                item.unlink()
            except FileNotFoundError:
                continue
            assert str(os.getpid()) != os.environ["NOT_THIS_ONE"]
            os.kill(os.getpid(), 9)
    return [item.name for item in items]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_worker_that_is_killed_changes_nothing(
    tmp_path: Path,
    backend: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip({"dask": "distributed"}.get(backend, backend))
    monkeypatch.setenv("NOT_THIS_ONE", str(os.getpid()))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    (tmp_path / "victim").write_text("")
    items = [tmp_path / f"{n}" for n in range(20)] + [tmp_path / "victim"]
    with connected(backend, None) as cluster:
        pool = Pool(1, cluster)
        answers = dict(pool.map(lame, items, weigh=lambda item: 1))
    assert pool.troubles == []
    assert not (tmp_path / "victim").exists(), "nobody was killed"
    assert answers == {item: item.name for item in items}
    assert capsys.readouterr().out == "", "standard output is for findings"


def test_a_cluster_can_be_named(project: Path) -> None:
    pytest.importorskip("distributed")
    with two_dask_workers() as address:
        there = check(project, "--backend", "dask", "--cluster", address)
    assert there.stdout == check(project).stdout


def test_nobody_at_the_address_is_a_clear_error(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
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
