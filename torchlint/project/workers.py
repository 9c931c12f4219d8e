"""Maps files in this process or in several."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchlint.lint.engine import Target
    from torchlint.lint.mapping import MapResult

_WORTH_A_POOL = 400_000
"""Bytes below which starting processes costs more than it saves."""


def map_targets(
    targets: Sequence[Target], *, woken: bool, jobs: int
) -> Iterator[tuple[Target, MapResult]]:
    """What each target says, in the order of the targets within each worker's share.

    A worker that dies takes only its own file with it: the rest is mapped again, one process per
    file, and the one that dies again becomes a diagnostic.
    """
    size = sum(len(target.data or b"") for target in targets)
    if jobs <= 1 or len(targets) < 2 or size < _WORTH_A_POOL:
        yield from zip(targets, map_share(list(targets), woken), strict=True)
        return
    yield from _in_processes(targets, woken, jobs)


def map_share(targets: list[Target], woken: bool) -> list[MapResult]:
    """Maps some files in this process, on a stack that deep code cannot overflow."""
    from torchlint.lint.mapping import map_file
    from torchlint.syntax.deep import with_deep_stack

    collecting = gc.isenabled()
    gc.disable()  # a parsed file is a million objects without a cycle: `release` frees them
    try:
        return with_deep_stack(lambda: [map_file(target, woken) for target in targets])
    finally:
        if collecting:
            gc.enable()


def _in_processes(
    targets: Sequence[Target], woken: bool, jobs: int
) -> Iterator[tuple[Target, MapResult]]:
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool

    shares = _shares(targets, jobs * 8)
    lost: list[Target] = []
    with ProcessPoolExecutor(max_workers=jobs) as pool:
        futures = {}
        for share in shares:
            try:
                futures[pool.submit(map_share, share, woken)] = share
            except BrokenProcessPool:  # a worker died while shares were still handed out
                lost += share
        for future in as_completed(futures):
            share = futures[future]
            try:
                yield from zip(share, future.result(), strict=True)
            except BrokenProcessPool:
                lost += share
    for target in lost:
        yield target, _alone(target, woken)


def _shares(targets: Sequence[Target], count: int) -> list[list[Target]]:
    """Shares of about equal size, the largest files first."""
    shares: list[list[Target]] = [[] for _ in range(min(count, len(targets)))]
    loads = [0] * len(shares)
    for target in sorted(targets, key=lambda each: (-len(each.data or b""), each.path)):
        lightest = loads.index(min(loads))
        shares[lightest].append(target)
        loads[lightest] += len(target.data or b"")
    return shares


def _alone(target: Target, woken: bool) -> MapResult:
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    from torchlint.lint.finding import Diagnostic
    from torchlint.lint.mapping import MapResult

    with ProcessPoolExecutor(max_workers=1) as pool:
        try:
            return pool.submit(map_share, [target], woken).result()[0]
        except BrokenProcessPool:
            message = "the process that checked this file died; it was left out"
            diagnostic = Diagnostic(target.path, message, kind="worker")
            return MapResult(target.path, diagnostics=(diagnostic,))
