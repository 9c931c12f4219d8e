"""JSON of what was measured: the fields of its dataclasses, laid out as a person would break it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, Final

from torchlint.version import __version__

Json = dict[str, Any]
Shape = Callable[[Any, Json], Json]
"""Takes an object and its plain fields; returns the keys that the document has instead."""

_WIDTH: Final = 100
_FIGURES: Final = 6


def document(result: object, schema: int, shapes: Mapping[type, Shape]) -> Json:
    """The object for programs: nothing in it but dicts, lists, strings, numbers, booleans and None.

    Measured numbers have six significant figures; what is not a finite number is None.

    Args:
        result: a dataclass.
        shapes: by class, the exceptions from writing its fields as they are.
    """
    fields_ = _plain(result, shapes)
    return {"schema": schema, "tool": "torchlint", "version": __version__, **fields_}


def rounded(value: float | None) -> float | None:
    """Six significant figures; None for what is not finite."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.{_FIGURES}g}")


def spliced(keys: Json, name: str, part: type) -> Json:
    """The keys with those of the object `name` in its place, all None if there is no object.

    Args:
        part: the class of the object.
    """
    inner = keys[name] or dict.fromkeys(field.name for field in fields(part))
    return {
        key: value
        for outer, each in keys.items()
        for key, value in (inner if outer == name else {outer: each}).items()
    }


def _plain(value: object, shapes: Mapping[type, Shape]) -> Any:
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return rounded(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(each, shapes) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, shapes) for each in value]
    if not is_dataclass(value):
        return str(value)
    keys = {each.name: _plain(getattr(value, each.name), shapes) for each in fields(value)}
    shape = shapes.get(type(value))
    return keys if shape is None else shape(value, keys)


def laid_out(value: object, indent: str = "") -> str:
    """JSON in ASCII with short things and lists of numbers on one line.

    Raises:
        ValueError: a number in it is not finite.
    """
    line = json.dumps(value, allow_nan=False)
    if len(indent) + len(line) <= _WIDTH or not isinstance(value, dict | list) or _numbers(value):
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {laid_out(each, inner)}" for key, each in value.items()]
    else:
        parts = [laid_out(each, inner) for each in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n{inner}{f',{chr(10)}{inner}'.join(parts)}\n{indent}{closing}"


def _numbers(value: object) -> bool:
    """Whether it is a list that holds only numbers, or only lists of them."""
    return isinstance(value, list) and all(
        each is None or isinstance(each, int | float) or _numbers(each) for each in value
    )
