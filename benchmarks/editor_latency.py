"""Measures how long an editor waits from a key to the findings, compared with LibCST's bare parse.

    python benchmarks/editor_latency.py
    python benchmarks/editor_latency.py --tree FOLDER --edit pkg/train.py

Each key is a pair: the time from `textDocument/didChange` to `textDocument/publishDiagnostics` of
that version, as a client of a real server sees it, and in the same second `cst.parse_module` of the
same text in this process. Medians of pairs, and the median of their ratios.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import libcst as cst
from editor_client import Client
from generated_sources import training_script
from versions import machine

LINES = 1_000
BOUND_S = 0.150


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--keys", type=int, default=60, help="how many keys to measure")
    parser.add_argument("--tree", type=Path, help="a project to open; default: the script alone")
    parser.add_argument("--edit", type=Path, help="the file of the tree to type in")
    parser.add_argument("--noticed", action="store_true", help="type what other files notice")
    parser.add_argument("--json", type=Path, help="where to write the result")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="torchlint-editor-") as name:
        folder = options.tree.resolve() if options.tree else Path(name)
        path = folder / (options.edit or "train.py")
        text = path.read_text(encoding="utf-8") if options.edit else training_script(LINES)
        result = measured(folder, path, text, options.keys, noticed=options.noticed)
    print(json.dumps(result, indent=2))
    if options.json is not None:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return 0 if result["held"] else 1


def measured(folder: Path, path: Path, text: str, keys: int, *, noticed: bool) -> dict[str, object]:
    """What typing in one file costs."""
    command = [sys.executable, "-m", "torchlint", "server", "--isolated", "--no-cache"]
    client = Client(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    try:
        client.capabilities = {"window": {"workDoneProgress": True}}
        begun = time.perf_counter()
        client.begin(folder)
        uri = client.open(path, text)
        found = len(client.found(uri))
        opened = time.perf_counter() - begun
        settled = settle(client, uri, text)
        keyed = (typed(text, key, noticed=noticed) for key in range(keys + 5))
        pairs = [pair(client, uri, each) for each in keyed]
    finally:
        client.kill()
    waits, parses = zip(*pairs[5:], strict=True)  # the first ones warm the caches
    ratios = [wait / parse for wait, parse in zip(waits, parses, strict=True)]
    return {
        "machine": machine(),
        "lines": text.count("\n"),
        "bytes": len(text.encode()),
        "findings": found,
        "keys": keys,
        "open, s": round(opened, 3),
        "project settled after, s": round(settled, 3),
        "key to findings, median ms": round(1000 * statistics.median(waits), 1),
        "key to findings, 9 of 10, ms": round(1000 * statistics.quantiles(waits, n=10)[-1], 1),
        "parse, median ms": round(1000 * statistics.median(parses), 1),
        "ratio, median": round(statistics.median(ratios), 2),
        "held": statistics.median(waits) <= BOUND_S,
    }


def settle(client: Client, uri: str, text: str) -> float:
    """Types nothing until the first look at a large project is over."""
    begun = time.perf_counter()
    client.change(uri, text + "\n")
    client.found(uri)
    while any(each["method"].endswith("/create") for each in client.requests):
        note = client.wait(lambda note: note["method"] == "$/progress")
        if note["params"]["value"]["kind"] == "end":
            break
    return time.perf_counter() - begun


def pair(client: Client, uri: str, text: str) -> tuple[float, float]:
    """Seconds from a key to the findings, and of LibCST's parse of the same text."""
    begun = time.perf_counter()
    client.change(uri, text)
    client.found(uri)
    waited = time.perf_counter() - begun
    begun = time.perf_counter()
    cst.parse_module(text)
    return waited, time.perf_counter() - begun


def typed(text: str, key: int, *, noticed: bool) -> str:
    """The text after one more key: in a number, or in the name of a call in a new function."""
    if noticed:
        return f"{text}\n\ndef added(x):\n    return x.forward{'d' * key}()\n"
    return f"{text}\n\ndef added(x):\n    return x + 1{'0' * key}\n"


if __name__ == "__main__":
    sys.exit(main())
