"""Scripts that disturb one another when they run side by side: the change is not to blame."""

from __future__ import annotations

import json
import os
import socket
import sys
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

from tests.verify.test_script_kinds import in_a_process, snapshot
from torchlint.runtime.sandbox.overlayfs import OVERLAYFS, REDIRECT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.warm_start import Torchlint

    Verified = tuple[int, dict[str, Any], str]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="verify does not run on Windows")

TRAIN = """
import os, sys
import torch

def train(after_first_step=lambda: None):
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    torch.manual_seed(0)
    for step in range(100_000):
        optimizer.zero_grad()
        model(torch.randn(16, 8)).square().mean().backward()
        optimizer.step()
"""
SPAWNED = """
import os, sys
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from train import train

def main(rank):
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = sys.argv[1]
    dist.init_process_group("gloo", rank=rank, world_size=2)
    train()

if __name__ == "__main__":
    mp.spawn(main, nprocs=2)
"""
SERVES = """
import sys, threading
from http.server import HTTPServer, SimpleHTTPRequestHandler
from train import train
server = HTTPServer(("127.0.0.1", int(sys.argv[1])), SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
train()
"""
LOCKS = """
import fcntl, os
from train import train
lock = open(os.path.expanduser("~/.train.lock"))
fcntl.flock(lock, fcntl.LOCK_EX | {nonblocking})
train()
"""
WRITES_ITS_LOCK = """
import fcntl, os
from train import train
lock = open(os.path.expanduser("~/.other.lock"), "w")
fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
os.close(os.open(os.path.expanduser("~/.train.pid"), os.O_CREAT | os.O_EXCL))
train()
"""


def free_port() -> int:
    """Outside of those that the system gives away by itself, and not what another worker of the
    tests finds at the same moment."""
    for port in range(12355 + os.getpid() % 5000, 20000):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError


@pytest.fixture
def torchlint(request: pytest.FixtureRequest, sandbox: str) -> Torchlint:
    """As a user runs it where each run may need a network of its own; else by a warm Python."""
    if sandbox == OVERLAYFS:
        return in_a_process
    found: Torchlint = request.getfixturevalue("warm_torchlint")
    return found


@pytest.fixture
def against_itself(
    tmp_path: Path, torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Verified]:
    """Verifies a script against itself; gives the exit code, the result and what was said."""

    def verified(text: str) -> Verified:
        home, project, out = tmp_path / "home", tmp_path / "project", tmp_path / "out.json"
        for each in (home, project):
            each.mkdir()
        (home / ".train.lock").touch()
        (project / "train.py").write_text(TRAIN)
        (project / "main.py").write_text(dedent(text))
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("OMP_NUM_THREADS", "1")
        words = ["verify", "--pairs", "1", "--steps", "12", "--warmup", "4", "--total-only"]
        words += ["--yes", "--json", str(out), "--against", "main.py", "main.py", "--"]
        before = snapshot(project)
        code, said = torchlint([*words, str(free_port())], project)
        assert snapshot(project) == before, said
        assert out.exists(), said
        return code, json.loads(out.read_text()), said

    return verified


WITH_ITS_OWN_NETWORK = pytest.param(OVERLAYFS, marks=pytest.mark.runs)
"""What a run of its own shows beside the other; `test_first_look` has when it is tried."""


@pytest.mark.parametrize("sandbox", [WITH_ITS_OWN_NETWORK, REDIRECT])
@pytest.mark.parametrize(
    "script",
    [
        pytest.param(SPAWNED, marks=pytest.mark.runs),
        LOCKS.format(nonblocking="fcntl.LOCK_NB"),
        pytest.param(LOCKS.format(nonblocking="0"), marks=pytest.mark.runs),
        WRITES_ITS_LOCK,
    ],
    ids=["ranks at a port", "lock", "patient lock", "lock that it writes"],
)
def test_a_script_that_disturbs_itself_does_not_differ_from_itself(
    script: str, against_itself: Callable[[str], Verified]
) -> None:
    assert_no_difference(*against_itself(script))


@pytest.mark.parametrize("sandbox", [OVERLAYFS, REDIRECT])
def test_a_port_is_not_a_reason_to_run_one_after_the_other(
    against_itself: Callable[[str], Verified],
) -> None:
    """Where each run can have a network of its own."""
    code, result, said = against_itself(SERVES)
    assert_no_difference(code, result, said)
    (note,) = [each for each in result["notes"] if "next to another one" in each]
    apart = result["environment"]["sandbox"].startswith("overlayfs")
    assert ("network of its own" if apart else "one after the other") in note, said
    assert "Address already in use" in note


def assert_no_difference(code: int, result: dict[str, Any], said: str) -> None:
    """One pair was measured, which is too few for a verdict, and the numbers are the same."""
    assert code == 3, said
    assert result["total"]["pairs"] == 1, said
    assert result["total"]["numerics"]["agreement"] == "bitwise equal"
    assert "fail" not in result["summary"]


@pytest.mark.parametrize("sandbox", [WITH_ITS_OWN_NETWORK])
def test_a_script_that_reaches_another_machine_keeps_its_network(
    against_itself: Callable[[str], Verified],
) -> None:
    script = f"""
import socket
with socket.socket() as wire:
    wire.settimeout(0.1)
    try:
        wire.connect(("192.0.2.1", 80))
    except OSError:
        pass
{SERVES}"""
    _, result, said = against_itself(script)
    (note,) = [each for each in result["notes"] if "next to another one" in each]
    assert "one after the other" in note, said
