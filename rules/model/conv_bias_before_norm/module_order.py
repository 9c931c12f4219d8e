"""What the output of each layer goes into: in containers, and in the calls of `forward`."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.layers.chain import Chain, Step
from torchlint.analysis.layers.expression_layers import Layers
from torchlint.analysis.layers.layer_lists import GROW, UNORDERED, assign_targets
from torchlint.analysis.names import dotted_text
from torchlint.analysis.uses import occurrences
from torchlint.because import because
from torchlint.rule import once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.analysis.module import Module

Branch = cst.If | cst.IfExp
_LOOKS_ON = cst.AssignTarget | cst.AnnAssign | cst.Comparison | cst.ComparisonTarget
_HOLDS = cst.Element | cst.Subscript | cst.If
_ASKS = ("builtins.isinstance", "builtins.hasattr", "builtins.print")
_REWRITTEN = ("weight_norm", "spectral_norm", "parametriz", "prune", "remove_bias")


class ModuleOrder:
    """Reads a whole file. Call order counts, never the order of attributes in `__init__`."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.layers = Layers(module)
        self.calls: dict[cst.Call, dict[cst.Call, None]] = defaultdict(dict)
        """For each layer, the calls in `forward` whose value is its output."""
        self.inputs: dict[cst.Call, dict[cst.Call, None]] = defaultdict(dict)
        """For each layer, the calls in `forward` whose argument is its input."""
        self._read_containers()
        self._read_calls()

    def steps(self, layer: cst.Call) -> list[Step]:
        """Where the output of a layer goes, in source order; [] if that is not known."""
        found = self.layers.steps.get(layer, ())
        return sorted(found, key=lambda step: self.module.order(step.place))

    def before(self, layer: cst.Call) -> list[cst.Call]:
        """The layers whose output is the input of a layer; [] if that is not all known."""
        before = self._before.get(layer, {})
        passed_in = set().union(*before.values())
        return [*before] if passed_in.issuperset(self.inputs.get(layer, ())) else []

    @cached_property
    def _before(self) -> dict[cst.Call, dict[cst.Call, set[cst.CSTNode]]]:
        """For each layer, those whose output it gets, and the calls in `forward` that pass it."""
        layers_before: dict[cst.Call, dict[cst.Call, set[cst.CSTNode]]] = defaultdict(dict)
        for layer, steps in self.layers.steps.items():
            for step in steps:
                if step.after is not None:
                    places = layers_before[step.after].setdefault(layer, set())
                    places.update([step.place] if step.called else [])
        return layers_before

    # containers ----------------------------------------------------------------------------

    def _read_containers(self) -> None:
        module = self.module
        for call in module.nodes(cst.Call):
            if module.calls(call, "torch.nn.Sequential"):
                self.layers.chain(call)
            elif module.calls(call, *UNORDERED):
                targets = assign_targets(module.parent(call))
                if targets and self.layers.lists.loops.run_in_order(targets[0]):
                    self.layers.sequence(call)
            else:
                self.layers.parent_call(call)
        for node in module.nodes(cst.List):
            made_here = any(isinstance(element.value, cst.Call) for element in node.elements)
            if made_here and isinstance(module.parent(node), cst.Return):
                self.layers.sequence(node)
        for grown in self.layers.lists.grown:
            self.layers.grow(grown)

    # calls in forward ------------------------------------------------------------------------

    def _read_calls(self) -> None:
        for call in self.module.nodes(cst.Call):
            function = self.module.function(call)
            if function is None or function.name.value == "__init__":
                continue
            loop = self.module.enclosing(call, cst.For)
            plain = loop is not None and self.layers.lists.loops.is_plain(loop)
            chain = self._called(call.func)
            if chain is None or plain or self.module.class_(call) is None:
                continue
            for start in chain.first:
                if start.call is not None:
                    self.inputs[start.call][call] = None
            ends = [end.call for end in chain.last if end.call is not None]
            steps = list(self._steps_from(call)) if ends else []
            for end in ends:
                self.calls[end][call] = None
                self.layers.note(end, steps)

    def _called(self, func: cst.BaseExpression) -> Chain | None:
        """The chain of a module held by `self` or by a name that came from `self`."""
        held = isinstance(func, cst.Attribute | cst.Name | cst.Subscript)
        return self.layers.chain(func) if held else None

    def _steps_from(self, call: cst.Call) -> Iterator[Step]:
        """Where the value of a call goes."""
        parent = self.module.parent(call)
        if not isinstance(parent, cst.Assign | cst.AnnAssign):
            yield from self._steps_into(call)
            return
        name = _single_name(parent)
        uses = self.module.reads(parent, name) if name is not None else []
        for use in uses:
            yield from self._steps_into(use)
        if not uses:
            yield Step(None, call, called=True)

    def _steps_into(self, value: cst.BaseExpression) -> Iterator[Step]:
        """What is done with a value: it is the input of a known layer, or anything else."""
        call = self.module.call_with(value)
        chain = self._called(call.func) if call is not None else None
        if call is None or chain is None or not chain.first:
            yield Step(None, value, called=True)
            return
        for layer in chain.first:
            yield Step(layer.call, call, called=True)

    # how often a layer runs --------------------------------------------------------------------

    def runs_once(self, layer: cst.Call) -> bool:
        """Whether a layer has one place in the model, or one per branch, and is not rewritten."""
        holders = self._holders(layer)
        if holders is None:
            return False
        places = list(self.layers.placed.get(layer, ()))
        calls = list(self.calls.get(layer, ()))
        if holders and places and calls:
            return because(False, "the layer runs in a container and by {}", calls[0])
        if self._exclusive(places) and self._exclusive(calls):
            return True
        last = [*(places if len(places) > 1 else calls)][-1]
        return because(False, "the layer runs in several places; one of them is {}", last)

    def passed_to(self, layer: cst.Call) -> str | None:
        """The function that is given the layer, as in `init_layer(self.conv1)`; None if none is."""
        for use in self._holders(layer) or ():
            call = self.module.call_with(use)
            if call is not None and isinstance(self.module.parent(call), cst.Expr):
                name = dotted_text(call.func)
                if name.rpartition(".")[2] not in GROW:
                    return name
        return None

    def _holders(self, layer: cst.Call) -> list[cst.BaseExpression] | None:
        """The uses of the name that a layer is assigned to; None if one of them hides the layer
        from view or rewrites it."""
        assign = self.module.parent(layer)
        if isinstance(assign, cst.IfExp):
            assign = self.module.parent(assign)
        targets = assign_targets(assign)
        if assign is None or not targets:
            return []
        if len(targets) > 1:
            return because(None, "the layer has several names")
        uses: list[cst.BaseExpression] = []
        if isinstance(targets[0], cst.Name):
            uses += self.module.reads(assign, targets[0].value)
        elif isinstance(targets[0], cst.Attribute):
            uses += occurrences(targets[0], self.module)
        for use in uses:
            if self._hides(use):
                user = self.module.call_with(use) or self.module.parent(use) or use
                return because(None, "{} may run, replace or change the layer unseen", user)
        return uses

    def _hides(self, use: cst.BaseExpression) -> bool:
        """Whether a use of a layer may run it, replace it or change its bias unseen."""
        parent = self.module.parent(use)
        if isinstance(parent, cst.Attribute):
            return parent.attr.value.startswith("register_")  # a hook sees the output
        if isinstance(parent, _LOOKS_ON | _HOLDS):
            return False
        if isinstance(parent, cst.Call):
            return parent.func is not use
        if isinstance(parent, cst.Assign):
            return _single_name(parent) is None  # conv = self.conv
        call = self.module.call_with(use)
        if call is None:
            return True
        callee = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
        name = callee.value if isinstance(callee, cst.Name) else ""
        harmless = isinstance(self.module.parent(call), cst.Expr) or self.module.calls(
            call, "torch.nn.Sequential", *UNORDERED, *_ASKS
        )
        return not harmless or any(word in name for word in _REWRITTEN)

    def _exclusive(self, nodes: list[cst.CSTNode] | list[cst.Call]) -> bool:
        """Whether at most one of the nodes can run: they are in different arms of an `if`."""
        return all(
            self._in_other_arm(one, other)
            for index, one in enumerate(nodes)
            for other in nodes[:index]
        )

    def _in_other_arm(self, one: cst.CSTNode, other: cst.CSTNode) -> bool:
        lines = [[each, *self.module.ancestors(each)] for each in (one, other)]
        parts = dict(zip(lines[0][1:], lines[0], strict=False))
        for above, part in zip(lines[1][1:], lines[1], strict=False):
            if above in parts:
                return isinstance(above, Branch) and above.test not in (part, parts[above])
        return False

    # subclasses --------------------------------------------------------------------------------

    def overrides(self, class_: cst.ClassDef | None, methods: set[str]) -> bool:
        """Whether a subclass in this file has its own version of one of the methods."""
        name = f":{self.module.qualified_name(class_)}"
        return not self._overridden.get(name, set()).isdisjoint(methods)

    @cached_property
    def _overridden(self) -> dict[str, set[str]]:
        methods: dict[str, set[str]] = defaultdict(set)
        for class_ in self.module.nodes(cst.ClassDef):
            own = self.module.definitions.own_methods(class_)
            for base in self.module.definitions.bases(class_):
                methods[base] |= own.keys()
        return methods

    # conditions --------------------------------------------------------------------------------

    def conditions(self, layer: cst.Call, step: Step) -> list[Branch]:
        """The branches, innermost first, on which it depends that `step` follows `layer`."""
        place: cst.CSTNode | None = step.after if step.called else step.place
        around = set(self.module.ancestors(layer))
        if place is None:
            return []
        return [
            above
            for above in self.module.ancestors(place)
            if isinstance(above, Branch) and above not in around
        ]

    def is_in_body(self, node: cst.CSTNode, branch: Branch) -> bool:
        """Whether `node` is in the part of `branch` that runs if its test is true."""
        return node is branch.body or branch.body in self.module.ancestors(node)


def _single_name(assign: cst.Assign | cst.AnnAssign) -> str | None:
    targets = assign_targets(assign)
    target = targets[0] if len(targets) == 1 else None
    return target.value if isinstance(target, cst.Name) else None


@once
def order_of(module: Module) -> ModuleOrder:
    return ModuleOrder(module)
