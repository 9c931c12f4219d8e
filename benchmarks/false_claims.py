"""How often verify claims what is not so, and finds what is, on draws from recorded timings.

    python benchmarks/false_claims.py

Each draw is a whole measurement with its looks: the original against itself for the machine, and
against a program that is faster by a known factor, 1 for an identical one. The pools were recorded
by `record_pool.py`; tests/verify/judge holds the same rates below their bounds.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "verify" / "judge"))

from recorded_pools import POOLS, climbed

from torchlint.verify.request import Design
from torchlint.verify.result import Verdict

FACTORS = (1.0, 1.03, 1.05, 1.1, 1.2)
DRAWS = 1000


def main() -> None:
    print("| pool | truth | CONFIRMED | SLOWER | NEUTRAL | UNRESOLVED | unfit | pairs |")
    print("|---|---|---|---|---|---|---|---|")
    for pool in POOLS:
        for factor in FACTORS:
            print(row(pool, factor), flush=True)


def row(pool: str, factor: float) -> str:
    """One line of the table, in per cent of the draws."""
    draw = random.Random(f"{pool} {factor}")
    ends = [climbed(pool, draw, Design(), faster=factor) for _ in range(DRAWS)]
    counted = Counter(verdict for _, verdict, fit in ends if fit)
    rates = [
        f"{100 * counted[verdict] / DRAWS:.1f}"
        for verdict in (Verdict.CONFIRMED, Verdict.SLOWER, Verdict.NEUTRAL, Verdict.UNRESOLVED)
    ]
    unfit = 100 * sum(not fit for *_, fit in ends) / DRAWS
    pairs = sum(taken for taken, *_ in ends) / DRAWS
    return f"| {pool} | {factor:g} | {' | '.join(rates)} | {unfit:.1f} | {pairs:.1f} |"


if __name__ == "__main__":
    main()
