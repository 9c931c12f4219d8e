"""What each layer costs.

## What it does
Lists the modules that take most of the forward pass: their time without the modules inside them,
calls in a step, parameters, FLOPs of a step, and the shape of the last output. It is a table
below the findings and never a finding itself: a layer that takes a third of the time is not a
mistake.

## Why it is slow
A layer's time depends on the size of what goes through it more than on its parameters. A
convolution at full resolution, with a few thousand parameters, often takes longer than all layers
after it.

## How it is seen
In a run of its own, each call of a module is timed: on a CPU by the clock of the calling thread,
on a GPU by two events in the stream. A module's time is that of its calls less that of the
modules which it calls. What the timing itself takes between them is left out.

FLOPs come from another run, with the kernels (TR303): those of the forward and the
backward pass together, by torch's formulas for products of matrices, convolutions and attention.
What a backward pass computes counts for the module whose forward pass it belongs to.

## What the ceiling means
There is none. The share is of the forward pass alone; the backward pass of a layer usually takes
about twice as long.

## When it is silent
Layers inside a compiled region are hidden, since the compiler fuses them: the region is one row.
Functions that are not modules count for the module that calls them. The transforms of a data set
are input (TR101), also where they are modules. FLOPs are missing where something was compiled,
where torch has no formula, and of modules that nothing tells apart: those of one class, without a
name, that one line calls.

## What to do
Read it before you change the network: pooling or a stride before the first expensive layer, fewer
channels at full resolution, or another kind of layer there.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Final

from torchlint.profile.kind import FindingKind
from torchlint.profile.layer_table import Row
from torchlint.runtime.probe.instrument_messages import KernelsSeen, LayersSeen

if TYPE_CHECKING:
    from collections.abc import Hashable

    from torchlint.profile.evidence import Evidence
    from torchlint.runtime.probe.instrument_messages import ModuleFlops, ModuleTimes

MOST: Final = 20
_LEAST_SHARE: Final = 0.005

kind = FindingKind(
    code="TR301",
    summary="what each layer costs in the forward pass",
    instruments=("layers",),
)


def table(evidence: Evidence) -> list[Row]:
    """The layers that take most of the forward pass, worst first; none if it was not watched."""
    window = evidence.window_or_none(LayersSeen)
    if window is None:
        return []
    whole, modules = window.seen.forward_seconds, window.seen.modules
    alike, flops = Counter(map(_key, modules)), _flops(evidence)
    rows = [
        _row(each, whole, window.steps, flops.get(_key(each)) if alike[_key(each)] == 1 else None)
        for each in modules
    ]
    worth = [row for row in rows if row.share >= _LEAST_SHARE]
    return sorted(worth, key=lambda row: (-row.share, row.name, row.kind))[:MOST]


def _flops(evidence: Evidence) -> dict[Hashable, float]:
    """Of a step, by what tells modules apart; empty if they are not known of each."""
    window = evidence.window_or_none(KernelsSeen)
    if window is None or window.seen.flops.types is None or window.seen.flops.unattributed:
        return {}
    counts = ((_key(each), each.flops) for each in window.seen.flops.modules)
    return {key: count / window.steps for key, count in counts if count is not None}


def _key(module: ModuleTimes | ModuleFlops) -> Hashable:
    return module.name, module.kind, module.place


def _row(module: ModuleTimes, whole: float, steps: int, flops: float | None) -> Row:
    path, row = module.place or ("", 0)
    return Row(
        name=module.label,
        kind=module.kind,
        share=module.own_seconds / whole if whole > 0 else 0.0,
        calls=module.calls / steps,
        parameters=module.parameters,
        shape=", ".join(map(str, module.shape or ())),
        flops=flops,
        path=os.path.relpath(path) if path else "",
        row=row,
    )
