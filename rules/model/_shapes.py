"""The sizes of layers, where they are written out."""

from math import prod
from typing import Final

import libcst as cst

from torchlint.rule import Module

LAYERS: Final = ("torch.nn.Conv2d", "torch.nn.ConvTranspose2d", "torch.nn.Linear")


def widths(call: cst.Call, module: Module) -> tuple[int, int]:
    """The numbers of input and output channels of a layer, 0 where they are not written out."""
    last = "features" if module.calls(call, "torch.nn.Linear") else "channels"
    given = (module.argument(call, f"{way}_{last}", at) for at, way in enumerate(("in", "out")))
    inputs, outputs = (size if isinstance(size, int) else 0 for size in map(module.literal, given))
    return inputs, outputs


def dense_kernel(call: cst.Call, module: Module) -> int:
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
