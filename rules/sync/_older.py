"""What was there before a step began, and whether the step leaves it as it is."""

import re

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.rule import Module

_MOST_CALLS = 50
_CONSTANT = re.compile(
    rb"(?m)^(?:[ \t]*self\.)?([A-Za-z_]\w{0,80})[ \t]*=[ \t]*(?:torch|np|numpy)\w*\.(?!nn\b)[a-z]"
)
_MOVED = re.compile(rb"\.(?:to|cuda|type_as)\(")
_NAME = re.compile(rb"(\w{1,80})(?:\[[^\n\]]{0,80}\])?$")


def may_move_older(text: bytes) -> bool:
    """Whether a file moves a name or an attribute that it gives a new tensor."""
    kept = set(_CONSTANT.findall(text))
    ends = (each.start() for each in _MOVED.finditer(text)) if kept else ()
    names = (_NAME.search(text[max(0, end - 80) : end]) for end in ends)
    return any(name is not None and name[1] in kept for name in names)


def is_older(node: cst.BaseExpression, place: cst.CSTNode, module: Module) -> bool:
    """Whether a name was bound before the step around a place, or an attribute when its object
    was made."""
    if isinstance(node, cst.Name):
        bindings = module.flow.reaching(node)
        return not any(_is_in_step(each.node, place, module) for each in bindings)
    if not isinstance(node, cst.Attribute) or module.source(node.value) != "self":
        return False
    return module.once(_is_kept, module.class_(node), node.attr.value)


def _is_kept(module: Module, class_: cst.ClassDef | None, name: str) -> bool:
    """Whether only `__init__` sets an attribute."""
    kept = module.values.assigned(class_, name)
    setters = [module.qualified_name(module.function(each.node)) for each in kept]
    return bool(kept) and all(setter.endswith("__init__") for setter in setters)


def is_changed(node: cst.BaseExpression, place: cst.CSTNode, module: Module) -> bool:
    """Whether the step around a place changes something by a method."""
    calls = module.once(_changes).get(dotted_text(node), [])[:_MOST_CALLS]
    return any(_is_in_step(call, place, module) for call in calls)


def _changes(module: Module) -> dict[str, list[cst.Call]]:
    """The calls of methods that change their object, by its text: `x.fill_(0)`, `x[0].fill_(0)`."""
    found: dict[str, list[cst.Call]] = {}
    for name, calls in module.calls_by_method.items():
        for call in calls if name.endswith("_") else ():
            node = call.func.value if isinstance(call.func, cst.Attribute) else call.func
            while isinstance(node, cst.Subscript):
                node = node.value
            found.setdefault(dotted_text(node), []).append(call)
    return found


def _is_in_step(node: cst.CSTNode, place: cst.CSTNode, module: Module) -> bool:
    """Whether a node is part of the step around a place: of its step loop, or of its function."""
    loop = module.step_loop(place)
    step = module.function(place) if loop is None else loop.node
    return any(each is step for each in (node, *module.ancestors(node)))


def is_moved_to_host(node: cst.BaseExpression, module: Module) -> bool:
    """Whether the file moves something to host memory."""
    return dotted_text(node) in module.once(_moved_to_host)


def _moved_to_host(module: Module) -> frozenset[str]:
    moves = [
        call
        for name in ("cpu", "to")
        for call in module.calls_by_method.get(name, ())
        if name == "cpu" or any(module.values.is_cpu(arg.value) for arg in call.args)
    ]
    return frozenset(dotted_text(call.func).rpartition(".")[0] for call in moves)
