"""How much of the gain that is known `tune` reaches, on scripts with planted slowness.

    python benchmarks/tuned_scripts.py
    python benchmarks/tuned_scripts.py --only loader_threads --runs 3 --budget 15m

Each script of `benchmarks/tuned` has a version that was made faster by hand, `NAME_best.py`.
`verify` measures that one against the slow script, and `tune` searches in the slow script; the
share is that of the logarithms of both ratios. Scripts without such a version have nothing to gain:
there, a change that is called faster is a false word. It prints a line of JSON for each run and a
table at the end; the exit code is 1 if something was called faster where there is nothing to gain.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

TUNED = Path(__file__).resolve().parent / "tuned"
BEST = "_best"


def scripts() -> list[str]:
    """The names of the slow scripts."""
    names = sorted(path.stem for path in TUNED.glob("*.py"))
    return [name for name in names if not name.endswith(BEST)]


def ran(folder: Path, *words: str) -> tuple[int, dict[str, Any]]:
    """The exit code of a command of torchlint, and the JSON that it wrote."""
    file = folder / "out.json"
    file.unlink(missing_ok=True)
    command = [sys.executable, "-m", "torchlint", *words, "--yes", "--json", str(file)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if not file.exists():
        raise SystemExit(f"{' '.join(words)} exits with {done.returncode}:\n{done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(file.read_text())
    return done.returncode, found


def known(folder: Path, name: str, budget: str) -> float | None:
    """How many times faster the version by hand is; None if there is none."""
    other = f"{name}{BEST}.py"
    if not (folder / other).exists():
        return None
    words = ("--against", other, "--total-only", "--budget", budget, "--threads", str(processors()))
    _, found = ran(folder, "verify", f"{name}.py", *words)
    ratio: float | None = (found["total"] or {}).get("ratio")
    if ratio is None:
        raise SystemExit(f"{other} was not measured; give more with --verify-budget.")
    return ratio


def processors() -> int:
    from torchlint.workers.pool import processors as usable

    return usable()


def searched(folder: Path, name: str, budget: str, best: float | None) -> dict[str, Any]:
    """One search, held against what is known."""
    begun = time.monotonic()
    code, found = ran(folder, "tune", f"{name}.py", "--budget", budget)
    total = found["total"] or {}
    ratio = total.get("ratio") if code == 0 else None
    kept = [each["name"] for each in found["changes"] if each["outcome"] == "kept"]
    share = None
    if best is not None:
        share = math.log(ratio or 1.0) / math.log(best)
    return {
        "script": name,
        "exit": code,
        "best": best,
        "ratio": ratio,
        "share": share,
        "verdict": total.get("verdict"),
        "numbers": (total.get("numerics") or {}).get("agreement"),
        "kept": kept,
        "outcomes": {each["name"]: each["outcome"] for each in found["changes"]},
        "seconds": round(time.monotonic() - begun),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", default="", metavar="NAMES", help="Scripts, by commas.")
    parser.add_argument("--runs", type=int, default=1, help="Searches of each script.")
    parser.add_argument("--budget", default="15m", help="Of each search.")
    parser.add_argument("--verify-budget", default="3m", help="For the version by hand.")
    given = parser.parse_args()
    wanted = set(filter(None, given.only.split(",")))
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for path in TUNED.glob("*.py"):
            shutil.copy(path, folder)
        for name in (each for each in scripts() if not wanted or each in wanted):
            best = known(folder, name, given.verify_budget)
            for _ in range(given.runs):
                rows.append(searched(folder, name, given.budget, best))
                print(json.dumps(rows[-1]), flush=True)
    print("| script | by hand | tune | share | kept | seconds |\n|---|---|---|---|---|---|")
    for name in dict.fromkeys(each["script"] for each in rows):
        print(row([each for each in rows if each["script"] == name]))
    return int(any(is_false(each) for each in rows))


def row(runs: list[dict[str, Any]]) -> str:
    first = runs[0]
    ratios = ", ".join(f"{each['ratio']:.2f}" if each["ratio"] else "-" for each in runs)
    shares = [each["share"] for each in runs if each["share"] is not None]
    share = f"{median(shares):.2f}" if shares else ""
    best = f"{first['best']:.2f}" if first["best"] else ""
    kept = ", ".join(first["kept"])
    seconds = ", ".join(str(each["seconds"]) for each in runs)
    return f"| {first['script']} | {best} | {ratios} | {share} | {kept} | {seconds} |"


def is_false(run: dict[str, Any]) -> bool:
    """Whether it says of a script with nothing to gain that it became faster."""
    return run["best"] is None and bool(run["ratio"])


if __name__ == "__main__":
    sys.exit(main())
