"""The plan of a measurement, declared before it begins: blocks, steps, looks."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from torchlint.experiment.errors import no_steps_from, too_short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlint.experiment.request import Request
    from torchlint.experiment.subject import Variant
    from torchlint.runtime.survey_reader import Survey

_BLOCK_S: Final = 0.08
"""Shorter blocks measure the scheduler."""
_SHARE_OF_START: Final = 1 / 8
"""A process that takes long to start is worth measuring for longer."""
_TURNS_S: Final = 8.0
"""A process measures no longer than this, so that several fit into a minute."""
_MOST_BLOCKS: Final = 10
FEWEST_BLOCKS: Final = 3
_WARMUP: Final = 10
_WARMUP_S: Final = 5.0
_NUMERIC_STEPS: Final = 30
_NUMERIC_S: Final = 20.0
_SETTLE: Final = 1
_SHARE_OF_MEMORY: Final = 0.7
"""Of what is free; the rest is for what grows."""
_CUDA_CONTEXT_MB: Final = 600.0
"""An allowance for what CUDA takes in each process in addition to torch's tensors."""


@dataclass(frozen=True, slots=True)
class DeclaredPlan:
    """The plan, declared before anything was measured."""

    looks: tuple[int, ...]
    """Pairs of processes at each look."""
    alpha: float
    margin: float
    blocks: int
    steps: int
    """Steps in a block."""
    warmup: int
    settle: int
    seed: int
    step: str
    """What ends a step, in words."""
    variants: tuple[str, ...]
    numeric_steps: int
    numeric_first: int = 0
    """The first step whose numbers are compared, counted from 0."""
    budget_s: float | None = None


def declare(request: Request, seen: Survey, variants: Sequence[Variant]) -> DeclaredPlan:
    """The plan for a program whose steps have been surveyed.

    Blocks are longer where a process takes long to start: that costs little there, and ranks that
    share processors have steps of very different lengths (a spread of 30 to 40 % over blocks of
    80 ms, of four ranks on two processors).

    On several machines a loader's workers are not stopped between turns, so at the start of a turn
    some batches are ready. Steps that only take one of them do not count.

    Raises:
        ExperimentError: the program takes too few steps to compare anything.
    """
    step_s = max(seen.step_s, 1e-6)
    warmup = request.warmup
    if warmup is None:
        affordable = max(1, int(_WARMUP_S / step_s))
        warmup = max(min(_WARMUP, affordable), min(seen.warm, 10 * _WARMUP))
    turns_s = min(_TURNS_S, _SHARE_OF_START * seen.start_s)
    block_s = max(_BLOCK_S, turns_s / _MOST_BLOCKS)
    steps, settle = max(1, math.ceil(block_s / step_s)), _SETTLE
    settle += seen.ahead if request.spread is not None else 0
    blocks = int(_TURNS_S / ((steps + settle) * step_s))
    blocks = max(FEWEST_BLOCKS, min(_MOST_BLOCKS, blocks))
    if request.steps is not None:
        blocks = min(blocks, request.steps)
        steps = max(1, request.steps // blocks)
    if seen.finished:
        warmup, blocks, steps = _shrunk(warmup, blocks, steps, settle, seen.steps)
    numeric = request.numbers_steps or max(3, min(_NUMERIC_STEPS, int(_NUMERIC_S / step_s)))
    available = seen.steps - request.numbers_from
    if seen.finished and available < 1:
        raise no_steps_from(request.numbers_from)
    return DeclaredPlan(
        looks=request.design.looks,
        alpha=request.design.alpha,
        margin=request.design.margin,
        blocks=blocks,
        steps=steps,
        warmup=warmup,
        settle=settle,
        seed=request.seed,
        step=seen.words,
        variants=tuple(variant.name for variant in variants),
        numeric_steps=min(numeric, available) if seen.finished else numeric,
        numeric_first=request.numbers_from,
        budget_s=request.budget_s,
    )


def shorter(plan: DeclaredPlan) -> DeclaredPlan:
    """Half of the warm-up and of the steps of a block, for a script that ends before its first."""
    return replace(plan, warmup=plan.warmup // 2, steps=plan.steps // 2)


def _shrunk(
    warmup: int, blocks: int, steps: int, settle: int, available: int
) -> tuple[int, int, int]:
    """Warm-up, blocks and steps of a block that fit into a script that ends by itself.

    The first boundary starts the warm-up, and a GPU's block takes a step more than it measures.
    """
    usable = available - 1
    warmup = min(warmup, usable // 4)
    left = usable - warmup
    if left < settle + 2:
        raise too_short(available)
    blocks = max(1, min(blocks, left // (settle + 2)))
    return warmup, blocks, max(1, min(steps, left // blocks - settle - 1))


def room_for_runs(seen: Survey, free_mb: float, nodes: int = 1) -> int:
    """How many runs fit into the scarcer of main and GPU memory.

    Args:
        seen: says what one run took.
        free_mb: MiB of main memory that are free.
        nodes: machines like this one that share its processes.
    """
    processes = math.ceil(seen.processes / nodes)
    room = _SHARE_OF_MEMORY * free_mb / max(processes * seen.memory_mb, 1.0)
    if seen.gpu_mb is not None and seen.gpu_free_mb is not None:
        needed = processes * (seen.gpu_mb + _CUDA_CONTEXT_MB)
        room = min(room, _SHARE_OF_MEMORY * seen.gpu_free_mb / needed)
    return int(room)
