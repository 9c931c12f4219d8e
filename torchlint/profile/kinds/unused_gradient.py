"""Give each parameter a gradient, and each gradient an optimizer.

## What it does
Reports two mistakes: parameters that an optimizer holds and that get a gradient in no step, and
parameters that get a gradient in the steps although no optimizer takes it.

## Why it is slow
A gradient that nobody takes is computed and kept all the same: for a frozen encoder that is about
half of its backward pass, and as much memory as its weights. A parameter without a gradient costs
little, but it does not learn: mostly its module is not part of the loss, and its forward pass may
be for nothing.

## How it is seen
Just before each step of an optimizer its parameters are looked at: is there a gradient? After
each step the other parameters of the models are looked at in the same way. Values are not read
before the last of these steps, so they do not wait for the GPU.

## What the ceiling means
There is none: the run does not show what the backward pass takes without these gradients.

## When it is silent
Before ten steps have been seen, since a branch may be taken seldom. A parameter counts as trained
if anything changes it, or if any optimizer holds it. Gradients that are zeroed in the same step,
before its end, are not seen, nor parameters that never belong to a module that is called. Torch
1.13 cannot tell.

## What to do
Without a gradient: add the module to the loss or remove it. Without an optimizer: call
`requires_grad_(False)` on the module, or give its parameters to the optimizer.

## References
- PyTorch documentation, "Autograd mechanics: locally disabling gradient computation"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import listed
from torchlint.profile.kind import FindingKind, Observed
from torchlint.runtime.probe.instrument_messages import GradientsSeen, ParameterGroup

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.evidence import Evidence
    from torchlint.runtime.probe.messages import Place

_FEWEST_STEPS: Final = 10
_MOST_NAMES: Final = 3
_WHAT: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    (  # idle
        "without a gradient in any of {} steps",
        "add them to the loss, or take them out of the optimizer",
        (),
    ),
    (  # for nothing
        "with gradients that no optimizer takes",
        "freeze them with `requires_grad_(False)`, or give them to the optimizer",
        ("TL405",),
    ),
)

kind = FindingKind(
    code="TR401",
    summary="parameters without a gradient, or gradients without an optimizer",
    instruments=("gradients",),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """A finding for each kind of mistake and each optimizer."""
    gradients = evidence.window(GradientsSeen).seen
    if not gradients.known:
        return
    kinds = (gradients.idle, gradients.for_nothing)
    for found, (seen, action, rules) in zip(kinds, _WHAT, strict=True):
        places: dict[Place | None, list[ParameterGroup]] = {}
        for group in found:
            if group.steps >= _FEWEST_STEPS:
                places.setdefault(group.place, []).append(group)
        for place, groups in places.items():
            count = sum(group.parameters for group in groups)
            size = sum(group.values for group in groups)
            steps = min(group.steps for group in groups)
            yield Observed(
                place,
                f"{_count(count, size)} {seen.format(steps)}: {_names(groups)}",
                action,
                None,
                rules,
                {"parameters": count, "values": size, "steps": steps},
            )


def _count(parameters: int, size: int) -> str:
    tensors = "parameter tensor" if parameters == 1 else "parameter tensors"
    return f"{parameters} {tensors} ({size:,} values)"


def _names(groups: list[ParameterGroup]) -> str:
    return listed([group.module or "outside of any module" for group in groups], _MOST_NAMES)
