"""How the time of a check grows with every construct of Python's grammar, nested and repeated.

    python benchmarks/grammar_growth.py [--pairs] [--only TEXT] [--json FILE]

Each family of programs (`benchmarks/grammar.py`) is checked at sizes 4, 8, 16, …, until a check
takes a quarter of a second, torchlint refuses the file, or it has 250,000 characters.
The exponent is that of the last doubling, against the length of the text: 1 for linear, 2 for
quadratic. Prints the families that grow fastest; exits with 1 if one grows faster than n^1.5, or
takes longer than ten seconds.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.grammar import Shape, shapes
from torchlint import check_source

if TYPE_CHECKING:
    from collections.abc import Iterable

LIMIT = 1.5
LONGEST_S = 10
_ENOUGH_S = 0.25
_MEASURABLE_S = 0.05
_LARGEST = 250_000
_PASSES = 3


class Growth(NamedTuple):
    """How a family grew: the exponent of its last doubling, and the last size and CPU seconds."""

    name: str
    exponent: float
    size: int
    seconds: float
    ended: str


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pairs", action="store_true", help="nest any two constructs in turns")
    parser.add_argument("--only", default="", help="families with this text in their name")
    parser.add_argument("--json", type=Path, help="where to write the result")
    parser.add_argument("--show", type=int, default=25, help="how many families to print")
    options = parser.parse_args()
    chosen = [each for each in shapes(pairs=options.pairs) if options.only in each.name]
    begin = time.monotonic()
    found = []
    for each in measured(chosen):
        found.append(each)
        if options.json is not None:  # a run of an hour that is ended still says what it found
            options.json.write_text(json.dumps([each._asdict() for each in found], indent=1))
    found.sort(key=lambda each: (-each.exponent, -each.seconds))
    for each in found[: options.show]:
        took = f"n^{each.exponent:4.2f} {each.seconds:7.2f} s at {each.size:6}"
        print(f"{took}  {each.ended:10} {each.name}")
    bad = [each for each in found if each.exponent > LIMIT]
    print(f"{len(found)} families, {len(bad)} above n^{LIMIT}; {time.monotonic() - begin:.0f} s")
    return 1 if bad else 0


def measured(families: Iterable[Shape]) -> Iterable[Growth]:
    """Each family in a process that is ended if a check takes too long."""
    for number, family in enumerate(families):
        if sys.stderr.isatty():
            print(f"\r{number} {family.name[:60]:60}", end="", file=sys.stderr, flush=True)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            _child(family, writer)
        os.close(writer)
        with os.fdopen(reader, encoding="utf-8") as stream:
            lines = stream.read().splitlines()
        _, status = os.waitpid(child, 0)
        yield _growth(family, [json.loads(line) for line in lines], status)


def _child(family: Shape, writer: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    size = 4
    best = 0.0
    while best < _ENOUGH_S:
        try:
            text = family.text(size)
        except ValueError:
            break
        if len(text) > _LARGEST:
            break
        spent = int(resource.getrusage(resource.RUSAGE_SELF).ru_utime)
        limit = spent + LONGEST_S + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        os.write(writer, (json.dumps([size, len(text), None, False]) + "\n").encode())
        best, refused = math.inf, False
        for _ in range(_PASSES):
            start = time.process_time()
            result = check_source(text, isolated=True, hints=True, pedantic=True)
            best = min(best, time.process_time() - start)
            refused = any(each.kind == "syntax" for each in result.diagnostics)
            if best > 1:
                break
        os.write(writer, (json.dumps([size, len(text), best, refused]) + "\n").encode())
        if refused:
            break
        size *= 2
    os._exit(0)


def _growth(family: Shape, rows: list[list[float]], status: int) -> Growth:
    timed = [row for row in rows if row[2] is not None]
    if status:
        return Growth(family.name, math.inf, int(rows[-1][0]) if rows else 0, LONGEST_S, "killed")
    if not timed:
        return Growth(family.name, 0.0, 0, 0.0, "no text")
    base = timed[0][2]
    size, _, seconds, refused = timed[-1]
    exponent = 0.0
    for before, after in itertools.pairwise(timed):
        if after[2] - base > _MEASURABLE_S and after[1] > 1.2 * before[1]:
            grown = math.log((after[2] - base) / max(before[2] - base, 1e-3))
            exponent = grown / math.log(after[1] / before[1])
    return Growth(family.name, exponent, int(size), seconds, "refused" if refused else "")


if __name__ == "__main__":
    sys.exit(main())
