"""Runs `verify` and `profile` of four ranks on one node, through two agents of torchrun on this
machine, and in a Slurm job of two nodes, and says whether they come to the same verdicts.

    python benchmarks/two_nodes.py verify|profile|failures|odd [--runs N] [--ways one,agents,slurm]

For Slurm, first start one with `two_node_slurm.sh up FOLDER`, and export the `SLURM_CONF` that it
names. All four ranks share this machine's processors, so times mean little; verdicts do.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).parent / "nodes"
ONE, AGENTS, SLURM = "one", "agents", "slurm"
RANKS = ["--nproc-per-node", "2", "--nnodes", "2"]
WAYS = {
    ONE: ["--nproc-per-node", "4"],
    AGENTS: ["--launcher", "torchrun", *RANKS],
    SLURM: ["--launcher", "slurm", *RANKS],
}
VERIFY = ["verify", "--budget", "30m", "frames.py"]


_TRAINS = 4
"""Connections of a rank: to its parent, the store, and other ranks."""


class Started:
    """One command, together with that of node 1 where it needs one."""

    def __init__(self, way: str, words: list[str], argv: list[str], shared: str) -> None:
        command = [str(Path(sys.executable).with_name("torchlint")), *words[:1], *WAYS[way]]
        command += [] if way == ONE else ["--shared", shared]
        rest = [*words[1:], "--", *argv]
        self.other = None
        if way == AGENTS:
            self.other = subprocess.Popen(
                [*command, "--node-rank", "1", *rest],
                cwd=HERE,
                stderr=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            command += ["--node-rank", "0"]
        self.process = subprocess.Popen(
            [*command, *rest],
            cwd=HERE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def rank(self, number: int) -> int:
        """The process of this rank, as soon as the script trains in it."""
        while self.process.poll() is None:
            for process in psutil.process_iter(["environ", "net_connections"]):
                environ, open_ones = process.info["environ"] or {}, process.info["net_connections"]
                is_ours = environ.get("RANK") == str(number) and "TORCHLINT_RUN" in environ
                if is_ours and len(open_ones or ()) >= _TRAINS:
                    return process.pid
            time.sleep(0.2)
        raise SystemExit("It ended before the script trained.")

    def end(self) -> tuple[int, str, str]:
        """Exit code, standard output and the last line of standard error."""
        out, err = self.process.communicate()
        if self.other is not None:
            self.other.communicate()
        return self.process.returncode, out, (err.strip().splitlines() or [""])[-1]


def left(shared: str, before: set[str]) -> list[str]:
    """Files, processes and jobs that are still there."""
    scripts = {"frames.py", "images.py"}
    found = [f"{shared}/{name}" for name in os.listdir(shared)]
    found += [name for name in temporary() if name not in before]
    for process in psutil.process_iter(["cmdline", "environ"]):
        words = process.info["cmdline"] or []
        if any(Path(word).name in scripts for word in words) or "TORCHLINT_RUN" in (
            process.info["environ"] or {}
        ):
            found.append(f"process {process.pid}: {' '.join(words)[:80]}")
    return found


def temporary() -> set[str]:
    """Folders of torchlint among the temporary files."""
    folder = tempfile.gettempdir()
    return {f"{folder}/{name}" for name in os.listdir(folder) if name.startswith("torchlint-")}


def until_nothing_is_left(shared: str, before: set[str]) -> list[str]:
    """What is left after ten seconds: Slurm ends a job's last processes by itself."""
    found = left(shared, before)
    deadline = time.monotonic() + 10
    while found and time.monotonic() < deadline:
        time.sleep(0.2)
        found = left(shared, before)
    return found


def run(way: str, words: list[str], argv: list[str] = ()) -> tuple[int, dict[str, Any], str]:  # type: ignore[assignment]
    """Exit code, the object that the command wrote, and what it left, if anything."""
    with (
        tempfile.TemporaryDirectory(prefix="shared-") as shared,
        tempfile.TemporaryDirectory() as out,
    ):
        before = temporary()
        file = f"{out}/result.json"
        started = Started(way, [*words, "--json", file], list(argv), shared)
        code, _, said = started.end()
        found = until_nothing_is_left(shared, before)
        result = json.loads(Path(file).read_text()) if Path(file).exists() else {"said": said}
        return code, result, f"; left: {found}" if found else ""


def verify(ways: list[str], runs: int) -> None:
    for way in ways:
        for _ in range(runs):
            code, found, stays = run(way, VERIFY)
            noise = found.get("aa") or {}
            for fix in found.get("fixes", []):
                numbers = (fix["numerics"] or {}).get("agreement")
                why = f" ({fix['why']})" if fix["why"] else ""
                print(
                    f"verify {way:6} exit {code} {fix['code']} {fix['verdict']}{why} "
                    f"{fix['ratio']} {fix['ci']} {numbers}, "
                    f"the same program twice {noise.get('ratio')} {noise.get('ci')}, "
                    f"{found['environment']['processes']} ranks on "
                    f"{found['environment']['nodes'] or 'this node'}{stays}",
                    flush=True,
                )
            if not found.get("fixes"):
                print(f"verify {way:6} exit {code} {found}{stays}", flush=True)


def profile(ways: list[str], runs: int, what: str = "none", rank: int = 0) -> None:
    for way in ways:
        for _ in range(runs):
            words = ["profile", "--only", "input,communication", "images.py"]
            code, found, stays = run(way, words, [what, str(rank)])
            findings = found.get("findings", [])
            said = [f"{each['code']} {each['fact'][:140]}" for each in findings]
            named = [int(name[1]) for each in said if (name := re.search(r"rank (\d)", each))]
            print(
                f"profile {way:6} {what} {rank}: exit {code}, {len(found.get('ranks', []))} ranks, "
                f"named {named}: {said or found.get('said', 'no finding')}{stays}",
                flush=True,
            )


def odd(ways: list[str], runs: int) -> None:
    """A rank with more work, and one with a slow loader: another one in each run."""
    for number in range(runs):
        profile(ways, 1, "work", (number + 3) % 4)
        profile(ways, 1, "loader", (number + 2) % 4)


# what can go wrong ---------------------------------------------------------------------------


def failures(ways: list[str], _runs: int) -> None:
    for way in ways:
        for name, fail in failing(way):
            with tempfile.TemporaryDirectory(prefix="shared-") as shared:
                before = temporary()
                code, said = fail(shared)
                found = until_nothing_is_left(shared, before)
                print(
                    f"{way:6} {name}: exit {code}: {said}; left: {found or 'nothing'}", flush=True
                )


def failing(way: str) -> Iterator[tuple[str, Callable[[str], tuple[int, str]]]]:
    words = ["profile", "--only", "input", "images.py"]

    def during(act: Callable[[Started], None]) -> Callable[[str], tuple[int, str]]:
        def fail(shared: str) -> tuple[int, str]:
            started = Started(way, words, ["none"], shared)
            act(started)
            code, out, said = started.end()
            lines = [
                line for line in out.splitlines() if line.startswith(("The script", "Stopped"))
            ]
            return code, " / ".join([*lines, said])

        return fail

    def kill_a_rank(started: Started) -> None:
        os.kill(started.rank(3), signal.SIGKILL)

    def interrupt(started: Started) -> None:
        started.rank(3)
        started.process.send_signal(signal.SIGINT)

    def cancel(started: Started) -> None:
        started.rank(3)
        subprocess.run(["scancel", "--user", str(os.getuid())], check=True)

    yield "a rank is killed", during(kill_a_rank)
    yield "Ctrl-C", during(interrupt)
    if way == ONE:
        return
    yield "a missing shared folder", lambda _: said_at_once(way, words, "/nowhere")
    if way == SLURM:
        yield "a cancelled job", during(cancel)
        yield "a full queue", full_queue
        yield (
            "a refused job",
            lambda shared: said_at_once(
                way, [*words[:1], "--slurm=--partition=nowhere", *words[1:]], shared
            ),
        )


def said_at_once(way: str, words: list[str], shared: str) -> tuple[int, str]:
    code, _, said = Started(way, words, [], shared).end()
    return code, said


def full_queue(shared: str) -> tuple[int, str]:
    other = subprocess.Popen(["srun", "--nodes=2", "--exclusive", "sleep", "120"])
    try:
        while "R" not in subprocess.check_output(["squeue", "-h", "-o", "%t"], text=True).split():
            time.sleep(0.2)
        words = ["profile", "--queue-time", "4s", "images.py"]
        return said_at_once(SLURM, words, shared)
    finally:
        other.terminate()
        other.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("what", choices=["verify", "profile", "failures", "odd"])
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--ways", default=f"{ONE},{AGENTS},{SLURM}")
    given = parser.parse_args()
    ways = given.ways.split(",")
    if SLURM in ways and not shutil.which("salloc"):
        print("There is no salloc; start a Slurm with two_node_slurm.sh.", file=sys.stderr)
        return 2
    does = {"verify": verify, "profile": profile, "failures": failures, "odd": odd}
    does[given.what](ways, given.runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
