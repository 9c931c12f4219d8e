"""Layers whose input has one place per channel, where a bias costs nothing."""

import libcst as cst

from torchlint.analysis.torch_api import BATCH_NORMS, CONVOLUTIONS, INSTANCE_NORMS
from torchlint.rule import because

from .module_order import Branch, ModuleOrder

_POOLS = frozenset(
    f"torch.nn.Adaptive{kind}Pool{rank}d" for kind in ("Avg", "Max") for rank in (1, 2, 3)
)
_ACTIVATIONS = (
    "ReLU ReLU6 LeakyReLU PReLU ELU SELU GELU SiLU Mish Hardswish Hardsigmoid Sigmoid Tanh Dropout "
    "Dropout1d Dropout2d Dropout3d"
)
_KEEP_SIZE = BATCH_NORMS | INSTANCE_NORMS | {f"torch.nn.{each}" for each in _ACTIVATIONS.split()}
_MOST_BETWEEN = 12


def gets_one_place(layer: cst.Call, order: ModuleOrder) -> bool:
    """Whether the input of a layer was pooled to one place per channel, right before it or before
    other layers that keep the size."""
    pooled: cst.Call | None = None
    seen, left = {layer}, [layer]
    while left:
        before = order.before(left.pop())
        if not before or len(seen) > _MOST_BETWEEN:
            return False
        for each in (each for each in before if each not in seen):
            seen.add(each)
            pools = _pools_to_one(each, order)
            if _at_times(each, layer, order) or not (pools or _keeps_size(each, order)):
                return False
            pooled = each if pools else pooled
            left += [] if pools else [each]
    if pooled is None:
        return False
    costs = "{} pools its input to one place per channel, where the addition costs nothing"
    return because(True, costs, pooled)


def _at_times(before: cst.Call, layer: cst.Call, order: ModuleOrder) -> bool:
    """Whether a condition decides about one layer that does not decide about the other."""
    around = set(order.module.ancestors(layer))
    above = order.module.ancestors(before)
    return any(isinstance(each, Branch) and each not in around for each in above)


def _pools_to_one(call: cst.Call, order: ModuleOrder) -> bool:
    size = order.module.literal(order.module.argument(call, "output_size", 0))
    one = size == 1 or (isinstance(size, tuple) and set(size) == {1})
    return one and order.layers.is_one_of(call, _POOLS)


def _keeps_size(call: cst.Call, order: ModuleOrder) -> bool:
    layers, module = order.layers, order.module
    kernel = module.argument(call, "kernel_size", 2 - layers.is_lazy(call))
    if layers.is_one_of(call, CONVOLUTIONS):
        return module.literal(kernel) in (1, (1,), (1, 1), (1, 1, 1))
    return layers.is_one_of(call, _KEEP_SIZE)
