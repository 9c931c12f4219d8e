"""Give convolutions and compiled modules few shapes.

## What it does
Reports convolutions and compiled modules whose inputs have more than three shapes in the window,
with new ones in at least three steps. A shape that comes once, as that of the last batch of an
epoch, is not counted.

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
whose own input is looked at; and for functions under `torch.compile`, which are no modules.

## What to do
Resize or pad to a few sizes, and batch samples of similar size together. If the sizes have to
differ, leave `cudnn.benchmark` off, and compile with `dynamic=True`.

## References
- PyTorch documentation, `torch.backends.cudnn.benchmark`
- PyTorch performance tuning guide, "Enable cuDNN auto-tuner"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.profile.kind import Kind, Observed
from torchlint.profile.loaders import objects, place_or_none
from torchlint.runtime.messages import MalformedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.evidence import Evidence
    from torchlint.runtime.messages import Message

_MOST_SHAPES: Final = 3
"""For which cuDNN's search may pay off."""
_FRESH_STEPS: Final = 3

kind = Kind(
    code="TR302",
    summary="inputs of convolutions or compiled modules have many shapes",
    instruments=("shapes",),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """A finding for the convolutions, and one for the compiled modules: a shape that changes in one
    layer changes in all that follow."""
    found = evidence.windows["shapes"].found
    drifting = [each for each in objects(found, "modules") if _drifts(each)]
    for compiled in (False, True):
        modules = [each for each in drifting if each.flag("compiled") == compiled]
        if modules:
            yield _found(modules, evidence, compiled=compiled)


def _found(modules: list[Message], evidence: Evidence, *, compiled: bool) -> Observed:
    first, window = modules[0], evidence.windows["shapes"]
    name = first.text("name") or first.text("class")
    others = f" and {len(modules) - 1} more" if len(modules) > 1 else ""
    benchmark = window.found.flag("benchmark") and not compiled
    fact = (
        f"{_counted(first)} shapes in {window.steps} steps, as {_examples(first)}: {name}{others}"
    )
    if compiled:
        action = "pad to a few sizes, or compile with `dynamic=True`"
    elif benchmark:
        action = "`cudnn.benchmark` searches for each: switch it off, or pad to a few sizes"
    else:
        action = "leave `cudnn.benchmark` off, or pad to a few sizes"
    values = {
        "modules": [each.text("name") or each.text("class") for each in modules],
        "shapes": [text for text, _ in _shapes(first)],
        "fresh_steps": first.integer("fresh"),
        "benchmark": window.found.flag("benchmark"),
    }
    return Observed(place_or_none(first, "place"), fact, action, None, (), values)


def _drifts(module: Message) -> bool:
    once = [calls for _, calls in _shapes(module)].count(1)
    many = len(_shapes(module)) + bool(module.integer("others")) - (once == 1)
    return many > _MOST_SHAPES and module.integer("fresh") >= _FRESH_STEPS


def _counted(module: Message) -> str:
    shapes = len(_shapes(module))
    return f"more than {shapes}" if module.integer("others") else str(shapes)


def _examples(module: Message) -> str:
    return " and ".join(f"`{text}`" for text, _ in _shapes(module)[:2])


def _shapes(module: Message) -> list[tuple[str, int]]:
    values = module.values.get("shapes")
    if not isinstance(values, list):
        raise MalformedError(f"{module.type}: shapes is no list")
    shapes = []
    for each in values:
        if not (isinstance(each, list) and [type(part) for part in each] == [str, int]):
            raise MalformedError(f"{module.type}: {each!r} is no shape with its calls")
        shapes.append((each[0], each[1]))
    return shapes
