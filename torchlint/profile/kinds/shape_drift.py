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

from torchlint.profile.kind import Kind, Observed, Told
from torchlint.profile.layers import name_of
from torchlint.profile.loaders import objects, place_or_none, shown
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
    convolutions, compiled = _drifting(evidence)
    if convolutions and evidence.windows["shapes"].found.flag("benchmark"):
        action = "`cudnn.benchmark` searches for each: switch it off, or pad to a few sizes"
        yield _found(convolutions, evidence, action)
    if compiled:
        yield _found(compiled, evidence, "pad to a few sizes, or compile with `dynamic=True`")


@kind.tells
def tell(evidence: Evidence) -> Iterator[Told]:
    """Whether the shapes suit `cudnn.benchmark`, while it is off."""
    found = evidence.windows["shapes"].found
    modules = objects(found, "modules")
    if found.flag("benchmark") or all(each.flag("compiled") for each in modules):
        return
    drifting, _ = _drifting(evidence)
    if not drifting:
        yield Told("shapes", "those of the convolutions suit `cudnn.benchmark`")
        return
    place = place_or_none(drifting[0], "place")
    at = f", {shown(place)}" if place else ""
    text = f"`cudnn.benchmark` would search for each: {_fact(drifting, evidence)}{at}"
    yield Told("shapes", text, _values(drifting, evidence))


def _drifting(evidence: Evidence) -> tuple[list[Message], list[Message]]:
    """Convolutions and compiled modules whose shapes go on changing."""
    modules = objects(evidence.windows["shapes"].found, "modules")
    drifting = [each for each in modules if _drifts(each)]
    return (
        [each for each in drifting if not each.flag("compiled")],
        [each for each in drifting if each.flag("compiled")],
    )


def _found(modules: list[Message], evidence: Evidence, action: str) -> Observed:
    place = place_or_none(modules[0], "place")
    values = _values(modules, evidence)
    return Observed(place, _fact(modules, evidence), action, None, (), values)


def _fact(modules: list[Message], evidence: Evidence) -> str:
    first, steps = modules[0], evidence.windows["shapes"].steps
    others = f" and {len(modules) - 1} more" if len(modules) > 1 else ""
    counted, examples = _counted(first), _examples(first)
    return f"{counted} shapes in {steps} steps, as {examples}: {name_of(first)}{others}"


def _values(modules: list[Message], evidence: Evidence) -> dict[str, object]:
    return {
        "modules": [name_of(each) for each in modules],
        "shapes": [text for text, _ in _shapes(modules[0])],
        "fresh_steps": modules[0].integer("fresh"),
        "benchmark": evidence.windows["shapes"].found.flag("benchmark"),
    }


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
