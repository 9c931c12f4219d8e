"""What a literal expression says, and which argument of a call is which."""

from __future__ import annotations

import ast
import warnings
from typing import Final, final

import libcst as cst

_CONSTANTS = {"True": True, "False": False, "None": None}
_LONGEST_NUMBER = 4_000
"""Digits; Python itself writes out no whole number of more than 4,300."""


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
    if isinstance(node, (cst.Integer, cst.Float)):
        return _number(node)
    if isinstance(node, cst.SimpleString):
        return _string(node.value)
    if isinstance(node, cst.ConcatenatedString):
        return _joined(node)
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        value = literal(node.expression)
        return -value if isinstance(value, (int, float)) else UNKNOWN
    if isinstance(node, (cst.Tuple, cst.List)):
        values = tuple(literal(element.value) for element in node.elements)
        return UNKNOWN if UNKNOWN in values else values
    return UNKNOWN


def _number(node: cst.Integer | cst.Float) -> int | float | Unknown:
    if len(node.value) > _LONGEST_NUMBER:
        return UNKNOWN
    return int(node.value, 0) if isinstance(node, cst.Integer) else float(node.value)


def _string(text: str) -> str | bytes | Unknown:
    if text[0] in "\"'" and "\\" not in text and "\r" not in text:
        quotes = 3 if len(text) >= 6 and text[0] == text[1] == text[2] else 1
        return text[quotes:-quotes]
    return _evaluated(text)


def _joined(node: cst.ConcatenatedString) -> str | bytes | Unknown:
    """`"a" "b"`; unknown if a part is an f-string."""
    parts: list[cst.BaseExpression] = []
    rest: cst.BaseExpression = node
    while isinstance(rest, cst.ConcatenatedString):
        parts.append(rest.left)
        rest = rest.right
    strings = [each.value for each in (*parts, rest) if isinstance(each, cst.SimpleString)]
    return _evaluated(" ".join(strings)) if len(strings) > len(parts) else UNKNOWN


def _evaluated(text: str) -> str | bytes | Unknown:
    """What Python reads strings as. (`ast.literal_eval` leaves a cycle of objects behind with each
    call, and they pile up while a file is checked.)"""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that mean nothing
            found = ast.parse(f"({text})", mode="eval").body
    except (SyntaxError, ValueError):
        return UNKNOWN  # `"\\N{no character}"`; text and bytes
    value = found.value if isinstance(found, ast.Constant) else UNKNOWN
    return value if isinstance(value, str | bytes) else UNKNOWN


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


def option_names(call: cst.Call) -> list[str]:
    """The attributes in which argparse may keep an option, by its flags: `b` and `batch_size` for
    `add_argument("-b", "--batch-size")`."""
    flags = (literal(arg.value) for arg in call.args if arg.keyword is None)
    return [each.lstrip("-").replace("-", "_") for each in flags if isinstance(each, str)]


def has_star_args(call: cst.Call) -> bool:
    return any(arg.star == "*" for arg in call.args)


def has_star_kwargs(call: cst.Call) -> bool:
    return any(arg.star == "**" for arg in call.args)
