"""What a literal expression says, and which argument of a call is which."""

from __future__ import annotations

from typing import Final, final

import libcst as cst

_CONSTANTS = {"True": True, "False": False, "None": None}


@final
class Unknown:
    """The type of `UNKNOWN`: not a literal."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __bool__(self) -> bool:
        return False


UNKNOWN: Final = Unknown()
Literal = int | float | complex | str | bytes | bool | tuple[object, ...] | None | Unknown


def literal(node: cst.CSTNode | None) -> Literal:
    """The value of a number, string, constant, or tuple or list of such; else `UNKNOWN`."""
    if isinstance(node, cst.Name):
        return _CONSTANTS.get(node.value, UNKNOWN)
    if isinstance(node, (cst.Integer, cst.Float, cst.SimpleString)):
        return node.evaluated_value
    if isinstance(node, cst.ConcatenatedString):
        text = node.evaluated_value
        return UNKNOWN if text is None else text
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        value = literal(node.expression)
        return -value if isinstance(value, (int, float)) else UNKNOWN
    if isinstance(node, (cst.Tuple, cst.List)):
        values = tuple(literal(element.value) for element in node.elements)
        return UNKNOWN if UNKNOWN in values else values
    return UNKNOWN


def argument_node(call: cst.Call, keyword: str, position: int | None = None) -> cst.Arg | None:
    """The argument passed as `keyword=` or at 0-based `position`; None if there is none.

    Positions after a `*args` are unknown, so nothing is found there.
    """
    index = 0
    starred = False
    for arg in call.args:
        if arg.keyword is not None:
            if arg.keyword.value == keyword:
                return arg
        elif arg.star:
            starred = True
        else:
            if index == position and not starred:
                return arg
            index += 1
    return None


def argument(
    call: cst.Call, keyword: str, position: int | None = None
) -> cst.BaseExpression | None:
    """The expression passed as `keyword=` or at 0-based `position`; None if there is none."""
    arg = argument_node(call, keyword, position)
    return None if arg is None else arg.value


def has_star_args(call: cst.Call) -> bool:
    return any(arg.star == "*" for arg in call.args)


def has_star_kwargs(call: cst.Call) -> bool:
    return any(arg.star == "**" for arg in call.args)
