"""How time grows with the file: CPU seconds of a check, and of LibCST's parse alone.

Usage: growth.py SHORT LONG ROUNDS
Prints {"check": [short, long], "parse": [short, long]}: medians, measured inside one process
after everything is imported, so that start-up does not flatter the ratio.
"""

import gc
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import libcst as cst

from torchlint.config.settings import NEWEST_TORCH, Selection
from torchlint.engine.check import check
from torchlint.project.target import Target


def check_file(path: str) -> None:
    """Checks one file with all rules."""
    report = check([Target(path, Selection(), NEWEST_TORCH)])
    if report.diagnostics:
        sys.exit(f"{path}: {report.diagnostics[0].message}")


def parse_file(path: str) -> None:
    """Parses one file as the check does, with gc off."""
    gc.disable()
    cst.parse_module(Path(path).read_bytes())
    gc.enable()


def seconds(work: Callable[[str], None], path: str) -> float:
    """CPU seconds of one call."""
    gc.collect()
    start = time.process_time()
    work(path)
    return time.process_time() - start


short, long, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
check_file(short)
medians = {}
for name, work in (("check", check_file), ("parse", parse_file)):
    times = [(seconds(work, short), seconds(work, long)) for _ in range(rounds)]
    medians[name] = [statistics.median(column) for column in zip(*times, strict=True)]
print(json.dumps(medians))
