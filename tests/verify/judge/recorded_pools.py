"""Recorded timings of programs against themselves, and draws from them."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from torchlint.experiment.rotation import Block
from torchlint.experiment.rounds import mean_of
from torchlint.verify.judge.verdict import margin_of, noise, undecided, verdicts

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from torchlint.experiment.request import Design
    from torchlint.verify.result import Verdict

    Blocks = tuple[Block, ...]
    Pair = tuple[Blocks, Blocks]
    Three = tuple[Blocks, Blocks, Blocks]

FOLDER = Path(__file__).parent / "pools"
POOLS = sorted(path.stem.removeprefix("pool_") for path in FOLDER.glob("*.json"))


def blocks(
    seconds: Sequence[float],
    cpu: Sequence[float] | None = None,
    *,
    gpu: bool = False,
    memory_mb: float = 0.0,
    throttled: bool | None = None,
    steps: int = 10,
) -> Blocks:
    """One block for each time of a step."""
    return tuple(
        Block(steps, steps * wall, steps * own, steps * wall if gpu else None, memory_mb, throttled)
        for wall, own in zip(seconds, seconds if cpu is None else cpu, strict=True)
    )


@cache
def recorded(name: str) -> tuple[Pair, ...]:
    """A pool's pairs of processes; both sides of each ran the same program."""
    pairs = json.loads((FOLDER / f"pool_{name}.json").read_text())
    return tuple(
        (
            blocks([block[0] for block in pair], [block[2] for block in pair]),
            blocks([block[1] for block in pair], [block[3] for block in pair]),
        )
        for pair in pairs
    )


@cache
def slowed(run: Blocks, factor: float) -> Blocks:
    """The same blocks, each having taken `factor` times as long."""
    return blocks([b.seconds * factor for b in run], [b.cpu / b.steps * factor for b in run])


def drawn(
    pool: Sequence[Pair], draw: random.Random, size: int, *, faster: float = 1.0
) -> list[Pair]:
    """Pairs with replacement, sides flipped at random; the second side is made `faster`."""
    found = []
    for before, after in draw.choices(pool, k=size):
        if draw.random() < 0.5:
            before, after = after, before
        found.append((before if faster == 1.0 else slowed(before, faster), after))
    return found


@cache
def of_three(pool: str, machine: int, change: int, flipped: tuple[bool, bool]) -> Three:
    """A round of three processes of one program, from the numbers of two recorded pairs.

    A pool has pairs, and a round the original twice and the changed program. What differs between
    the three is told by two ratios that have nothing to do with one another: that of the first two,
    and that of their mean and the third. The logarithm of the second has three quarters of the
    variance of one pair's.
    """
    pairs = recorded(pool)
    (one, two), (three, four) = (
        pair[::-1] if turned else pair
        for pair, turned in zip((pairs[machine], pairs[change]), flipped, strict=True)
    )
    apart = [math.sqrt(a.seconds / b.seconds) for a, b in zip(one, two, strict=True)]
    middle = [
        b.seconds * (a.seconds / b.seconds) ** math.sqrt(3 / 4)
        for a, b in zip(three, four, strict=True)
    ]
    return (
        blocks([seconds * half for seconds, half in zip(middle, apart, strict=True)]),
        blocks([seconds / half for seconds, half in zip(middle, apart, strict=True)]),
        four,
    )


def round_of_three(pool: str, draw: random.Random) -> Three:
    """One that is drawn with replacement, sides flipped at random."""
    size = len(recorded(pool))
    flipped = draw.random() < 0.5, draw.random() < 0.5
    return of_three(pool, draw.randrange(size), draw.randrange(size), flipped)


@cache
def baseline(one: Blocks, again: Blocks) -> Blocks:
    """What verify compares a change with."""
    return mean_of(one, again)


def climbed(
    pool: str,
    draw: random.Random,
    design: Design,
    *,
    faster: float = 1.0,
    both: bool = True,
) -> tuple[int, Verdict, bool]:
    """Pairs, the verdict and whether the machine is fit at the end of rounds that stop as verify
    does.

    Args:
        both: a change is compared with both runs of the original, as verify does; else with one.
    """
    machine: list[Pair] = []
    change: list[Pair] = []
    for look in design.looks:
        while len(machine) < look:
            one, again, changed = round_of_three(pool, draw)
            before = baseline(one, again) if both else one
            machine.append((one, again))
            change.append((before if faster == 1.0 else slowed(before, faster), changed))
        floor = noise(machine, design)
        margin = margin_of(design, floor)
        found = verdicts({"only": change}, margin, design)
        if floor.fit and not undecided(found, margin, design):
            break
    return look, found["only"].verdict, floor.fit
