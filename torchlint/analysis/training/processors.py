"""Code that only runs without an accelerator: the `else` of `if torch.cuda.is_available():`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.literals import literal
from torchlint.analysis.names import dotted_text
from torchlint.analysis.once import once
from torchlint.analysis.steps.guards import leaves_round
from torchlint.analysis.values.kinds import sounds_like_settings

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

_MOST_NAMES = 3
_ASKS = frozenset(
    {"torch.cuda.is_available", "torch.accelerator.is_available", "torch.cuda.device_count"}
)
_GPU_WORDS = re.compile(
    r"^(?:(?:use|with|has|have)_?(?:cuda|gpu)|(?:cuda|gpu)_?(?:available|enabled)|cuda)$"
)
_CPU_WORDS = re.compile(r"^(?:no_?(?:cuda|gpu)|(?:use|on|only)_?cpu|cpu_?only)$")


def runs_without_accelerator(node: cst.CSTNode, module: Module) -> bool:
    """Whether a condition lets code run only where torch has no accelerator."""
    branches, leaving = _without_accelerator(module)
    child = node
    for above in (node, *module.ancestors(node)):
        if above in branches:
            return True
        left = leaving.get(above)
        if left is not None and module.order(left) < module.order(child):
            return True
        child = above
    return False


@once
def _without_accelerator(
    module: Module,
) -> tuple[frozenset[cst.CSTNode], dict[cst.CSTNode | None, cst.If]]:
    """The branches that only run without an accelerator; and by block, its first statement after
    which the rest does, as in `if torch.cuda.is_available(): …; return`."""
    branches: set[cst.CSTNode] = set()
    leaving: dict[cst.CSTNode | None, cst.If] = {}
    conditions: list[cst.If | cst.IfExp] = [*module.nodes(cst.If), *module.nodes(cst.IfExp)]
    for statement in conditions:
        if _says_cpu(statement.test, module, truth=True):
            branches.add(statement.body)
        if _says_cpu(statement.test, module, truth=False):
            if statement.orelse is not None:
                branches.add(statement.orelse)
            elif isinstance(statement, cst.If) and leaves_round(statement.body):
                leaving.setdefault(module.parent(statement), statement)
    return frozenset(branches), leaving


def _says_cpu(test: cst.BaseExpression, module: Module, *, truth: bool, names: int = 0) -> bool:
    """Whether a condition can have this truth only without an accelerator."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return _says_cpu(test.expression, module, truth=not truth, names=names)
    if isinstance(test, cst.BooleanOperation):
        parts = (
            _says_cpu(each, module, truth=truth, names=names) for each in (test.left, test.right)
        )
        return any(parts) if isinstance(test.operator, cst.And) is truth else all(parts)
    if isinstance(test, cst.Comparison):
        return len(test.comparisons) == 1 and _compares_device(test, truth=truth)
    if isinstance(test, cst.Call):
        return not truth and not _ASKS.isdisjoint(module.resolve(test.func))
    return _named(test, module, truth=truth, names=names)


def _named(test: cst.BaseExpression, module: Module, *, truth: bool, names: int) -> bool:
    """The same of `use_cuda`, by what it was given or by its words."""
    if isinstance(test, cst.Name) and names < _MOST_NAMES:
        bindings = module.names.lookup(test)
        given = [each.value for each in bindings if not each.path and each.value is not None]
        if given and len(given) == len(bindings):
            return all(
                _says_cpu(value, module, truth=truth, names=names + 1)
                or (literal(value) is (not truth))
                for value in given
            ) and not all(isinstance(literal(value), bool) for value in given)
    word = dotted_text(test).rpartition(".")[2].lower()
    return bool((_CPU_WORDS if truth else _GPU_WORDS).search(word))


def _compares_device(test: cst.Comparison, *, truth: bool) -> bool:
    """`device.type == "cpu"`, `args.device != "cuda"`, `"cuda" in str(device)`."""
    asked = test.comparisons[0]
    if isinstance(asked.operator, cst.In | cst.NotIn):
        named, other = literal(test.left), asked.comparator
        equal = isinstance(asked.operator, cst.In)
    elif isinstance(asked.operator, cst.Equal | cst.NotEqual):
        named, other = literal(asked.comparator), test.left
        equal = isinstance(asked.operator, cst.Equal)
    else:
        return False
    if not isinstance(named, str) or not _is_device_of_program(other):
        return False
    is_named = equal is truth
    return is_named if named == "cpu" else named.startswith("cuda") and not is_named


def _is_device_of_program(node: cst.BaseExpression) -> bool:
    """`device`, `args.device.type`, `str(self.device)`; not `x.device`, which says where a tensor
    is."""
    if isinstance(node, cst.Call) and len(node.args) == 1:
        node = node.args[0].value
    while isinstance(node, cst.Attribute) and node.attr.value == "type":
        node = node.value
    if isinstance(node, cst.Attribute):
        owner = dotted_text(node.value).rpartition(".")[2]
        return "dev" in node.attr.value.lower() and sounds_like_settings(owner)
    return isinstance(node, cst.Name) and "dev" in node.value.lower()
