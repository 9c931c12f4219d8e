"""Indices that a matcher of predictions and targets gives, in the way of DETR."""

import re
from collections.abc import Iterator

import libcst as cst

from torchlint.analysis.names import Binding, How, dotted_text
from torchlint.analysis.uses import method_name, receiver
from torchlint.analysis.values.kinds import ON_HOST
from torchlint.rule import Module, once

_MATCHER = re.compile(r"(?:^|_)matcher$")
_INDICES = re.compile(r"(?:^|_)(?:indices|matches|matched_ids?)$")
_OF_INDICES = re.compile(r"idx|indic|index|perm|match")
"""Methods that make indices of indices; others of a criterion give losses."""
_MOVES = frozenset({"cuda", "item", "numel", "size", "to", "tolist"})


def copied_indices(module: Module) -> Iterator[tuple[cst.Subscript, cst.BaseExpression]]:
    """The items that are picked by what a matcher gave, and the index, once for each line."""
    matching = {module.class_(call) for call in _known(module)} - {None}
    seen: set[int] = set()
    for item in module.nodes(cst.Subscript) if matching else ():
        row = module.span(item)[0].row
        if row in seen or module.class_(item) not in matching:
            continue
        indices = [each.slice.value for each in item.slice if isinstance(each.slice, cst.Index)]
        index = next((each for each in indices if _is_matched(each, module)), None)
        picked = module.value(item.value)
        if index is not None and not picked.only(ON_HOST) and not _is_matched(item.value, module):
            seen.add(row)
            yield item, index


@once
def _known(module: Module) -> dict[cst.BaseExpression, bool]:
    """By expression: whether it is an index of a matcher; at first that of what matchers give."""
    return {
        call: True
        for call in module.nodes(cst.Call)
        if _MATCHER.search(dotted_text(call.func).rpartition(".")[2])
    }


def _is_matched(node: cst.BaseExpression, module: Module) -> bool:
    """Whether an expression is an index of a matcher, or tensors and tuples made of some."""
    known = _known(module)
    if node not in known:
        known[node] = False  # an index that depends on itself alone comes from nowhere
        known[node] = _is_made_of_matched(node, module)
    return known[node]


def _is_made_of_matched(node: cst.BaseExpression, module: Module) -> bool:
    parts: list[cst.BaseExpression] = []
    if isinstance(node, cst.Name):
        bindings = module.flow.reaching(node)
        return any(_gives_matched(each, module) for each in bindings)
    if isinstance(node, cst.Call):
        return _makes_matched(node, module)
    if isinstance(node, cst.Subscript):
        parts = [node.value]
    elif isinstance(node, cst.Tuple | cst.List):
        parts = [each.value for each in node.elements]
    elif isinstance(node, cst.ListComp | cst.GeneratorExp):
        parts = [node.elt]
    elif isinstance(node, cst.IfExp):
        parts = [node.body, node.orelse]
    elif isinstance(node, cst.BinaryOperation):
        parts = [node.left, node.right]
    return any(_is_matched(each, module) for each in parts)


def _gives_matched(binding: Binding, module: Module) -> bool:
    if binding.how is How.PARAMETER:
        return _INDICES.search(binding.name) is not None
    source, path = binding.value, binding.path
    while isinstance(source, cst.Call) and binding.how is How.ITERATION and path:
        names = module.resolve(source.func)
        if "builtins.zip" in names and path[0] < len(source.args):
            source, path = source.args[path[0]].value, path[1:]
        elif "builtins.enumerate" in names and source.args and path[0] == 1:
            source, path = source.args[0].value, path[1:]
        else:
            break
    return source is not None and _is_matched(source, module)


def _makes_matched(call: cst.Call, module: Module) -> bool:
    """A method of the class that is given indices, `torch.cat` of some, `i.long()`."""
    method, owner = method_name(call), receiver(call)
    if method in _MOVES or module.argument(call, "device") is not None:
        return False
    own = dotted_text(call.func).startswith("self.") and _OF_INDICES.search(method)
    torchs = any(name.startswith("torch.") for name in module.resolve(call.func))
    if own or torchs:
        return any(_is_matched(arg.value, module) for arg in call.args)
    return owner is not None and _is_matched(owner, module)
