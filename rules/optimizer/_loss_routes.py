"""Which models a loss was computed with: what a backward pass goes through."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from torchlint.analysis.layers.layer_lists import assign_targets
from torchlint.analysis.names import dotted_text
from torchlint.rule import Module, once

Models = frozenset[str]
Route = frozenset["Through"]
_Assignment = cst.Assign | cst.AugAssign | cst.AnnAssign
_CUTS = frozenset({"data", "detach", "item"})
"""Attributes and methods that no gradient passes."""
_WHOLE = re.compile(r"(?:^|_)(?:ids?|idx|index|indices|lens?|lengths?|masks?)(?:_|$)")
"""Results of a model that are called so are whole numbers or truths, which have no gradients."""
_LONGEST = 30
"""A loss that is computed with more models is left alone."""
_NOWHERE: Route = frozenset()


class Through(NamedTuple):
    """A backward pass from the result of `outer(x)`, or of `outer(inner(x))`, goes through it."""

    outer: str
    inner: str = ""


@once
def routes(module: Module, around: cst.CSTNode, models: Models) -> dict[cst.CSTNode, Route]:
    """For each backward pass in a loop or function, which of these models it goes through."""
    routes_by_name: dict[str, Route] = {}
    found: dict[cst.CSTNode, Route] = {}
    inside = module.within(around)
    backwards = set(module.loops.backward_calls).intersection(inside)
    for node in inside:
        if node in backwards:
            found[node] = _route(node, routes_by_name, module, models)
        elif isinstance(node, _Assignment):
            route = _NOWHERE
            if node.value is not None and not module.evaluations.grad_is_off(node):
                route = _route(node.value, routes_by_name, module, models)
            for target in filter(None, _targets(node)):
                adds = isinstance(node, cst.AugAssign)
                routes_by_name[target] = (
                    route | routes_by_name.get(target, _NOWHERE) if adds else route
                )
    return found


def _targets(node: _Assignment) -> Iterator[str]:
    """The names and attributes that an assignment changes."""
    targets = [node.target] if isinstance(node, cst.AugAssign) else assign_targets(node)
    for target in targets:
        if isinstance(target, cst.Tuple | cst.List):
            names = (dotted_text(each.value) for each in target.elements)
            yield from (name for name in names if not _WHOLE.search(name))
        else:
            yield dotted_text(target)


def _route(node: cst.CSTNode, known: dict[str, Route], module: Module, models: Models) -> Route:
    """The models that an expression is computed with, up to where gradients end."""
    through: set[Through] = set()
    done: set[cst.CSTNode] = set()
    for part in module.within(node):
        if part in done:
            continue
        if isinstance(part, cst.Attribute) and part.attr.value in _CUTS:
            done.update(module.within(part))
        elif isinstance(part, cst.Call) and (model := _model_of(part, models)):
            done.update(module.within(part))
            inner = [each for arg in part.args for each in _route(arg.value, known, module, models)]
            through |= {Through(model), *inner, *(Through(model, each.outer) for each in inner)}
        else:
            through |= known.get(dotted_text(part), _NOWHERE)
    return frozenset(through) if len(through) <= _LONGEST else _NOWHERE


def _model_of(call: cst.Call, models: Models) -> str | None:
    """`netD` for `netD(x)` and `netD.score(x)`, if it is one of the models."""
    func = dotted_text(call.func)
    return next((each for each in (func, func.rpartition(".")[0]) if each in models), None)
