"""Expressions as they are written, for fixes that put them elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

_PRIMARIES = (
    cst.Name,
    cst.Attribute,
    cst.Call,
    cst.Subscript,
    cst.List,
    cst.Set,
    cst.Dict,
    cst.ListComp,
    cst.SetComp,
    cst.DictComp,
    cst.BaseString,
    cst.Ellipsis,
)
"""What can be written before a dot and between operators; a number cannot come before a dot."""
_IN_BRACKETS = (cst.Tuple, cst.GeneratorExp, cst.NamedExpr, cst.Yield)
"""What means something else, or nothing, without parentheses: `f((a, b))` is not `f(a, b)`."""
_TAKES_ANY = (
    cst.BaseSmallStatement,
    cst.If,
    cst.While,
    cst.For,
    cst.Decorator,
    cst.Element,
    cst.DictElement,
    cst.Index,
)


def value(module: Module, node: cst.BaseExpression) -> str:
    """The code of an expression, to be an argument, an element, or what is assigned: in parentheses
    if it needs them there."""
    return _code(module, node, bare=not isinstance(node, _IN_BRACKETS))


def operand(module: Module, node: cst.BaseExpression) -> str:
    """The same, to be written anywhere else, such as before a dot or between operators."""
    return _code(module, node, bare=isinstance(node, _PRIMARIES))


def outer(module: Module, node: cst.CSTNode) -> tuple[int, int]:
    """The offsets of a node with its own parentheses."""
    if isinstance(node, cst.BaseExpression) and node.lpar:
        return module.offsets(node.lpar[0])[0], module.offsets(node.rpar[-1])[1]
    return module.offsets(node)


def fitting(module: Module, node: cst.BaseExpression, text: str) -> str:
    """`text`, in parentheses if it needs them in the place of `node`, inside the parentheses
    that `node` has.

    Raises:
        ValueError: it is not one expression.
    """
    alone = _alone(text)
    written = alone or _alone(f"({text})")
    bracketed = alone is not None or (written is not None and bool(written.lpar))
    if written is None or not (text and bracketed) or isinstance(written, cst.StarredElement):
        raise ValueError(f"not one expression: {text}")
    if isinstance(written, cst.Tuple) and not written.lpar:
        raise ValueError(f"several expressions: {text}")
    if node.lpar:
        return text
    parent = module.parent(node)
    if isinstance(parent, cst.Arg):
        fits = not parent.star
    elif isinstance(parent, cst.AugAssign | cst.AnnAssign):
        fits = node is parent.value
    else:
        fits = isinstance(parent, _TAKES_ANY)
    strong = isinstance(written, _PRIMARIES) or (alone is not None and bool(written.lpar))
    if not (fits or strong) or (alone is None and not _in_brackets(module, node)):
        return f"({text})"
    return text


def _code(module: Module, node: cst.BaseExpression, *, bare: bool) -> str:
    start, end = module.offsets(node)
    first, last = outer(module, node)
    if "#" in module.text[first:start] or "#" in module.text[end:last]:
        return module.text[first:last]
    text = module.text[start:end]
    over_lines = "\n" in text or "\r" in text
    return text if bare and not (over_lines and _alone(text) is None) else f"({text})"


def _alone(text: str) -> cst.BaseExpression | None:
    """The expression that a text is on a line of its own; None if it is not one there."""
    try:
        return cst.parse_expression(text)
    except cst.ParserSyntaxError:
        return None


def _in_brackets(module: Module, node: cst.CSTNode) -> bool:
    """Whether a line may end anywhere around a node."""
    for above in module.ancestors(node):
        if isinstance(above, cst.FormattedString | cst.BaseStatement | cst.BaseSmallStatement):
            return False
        if isinstance(above, _BRACKETS) or bool(getattr(above, "lpar", None)):
            return True
    return False


_BRACKETS = (
    cst.Arg,
    cst.SubscriptElement,
    cst.List,
    cst.Set,
    cst.Dict,
    cst.BaseComp,
    cst.Parameters,
)
