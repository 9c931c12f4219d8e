"""Choose shapes of layers that a GPU computes well.

## What it does
Reports two shapes of layers, as matters of taste that `--pedantic` shows. A convolution with a
large kernel, 9 by 9 or more, that moves by one pixel and mixes many channels. And in a program with
mixed precision, a convolution or linear layer whose number of input channels or features is not a
multiple of 8, although another layer of the file chose it.

## Why it is slow
Each output value of a convolution costs one product per input channel and place of the kernel. A
16 by 16 kernel costs 28 times as much as one of 3 by 3. In a network that somebody compared, one
such layer from 30 to 50 channels made a model with fewer parameters compute three times as much as
a larger one. Tensor cores work on blocks of 8 numbers in half precision. If a size is not a
multiple of 8, the kernel pads it, or does without tensor cores.

## Example
```python
features = nn.Sequential(
    nn.Conv2d(3, 32, 3),
    nn.Conv2d(32, 64, 16),
)
```

## Use instead
```python
features = nn.Sequential(
    nn.Conv2d(3, 32, 3, stride=2),
    nn.Conv2d(32, 64, 3),
    nn.Conv2d(64, 64, 3),
)
```
Several small kernels one after the other see as far as a large one.

## When it is silent
- Sizes and strides that are not literals.
- Kernels with a stride or with `groups`, and those between few channels, as in the first and last
  layer of a super-resolution network.
- Sizes below 16; input sizes that are the output of no layer of the file, as those of the data and
  of concatenations; output sizes, which may be the number of classes.
- The second shape, in programs without mixed precision; both in tests.

## Fix safety
There is no fix: another shape is another network.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against changed.py` compares the speed with
your own version.

## References
- PyTorch performance tuning guide, "Use mixed precision and AMP": sizes are multiples of 8
- `torch.utils.flop_counter.FlopCounterMode`, which counts the operations of each layer
"""

from math import prod
from typing import Final

import libcst as cst

from torchlint.rule import (
    Match,
    Module,
    Rule,
    Tier,
    because,
    calls,
    once,
)

from ._mixed_precision_words import MIXED_PRECISION

_LARGE: Final = 81
_MANY: Final = 512
_SMALLEST: Final = 16
_BLOCK: Final = 8
_WRITTEN_OUT: Final = r"(?:Conv2d|ConvTranspose2d|Linear)\(\s{0,80}(?:in_\w{1,9}=)?\d"
_UNWRITTEN: Final = "its widths are not written out as numbers"
_LAYERS: Final = ("torch.nn.Conv2d", "torch.nn.ConvTranspose2d", "torch.nn.Linear")


def _mixes_many(match: Match) -> bool:
    inputs, outputs = _widths(match.call, match.module)
    if not (inputs and outputs):
        return because(False, _UNWRITTEN)
    few = "its channels are few: {} and {}"
    return inputs * outputs >= _MANY or because(False, few, inputs, outputs)


def _large_kernel(match: Match) -> int:
    """The number of places of the kernel, if they are many."""
    places = _dense_kernel(match.call, match.module)
    if not places:
        said = "its kernel has a stride, or groups, or a size that is not written out"
        return because(0, said)
    return places if places >= _LARGE else because(0, "its kernel is small: {} places", places)


def _is_misaligned(match: Match) -> int:
    """The number of inputs of a layer, if it is not a multiple of what tensor cores take."""
    call, module = match.call, match.module
    inputs, outputs = _widths(call, module)
    large = inputs * outputs >= _MANY and _dense_kernel(call, module) >= _LARGE
    if large and module.calls(call, "torch.nn.Conv2d"):
        return because(0, "its large kernel is reported already, which costs more")
    if not (inputs and outputs):
        return because(0, _UNWRITTEN)
    if min(inputs, outputs) < _SMALLEST:
        said = "its smaller width, {}, is below {}"
        return because(0, said, min(inputs, outputs), _SMALLEST)
    if inputs % _BLOCK == 0:
        return because(0, "its {} inputs are a multiple of 8", inputs)
    if inputs not in _given_widths(module):
        return because(0, "no layer of the file gives {} outputs, so data decides this", inputs)
    return inputs


@once
def _given_widths(module: Module) -> frozenset[int]:
    """The numbers of outputs of the layers in a file."""
    layers = (call for name in _LAYERS for call in module.calls_by_name.get(name, ()))
    return frozenset(_widths(call, module)[1] for call in layers)


rule = Rule(
    code="TL307",
    summary="a layer of a shape that a GPU computes slowly",
    tier=Tier.PEDANTIC,
    finds=(
        calls(
            "torch.nn.Conv2d",
            where=(_mixes_many, _large_kernel),
            message=lambda match: (
                f"Each output value takes {match.found(int)} products per input "
                "channel; use small kernels one after the other, or reduce the resolution first."
            ),
        ),
        calls(
            *_LAYERS,
            where=(_is_misaligned,),
            message=lambda match: (
                f"{match.found(int)} is not a multiple of {_BLOCK}, so tensor cores "
                "compute this layer with padding, or not at all; choose another width."
            ),
            program_has={"mixed precision": MIXED_PRECISION},
        ),
    ),
    change="another shape is another network",
    triggers=(_WRITTEN_OUT,),
    needs_gpu=True,
)


# sizes of layers ----------------------------------------------------------------------------------


def _widths(call: cst.Call, module: Module) -> tuple[int, int]:
    """The numbers of input and output channels of a layer, 0 where they are not written out."""
    last = "features" if module.calls(call, "torch.nn.Linear") else "channels"
    given = (module.argument(call, f"{way}_{last}", at) for at, way in enumerate(("in", "out")))
    inputs, outputs = (size if isinstance(size, int) else 0 for size in map(module.literal, given))
    return inputs, outputs


def _dense_kernel(call: cst.Call, module: Module) -> int:
    """The number of places of a kernel that moves by one pixel over all channels; 0 if that is not
    certain."""
    stride, groups, kernel = (
        module.argument(call, name, at)
        for name, at in (("stride", 3), ("groups", 6), ("kernel_size", 2))
    )
    if any(each and module.literal(each) not in (1, (1, 1)) for each in (stride, groups)):
        return 0
    size = module.literal(kernel)
    sides = size if isinstance(size, tuple) else (size, size)
    return prod(side if isinstance(side, int) else 0 for side in sides)
