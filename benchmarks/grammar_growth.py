"""How the time and memory of a check grow with every construct of Python's grammar, nested and
repeated.

    python benchmarks/grammar_growth.py [--pairs] [--only TEXT] [--json FILE]

Each family of programs (`benchmarks/grammar.py`) is checked at sizes 4, 8, 16, … until the exponent
of the last doubling can be measured, torchlint refuses the file, or it has 250,000 characters. If
torchlint refuses it, the largest size that it reads is looked for. The exponent is against the
length of the text: 1 for linear, 2 for quadratic; what is too short, or too small, to measure
counts as the least that is not, so that noise makes no exponent.

Prints the families that grow fastest. Exits with 1 if one grows faster than n^1.5 and is read
although it takes longer than a second, or more than 400 MB, in each of three runs: other work on
the machine only ever adds to the time.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.grammar import PROGRAM, Shape, shapes
from torchlint import check_source
from torchlint.source.nesting import too_much

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

LIMIT = 1.5
LONG_S = 1.0
LARGE_MB = 400.0
"""What stays below these up to the size that torchlint refuses may grow as it likes."""
_LONGEST_S = 10
_ENOUGH_S = 0.25
_MEASURABLE_S = 0.05
_MEASURABLE_MB = 16.0
_LARGEST = 250_000
_RUNS = 3


class Check(NamedTuple):
    """A check of a program: its size, its length in characters, and when it is done the CPU seconds
    and the largest size of the process so far, in MB."""

    size: int
    length: int
    seconds: float = -1
    megabytes: float = 0
    refused: bool = False


class Growth(NamedTuple):
    """How a family grew: the exponents of its last doubling, in time and in memory, and its slowest
    and its largest check."""

    name: str
    exponent: float
    size: int
    seconds: float
    memory_exponent: float
    megabytes: float
    ended: str

    @property
    def is_bad(self) -> bool:
        in_memory = self.memory_exponent > LIMIT and self.megabytes > LARGE_MB
        return in_memory or (self.exponent > LIMIT and self.seconds > LONG_S)

    @property
    def fastest(self) -> float:
        return max(self.exponent, self.memory_exponent)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pairs", action="store_true", help="nest any two constructs")
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
    found.sort(key=lambda each: (not each.is_bad, -each.fastest, -each.seconds))
    for each in found[: options.show]:
        took = f"n^{each.exponent:4.2f} {each.seconds:7.2f} s at {each.size:6}"
        grew = f"n^{each.memory_exponent:4.2f} {each.megabytes:5.0f} MB"
        print(f"{took}  {grew}  {each.ended:10} {each.name}")
    fast = sum(each.fastest > LIMIT for each in found)
    bad = sum(each.is_bad for each in found)
    print(
        f"{len(found)} families in {time.monotonic() - begin:.0f} s; faster than n^{LIMIT}: {bad} "
        f"that take longer than {LONG_S:g} s or more than {LARGE_MB:g} MB, {fast - bad} that are "
        "refused before that"
    )
    return 1 if bad else 0


def measured(families: Iterable[Shape]) -> Iterable[Growth]:
    _check(0, PROGRAM)  # what the first check of a process loads
    for number, family in enumerate(families):
        if sys.stderr.isatty():
            print(f"\r{number} {family.name[:60]:60}", end="", file=sys.stderr, flush=True)
        best = _in_process(family)
        for _ in range(_RUNS - 1):
            if not best.is_bad:
                break
            best = min(best, _in_process(family), key=lambda each: each.fastest)
        yield best


def _in_process(family: Shape) -> Growth:
    """Measures a family in a process that is ended if a check takes too long."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _child(family, writer)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as stream:
        checks = [Check(*json.loads(line)) for line in stream]
    _, status = os.waitpid(child, 0)
    return _growth(family, checks, status)


def _child(family: Shape, writer: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    size = 4
    refused: int | None = None
    read: list[Check] = []
    while True:
        try:
            text = family.text(size)
        except ValueError:
            break
        if len(text) > _LARGEST or (read and len(text) <= read[-1].length):  # `ast` leaves it out
            break
        spent = int(resource.getrusage(resource.RUSAGE_SELF).ru_utime)
        limit = spent + _LONGEST_S + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        os.write(writer, (json.dumps(Check(size, len(text))) + "\n").encode())
        check = _check(size, text)
        os.write(writer, (json.dumps(check) + "\n").encode())
        if check.refused:
            refused = size
        else:
            read.append(check)
        last = read[-1] if read else Check(0, 0, 0)
        if last.seconds > LONG_S or (
            last.seconds > _ENOUGH_S and exponent(read, _seconds) <= LIMIT
        ):
            break
        size = 2 * size if refused is None else (last.size + refused) // 2
        if refused and (last.seconds < _MEASURABLE_S or refused - last.size <= refused // 8):
            break
    os._exit(0)


def _check(size: int, text: str) -> Check:
    start = time.process_time()
    check_source(text, isolated=True, hints=True, pedantic=True)
    took = time.process_time() - start
    return Check(size, len(text), took, _largest_size(), too_much(text) is not None)


def _seconds(check: Check) -> float:
    return check.seconds


def _largest_size() -> float:
    """Of this process so far, in MB."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / (1e6 if sys.platform == "darwin" else 1e3)


def _growth(family: Shape, checks: list[Check], status: int) -> Growth:
    done = [each for each in checks if each.seconds >= 0]
    if status:
        size = checks[-1].size if checks else 0
        return Growth(family.name, math.inf, size, _LONGEST_S, 0.0, 0.0, "killed")
    if not done:
        return Growth(family.name, 0.0, 0, 0.0, 0.0, 0.0, "no text")
    read = sorted(each for each in done if not each.refused)
    slowest = max(done, key=lambda each: each.seconds)
    ended = "refused" if any(each.refused for each in done) else ""
    in_time = exponent(read, _seconds)
    in_memory = exponent(read, lambda each: each.megabytes, _MEASURABLE_MB)
    most = max(each.megabytes for each in done)
    return Growth(family.name, in_time, slowest.size, slowest.seconds, in_memory, most, ended)


def exponent(
    read: list[Check], cost: Callable[[Check], float], measurable: float = _MEASURABLE_S
) -> float:
    """Of the last doubling, above what the smallest check takes.

    Args:
        read: the checks that were not refused, by their size.
        cost: of a check.
        measurable: the least difference in cost that is more than noise.
    """
    if len(read) < 2:
        return 0.0
    last = read[-1]
    before = next((each for each in reversed(read) if each.length <= last.length / 2), read[0])
    base = cost(read[0])
    grown = max(cost(last) - base, measurable) / max(cost(before) - base, measurable)
    if last.length < 1.2 * before.length:
        return 0.0
    return math.log(grown) / math.log(last.length / before.length)


if __name__ == "__main__":
    sys.exit(main())
