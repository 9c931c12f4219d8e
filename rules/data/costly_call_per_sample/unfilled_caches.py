"""Caches of a dataset: those that are read and never filled, and those of a `Manager`."""

import re
from collections.abc import Iterator

import libcst as cst

from torchlint.analysis.names import Binding, dotted_text
from torchlint.analysis.uses import method_name
from torchlint.rule import Module, once

_CACHES = re.compile(r"cache|memo(?:ry|ized)?$", re.IGNORECASE)
_EMPTY = ("builtins.dict", "builtins.list", "collections.OrderedDict", "collections.defaultdict")
_READS = frozenset({"get", "keys", "values", "items", "clear"})


def never_filled(read: cst.CSTNode, module: Module) -> bool:
    """Whether `self.cache[index]` reads what its class only ever makes empty."""
    if not isinstance(read, cst.Subscript) or not isinstance(read.value, cst.Attribute):
        return False
    kept, class_ = read.value, module.class_(read)
    if class_ is None or dotted_text(kept.value) != "self" or not _CACHES.search(kept.attr.value):
        return False
    return _is_never_filled(module, class_, kept.attr.value)


@once
def _is_never_filled(module: Module, class_: cst.ClassDef, name: str) -> bool:
    bindings = module.values.assigned(class_, name)
    if not bindings or not all(_is_empty(_made(each), module) for each in bindings):
        return False
    return not any(_may_fill(use, module) for use in _uses(module, name))


def _made(binding: Binding) -> cst.BaseExpression | None:
    """What an attribute is set to, also in `self.files, self.cache = files, {}`."""
    made = binding.value
    for index in binding.path:
        if not isinstance(made, cst.Tuple) or index >= len(made.elements):
            return None
        made = made.elements[index].value
    return made


def _uses(module: Module, name: str) -> Iterator[cst.CSTNode]:
    """Each `anything.cache` of a file."""
    for each in module.spelled(name):
        parent = module.parent(each)
        if isinstance(parent, cst.Attribute) and parent.attr is each:
            yield parent


def _may_fill(use: cst.CSTNode, module: Module) -> bool:
    """Whether an item is set, a method changes it, or other code gets it."""
    parent = module.parent(use)
    if isinstance(parent, cst.Element):
        several = module.parent(parent)
        return several is None or not isinstance(module.parent(several), cst.AssignTarget)
    if isinstance(parent, cst.Subscript) and parent.value is use:
        above = module.parent(parent)
        return isinstance(above, cst.AssignTarget | cst.AugAssign | cst.Subscript)
    if isinstance(parent, cst.Attribute):
        call = module.parent(parent)
        return not isinstance(call, cst.Call) or method_name(call) not in _READS
    if isinstance(parent, cst.AugAssign):
        return parent.target is not use or not _is_empty(parent.value, module)
    return not isinstance(parent, cst.AssignTarget | cst.AnnAssign | cst.Comparison | cst.In)


def _is_empty(node: cst.BaseExpression | None, module: Module) -> bool:
    """`{}`, `dict()`, `manager.list()`, `[None] * n`, `[None for _ in items]`."""
    if isinstance(node, cst.List):
        return all(module.literal(each.value) is None for each in node.elements)
    if isinstance(node, cst.ListComp):
        return module.literal(node.elt) is None
    if isinstance(node, cst.Dict):
        return not node.elements
    if isinstance(node, cst.BinaryOperation):
        return isinstance(node.operator, cst.Multiply) and (
            isinstance(node.left, cst.List) and _is_empty(node.left, module)
        )
    if isinstance(node, cst.Call) and not node.args:
        return module.calls(node, *_EMPTY) or is_managed(node, module)
    return False


def is_managed(node: cst.BaseExpression | None, module: Module) -> bool:
    """`manager.list()` with `manager = Manager()`, or `self.manager`."""
    if not isinstance(node, cst.Call) or method_name(node) not in ("list", "dict"):
        return False
    func = node.func
    owner = func.value if isinstance(func, cst.Attribute) else None
    made: list[cst.BaseExpression | None] = [owner]
    if isinstance(owner, cst.Name):
        made = [each.value for each in module.flow.reaching(owner)]
    elif isinstance(owner, cst.Attribute):
        made = [
            each.value for each in module.values.assigned(module.class_(node), owner.attr.value)
        ]
    return any(
        isinstance(each, cst.Call)
        and any(name.endswith("multiprocessing.Manager") for name in module.resolve(each.func))
        for each in made
    )
