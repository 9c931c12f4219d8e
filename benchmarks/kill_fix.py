"""Kills `torchlint fix --apply` at random moments: every file is the old one or the new one.

    python benchmarks/kill_fix.py --kills 200

Each time a tree of files that all have a fix is written anew, `fix --apply` runs on it in a process
of its own and is killed with SIGKILL, which nothing can catch. The moments are spread evenly over
the time that an undisturbed run takes, from just before its first write on.
"""

from __future__ import annotations

import argparse
import json
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
    return 1 if result["torn"] else 0


def run(kills: int, files: int, draw: random.Random) -> dict[str, object]:
    """Kill so many runs, and count what became of the files.

    Returns:
        how many files were old, new and neither; how many drafts were left beside them; and how
        many runs were killed before, during and after their writes.
    """
    counts = dict.fromkeys(("old", "new", "torn", "drafts", "before", "during", "after"), 0)
    with tempfile.TemporaryDirectory(prefix="torchlint-kill-") as name:
        folder = Path(name)
        old = write_tree(folder, files)
        begin, end = undisturbed(folder)
        new = {path: path.read_bytes() for path in old}
        assert all(new[path] != text for path, text in old.items()), "nothing was fixed"
        for _ in range(kills):
            write_tree(folder, files)
            kill_after(folder, draw.uniform(0.95 * begin, 1.05 * end))
            now = {path: path.read_bytes() for path in old}
            written = sum(now[path] == new[path] for path in old)
            untouched = sum(now[path] == old[path] for path in old)
            counts["new"] += written
            counts["old"] += untouched
            counts["torn"] += files - written - untouched
            counts["drafts"] += sum(1 for _ in folder.glob(".torchlint-*"))
            counts["before" if not written else "after" if written == files else "during"] += 1
    return {"kills": kills, "files": files, **counts}


def write_tree(folder: Path, files: int) -> dict[Path, bytes]:
    for draft in folder.glob(".torchlint-*"):
        draft.unlink()
    texts = {
        folder / f"train{number}.py": SCRIPT.format(number=number).encode()
        for number in range(files)
    }
    for path, text in texts.items():
        path.write_bytes(text)
    return texts


def command(folder: Path) -> list[str]:
    words = ["fix", "--apply", "--unsafe", "--isolated", "--jobs", "1", str(folder)]
    return [sys.executable, "-m", "torchlint", *words]


def undisturbed(folder: Path) -> tuple[float, float]:
    """Seconds from the start of a run to its first write and to its end."""
    start = time.monotonic()
    first = None
    process = subprocess.Popen(command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    before = {path: path.stat().st_ino for path in folder.glob("*.py")}
    while process.poll() is None:
        if first is None and any(path.stat().st_ino != inode for path, inode in before.items()):
            first = time.monotonic() - start
        time.sleep(0.001)
    assert process.stderr is not None
    assert process.returncode == 0, process.stderr.read()
    return first or 0.0, time.monotonic() - start


def kill_after(folder: Path, seconds: float) -> None:
    process = subprocess.Popen(
        command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()


if __name__ == "__main__":
    sys.exit(main())
