"""The value that results where values meet: in a container, or on the two sides of an operator."""

from __future__ import annotations

from dataclasses import replace

from torchlint.analysis.values.kinds import (
    ARRAYS,
    HOST_VALUE,
    NO_VALUE,
    TENSORS,
    UNKNOWN_VALUE,
    Kind,
    Value,
)


def container(values: list[Value]) -> Value:
    """A list, tuple, set or dict of these values."""
    element: Value | None = None
    for value in values:
        element = value if element is None else element | value
    return Value(Kind.CONTAINER, element=element)


def shared(value: Value) -> Value:
    """The same value, once something else may refer to it too."""
    if not value.has(Kind.FRESH):
        return value
    return replace(value, kind=value.kind & ~Kind.FRESH | Kind.ARRAY)


def _float_type(operands: tuple[Value, ...]) -> str | None:
    """The element type of a computation in which all arrays are of one float type."""
    types = {each.dtype for each in operands if each.has(ARRAYS)}
    kind = types.pop() if len(types) == 1 else None
    return kind if kind is not None and kind.startswith("float") else None


def arithmetic(*operands: Value) -> Value:
    """What an operator makes of its operands: a tensor wins over an array, that over a number."""
    both = NO_VALUE
    for operand in operands:
        both |= operand
    if both.has(Kind.DEVICE):
        sure = any(each.has(Kind.DEVICE) and not each.has(Kind.HOST) for each in operands)
        return Value(Kind.DEVICE if sure else Kind.DEVICE | Kind.HOST, both.parameters)
    tensors = both.kind & (TENSORS | Kind.LIKELY)
    if tensors:
        return Value(tensors | (both.kind & Kind.PARAMETER), both.parameters)
    sure = any(each.is_array and not each.has(Kind.SCALAR) for each in operands)
    if sure and both.has(Kind.PARAMETER | Kind.UNKNOWN):
        return Value(Kind.ARRAY)  # whatever the other is: no device tensor mixes with arrays
    if both.has(Kind.PARAMETER):
        return Value(Kind.PARAMETER, both.parameters)
    if both.has(Kind.UNKNOWN):
        return UNKNOWN_VALUE
    if both.has(ARRAYS):
        return Value(Kind.FRESH if sure else Kind.FRESH | Kind.SCALAR, dtype=_float_type(operands))
    if both.has(Kind.CONTAINER):
        return Value(Kind.CONTAINER, element=both.element)
    return HOST_VALUE if not both.has(Kind.SCALAR) else Value(Kind.SCALAR)
