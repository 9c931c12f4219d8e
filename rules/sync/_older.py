"""What was there before a step began, and whether the step leaves it as it is."""

import re

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.rule import Module, because

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
    moves = any(name is not None and name[1] in kept for name in names)
    said = "the file copies nothing to a device by a name or attribute that it gives a new tensor"
    return moves or because(False, said)


def is_older(node: cst.BaseExpression, place: cst.CSTNode, module: Module) -> bool:
    """Whether a name was bound before the step around a place, or an attribute when its object
    was made."""
    if isinstance(node, cst.Name):
        for each in module.flow.reaching(node):
            if _is_in_step(each.node, place, module):
                said = "{:code} is new on each step, or on each call, from {:line}"
                return because(False, said, node, each.node)
        return True
    if not isinstance(node, cst.Attribute) or module.source(node.value) != "self":
        return because(False, "nothing shows that {:code} is the same on each step", node)
    kept = module.once(_is_kept, module.class_(node), node.attr.value)
    return kept or because(False, "{:code} is not set by `__init__` alone", node)


def _is_kept(module: Module, class_: cst.ClassDef | None, name: str) -> bool:
    """Whether only `__init__` sets an attribute."""
    kept = module.values.assigned(class_, name)
    setters = [module.qualified_name(module.function(each.node)) for each in kept]
    return bool(kept) and all(setter.endswith("__init__") for setter in setters)


def is_changed(node: cst.BaseExpression, place: cst.CSTNode, module: Module) -> bool:
    """Whether the step around a place changes something by a method."""
    calls = module.once(_changes).get(dotted_text(node), [])[:_MOST_CALLS]
    for call in calls:
        if _is_in_step(call, place, module):
            return because(True, "{} changes it in place", call)
    return False


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


def moved_to_host(node: cst.BaseExpression, module: Module) -> cst.Call | None:
    """Where the file moves something to host memory."""
    return module.once(_moved_to_host).get(dotted_text(node))


def _moved_to_host(module: Module) -> dict[str, cst.Call]:
    moves = [
        call
        for name in ("cpu", "to")
        for call in module.calls_by_method.get(name, ())
        if name == "cpu" or any(module.values.is_cpu(arg.value) for arg in call.args)
    ]
    return {dotted_text(call.func).rpartition(".")[0]: call for call in moves}
