"""Measures `check` on a large tree: by processes, with and without what is remembered, ten-fold.

    pip download --no-deps transformers timm lightning accelerate -d wheels
    for wheel in wheels/*.whl; do unzip -q "$wheel" -d tree; done
    python benchmarks/large_trees.py tree --copies 10 --json large.json

Linux only: peaks are read from /proc while the processes run. `ruff` has to be installed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

from versions import machine
from whole_process import measure

RUFF = "ruff check --isolated --no-cache --select PERF,F,E --exit-zero --quiet ."
_LOOK_S = 0.05


@dataclass(frozen=True, slots=True)
class Run:
    """Wall-clock seconds of a command, processor seconds of it and of all processes that it
    started, and the peak resident MB of its main process and of the largest of the others."""

    seconds: float
    cpu: float
    main_mb: float
    worker_mb: float


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("--copies", type=int, default=1, help="also on so many copies in one tree")
    parser.add_argument("--edit", type=Path, help="a file of the tree to add a comment to")
    parser.add_argument("--json", type=Path, help="where to write the result")
    options = parser.parse_args()
    if shutil.which("ruff") is None:
        parser.error("there is no `ruff` on PATH to compare with; install it")
    with tempfile.TemporaryDirectory(prefix="torchlint-large-") as name:
        folder = Path(name)
        tree = folder / "one"
        shutil.copytree(options.tree, tree)
        result: dict[str, object] = {"machine": machine(), "files": count(tree)}
        result |= measured(tree, folder / "cache", options.edit or largest(tree))
        if options.copies > 1:
            many = folder / "many"
            for number in range(options.copies):
                shutil.copytree(options.tree, many / str(number))
            result["copies"] = options.copies
            result["copies, 2 jobs"] = asdict(run(check(2, folder / "cache2"), many))
            result["copies, remembered"] = asdict(run(check(2, folder / "cache2"), many))
    text = json.dumps(result, indent=2)
    print(text)
    if options.json is not None:
        options.json.write_text(text + "\n", encoding="utf-8")
    return 0


def measured(tree: Path, cache: Path, edit: Path) -> dict[str, object]:
    """Each run by what it is, on one tree."""
    found: dict[str, object] = {}
    for jobs in (1, 2):
        found[f"{jobs} jobs, nothing remembered"] = asdict(run(check(jobs, None), tree))
        say(f"{jobs} jobs")
    run(check(2, cache), tree)
    warm, ruff = [], []
    for _ in range(5):
        warm.append(run(check(2, cache), tree))
        ruff.append(run(RUFF.split(), tree).seconds)
    found["remembered"] = asdict(min(warm, key=lambda each: each.seconds))
    found["remembered, median s"] = statistics.median(each.seconds for each in warm)
    found["ruff, median s"] = statistics.median(ruff)
    say("remembered")
    parse = [sys.executable, "-c", PARSE, str(tree / edit)]
    found["parse of the edited file alone"] = asdict(run(parse, tree))
    edited = []
    for number in range(3):
        text = (tree / edit).read_text(encoding="utf-8")
        (tree / edit).write_text(f"# {number}\n{text}", encoding="utf-8")
        edited.append(run(check(2, cache), tree))
    found["one file edited"] = asdict(min(edited, key=lambda each: each.seconds))
    found["edited"] = f"{edit} ({(tree / edit).stat().st_size} bytes)"
    text = (tree / edit).read_text(encoding="utf-8")
    (tree / edit).write_text(text + "\n\ndef added(x):\n    return x.forward()\n", encoding="utf-8")
    found["one file edited that others notice"] = asdict(run(check(2, cache), tree))
    return found


PARSE = "import sys, libcst; libcst.parse_module(open(sys.argv[1]).read())"


def check(jobs: int, cache: Path | None) -> list[str]:
    """The command; without a cache, everything is done again."""
    command = [sys.executable, "-P", "-m", "torchlint", "check", "--isolated", "--jobs", str(jobs)]
    kept = ["--no-cache"] if cache is None else ["--cache-dir", str(cache)]
    return [*command, *kept, "--output-format", "concise", "."]


def run(command: list[str], folder: Path, look_s: float = _LOOK_S) -> Run:
    """What a command takes in a folder, as seen every `look_s` seconds.

    Raises:
        UnexpectedExitError: it did not do what is measured.
    """
    over = threading.Event()
    main: dict[int, float] = {}
    workers: dict[int, float] = {}
    spent: dict[int, float] = {}
    watcher = threading.Thread(target=watch, args=(main, workers, spent, over, look_s))
    watcher.start()
    try:
        cost = measure(command, folder=folder, expect=(0, 1))
    finally:
        over.set()
        watcher.join()
    peaks = (max(each.values(), default=0.0) for each in (main, workers))
    # The kernel adds what a process took to its parent's account if the parent waits for its end.
    cpu = max(cost.cpu, sum(spent.values()))
    return Run(round(cost.wall, 3), round(cpu, 3), *peaks)


def watch(
    main: dict[int, float],
    workers: dict[int, float],
    spent: dict[int, float],
    over: threading.Event,
    look_s: float,
) -> None:
    """Notes the peak resident MB of the measured process and of those that it starts, and the
    processor seconds of each, until it is over. The kernel's own account at the end tells only the
    largest of them all."""
    ticks = os.sysconf("SC_CLK_TCK")
    while not over.wait(look_s):
        parents = {}
        seconds = {}
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                try:
                    status = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
                    parents[int(entry.name)] = int(status[1])
                    seconds[int(entry.name)] = (int(status[11]) + int(status[12])) / ticks
                except (OSError, ValueError, IndexError):
                    continue
        for pid, parent in parents.items():
            if descends(parent, os.getpid(), parents):
                peaks = main if parent == os.getpid() else workers
                peaks[pid] = max(peaks.get(pid, 0.0), peak_mb(pid))
                spent[pid] = seconds[pid]


def descends(pid: int, root: int, parents: dict[int, int]) -> bool:
    while pid in parents and pid != root:
        pid = parents[pid]
    return pid == root


def peak_mb(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


def count(tree: Path) -> int:
    return sum(1 for _ in tree.rglob("*.py"))


def largest(tree: Path) -> Path:
    """The largest file whose name says that it trains."""
    files = tree.rglob("*train*.py")
    return max(files, key=lambda file: file.stat().st_size).relative_to(tree)


def say(what: str) -> None:
    print(f"measured: {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
