"""How a file handles `.grad` by hand: whether it could live with `None` there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.because import because

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.analysis.module import Module

_IN_PLACE_SUMS = frozenset({"add_", "sub_", "copy_", "addcmul_", "index_add_"})


def reads(module: Module, outside: cst.CSTNode | None = None) -> bool:
    """Whether the file uses gradients as tensors without asking for `None` first.

    Args:
        outside: code that does not count.
    """
    read = next(_unchecked(module, outside), None)
    if read is None:
        return False
    return because(True, "the file reads gradients without a test for `None`, in {:line}", read)


def accumulates(module: Module, outside: cst.CSTNode | None = None) -> bool:
    """Whether the file adds to gradients in place, which needs tensors to be there."""
    summed = next((grad for grad in _unchecked(module, outside) if _is_summed(grad, module)), None)
    if summed is None:
        return False
    return because(True, "the file adds to gradients in place, in {:line}", summed)


def is_grad_of(node: cst.CSTNode, name: str) -> bool:
    """Whether an expression is `name.grad` or `name.grad.data`."""
    return dotted_text(node) in (f"{name}.grad", f"{name}.grad.data")


def asks_for_none(test: cst.CSTNode) -> bool:
    """Whether a comparison is `….grad is None` or `….grad is not None`."""
    return (
        isinstance(test, cst.Comparison)
        and isinstance(test.left, cst.Attribute)
        and dotted_text(test.left).endswith(".grad")
        and isinstance(test.comparisons[0].comparator, cst.Name)
        and test.comparisons[0].comparator.value == "None"
    )


def _unchecked(module: Module, outside: cst.CSTNode | None) -> Iterator[cst.Attribute]:
    grads = [
        node
        for name in module.spelled("grad")
        if isinstance(node := module.parent(name), cst.Attribute) and node.attr is name
    ]
    tests = (module.enclosing(node, cst.Comparison) for node in grads)
    checked = {module.function(test) for test in tests if test is not None and asks_for_none(test)}
    for node in grads:
        if module.function(node) in checked:
            continue
        if _is_called_or_set(node, module):
            continue
        if all(above is not outside for above in module.ancestors(node)):
            yield node


def _is_called_or_set(node: cst.Attribute, module: Module) -> bool:
    """`torch.autograd.grad(…)` and `p.grad = None` read no gradient."""
    parent = module.parent(node)
    if isinstance(parent, cst.Call):
        return parent.func is node
    return isinstance(parent, cst.AssignTarget) or bool(module.resolve(node))


def _is_summed(grad: cst.Attribute, module: Module) -> bool:
    node: cst.CSTNode = grad
    parent = module.parent(node)
    while isinstance(parent, cst.Attribute | cst.Subscript) and parent.value is node:
        if isinstance(parent, cst.Attribute) and parent.attr.value in _IN_PLACE_SUMS:
            return True
        node, parent = parent, module.parent(parent)
    return isinstance(parent, cst.AugAssign) and isinstance(
        parent.operator, cst.AddAssign | cst.SubtractAssign
    )
