"""Norms that subtract the mean of each channel, and code that stops them from doing so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.torch_api import BATCH_NORMS, INSTANCE_NORMS
from torchlint.because import because
from torchlint.rule import once

if TYPE_CHECKING:
    from torchlint.analysis.layers.layers import Layers
    from torchlint.analysis.module import Module

_GROUP_NORM = frozenset({"torch.nn.GroupNorm"})
_SWITCHES = {"requires_grad_": "requires_grad", "train": "mode"}
_IS_NORM = re.compile(r"isinstance\(.{0,200}Norm|Norm\w{0,40}['\"]?\s*(?:\)|in\b|==)", re.DOTALL)
_FUSERS = re.compile(r"^(?:fuse_modules|fuse_modules_qat|fuse_conv_bn\w*|fuse_conv_and_bn)$")


def is_batch_norm(call: cst.Call, layers: Layers) -> bool:
    """A batch norm that learns and keeps running statistics as usual.

    `affine=False` and `track_running_stats=False` are how frozen or home-made statistics begin,
    so such norms do not count.
    """
    module = layers.module
    if not layers.is_one_of(call, BATCH_NORMS):
        return False
    if module.has_star_kwargs(call):
        return because(False, "`**` of {} may pass any option of the norm", call)
    lazy = layers.is_lazy(call)
    affine = module.argument(call, "affine", 3 - lazy)
    tracked = module.argument(call, "track_running_stats", 4 - lazy)
    usual = all(each is None or module.literal(each) is True for each in (affine, tracked))
    return usual or because(False, "{} begins without weights or without statistics", call)


def is_instance_norm(call: cst.Call, layers: Layers) -> bool:
    """An instance norm, or `nn.GroupNorm(8, 8)` with as many groups as channels."""
    if layers.is_one_of(call, INSTANCE_NORMS):
        return True
    groups = layers.module.literal(layers.module.argument(call, "num_groups", 0))
    channels = layers.module.literal(layers.module.argument(call, "num_channels", 1))
    return layers.is_one_of(call, _GROUP_NORM) and isinstance(groups, int) and groups == channels


@once
def freezing_of_norms(module: Module) -> cst.Call | cst.Assign | None:
    """Where a file keeps batch norms from using the statistics of the batch, or folds them
    into the convolution before: `bn.eval()`, `bn.requires_grad_(False)`, `fuse_modules`."""
    for call in module.nodes(cst.Call):
        name = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
        if isinstance(name, cst.Name) and _FUSERS.match(name.value):
            return call
        if isinstance(call.func, cst.Attribute) and _freezes(call, call.func, module):
            return call
    for assign in module.nodes(cst.Assign):
        if (
            isinstance(assign.targets[0].target, cst.Attribute)
            and assign.targets[0].target.attr.value == "requires_grad"
            and module.literal(assign.value) is False
            and _holds_norm(assign.targets[0].target.value, module)
        ):
            return assign
    return None


def _freezes(call: cst.Call, func: cst.Attribute, module: Module) -> bool:
    if func.attr.value in _SWITCHES:
        switch = module.argument(call, _SWITCHES[func.attr.value], 0)
        frozen = module.literal(switch) is False
    else:
        frozen = func.attr.value == "eval" and not call.args
    return frozen and _holds_norm(func.value, module)


def _holds_norm(owner: cst.BaseExpression, module: Module) -> bool:
    """Whether an expression is a batch norm or one of its parameters."""
    while isinstance(owner, cst.Attribute) and owner.attr.value in ("weight", "bias"):
        owner = owner.value
    if isinstance(owner, cst.Attribute):
        return owner.attr.value in _norm_attributes(owner, module)
    if not isinstance(owner, cst.Name):
        return False
    return any(
        isinstance(above, cst.If) and _IS_NORM.search(module.tree.code_for_node(above.test))
        for above in module.ancestors(owner)
    ) or _loops_over_norm(owner, module)


def _loops_over_norm(owner: cst.Name, module: Module) -> bool:
    """`for p in self.bn1.parameters(): p.requires_grad = False`."""
    for binding in module.flow.reaching(owner):
        func = binding.value.func if isinstance(binding.value, cst.Call) else None
        if isinstance(func, cst.Attribute) and isinstance(func.value, cst.Attribute):
            return func.attr.value == "parameters" and _holds_norm(func.value, module)
    return False


def _norm_attributes(owner: cst.Attribute, module: Module) -> set[str]:
    """The attributes that hold batch norms, in the class of `self` or in any class."""
    classes = module.values.attributes
    own = module.class_(owner) if dotted_text(owner.value) == "self" else None
    return {
        name
        for class_, attributes in classes.items()
        if own is None or class_ is own
        for name, bindings in attributes.items()
        for binding in bindings
        if isinstance(binding.value, cst.Call) and module.calls(binding.value, *BATCH_NORMS)
    }
