"""Which models each backward pass of a step goes through, and when gradients are zeroed and used.

The statements of a step are followed in their order, through the functions of the file that they
call.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from torchlint.analysis.layers.layer_lists import assign_targets
from torchlint.analysis.uses import method_name, receiving_parameter
from torchlint.analysis.values.kinds import sounds_like_optimizer
from torchlint.rule import Module, once

Models = frozenset[str]
Route = frozenset["Through"]
_Assignment = cst.Assign | cst.AugAssign | cst.AnnAssign
_CUTS = frozenset({"data", "detach", "item"})
"""Attributes and methods that no gradient passes."""
_KEEPS = frozenset({"append", "extend", "update"})
_WHOLE = re.compile(r"(?:^|_)(?:ids?|idx|index|indices|lens?|lengths?|masks?)(?:_|$)")
"""Results of a model that are called so are whole numbers or truths, which have no gradients."""
_LONGEST = 30
"""A loss that is computed with more models is left alone."""
_DEEPEST = 4
_MOST_NODES = 20_000
_NOWHERE: Route = frozenset()
EACH = "*"
"""The name of all optimizers, where a loop goes over them."""


class Through(NamedTuple):
    """A backward pass from the result of `outer(x)`, or of `outer(inner(x))`, goes through it."""

    outer: str
    inner: str = ""


class GradientEvent(NamedTuple):
    """A backward pass and where it goes; a call that zeroes gradients, or a step, and whose; or a
    forward pass of a model."""

    call: cst.Call
    route: Route = _NOWHERE
    names: frozenset[str] = frozenset()
    zeroes: bool = False
    ran: str = ""


class _Frame:
    """What is known in one call of a function."""

    def __init__(self, functions: tuple[cst.FunctionDef, ...]) -> None:
        self.functions = functions
        self.routes: dict[str, Route] = {}
        self.passed: dict[str, str] = {}
        self.in_turn: dict[str, frozenset[str]] = {}
        self.done: dict[cst.Call, Route] = {}
        self.returned: Route = _NOWHERE


def routes(module: Module, around: cst.CSTNode, models: Models) -> dict[cst.Call, Route]:
    """For each backward pass in a loop or function, which of these models it goes through."""
    backwards = module.loops.backward_calls
    happened = events(module, around, models, frozenset())
    return {each.call: each.route for each in happened if each.call in backwards}


@once
def events(
    module: Module, around: cst.CSTNode, models: Models, optimizers: frozenset[str]
) -> list[GradientEvent]:
    """The backward passes of a round of a loop or of a function, what zeroes gradients, and the
    steps, in the order in which they happen."""
    follow = _Follow(module, models, optimizers)
    function = around if isinstance(around, cst.FunctionDef) else None
    follow.run(around, _Frame((function,) if function is not None else ()))
    return follow.events


def text_of(node: cst.CSTNode | None) -> str:
    """`nets.d` and `nets["d"]` as they are read; empty for what is not a name or a part of one."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        owner = text_of(node.value)
        return owner if not owner or node.attr.value == "module" else f"{owner}.{node.attr.value}"
    if isinstance(node, cst.Subscript) and len(node.slice) == 1:
        index, owner = node.slice[0].slice, text_of(node.value)
        if owner and isinstance(index, cst.Index) and isinstance(index.value, cst.SimpleString):
            return f"{owner}.{index.value.raw_value}"
    return ""


def stepped(call: cst.Call, module: Module) -> list[str]:
    """What steps by a call, if that is an optimizer: `optimizer`, `optims["d"]`."""
    texts = _whose(call) if method_name(call) == "step" else []
    if call in module.loops.optimizer_steps:
        return texts
    return [text for text in texts if any(map(sounds_like_optimizer, text.split(".")))]


def _whose(call: cst.Call) -> list[str]:
    """The object that a method is called of, and what it is given by position."""
    given = [text_of(arg.value) for arg in call.args if arg.keyword is None]
    return [text for text in (_owner(text_of(call.func)), *given) if text]


class _Follow:
    """Follows the statements of a step."""

    def __init__(self, module: Module, models: Models, optimizers: frozenset[str]) -> None:
        self.events: list[GradientEvent] = []
        self._module = module
        self._models = models
        self._optimizers = optimizers
        self._backwards = frozenset(module.loops.backward_calls)
        self._attributes: dict[str, Route] = {}
        self._left = _MOST_NODES

    def run(self, body: cst.CSTNode, frame: _Frame) -> None:
        skipped: set[cst.CSTNode] = set()
        for node in self._module.within(body):
            self._left -= 1
            if node in skipped or self._left < 0:
                continue
            if isinstance(node, cst.FunctionDef | cst.Lambda | cst.ClassDef) and node is not body:
                skipped.update(self._module.within(node))
            elif isinstance(node, cst.Call):
                self._perform(node, frame)
            elif isinstance(node, cst.Return):
                frame.returned |= self._route(node.value, frame)
            else:
                self._bind(node, frame)

    def _bind(self, node: cst.CSTNode, frame: _Frame) -> None:
        """Take in what a statement gives to names."""
        if isinstance(node, _Assignment):
            off = node.value is None or self._module.evaluations.grad_is_off(node)
            route = _NOWHERE if off else self._route(node.value, frame)
            for target in _targets(node):
                self._give(target, route, frame, adds=isinstance(node, cst.AugAssign))
        elif isinstance(node, cst.For):
            route = self._route(node.iter, frame)
            for name in _names(node.target):
                self._give(name, route, frame)
            if isinstance(node.target, cst.Name):
                frame.in_turn[node.target.value] = self._elements(node.iter, frame)
        elif isinstance(node, cst.WithItem) and node.asname is not None:
            self._give(text_of(node.asname.name), self._route(node.item, frame), frame)

    def _give(self, target: str, route: Route, frame: _Frame, *, adds: bool = False) -> None:
        if not target:
            return
        known = self._known(target, frame)
        before = known.get(target, _NOWHERE)
        known[target] = _short(route | before) if adds else route
        whole = target.rpartition(".")[0]
        if whole and whole != "self":
            known[whole] = _short(route | known.get(whole, _NOWHERE))

    def _known(self, text: str, frame: _Frame) -> dict[str, Route]:
        return self._attributes if text.startswith("self.") else frame.routes

    def _elements(self, source: cst.BaseExpression, frame: _Frame) -> frozenset[str]:
        if isinstance(source, cst.Tuple | cst.List):
            return frozenset(self._meant(text_of(each.value), frame) for each in source.elements)
        return frozenset({EACH})

    # expressions ------------------------------------------------------------------------------

    def _route(self, node: cst.CSTNode | None, frame: _Frame) -> Route:
        """The models that an expression is computed with, up to where gradients end."""
        if node is None:
            return _NOWHERE
        through: Route = _NOWHERE
        done: set[cst.CSTNode] = set()
        for part in self._module.within(node):
            if part in done:
                continue
            if isinstance(part, cst.Lambda) or _cuts(part):
                done.update(self._module.within(part))
            elif isinstance(part, cst.Call):
                done.update(self._module.within(part))
                through |= self._perform(part, frame)
            elif text := text_of(part):
                known = self._known(text, frame).get(text)
                if known is not None:
                    done.update(self._module.within(part))
                    through |= known
                elif isinstance(part, cst.Attribute):
                    done.add(part.attr)
        return _short(through)

    def _perform(self, call: cst.Call, frame: _Frame) -> Route:
        """Take in what a call does; the models that its result is computed with."""
        if call in frame.done:
            return frame.done[call]
        frame.done[call] = _NOWHERE
        given = _short(_NOWHERE.union(*(self._route(arg.value, frame) for arg in call.args)))
        model = self._model(call, frame)
        if self._happens(call, frame):
            return _NOWHERE
        if model:
            if not self._module.evaluations.grad_is_off(call):
                self.events.append(GradientEvent(call, ran=model))
                inside = {Through(model, each.outer) for each in given}
                frame.done[call] = _short(given | {Through(model)} | inside)
            return frame.done[call]
        function = self._module.definitions.callee(call)
        if call in self._backwards:
            route = _short(given | self._route(call.func, frame))
            self.events.append(GradientEvent(call, route))
        elif function is not None and function not in frame.functions and self._may_enter(frame):
            frame.done[call] = self._enter(call, function, frame)
        else:
            frame.done[call] = _short(given | self._route(call.func, frame))
            if method_name(call) in _KEEPS and isinstance(call.func, cst.Attribute):
                self._give(text_of(call.func.value), given, frame, adds=True)
        return frame.done[call]

    def _model(self, call: cst.Call, frame: _Frame) -> str:
        """`netD` for `netD(x)` and `netD.score(x)`, if it is one of the models."""
        func = self._meant(text_of(call.func), frame)
        return next((name for each in (func, _owner(func)) for name in self._as_model(each)), "")

    def _as_model(self, text: str) -> Iterator[str]:
        yield from (each for each in _also(text) if each in self._models)

    def _meant(self, text: str, frame: _Frame) -> str:
        """The name that the caller has for what it passed."""
        root, dot, rest = text.partition(".")
        return f"{frame.passed.get(root, root)}{dot}{rest}"

    # calls ------------------------------------------------------------------------------------

    def _happens(self, call: cst.Call, frame: _Frame) -> bool:
        """Note what zeroes gradients, or steps."""
        method = method_name(call)
        if method not in ("zero_grad", "step"):
            return False
        texts = _whose(call)
        names = {name for text in texts for name in _also(self._meant(text, frame))}
        names |= {each for text in texts for each in frame.in_turn.get(text, ())}
        zeroes = method == "zero_grad"
        if zeroes or stepped(call, self._module) or not names.isdisjoint(self._optimizers):
            self.events.append(GradientEvent(call, names=frozenset(names), zeroes=zeroes))
            return True
        return False

    def _may_enter(self, frame: _Frame) -> bool:
        return len(frame.functions) < _DEEPEST and self._left > 0

    def _enter(self, call: cst.Call, function: cst.FunctionDef, frame: _Frame) -> Route:
        """Follow the statements of a function that is called; the route of what it returns."""
        inner = _Frame((*frame.functions, function))
        for arg in call.args:
            param = receiving_parameter(call, arg.value, function)
            if param is not None:
                name = param.name.value
                inner.routes[name] = self._route(arg.value, frame)
                inner.passed[name] = self._meant(text_of(arg.value), frame) or name
        self.run(function.body, inner)
        return inner.returned


def _targets(node: _Assignment) -> Iterator[str]:
    """The names and attributes that an assignment changes."""
    targets = [node.target] if isinstance(node, cst.AugAssign) else assign_targets(node)
    for target in targets:
        yield from _names(target)


def _names(target: cst.BaseExpression) -> Iterator[str]:
    if isinstance(target, cst.Tuple | cst.List):
        for each in target.elements:
            yield from (name for name in _names(each.value) if not _WHOLE.search(name))
    elif text := text_of(target):
        yield text
    elif isinstance(target, cst.Subscript) and (text := text_of(target.value)):
        yield f"{text}.?"


def _cuts(part: cst.CSTNode) -> bool:
    return isinstance(part, cst.Attribute) and part.attr.value in _CUTS


def _short(route: Route) -> Route:
    return route if len(route) <= _LONGEST else _NOWHERE


def _owner(text: str) -> str:
    return text.rpartition(".")[0]


def _also(text: str) -> tuple[str, ...]:
    """`state.netD`, and `netD`: the same if an object only carries it."""
    root, _, rest = text.partition(".")
    return (text,) if root == "self" or not rest else (text, rest)
