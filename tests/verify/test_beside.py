"""Scripts that disturb one another when they run side by side: the change is not to blame."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

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


def against_itself(
    script: str, folder: Path, *options: str, sandbox: str = "overlayfs"
) -> tuple[int, dict[str, Any], str]:
    """Verify a script against itself; gives the exit code, the result and what was said."""
    home, project = folder / "home", folder / "project"
    for each in (home, project):
        each.mkdir()
    (home / ".train.lock").touch()
    (project / "train.py").write_text(TRAIN)
    (project / "main.py").write_text(dedent(script))
    start = "import sys; from torchlint import __main__ as main; sys.exit(main.run(sys.argv[1:]))"
    if sandbox == "redirect":
        start = f"from torchlint.runtime.sandbox import overlayfs; overlayfs.available = lambda *_: 'redirect'; {start}"
    words = ["--pairs", "1", "--steps", "12", "--warmup", "4", "--total-only", "--yes"]
    words += ["--json", str(folder / "out.json"), "--against", "main.py", *options]
    done = subprocess.run(
        [sys.executable, "-c", start, "verify", *words, "main.py", "--", str(free_port())],
        cwd=project,
        env={**os.environ, "HOME": str(home), "OMP_NUM_THREADS": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert (folder / "out.json").exists(), done.stdout
    return done.returncode, json.loads((folder / "out.json").read_text()), done.stdout


@pytest.mark.parametrize("sandbox", ["overlayfs", "redirect"])
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
    script: str, sandbox: str, tmp_path: Path
) -> None:
    assert_no_difference(*against_itself(script, tmp_path, sandbox=sandbox))


@pytest.mark.parametrize("sandbox", ["overlayfs", "redirect"])
def test_a_port_is_not_a_reason_to_run_one_after_the_other(sandbox: str, tmp_path: Path) -> None:
    """Where each run can have a network of its own."""
    code, result, said = against_itself(SERVES, tmp_path, sandbox=sandbox)
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


def test_a_script_that_reaches_another_machine_keeps_its_network(tmp_path: Path) -> None:
    script = f"""
import socket
with socket.socket() as wire:
    wire.settimeout(0.1)
    try:
        wire.connect(("192.0.2.1", 80))
    except OSError:
        pass
{SERVES}"""
    _, result, said = against_itself(script, tmp_path)
    (note,) = [each for each in result["notes"] if "next to another one" in each]
    assert "one after the other" in note, said
