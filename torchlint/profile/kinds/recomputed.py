"""Keep activations if the memory is there.

## What it does
Reports modules whose forward pass runs again during the backward pass, because of activation
checkpointing, and what that takes.

## Why it is slow
A checkpoint forgets the activations of its modules and computes them again when the backward pass
needs them. That is one more forward pass of these modules in each step. It pays only if the
memory is needed: for a model that does not fit otherwise, or for a larger batch.

## How it is seen
Calls of modules are timed in a run of its own. A call during a backward pass is a second one for
the same activations. Only the outermost module of each such call is counted, so nothing is
counted twice.

## What the ceiling means
The part of the step in which modules run again. Without checkpoints none of it is left; then the
step needs more memory, which may not be there.

## When it is silent
If no module runs again, and for checkpointed functions that call no modules. Checkpoints inside a
compiled region are not seen.

## What to do
Take the checkpoints off if the memory without them is free, or checkpoint every second block. If
there are no gradients for the block, as for a frozen encoder, it needs no checkpoint at all.

## References
- PyTorch documentation, `torch.utils.checkpoint`
- Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from torchlint.experiment.figures import listed
from torchlint.profile.evidence import CUT
from torchlint.profile.kind import FindingKind, Observed
from torchlint.runtime.probe.instrument_messages import LayersSeen

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from torchlint.profile.evidence import Evidence, Window
    from torchlint.runtime.probe.instrument_messages import ModuleTimes
    from torchlint.runtime.probe.messages import Place

_MOST_NAMES: Final = 3

kind = FindingKind(
    code="TR501",
    summary="modules run again in the backward pass",
    instruments=("layers",),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """A finding for each line that calls modules which run again."""
    window = evidence.window(LayersSeen)
    places: dict[Place | None, list[ModuleTimes]] = {}
    everything = {module.label for module in window.seen.modules}
    for module in window.seen.modules:
        if module.again_seconds > 0 and module.calls:
            places.setdefault(module.place, []).append(module)
    whole = sum(module.again_seconds for modules in places.values() for module in modules)
    for place, modules in places.items():
        seconds = sum(module.again_seconds for module in modules)
        names = names_of([module.label for module in modules], everything)
        verb = "runs" if len(modules) == 1 else "run"
        step_ms = 1e3 * seconds / window.steps
        yield Observed(
            place,
            f"{names} {verb} again in the backward pass, {step_ms:.3g} ms a step",
            "keep the activations if the memory is there",
            _share(evidence, seconds, whole),
            ("TL509",),
            {"seconds": seconds, "modules": len(modules)},
        )


def recomputes(windows: Mapping[str, Window[Any]]) -> bool:
    """Whether modules run again for long enough to be worth a line."""
    window = windows.get("layers")
    return window is not None and window.seen.again_seconds >= CUT * window.seconds


def _share(evidence: Evidence, seconds: float, whole: float) -> float:
    """What these modules take the second time, or their part of what a step is shorter without
    checkpoints, if that is more: to keep and to restore what they need takes time, too.

    Args:
        whole: seconds that all modules take the second time.
    """
    share = evidence.at_most(seconds, evidence.window(LayersSeen))
    return max(share, evidence.saved.get("uncheckpointed", 0.0) * seconds / whole)


def names_of(names: list[str], everything: Collection[str]) -> str:
    """`blocks.*` for all blocks that there are; else the first few."""
    parents = {name.rpartition(".")[0] for name in names}
    ends = {name.rpartition(".")[2] for name in names}
    if len(names) > 1 and len(parents) == 1 and all(end.isdecimal() for end in ends):
        parent = parents.pop()
        brothers = {name for name in everything if name.rpartition(".")[0] == parent}
        if brothers == set(names):
            return f"{parent}.*" if parent else "*"
    return listed(names, _MOST_NAMES)
