"""Which functions an expression may hold: by name, in a dict or list, in `partial`, in `self`."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

import libcst as cst

from torchlint.analysis.names import How, dotted_text, sounds_like_class

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torchlint.analysis.module import Module

OUTSIDE: Final = (
    "torch.",
    "numpy.",
    "builtins.",
    "torchvision.",
    "os.",
    "math.",
    "time.",
    "random.",
    "sys.",
    "logging.",
    "argparse.",
    "tqdm.",
    "collections.",
    "functools.",
    "json.",
    "re.",
    "cv2.",
    "PIL.",
    "scipy.",
    "sklearn.",
    "matplotlib.",
    "pandas.",
)
"""What the dotted names begin with that never lead into the project."""
_MOST_FOUND = 32
_MOST_VISITED = 200
_LOOKUPS = frozenset({"get", "pop", "values", "items"})
_KEEP = frozenset(
    {
        "builtins.dict",
        "builtins.enumerate",
        "builtins.list",
        "builtins.reversed",
        "builtins.tuple",
        "builtins.zip",
        "functools.partial",
        "torch.compile",
        "torch.jit.script",
        "torch.jit.trace",
        "torch.nn.ModuleDict",
        "torch.nn.ModuleList",
        "torch.nn.Sequential",
    }
)
"""Functions that return something which calls, or holds, the functions that they are given."""


def held_functions(node: cst.BaseExpression, module: Module) -> list[str]:
    """The functions and classes of the project that are called where the expression is.

    Returns:
        Dotted names as `Names.resolve` gives them; of a class where an object of it is held. No
        more than 32, so that a table of hundreds does not make all of them hot.
    """
    found = dict.fromkeys(islice(_held(node, module), _MOST_FOUND + 1))
    return list(found) if len(found) <= _MOST_FOUND else []


def _held(start: cst.BaseExpression, module: Module) -> Iterator[str]:
    seen: set[int] = set()
    left: list[cst.BaseExpression] = [start]
    while left and len(seen) < _MOST_VISITED:
        node = left.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        names = [name for name in module.resolve(node) if not name.startswith(OUTSIDE)]
        yield from names
        own = _of_self(node, module)
        if own is not None:
            yield own
        if not names:
            left += _inside(node, module)


def _of_self(node: cst.BaseExpression, module: Module) -> str | None:
    """`self.step`, a method of this file, as a dotted name."""
    if not isinstance(node, cst.Attribute) or dotted_text(node.value) != "self":
        return None
    method = module.values.definitions.method(node)
    return None if method is None else f":{module.qualified_name(method)}"


def _inside(node: cst.BaseExpression, module: Module) -> Iterable[cst.BaseExpression]:
    """The expressions that one of the functions in `node` may come from."""
    if isinstance(node, cst.Dict | cst.List | cst.Tuple | cst.Set):
        return [element.value for element in node.elements]
    if isinstance(node, cst.ListComp | cst.GeneratorExp):
        return (node.elt,)
    if isinstance(node, cst.IfExp):
        return node.body, node.orelse
    if isinstance(node, cst.BooleanOperation):
        return node.left, node.right
    if isinstance(node, cst.Subscript):
        return (node.value,)
    if isinstance(node, cst.Name):
        bindings = module.flow.reaching(node)
        return [each.value for each in bindings if each.value and each.how is not How.PARAMETER]
    if isinstance(node, cst.Attribute):
        if dotted_text(node.value) != "self":
            return ()
        held = module.values.assigned(module.class_(node), node.attr.value)
        return [each.value for each in held if each.value is not None]
    if isinstance(node, cst.Call):
        return _made(node, module)
    return ()


def _made(call: cst.Call, module: Module) -> Iterable[cst.BaseExpression]:
    """What a call returns that holds functions: `partial(f, x)`, `zip(losses, weights)`,
    `torch.compile(step)`, `steps.get(name)`; an object of a class."""
    if isinstance(call.func, cst.Attribute) and call.func.attr.value in _LOOKUPS:
        return (call.func.value,)
    names = module.resolve(call.func)
    if not _KEEP.isdisjoint(names):
        return [arg.value for arg in call.args]
    if any(map(sounds_like_class, names)):
        return (call.func,)
    return ()
