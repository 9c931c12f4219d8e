"""The parts of an attention written by hand: where its scores come from, where its weights go."""

from typing import Final

import libcst as cst

from torchlint.analysis.names import How, dotted_text
from torchlint.analysis.uses import method_name, reads_of_targets
from torchlint.rule import Module

_DEEPEST: Final = 10
_PRODUCTS: Final = frozenset({"torch.matmul", "torch.bmm", "torch.einsum"})
_METHODS: Final = frozenset({"matmul", "bmm"})
_SAME_SCORES: Final = frozenset(
    "masked_fill masked_fill_ float half to type_as view reshape contiguous".split()
)
_SAME_WEIGHTS: Final = frozenset({"to", "type_as", "float", "half", "contiguous"})
_TURNS: Final = frozenset({"transpose", "permute"})


def are_scores(module: Module, node: cst.BaseExpression | None, depth: int = _DEEPEST) -> bool:
    """Whether an expression is a product of queries and keys, perhaps scaled, shifted and masked,
    whichever way the code takes."""

    def ask(part: cst.BaseExpression | None) -> bool:
        return depth > 0 and module.once(are_scores, part, depth - 1)

    if _factors(node, module):
        return True
    if isinstance(node, cst.Name):
        bindings = [each for each in module.flow.reaching(node) if each.how is not How.UPDATE]
        known = all(each.how is How.ASSIGNMENT for each in bindings)
        return bool(bindings) and known and all(ask(each.value) for each in bindings)
    if isinstance(node, cst.IfExp):
        return ask(node.body) and ask(node.orelse)
    if isinstance(node, cst.BinaryOperation):
        either = isinstance(node.operator, cst.Add | cst.Multiply)
        return ask(node.left) is not (either and ask(node.right))
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        return node.func.attr.value in _SAME_SCORES and ask(node.func.value)
    return False


def only_weigh(
    module: Module, node: cst.BaseExpression, turned: bool = False, depth: int = _DEEPEST
) -> bool:
    """Whether all that is done with attention weights, perhaps after a dropout, is to multiply
    values by them; if they are turned, from the right."""

    def ask(part: cst.BaseExpression, *, turns: bool = False) -> bool:
        return depth > 0 and module.once(only_weigh, part, turned is not turns, depth - 1)

    around = module.call_with(node) or module.parent(node)
    method = around.attr.value if isinstance(around, cst.Attribute) else ""
    made = module.parent(around) if isinstance(around, cst.Attribute) else around
    factors = _factors(made, module)
    if factors:
        return factors[turned] is node
    if isinstance(made, cst.Call):
        drops = not method and "drop" in dotted_text(made.func).lower()
        same = drops or method in _SAME_WEIGHTS or method in _TURNS
        return same and ask(made, turns=method in _TURNS)
    uses = list(reads_of_targets(around, module))
    return bool(uses) and all(ask(use) for use in uses)


def _factors(node: cst.CSTNode | None, module: Module) -> list[cst.BaseExpression]:
    """The two factors of a product of matrices, by an operator, a function or a method."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.MatrixMultiply):
        return [node.left, node.right]
    if not isinstance(node, cst.Call):
        return []
    given = [arg.value for arg in node.args]
    names = module.resolve(node.func)
    if "torch.einsum" in names:
        given = given[1:]
    elif method_name(node) in _METHODS and not names:
        assert isinstance(node.func, cst.Attribute)
        given = [node.func.value, *given]
    elif _PRODUCTS.isdisjoint(names):
        return []
    return given if len(given) == 2 else []
