"""Norms that subtract the mean of each channel, and code that stops them from doing so."""

import re

import libcst as cst

from torchlint.analysis.layers.expression_layers import Layers
from torchlint.analysis.names import dotted_text
from torchlint.analysis.torch_api import BATCH_NORMS, INSTANCE_NORMS
from torchlint.analysis.uses import called_name, method_name, receiver
from torchlint.rule import Module, because, once

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
        if _FUSERS.match(called_name(call)):
            return call
        if _freezes(call, module) and _holds_norm(receiver(call), module):
            return call
    for assign in module.nodes(cst.Assign):
        target = assign.targets[0].target
        if not isinstance(target, cst.Attribute) or module.literal(assign.value) is not False:
            continue
        if target.attr.value == "requires_grad" and _holds_norm(target.value, module):
            return assign
    return None


def _freezes(call: cst.Call, module: Module) -> bool:
    """`x.eval()`, `x.train(False)`, `x.requires_grad_(False)`."""
    method = method_name(call)
    if method in _SWITCHES:
        return module.literal(module.argument(call, _SWITCHES[method], 0)) is False
    return method == "eval" and not call.args


def _holds_norm(owner: cst.BaseExpression, module: Module) -> bool:
    """Whether an expression is a batch norm or one of its parameters."""
    while isinstance(owner, cst.Attribute) and owner.attr.value in ("weight", "bias"):
        owner = owner.value
    if isinstance(owner, cst.Attribute):
        return owner.attr.value in _norm_attributes(owner, module)
    if not isinstance(owner, cst.Name):
        return False
    for above in module.ancestors(owner):
        if isinstance(above, cst.If) and _IS_NORM.search(module.tree.code_for_node(above.test)):
            return True
    for binding in module.flow.reaching(owner):
        made = binding.value  # `for p in self.bn1.parameters(): p.requires_grad = False`
        if isinstance(made, cst.Call) and isinstance(receiver(made), cst.Attribute):
            return method_name(made) == "parameters" and _holds_norm(receiver(made), module)
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
