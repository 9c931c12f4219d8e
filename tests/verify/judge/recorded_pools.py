"""Recorded timings of programs against themselves, and draws from them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from torchlint.experiment.rotation import Block
from torchlint.verify.judge.verdict import margin_of, noise, undecided, verdicts

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from torchlint.experiment.request import Design
    from torchlint.verify.result import Verdict

    Blocks = tuple[Block, ...]
    Pair = tuple[Blocks, Blocks]

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


def climbed(
    pool: str, draw: random.Random, design: Design, *, faster: float = 1.0
) -> tuple[int, Verdict, bool]:
    """Pairs, the verdict and whether the machine is fit at the end of rounds that stop as verify
    does."""
    machine: list[Pair] = []
    change: list[Pair] = []
    for look in design.looks:
        machine += drawn(recorded(pool), draw, look - len(machine))
        change += drawn(recorded(pool), draw, look - len(change), faster=faster)
        floor = noise(machine, design)
        margin = margin_of(design, floor)
        found = verdicts({"only": change}, margin, design)
        if floor.fit and not undecided(found, margin, design):
            break
    return look, found["only"].verdict, floor.fit
