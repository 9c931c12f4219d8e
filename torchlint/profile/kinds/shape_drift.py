"""Give convolutions and compiled modules few shapes.

## What it does
Reports convolutions under `cudnn.benchmark` and compiled modules whose inputs have more than three
shapes in the window, with new ones in at least three steps. A shape that comes once, as that of the
last batch of an epoch, is not counted. While `cudnn.benchmark` is off, it costs convolutions
nothing that a run could show: then a line below the findings says whether the shapes would suit it.

## Why it is slow
With `torch.backends.cudnn.benchmark = True`, cuDNN tries all its algorithms on each new shape,
which takes longer than many steps. Without it, each shape gets a guess. A compiled module is
compiled again or runs code for sizes that are not known beforehand, and each new size takes other
blocks of the GPU's memory.

## How it is seen
The shapes of what each convolution and compiled module gets in training mode are counted.

## What the ceiling means
There is none: the run does not show what the same steps take with one shape.

## When it is silent
If the shapes are a fixed set, as those of a pyramid that runs one layer at five sizes in each step:
all of them come in the first step. In evaluation mode. For convolutions inside a compiled module,
whose own input is looked at; and for functions under `torch.compile`, which are not modules.

## What to do
Resize or pad to a few sizes, and batch samples of similar size together. If the sizes have to
differ, leave `cudnn.benchmark` off, and compile with `dynamic=True`.

## References
- PyTorch documentation, `torch.backends.cudnn.benchmark`
- PyTorch performance tuning guide, "Enable cuDNN auto-tuner"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.profile.kind import FindingKind, Observed, Told
from torchlint.profile.loader_waits import shown
from torchlint.runtime.probe.instrument_messages import ShapesSeen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.evidence import Evidence
    from torchlint.runtime.probe.instrument_messages import ShapedModule

_MOST_SHAPES: Final = 3
"""For which cuDNN's search may pay off."""
_FRESH_STEPS: Final = 3

kind = FindingKind(
    code="TR302",
    summary="inputs of convolutions or compiled modules have many shapes",
    instruments=("shapes",),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """A finding for the convolutions, and one for the compiled modules: a shape that changes in one
    layer changes in all that follow."""
    convolutions, compiled = _drifting(evidence)
    if convolutions and evidence.window(ShapesSeen).seen.benchmark:
        action = "`cudnn.benchmark` searches for each: switch it off, or pad to a few sizes"
        yield _found(convolutions, evidence, action)
    if compiled:
        yield _found(compiled, evidence, "pad to a few sizes, or compile with `dynamic=True`")


@kind.tells
def tell(evidence: Evidence) -> Iterator[Told]:
    """Whether the shapes suit `cudnn.benchmark`, while it is off."""
    seen = evidence.window(ShapesSeen).seen
    if seen.benchmark or all(each.compiled for each in seen.modules):
        return
    drifting, _ = _drifting(evidence)
    if not drifting:
        yield Told("shapes", "those of the convolutions suit `cudnn.benchmark`")
        return
    place = drifting[0].place
    at = f", {shown(place)}" if place else ""
    text = f"`cudnn.benchmark` would search for each: {_fact(drifting, evidence)}{at}"
    yield Told("shapes", text, _values(drifting, evidence))


def _drifting(evidence: Evidence) -> tuple[list[ShapedModule], list[ShapedModule]]:
    """Convolutions and compiled modules whose shapes keep changing."""
    drifting = [each for each in evidence.window(ShapesSeen).seen.modules if _drifts(each)]
    return (
        [each for each in drifting if not each.compiled],
        [each for each in drifting if each.compiled],
    )


def _found(modules: list[ShapedModule], evidence: Evidence, action: str) -> Observed:
    values = _values(modules, evidence)
    return Observed(modules[0].place, _fact(modules, evidence), action, None, (), values)


def _fact(modules: list[ShapedModule], evidence: Evidence) -> str:
    first, steps = modules[0], evidence.window(ShapesSeen).steps
    others = f" and {len(modules) - 1} more" if len(modules) > 1 else ""
    counted, examples = _counted(first), _examples(first)
    return f"{counted} shapes in {steps} steps, as {examples}: {first.label}{others}"


def _values(modules: list[ShapedModule], evidence: Evidence) -> dict[str, object]:
    return {
        "modules": [each.label for each in modules],
        "shapes": list(modules[0].shapes),
        "fresh_steps": modules[0].fresh,
        "benchmark": evidence.window(ShapesSeen).seen.benchmark,
    }


def _drifts(module: ShapedModule) -> bool:
    once = list(module.shapes.values()).count(1)
    many = len(module.shapes) + bool(module.others) - (once == 1)
    return many > _MOST_SHAPES and module.fresh >= _FRESH_STEPS


def _counted(module: ShapedModule) -> str:
    shapes = len(module.shapes)
    return f"more than {shapes}" if module.others else str(shapes)


def _examples(module: ShapedModule) -> str:
    return " and ".join(f"`{text}`" for text in list(module.shapes)[:2])
