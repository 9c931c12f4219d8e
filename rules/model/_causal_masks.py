"""Masks of attention that hide the future and nothing else."""

import re
from typing import Final

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.uses import method_name, receiver
from torchlint.rule import Module

_MADE: Final = "torch.nn.Transformer.generate_square_subsequent_mask"
_SAME: Final = frozenset({"unsqueeze", "view", "expand", "to", "type", "bool"})
_TRIANGLES: Final = {"tril": 0, "triu": 1}
"""The diagonal that each triangle must begin at, if the future is the other or that one."""
_MOST_STEPS: Final = 12
_INFINITY: Final = re.compile(r"\binf\b")
_UP_TO: Final = re.compile(r"0?:[^:]+")


def is_causal(
    mask: cst.BaseExpression | None,
    module: Module,
    *,
    negated: bool = False,
    of_class: bool = False,
) -> bool:
    """Whether a mask of `scaled_dot_product_attention` certainly hides the future and no more: it
    is square, and True on and below the diagonal, or -inf above it and else 0.

    Args:
        negated: it is True where nobody may look.
        of_class: it may also be an attribute, and the upper left corner of one.
    """
    boolean = False
    node = mask
    for _ in range(_MOST_STEPS):
        boolean = boolean or _is_made_bool(node, module)
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.BitInvert):
            node, negated = node.expression, not negated
        elif isinstance(node, cst.Comparison):
            [asked] = {module.literal(each.comparator) for each in node.comparisons[:1]}
            if asked not in (0, 1) or not isinstance(node.comparisons[0].operator, cst.Equal):
                return False
            node, boolean, negated = node.left, True, negated is not (asked == 0)
        elif isinstance(node, cst.Call) and _name(node, module) in _TRIANGLES:
            return _hides_future(node, module, boolean=boolean, negated=negated)
        elif isinstance(node, cst.Call) and module.calls(node, _MADE):
            return not boolean and not negated
        else:
            node = _same(node, module, of_class=of_class)
    return False


def _hides_future(triangle: cst.Call, module: Module, *, boolean: bool, negated: bool) -> bool:
    """The same for `torch.tril(torch.ones(n, n))`, and for what such calls are made into."""
    called = bool(module.resolve(triangle.func))
    name = _name(triangle, module)
    diagonal = module.argument(triangle, "diagonal", int(called))
    if (0 if diagonal is None else module.literal(diagonal)) != _TRIANGLES[name]:
        return False
    filled = module.argument(triangle, "input", 0)
    if not called:
        filled = receiver(triangle)
    for _ in range(_MOST_STEPS):
        boolean = boolean or _is_made_bool(filled, module)
        if isinstance(filled, cst.Call) and _name(filled, module) in ("ones", "full"):
            break
        filled = _same(filled, module)
    if not isinstance(filled, cst.Call) or not _is_square(filled, module):
        return False
    if _name(filled, module) == "ones":
        return boolean and negated is (name == "triu")
    value = module.argument(filled, "fill_value", 1)
    text = "" if value is None else module.source(value)
    lowest = "-" in text and _INFINITY.search(text) is not None
    return lowest and not boolean and not negated and name == "triu"


def _name(call: cst.Call, module: Module) -> str:
    """`tril` for `torch.tril(…)` and for the method of that name."""
    names = module.resolve(call.func)
    if names:
        return names[0].removeprefix("torch.") if names[0].startswith("torch.") else ""
    return method_name(call)


def _is_made_bool(node: cst.BaseExpression | None, module: Module) -> bool:
    """`x.bool()`, `x.to(torch.bool)`, `torch.ones(n, n, dtype=torch.bool)`."""
    if not isinstance(node, cst.Call):
        return False
    types = (name for arg in node.args for name in module.resolve(arg.value))
    return method_name(node) == "bool" or "torch.bool" in types


def _same(
    node: cst.BaseExpression | None, module: Module, *, of_class: bool = False
) -> cst.BaseExpression | None:
    """What a name was given, if that is certain, and a mask before its shape or type changed."""
    if isinstance(node, cst.Subscript):
        within = ["".join(module.source(each.slice).split()) for each in node.slice]
        if of_class and within[-2:] == within[-1:] * 2 and _UP_TO.fullmatch(within[-1]):
            del within[-2:]
        return node.value if {*within} <= {"None", ":", "..."} else None
    if isinstance(node, cst.Attribute):
        return _given_to(node, module) if of_class else None
    if isinstance(node, cst.Call):
        return receiver(node) if method_name(node) in _SAME else None
    return module.flow.given(node)


def _is_square(filled: cst.Call, module: Module) -> bool:
    """Whether the last two sizes of `torch.ones(n, n)` are the same text, and the others 1."""
    given = [arg.value for arg in filled.args if arg.keyword is None]
    if given and isinstance(given[0], cst.Tuple | cst.List):
        given = [each.value for each in given[0].elements]
    sizes = [module.source(each) for each in given]
    return len(sizes) > 1 and sizes[-1] == sizes[-2] and set(sizes[:-2]) <= {"1"}


def _given_to(attribute: cst.Attribute, module: Module) -> cst.BaseExpression | None:
    """What the class of `self` gives an attribute of it, as a buffer or plainly, if that is one
    thing."""
    if dotted_text(attribute.value) != "self":
        return None
    name, class_ = attribute.attr.value, module.enclosing(attribute, cst.ClassDef)
    given = [
        module.argument(call, "tensor", 1)
        for call in module.calls_by_method.get("register_buffer", ())
        if module.enclosing(call, cst.ClassDef) is class_
        and module.literal(module.argument(call, "name", 0)) == name
    ]
    given += [
        each.value
        for each in module.nodes(cst.Assign)
        if any(dotted_text(one.target) == f"self.{name}" for one in each.targets)
        and module.enclosing(each, cst.ClassDef) is class_
    ]
    return given[0] if len(given) == 1 else None
