"""How often verify claims what is not so, and finds what is, on draws from recorded timings.

    python benchmarks/false_claims.py

Each draw is a whole measurement with its looks: the original against itself for the machine, and
against a program that is faster by a known factor, 1 for an identical one. `both` compares it with
the mean of both runs of the original, as verify does, and `one` with one of them. The pools were
recorded by `record_pool.py`; tests/verify/judge holds the same rates below their bounds.

The second table is what most people do instead: run the script, run it again, and compare the
means. Both runs are of the same program and were recorded one after the other.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "verify" / "judge"))

from recorded_pools import POOLS, climbed, recorded

from torchlint.experiment.request import Design
from torchlint.verify.result import Verdict

FACTORS = (1.0, 1.03, 1.05, 1.1, 1.2)
OFF = (0.03, 0.05, 0.1)
DRAWS = 1000


def main() -> None:
    print(
        "| pool | truth | originals | CONFIRMED | SLOWER | NEUTRAL | UNRESOLVED | unfit | pairs |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for pool in POOLS:
        for factor in FACTORS:
            for both in (False, True):
                print(row(pool, factor, both=both), flush=True)
    print("\n| pool | runs | over 3 % | over 5 % | over 10 % | the farthest |")
    print("|---|---|---|---|---|---|")
    for pool in POOLS:
        print(sequential(pool))


def row(pool: str, factor: float, *, both: bool) -> str:
    """One line of the table, in per cent of the draws."""
    draw = random.Random(f"{pool} {factor}")
    ends = [climbed(pool, draw, Design(), faster=factor, both=both) for _ in range(DRAWS)]
    counted = Counter(verdict for _, verdict, fit in ends if fit)
    rates = [
        f"{100 * counted[verdict] / DRAWS:.1f}"
        for verdict in (Verdict.CONFIRMED, Verdict.SLOWER, Verdict.NEUTRAL, Verdict.UNRESOLVED)
    ]
    unfit = 100 * sum(not fit for *_, fit in ends) / DRAWS
    pairs = sum(taken for taken, *_ in ends) / DRAWS
    which = "both" if both else "one"
    return f"| {pool} | {factor:g} | {which} | {' | '.join(rates)} | {unfit:.1f} | {pairs:.1f} |"


def sequential(pool: str) -> str:
    """How far apart, in per cent, a run and the next run of the same program are."""
    means = [fmean(block.seconds for block in first) for first, _ in recorded(pool)]
    apart = [max(a, b) / min(a, b) - 1 for a, b in pairwise(means)]
    shares = [f"{100 * fmean(each > limit for each in apart):.0f}" for limit in OFF]
    return f"| {pool} | {len(means)} | {' | '.join(shares)} | {100 * max(apart):.0f} |"


if __name__ == "__main__":
    main()
