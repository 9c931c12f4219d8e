"""Which layers an expression means, and in what order a container runs them."""

from __future__ import annotations

from functools import cached_property, reduce
from operator import or_
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.layers.chain import NO_LAYERS, Chain, Layer, Step, either, unknown
from torchlint.analysis.layers.chosen_norms import Choice, choice_of
from torchlint.analysis.layers.layer_lists import (
    GrownList,
    LayerLists,
    assign_targets,
    grown_name,
)
from torchlint.analysis.names import Binding, How, dotted_text, is_super
from torchlint.analysis.once import once

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torchlint.analysis.module import Module

_PASSED_ON = ("torch.nn.Identity", "torch.nn.Sequential")
_LISTS = ("builtins.list", "builtins.tuple")
_PAIRS = ("collections.OrderedDict", "typing.OrderedDict", "builtins.dict")


class Layers:
    """Reads containers and list building in one file, and keeps what follows what.

    `steps` has, for the constructor call of each layer, where its output goes; `placed` the
    expressions that put the layer into containers.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self.lists = LayerLists(module)
        self.steps: dict[cst.Call, dict[Step, None]] = {}
        self.placed: dict[cst.Call, dict[cst.CSTNode, None]] = {}
        self._chains: dict[cst.CSTNode, Chain] = {}
        self._sequences: dict[cst.CSTNode, Chain] = {}
        self._grown: dict[GrownList, Chain] = {}

    # what is where -------------------------------------------------------------------------

    def constructor(self, call: cst.Call) -> tuple[str, ...]:
        """The dotted names that a call constructs; empty unless each candidate is known."""
        root: cst.BaseExpression = call.func
        while type(root) is cst.Attribute:
            root = root.value
        if type(root) is not cst.Name:
            return ()
        choice = self.choice(call)
        if choice is not None:
            return tuple(sorted(choice.names))
        for binding in self.module.names.lookup(root):
            if binding.dotted is None and not self._known_alias(binding):
                return ()
        return self.module.resolve(call.func)

    def choice(self, call: cst.Call) -> Choice | None:
        """What is known of a parameter that chooses the batch norm which a call constructs."""
        return choice_of(call.func, self.module)

    def _known_alias(self, binding: Binding) -> bool:
        value = binding.value
        if binding.how is not How.ASSIGNMENT or value is None:
            return False
        if isinstance(value, cst.IfExp):
            return all(self.module.resolve(side) for side in (value.body, value.orelse))
        return isinstance(value, (cst.Name, cst.Attribute)) and bool(self.module.resolve(value))

    def is_one_of(self, call: cst.Call, names: Iterable[str]) -> bool:
        """Whether a call constructs one of these, under whatever alias."""
        found = self.constructor(call)
        return bool(found) and set(found).issubset(names)

    def is_lazy(self, call: cst.Call) -> bool:
        """Lazy layers take no number of input features, so their other arguments move up."""
        return any(name.startswith("torch.nn.Lazy") for name in self.constructor(call))

    def join(self, chains: Iterable[Chain]) -> Chain:
        """Runs chains one after the other and notes what follows what."""
        whole = NO_LAYERS
        for chain in chains:
            for before in whole.last:
                self.note(before.call, [Step(after.call, after.place) for after in chain.first])
            whole = Chain(
                whole.first + chain.first if whole.empty else whole.first,
                chain.last + whole.last if chain.empty else chain.last,
                whole.empty and chain.empty,
            )
        return whole

    def repeat(self, chain: Chain) -> Chain:
        self.join([chain, chain])
        return chain

    def note(self, call: cst.Call | None, steps: Iterable[Step]) -> None:
        if call is not None:
            self.steps.setdefault(call, {}).update(dict.fromkeys(steps))

    def element(self, node: cst.CSTNode) -> Chain:
        """The chain of an element of an ordered container."""
        if isinstance(node, cst.Tuple) and len(node.elements) == 2:
            node = node.elements[1].value  # ("conv1", nn.Conv2d(…)) in an OrderedDict
        chain = self.chain(node)
        for layer in chain.first + chain.last:
            if layer.call is not None and layer.place is node:
                self.placed.setdefault(layer.call, {})[node] = None
        return chain

    # modules -------------------------------------------------------------------------------

    def chain(self, node: cst.CSTNode) -> Chain:
        """What runs when the module that an expression means is called."""
        cached = self._chains.get(node)
        if cached is None:
            self._chains[node] = unknown(node)  # a module that is part of itself
            cached = self._chains[node] = self._chain(node)
        return cached

    def _chain(self, node: cst.CSTNode) -> Chain:
        if isinstance(node, cst.Call):
            return self._constructed(node)
        if isinstance(node, cst.IfExp):
            return self.chain(node.body) | self.chain(node.orelse)
        if isinstance(node, (cst.Name, cst.Attribute)):
            grown = self.grown(node)
            if grown is not None:
                return grown
        if isinstance(node, cst.Name):
            found = [self._bound(binding, node) for binding in self.module.flow.reaching(node)]
            return either(found, node)
        if isinstance(node, cst.Attribute):
            values = self.lists.assigned(node) or ()
            return either([self._moved(self.chain(value), value, node) for value in values], node)
        if isinstance(node, cst.Subscript):
            return either([self.chain(item) for item in self.lists.items(node.value) or ()], node)
        return unknown(node)

    def _constructed(self, call: cst.Call) -> Chain:
        if self.is_one_of(call, _PASSED_ON):
            if not self.module.calls(call, "torch.nn.Sequential"):
                return NO_LAYERS
            by_hand = self._is_run_by_hand(call)
            return unknown(call) if by_hand else self.join(map(self._argument, call.args))
        function = self.module.definitions.callee(call)
        if function is not None:
            return self._result(function, call, as_list=False)
        layer = Layer(call if self.constructor(call) else None, call)
        return Chain((layer,), (layer,))

    def parent_call(self, call: cst.Call) -> Chain | None:
        """The chain of `super().__init__(conv, norm)` in a subclass of `nn.Sequential`."""
        func = call.func
        if not (isinstance(func, cst.Attribute) and func.attr.value == "__init__"):
            return None
        if not is_super(func.value):
            return None
        class_ = self.module.class_(call)
        if class_ is None or not self.lists.is_sequential(class_):
            return None
        return self.join(map(self._argument, call.args))

    def _is_run_by_hand(self, call: cst.Call) -> bool:
        assign = self.module.parent(call)
        if isinstance(assign, cst.Assign):
            return self.lists.loops.run_by_hand(assign.targets[0].target)
        return self.lists.loops.get_from_outside(call)

    def _argument(self, arg: cst.Arg) -> Chain:
        value = arg.value
        as_list = (
            arg.star == "*"
            or (isinstance(value, cst.Call) and self.module.calls(value, *_PAIRS))
            or (isinstance(value, (cst.Name, cst.Attribute)) and self.grown(value) is not None)
        )
        return self.sequence(value) if as_list else self.element(value)

    def _bound(self, binding: Binding, node: cst.Name) -> Chain:
        value = binding.value
        if value is not None and binding.how is How.ITERATION:
            items = self.lists.iterated(value, binding.path) or ()
            return either([self.chain(item) for item in items], node)
        if value is None or binding.how is not How.ASSIGNMENT or binding.path:
            return unknown(node)
        return self._moved(self.chain(value), value, node)

    @staticmethod
    def _moved(chain: Chain, value: cst.CSTNode, node: cst.CSTNode) -> Chain:
        """A layer that got a name is where the name is."""

        def move(layers: tuple[Layer, ...]) -> tuple[Layer, ...]:
            return tuple(Layer(each.call, node) if each.place is value else each for each in layers)

        return Chain(move(chain.first), move(chain.last), chain.empty)

    @cached_property
    def around_jumps(self) -> frozenset[cst.CSTNode]:
        """The statements that may leave a block before its end."""
        jumps = self.module.nodes(cst.Continue, cst.Break, cst.Return, cst.Raise)
        return frozenset(above for jump in jumps for above in self.module.ancestors(jump))

    # functions -----------------------------------------------------------------------------

    def _result(self, function: cst.FunctionDef, call: cst.Call, *, as_list: bool) -> Chain:
        """What a function returns. Its last layer is not followed out of the function, since
        other callers may put something else behind it."""
        read = self.sequence if as_list else self.chain
        returns = self.module.definitions.returns(function)
        chain = either([read(node.value) for node in returns if node.value], call)
        return Chain(chain.first, (Layer(None, call),), chain.empty)

    # lists ---------------------------------------------------------------------------------

    def grown(self, node: cst.CSTNode) -> Chain | None:
        """The chain of a list that grows in order; None for anything else."""
        named = self.lists.named(node)
        return None if named is None else self.grow(named)

    def grow(self, grown: GrownList) -> Chain | None:
        if grown in self.lists.unordered:
            return None
        if grown not in self._grown:
            _Growth(self, grown, self._grown).run()
        return self._grown[grown]

    def sequence(self, node: cst.CSTNode) -> Chain:
        """What runs when the layers of a list run in its order."""
        if isinstance(node, (cst.Name, cst.Attribute)):
            grown = self.grown(node)
            if grown is not None:
                return grown
        cached = self._sequences.get(node)
        if cached is None:
            self._sequences[node] = unknown(node)  # a list that is part of itself
            cached = self._sequences[node] = self._sequence(node)
        return cached

    def _sequence(self, node: cst.CSTNode) -> Chain:
        if isinstance(node, (cst.List, cst.Tuple)):
            return self.join(map(self._item, node.elements))
        if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
            return self.repeat(self.element(node.elt))
        if isinstance(node, cst.IfExp):
            return self.sequence(node.body) | self.sequence(node.orelse)
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
            return self.join([self.sequence(node.left), self.sequence(node.right)])
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply):
            return self.repeat(self.sequence(node.left))
        if isinstance(node, cst.Call):
            return self._called_sequence(node)
        values = self.lists.assigned(node, partly=False) or ()
        return either([self.sequence(value) for value in values], node)

    def _item(self, element: cst.BaseElement) -> Chain:
        if isinstance(element, cst.StarredElement):
            return self.sequence(element.value)
        return self.element(element.value)

    def _called_sequence(self, call: cst.Call) -> Chain:
        if self.module.calls(call, *_PAIRS, *_LISTS):
            return self.join(
                self.sequence(arg.value) if arg.keyword is None else self.element(arg.value)
                for arg in call.args
            )
        if self.is_one_of(call, ("torch.nn.Sequential",)):
            return self.chain(call)
        if self.module.calls(call, "torch.nn.ModuleList"):
            return self.join(self.sequence(arg.value) for arg in call.args)
        function = self.module.definitions.callee(call)
        return self._result(function, call, as_list=True) if function else unknown(call)


class _Growth:
    """Runs the statements of one function that touch one list."""

    def __init__(self, layers: Layers, grown: GrownList, states: dict[GrownList, Chain]) -> None:
        self._layers = layers
        self._grown, self._name = grown, grown[1]
        self._states = states
        self._ends: list[Chain] = []
        self._skipped: list[list[Chain]] = []
        module = layers.module
        places = layers.lists.grown[grown]
        self._touched = {above for place in places for above in module.ancestors(place)}

    def run(self) -> None:
        self._states[self._grown] = NO_LAYERS
        end = self._block(self._grown[0].body, NO_LAYERS)
        ends = self._ends if end is None else [*self._ends, end]
        self._states[self._grown] = reduce(or_, ends) if ends else NO_LAYERS

    def _block(
        self, body: cst.BaseSuite | Sequence[cst.CSTNode], state: Chain | None
    ) -> Chain | None:
        """The state after a block; None if its end is never reached."""
        for statement in body.body if isinstance(body, cst.BaseSuite) else body:
            if state is None:
                return None
            self._states[self._grown] = state
            if isinstance(statement, cst.SimpleStatementLine):
                state = self._block(statement.body, state)
            elif isinstance(statement, cst.BaseSmallStatement):
                state = self._small(statement, state)
            elif statement in self._touched or statement in self._layers.around_jumps:
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
            target = assign_targets(node)[0]
            if dotted_text(target) == self._name:
                return self._assigned(node.value, state)
            if isinstance(target, cst.Subscript) and dotted_text(target.value) == self._name:
                return self._layers.join([state, self._layers.element(node.value)])
        return state

    def _assigned(self, value: cst.BaseExpression, state: Chain) -> Chain:
        if (
            isinstance(value, cst.BinaryOperation)
            and isinstance(value.operator, cst.Add)
            and dotted_text(value.left) == self._name
        ):
            return self._layers.join([state, self._layers.sequence(value.right)])
        return self._layers.sequence(value)

    def _call(self, call: cst.Call, state: Chain) -> Chain:
        if grown_name(call) != self._name or not isinstance(call.func, cst.Attribute):
            return state
        how = call.func.attr.value
        if how not in ("append", "add_module", "extend") or not call.args:
            return unknown(call)
        read = self._layers.sequence if how == "extend" else self._layers.element
        return self._layers.join([state, read(call.args[-1].value)])


def _either(one: Chain | None, other: Chain | None) -> Chain | None:
    """The state where two paths meet; a path that never gets there says nothing."""
    if one is None or other is None:
        return one or other
    return one | other


@once
def layers_of(module: Module) -> Layers:
    """What a file has of layers."""
    return Layers(module)
