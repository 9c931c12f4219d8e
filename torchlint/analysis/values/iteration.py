"""What loops iterate over: batches of a loader, seen through progress bars and wrappers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.values.kinds import (
    ARRAYS,
    HOST_VALUE,
    TENSORS,
    Kind,
    Value,
    sounds_like_loader,
)

if TYPE_CHECKING:
    from torchlint.analysis.values.inference import Inference


def iterated_call(source: cst.Call, values: Inference) -> Value | None:
    """What a loop over a call gets on each round, if the callee is an iteration helper."""
    names = values.names.resolve(source.func)
    if not source.args:
        if isinstance(source.func, cst.Attribute) and source.func.attr.value in (
            "items",
            "values",
        ):
            owner = values.value(source.func.value)
            if owner.has(Kind.CONTAINER):
                return owner.element
            kept = owner.kind & (Kind.PARAMETER | Kind.LIKELY | TENSORS)
            return Value(kept or Kind.UNKNOWN, owner.parameters)
        return None
    first = source.args[0].value
    if names == ("builtins.enumerate",):
        return values.iterated(first, values.value(first))
    if names == ("builtins.zip",):
        iterated: Value | None = None
        for arg in source.args:
            part = values.iterated(arg.value, values.value(arg.value))
            iterated = part if iterated is None else iterated | part
        return iterated
    if names == ("builtins.range",):
        return HOST_VALUE
    value = values.value(source)
    if value.has(Kind.LOADER | Kind.CONTAINER | TENSORS | ARRAYS):
        return None
    for arg in source.args:
        if is_over_loader(arg.value, values):
            return values.iterated(arg.value, values.value(arg.value) | Value(Kind.LOADER))
    return None


def unwrapped(source: cst.BaseExpression | None, values: Inference) -> cst.BaseExpression | None:
    """The iterable inside a progress bar: `enumerate(loader)` of `tqdm(enumerate(loader))`."""
    while isinstance(source, cst.Call) and source.args:
        names = values.names.resolve(source.func)
        if not any(name.rpartition(".")[2] in ("tqdm", "trange", "track") for name in names):
            break
        source = source.args[0].value
    return source


def is_over_loader(source: cst.BaseExpression, values: Inference) -> bool:
    """Whether iterating over an expression goes over the batches of a loader, through `tqdm`,
    `enumerate`, `zip` or a wrapper that is given one."""
    if isinstance(source, cst.Call) and not values.value(source).has(Kind.LOADER):
        return any(is_over_loader(arg.value, values) for arg in source.args)
    text = dotted_text(source).rpartition(".")[2]
    if text and sounds_like_loader(text):
        return True
    return values.value(source).has(Kind.LOADER)


def gives_keys(func: cst.CSTNode) -> bool:
    """Whether a method gives pairs that begin with a name: `items`, `named_parameters`."""
    if not isinstance(func, cst.Attribute):
        return False
    return func.attr.value == "items" or func.attr.value.startswith("named_")
