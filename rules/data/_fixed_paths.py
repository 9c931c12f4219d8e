"""Whether a path is the same for all samples of a dataset."""

import libcst as cst

from torchlint.analysis.literals import UNKNOWN, literal
from torchlint.analysis.loading.sample_code import makes_sample
from torchlint.analysis.names import Binding, How, dotted_text
from torchlint.analysis.uses import method_name, receiver
from torchlint.rule import Module

_KEEPING = ("os.path.", "pathlib.", "builtins.open", "builtins.str", "gzip.open", "os.fspath")
_KEEPING_METHODS = frozenset({"joinpath", "open", "as_posix", "format"})
_DEEPEST = 6


def is_fixed(node: cst.BaseExpression | None, module: Module, depth: int = 0) -> bool:
    """Whether an expression is the same for all samples, for certain: made of literals, of what
    the constructor keeps, and of names of the module."""
    if depth > _DEEPEST:
        return False
    if isinstance(node, cst.Name):
        bindings = module.flow.reaching(node)
        return bool(bindings) and all(_is_bound_once(each, module, depth) for each in bindings)
    if isinstance(node, cst.Attribute):
        return _is_same_for_all(node, module, depth)
    parts: list[cst.BaseExpression] = []
    if isinstance(node, cst.Call):
        parts = [arg.value for arg in node.args]
        if method_name(node) in _KEEPING_METHODS:
            parts.append(receiver(node))
        elif not any(name.startswith(_KEEPING) for name in module.resolve(node.func)):
            return False
    elif isinstance(node, cst.BinaryOperation):
        parts = [node.left, node.right]
    elif isinstance(node, cst.FormattedString):
        whole = (each for each in node.parts if isinstance(each, cst.FormattedStringExpression))
        parts = [each.expression for each in whole]
    elif literal(node) is UNKNOWN:
        return False
    return all(is_fixed(each, module, depth + 1) for each in parts)


def _is_bound_once(binding: Binding, module: Module, depth: int) -> bool:
    if binding.how is How.IMPORT:
        return True
    if binding.how not in (How.ASSIGNMENT, How.CONTEXT):
        return False
    return module.function(binding.node) is None or is_fixed(binding.value, module, depth + 1)


def _is_same_for_all(node: cst.Attribute, module: Module, depth: int) -> bool:
    """`self.path` that only the constructor sets; `args.path` of the module."""
    if dotted_text(node.value) == "self":
        bindings = module.values.assigned(module.class_(node), node.attr.value)
        return bool(bindings) and not any(makes_sample(each.node, module) for each in bindings)
    return is_fixed(node.value, module, depth + 1)
