"""Whether the result of a forward pass is only used without its graph."""

import libcst as cst

from torchlint.analysis.layers.layer_lists import assign_targets
from torchlint.analysis.names import dotted_text
from torchlint.analysis.training.model_calls import runs_model
from torchlint.analysis.uses import method_name
from torchlint.rule import Module

_CUTS = frozenset({"detach", "detach_"})
_TO_HOST = frozenset({"cpu", "item", "numpy", "tolist"})
_TAKES_TENSOR = frozenset({"add", "div", "gather", "mul", "sub"})
_MOST_NAMES = 6
_PASSED_ON = (
    cst.Arg,
    cst.BinaryOperation,
    cst.Comparison,
    cst.ComparisonTarget,
    cst.Element,
    cst.Index,
    cst.SubscriptElement,
    cst.Subscript,
    cst.Tuple,
    cst.List,
    cst.UnaryOperation,
)
"""Expressions that make a tensor of a tensor."""


def is_only_detached(call: cst.Call, module: Module) -> bool:
    """Whether each use of what a model returns goes through `.detach()` or `.data`, and stays on
    the device: an action for an environment is one small forward pass."""
    cut = cut_of(call, module)
    if isinstance(cut, cst.Assign | cst.AnnAssign):
        return _reads_detached(cut, module, _MOST_NAMES)
    return cut is not None and not _goes_to_host(cut, module)


def cut_of(node: cst.BaseExpression, module: Module) -> cst.CSTNode | None:
    """The expression `(…).detach()` or `(…).data` around an expression, else the assignment of what
    is computed of it; None if something else may keep its graph."""
    child: cst.CSTNode = node
    for above in module.ancestors(node):
        if isinstance(above, cst.Assign | cst.AnnAssign):
            return above if child is above.value else None
        if isinstance(above, cst.Attribute):
            if above.attr.value == "data":
                return above
            if above.attr.value in _TO_HOST or not _is_method(above, module):
                return None
        elif isinstance(above, cst.Call):
            if method_name(above) in _CUTS:
                return above
            if child is not above.func and not _computes(above, module):
                return None
        elif not isinstance(above, _PASSED_ON):
            return None
        child = above
    return None


def _is_method(attribute: cst.Attribute, module: Module) -> bool:
    """Whether it is called, and no other attribute of a tensor or an object."""
    return isinstance(module.parent(attribute), cst.Call)


def _computes(call: cst.Call, module: Module) -> bool:
    """Whether a call makes a tensor of its arguments: of torch, a model or a tensor."""
    if runs_model(call, module) or method_name(call) in _TAKES_TENSOR:
        return True
    names = module.resolve(call.func)
    return bool(names) and all(name.startswith("torch.") for name in names)


def _reads_detached(assign: cst.Assign | cst.AnnAssign, module: Module, names: int) -> bool:
    """Whether all reads of what an assignment puts into names are detached, and there are some."""
    targets = assign_targets(assign)
    parts = [
        part.value if isinstance(part, cst.Element) else part
        for target in targets
        for part in (target.elements if isinstance(target, cst.Tuple) else [target])
    ]
    if not names:
        return False
    reads = [read for part in parts for read in module.reads(assign, dotted_text(part))]
    return bool(reads) and all(_is_detached(read, module, names - 1) for read in reads)


def _is_detached(read: cst.BaseExpression, module: Module, names: int) -> bool:
    cut = cut_of(read, module)
    if isinstance(cut, cst.Assign | cst.AnnAssign):
        return _reads_detached(cut, module, names)
    return cut is not None and not _goes_to_host(cut, module)


def _goes_to_host(cut: cst.CSTNode, module: Module) -> bool:
    parent = module.parent(cut)
    return isinstance(parent, cst.Attribute) and parent.attr.value in _TO_HOST
