"""Lists of layers that grow statement by statement, as in `layers.append(nn.Conv2d(…))`."""

from __future__ import annotations

from functools import cached_property, reduce
from operator import or_
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.layers.chain import NO_LAYERS, Chain, unknown
from torchlint.analysis.names import dotted_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlint.analysis.layers.layers import Layers

GROW = frozenset({"append", "extend", "add_module", "insert"})
_SHRINK = frozenset({"pop", "remove", "clear", "reverse", "sort"})
_UNORDERED = ("torch.nn.ModuleList", "torch.nn.ModuleDict")
_Owner = cst.FunctionDef | cst.Module
_Key = tuple[_Owner, str]


def grown_name(statement: cst.CSTNode) -> str:
    """`layers` in `layers.append(x)`, `layers += [x]` and `layers["conv"] = x`, else empty."""
    if isinstance(statement, cst.Call):
        func = statement.func
        grows = isinstance(func, cst.Attribute) and func.attr.value in GROW | _SHRINK
        return dotted_text(func.value) if grows and isinstance(func, cst.Attribute) else ""
    if isinstance(statement, cst.AugAssign) and isinstance(statement.operator, cst.AddAssign):
        return dotted_text(statement.target)
    if isinstance(statement, cst.Assign) and isinstance(statement.targets[0].target, cst.Subscript):
        return dotted_text(statement.targets[0].target.value)
    return ""


class LayerLists:
    """Follows the lists of one file through branches and loops."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        self._module = layers.module
        self._states: dict[_Key, Chain] = {}

    @cached_property
    def grown(self) -> dict[_Key, list[cst.CSTNode]]:
        """For each list that grows, by function and name, the calls and statements that do it."""
        found: dict[_Key, list[cst.CSTNode]] = {}
        for node in self._module.nodes(cst.Call, cst.AugAssign, cst.Assign):
            name = grown_name(node)
            class_ = self._module.class_(node) if name == "self" else None
            if class_ is not None and not self._layers.items.is_sequential(class_):
                continue
            if name and (name.startswith("self.") or "." not in name):
                owner = self._module.function(node) or self._module.tree
                found.setdefault((owner, name), []).append(node)
        return found

    def _key(self, node: cst.CSTNode) -> _Key | None:
        """The list that an expression names: one of its function or, for `self.x`, its class."""
        name = dotted_text(node)
        own = (self._module.function(node) or self._module.tree, name)
        if own in self.grown:
            return own
        class_ = self._module.class_(node) if name.startswith("self.") else None
        return self._attributes.get((class_, name)) if class_ is not None else None

    @cached_property
    def _attributes(self) -> dict[tuple[cst.ClassDef | None, str], _Key]:
        return {
            (self._module.class_(owner), name): (owner, name)
            for owner, name in reversed(self.grown)
            if name.startswith("self.")
        }

    def state(self, node: cst.CSTNode) -> Chain | None:
        """The chain of a list that grows in order; None for anything else."""
        key = self._key(node)
        return None if key is None else self.grow(*key)

    def grow(self, owner: _Owner, name: str) -> Chain | None:
        """The chain of the list that a function knows under a name."""
        key = (owner, name)
        if key in self._unordered:
            return None
        if key not in self._states:
            _Growth(self._layers, key, self.grown[key], self._states).run()
        return self._states[key]

    def added(self, node: cst.CSTNode) -> list[cst.BaseExpression]:
        """What is put into a list or `nn.ModuleList` after it was made."""
        key = self._key(node)
        found: list[cst.BaseExpression] = []
        for place in self.grown.get(key, ()) if key else ():
            if isinstance(place, cst.Call) and isinstance(place.func, cst.Attribute) and place.args:
                value = place.args[-1].value
                extends = place.func.attr.value == "extend"
                found += (self._layers.items.items(value) or [value]) if extends else [value]
            elif isinstance(place, cst.AugAssign):
                found += self._layers.items.items(place.value) or [place.value]
            elif isinstance(place, cst.Assign):
                found.append(place.value)
        return found

    @cached_property
    def around_jumps(self) -> frozenset[cst.CSTNode]:
        """The statements that may leave a block before its end."""
        jumps = self._module.nodes(cst.Continue, cst.Break, cst.Return, cst.Raise)
        return frozenset(above for jump in jumps for above in self._module.ancestors(jump))

    @cached_property
    def _unordered(self) -> frozenset[_Key]:
        """Lists that become an `nn.ModuleList`, which runs its items in no order of its own."""
        found: set[_Key] = set()
        for call in self._module.nodes(cst.Call):
            if not self._module.calls(call, *_UNORDERED):
                continue
            owner = self._module.function(call) or self._module.tree
            assign = self._module.parent(call)
            if isinstance(assign, (cst.Assign, cst.AnnAssign)):
                targets = (
                    [each.target for each in assign.targets]
                    if isinstance(assign, cst.Assign)
                    else [assign.target]
                )
                if any(self._layers.items.runs_in_order(target) for target in targets):
                    continue
                found.update((owner, dotted_text(target)) for target in targets)
            found.update((owner, dotted_text(arg.value)) for arg in call.args)
        return frozenset(found)


class _Growth:
    """Runs the statements of one function that touch one list."""

    def __init__(
        self, layers: Layers, key: _Key, places: list[cst.CSTNode], states: dict[_Key, Chain]
    ) -> None:
        self._layers = layers
        self._key, self._name = key, key[1]
        self._states = states
        self._states[key] = self._empty = NO_LAYERS
        self._ends: list[Chain] = []
        self._skipped: list[list[Chain]] = []
        module = layers.module
        self._touched = {above for place in places for above in module.ancestors(place)}

    def run(self) -> None:
        end = self._block(self._key[0].body, self._empty)
        ends = self._ends if end is None else [*self._ends, end]
        self._states[self._key] = reduce(or_, ends) if ends else self._empty

    def _block(
        self, body: cst.BaseSuite | Sequence[cst.CSTNode], state: Chain | None
    ) -> Chain | None:
        """The state after a block; None if its end is never reached."""
        for statement in body.body if isinstance(body, cst.BaseSuite) else body:
            if state is None:
                return None
            self._states[self._key] = state
            if isinstance(statement, cst.SimpleStatementLine):
                for part in statement.body:
                    state = self._small(part, state) if state is not None else None
            elif isinstance(statement, cst.BaseSmallStatement):
                state = self._small(statement, state)
            elif statement in self._touched or statement in self._layers.lists.around_jumps:
                state = self._compound(statement, state)
        return state

    def _compound(self, node: cst.CSTNode, state: Chain) -> Chain | None:
        if isinstance(node, cst.If):
            otherwise: Chain | None = state
            if isinstance(node.orelse, cst.If):
                otherwise = self._compound(node.orelse, state)
            elif node.orelse is not None:
                otherwise = self._block(node.orelse.body, state)
            return _either(self._block(node.body, state), otherwise)
        if isinstance(node, (cst.For, cst.While)):
            return self._loop(node, state)
        if isinstance(node, cst.With):
            return self._block(node.body, state)
        if isinstance(node, cst.Try):
            handled = [self._block(handler.body, state) for handler in node.handlers]
            return reduce(_either, handled, self._block(node.body, state))
        return state

    def _loop(self, node: cst.For | cst.While, state: Chain) -> Chain:
        # Twice, so that the end of one round is followed by the start of the next.
        for _ in range(2):
            self._skipped.append([])
            end = self._block(node.body, state)
            state = reduce(_either, self._skipped.pop(), end) or state
        return state

    def _small(self, node: cst.BaseSmallStatement, state: Chain) -> Chain | None:
        if isinstance(node, cst.Return):
            self._ends.append(state)
            return None
        if isinstance(node, cst.Raise):
            return None
        if isinstance(node, (cst.Continue, cst.Break)):
            if self._skipped:
                self._skipped[-1].append(state)
            return None
        if isinstance(node, cst.Expr) and isinstance(node.value, cst.Call):
            return self._call(node.value, state)
        if isinstance(node, cst.AugAssign) and dotted_text(node.target) == self._name:
            return self._layers.join([state, self._layers.sequence(node.value)])
        if isinstance(node, (cst.Assign, cst.AnnAssign)) and node.value is not None:
            target = node.targets[0].target if isinstance(node, cst.Assign) else node.target
            if dotted_text(target) == self._name:
                return self._assigned(node.value, state)
            if isinstance(target, cst.Subscript) and dotted_text(target.value) == self._name:
                return self._layers.join([state, self._layers.element(node.value)])
        return state

    def _assigned(self, value: cst.BaseExpression, state: Chain) -> Chain:
        adds = isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Add)
        if (
            adds
            and isinstance(value, cst.BinaryOperation)
            and dotted_text(value.left) == self._name
        ):
            return self._layers.join([state, self._layers.sequence(value.right)])
        if isinstance(value, cst.Call) and any(
            dotted_text(arg.value) == self._name for arg in value.args
        ):
            return state  # layers = nn.Sequential(*layers)
        return self._layers.sequence(value)

    def _call(self, call: cst.Call, state: Chain) -> Chain:
        if grown_name(call) != self._name or not isinstance(call.func, cst.Attribute):
            return state
        how = call.func.attr.value
        if how in ("append", "add_module") and call.args:
            return self._layers.join([state, self._layers.element(call.args[-1].value)])
        if how == "extend" and call.args:
            return self._layers.join([state, self._layers.sequence(call.args[0].value)])
        return unknown(call)


def _either(one: Chain | None, other: Chain | None) -> Chain | None:
    """The state where two paths meet; a path that never gets there says nothing."""
    if one is None or other is None:
        return one or other
    return one | other
