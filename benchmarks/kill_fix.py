"""Kills `torchlint fix --apply` at random moments: every file is the old one or the new one.

    python benchmarks/kill_fix.py --kills 200

Each time a tree of files that all have a fix is written again, `fix --apply` runs on it in a
process of its own and is killed with SIGKILL, which nothing can catch. Three of four kills fall
into the
writes: they wait until a random number of files is seen to be written, and then for a random part
of the time that one write takes. The others are spread evenly over a whole run. At the end one run
is left alone, and no draft of the killed ones may be there any more.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCRIPT = """\
import torch

optimizer = torch.optim.SGD(model.parameters(), 0.1)
for x, y in loader:  # {number}
    optimizer.zero_grad(set_to_none=False)
    loss = model(x).sum()
    loss.backward()
    optimizer.step()
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="where to write the result")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    result = run(options.kills, options.files, draw)
    print(json.dumps(result, indent=2))
    if options.json is not None:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return 1 if result["torn"] or result["drafts_at_the_end"] else 0


def run(kills: int, files: int, draw: random.Random) -> dict[str, object]:
    """Kill so many runs, and count what became of the files.

    Returns:
        how many files were old, new and neither; how many drafts the killed runs left next to them,
        and how many of those the last run, which was not killed; and how many runs were killed
        before, during and after their writes.
    """
    counts = dict.fromkeys(("old", "new", "torn", "drafts", "before", "during", "after"), 0)
    with tempfile.TemporaryDirectory(prefix="torchlint-kill-") as name:
        folder = Path(name)
        old = write_tree(folder, files)
        start_s, writing_s = undisturbed(folder)
        new = {path: path.read_bytes() for path in old}
        assert all(new[path] != text for path, text in old.items()), "nothing was fixed"
        for number in range(kills):
            write_tree(folder, files)
            drafts = drafts_in(folder)
            if number % 4:
                kill_while_writing(
                    folder, draw.randrange(files), draw.uniform(0, writing_s / files)
                )
            else:
                kill_after(folder, draw.uniform(0, start_s + writing_s))
            now = {path: path.read_bytes() for path in old}
            written = sum(now[path] == new[path] for path in old)
            untouched = sum(now[path] == old[path] for path in old)
            left = len(drafts_in(folder) - drafts)
            counts["new"] += written
            counts["old"] += untouched
            counts["torn"] += files - written - untouched
            counts["drafts"] += left
            begun = written or left
            counts["before" if not begun else "after" if written == files else "during"] += 1
        write_tree(folder, files)
        undisturbed(folder)
        last = len(drafts_in(folder))
    return {"kills": kills, "files": files, **counts, "drafts_at_the_end": last}


def write_tree(folder: Path, files: int) -> dict[Path, bytes]:
    texts = {
        folder / f"train{number}.py": SCRIPT.format(number=number).encode()
        for number in range(files)
    }
    for path, text in texts.items():
        path.write_bytes(text)
    return texts


def drafts_in(folder: Path) -> set[Path]:
    return set(folder.glob(".torchlint-*"))


def command(folder: Path) -> list[str]:
    words = ["fix", "--apply", "--unsafe", "--isolated", "--jobs", "1", str(folder)]
    return [sys.executable, "-m", "torchlint", *words]


def undisturbed(folder: Path) -> tuple[float, float]:
    """Seconds from the start of a run to its first write, and from there to its last one."""
    start = time.monotonic()
    before = inodes(folder)
    process = subprocess.Popen(command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    first = last = None
    seen = before
    while process.poll() is None:
        now = inodes(folder)
        if now != seen:
            seen, last = now, time.monotonic()
            first = first or last
    assert process.stderr is not None
    assert process.returncode == 0, process.stderr.read()
    assert first is not None, "nothing was seen to be written"
    assert last is not None
    return first - start, last - first


def inodes(folder: Path) -> dict[str, int]:
    """The files of a folder by name, drafts included; a file that is written becomes another."""
    with os.scandir(folder) as entries:
        return {entry.name: entry.inode() for entry in entries}


def kill_while_writing(folder: Path, files: int, seconds: float) -> None:
    """Kill a run so long after so many files were written, and a write has begun."""
    before = inodes(folder)
    process = subprocess.Popen(
        command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while process.poll() is None:
        now = inodes(folder)
        if now != before and sum(now.get(name) != before[name] for name in before) >= files:
            break
    kill(process, seconds)


def kill_after(folder: Path, seconds: float) -> None:
    """Kill a run so long after its start."""
    process = subprocess.Popen(
        command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    kill(process, seconds)


def kill(process: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()


if __name__ == "__main__":
    sys.exit(main())
