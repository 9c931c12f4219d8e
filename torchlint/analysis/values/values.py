"""What kind of value an expression is: tensor or array, on the device or on the host."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.frameworks.frameworks import ANY
from torchlint.analysis.literals import UNKNOWN, Literal, literal
from torchlint.analysis.names import Binding, How, dotted_text
from torchlint.analysis.values.array_values import item_of_array
from torchlint.analysis.values.call_values import OPTIONS, CallValues
from torchlint.analysis.values.combine import arithmetic, container, shared
from torchlint.analysis.values.definitions import Definitions
from torchlint.analysis.values.environments import is_bound_of_space, observed
from torchlint.analysis.values.iteration import iterated_call, unwrapped
from torchlint.analysis.values.kinds import (
    ARRAYS,
    DEVICE_VALUE,
    HOST_VALUE,
    NO_VALUE,
    TENSORS,
    UNKNOWN_VALUE,
    Kind,
    Value,
    kind_by_name,
    sounds_like_count,
)
from torchlint.analysis.values.name_evidence import NameEvidence
from torchlint.analysis.values.registered_hooks import registered_hooks

if TYPE_CHECKING:
    from torchlint.analysis.flow import Flow
    from torchlint.analysis.names import Names
    from torchlint.source.tree import Tree

_DEEPEST = 40
_SAME_TENSOR = frozenset({"data", "grad", "T", "mT", "H", "real", "imag"})
_ON_HOST = frozenset(
    {"shape", "dtype", "device", "ndim", "requires_grad", "is_cuda", "itemsize", "batch_size"}
)
_SAY_NOTHING = frozenset({"builtins.object", "typing.Any"})
_ANNOTATIONS = {
    "torch.Tensor": Value(Kind.TENSOR),
    "numpy.ndarray": Value(Kind.ARRAY),
    "torch.nn.Module": Value(Kind.MODULE),
    "torch.utils.data.DataLoader": Value(Kind.LOADER),
    "torch.utils.data.Dataset": Value(Kind.DATASET),
    "torch.optim.Optimizer": Value(Kind.OPTIMIZER),
    "torch.device": HOST_VALUE,
    "builtins.int": HOST_VALUE,
    "builtins.float": HOST_VALUE,
    "builtins.str": HOST_VALUE,
    "builtins.bool": HOST_VALUE,
}

_UNMOVED = Kind.CPU | Kind.HOST | Kind.UNKNOWN
"""What a batch is that a loop gets, perhaps with something beside it."""


class Values:
    """Infers values on demand and remembers them, for one file."""

    def __init__(self, tree: Tree, names: Names, flow: Flow) -> None:
        self.tree = tree
        self.names = names
        self._flow = flow
        self._known: dict[int, Value] = {}
        self._depth = 0
        self.definitions = Definitions(self)
        self._calls = CallValues(self, self.definitions)
        self._evidence = NameEvidence(tree)

    def release(self) -> None:
        """Breaks the circle with the part that deals with calls."""
        self.__dict__.clear()

    def value(self, node: cst.CSTNode | None) -> Value:
        """What is known of the value of an expression; `Kind.UNKNOWN` where nothing is."""
        if node is None:
            return NO_VALUE
        cached = self._known.get(id(node))
        if cached is None:
            if self._depth > _DEEPEST:
                return UNKNOWN_VALUE
            self._known[id(node)] = NO_VALUE  # a value that depends on itself adds nothing
            self._depth += 1
            cached = self._infer(node)
            self._depth -= 1
            if self._depth == 0 or cached.kind:
                self._known[id(node)] = cached
            else:
                del self._known[id(node)]
        return cached

    def _infer(self, node: cst.CSTNode) -> Value:
        if type(node) is cst.Name:
            return self._name(node)
        if type(node) is cst.Attribute:
            return self._attribute(node)
        if type(node) is cst.Call:
            return self._calls.call(node)
        if type(node) is cst.Subscript:
            return self._subscript(node)
        if isinstance(node, cst.BinaryOperation) and isinstance(literal(node.left), str):
            return HOST_VALUE  # `"%.3f" % loss`
        if isinstance(node, (cst.BinaryOperation, cst.BooleanOperation)):
            pair = (self.value(node.left), self.value(node.right))
            if isinstance(node, cst.BooleanOperation):
                return pair[0] | pair[1]
            return arithmetic(*pair)
        if isinstance(node, cst.UnaryOperation):
            return HOST_VALUE if isinstance(node.operator, cst.Not) else self.value(node.expression)
        if isinstance(node, cst.Comparison):
            operands = [self.value(node.left)]
            for target in node.comparisons:
                if isinstance(target.operator, (cst.Is, cst.IsNot, cst.In, cst.NotIn)):
                    return HOST_VALUE
                operands.append(self.value(target.comparator))
            return arithmetic(*operands)
        if isinstance(node, cst.IfExp):
            return self.value(node.body) | self.value(node.orelse)
        if isinstance(node, (cst.Await, cst.NamedExpr)):
            inner = node.expression if isinstance(node, cst.Await) else node.value
            return self.value(inner)
        return self._display(node)

    def _display(self, node: cst.CSTNode) -> Value:
        if isinstance(node, (cst.Tuple, cst.List, cst.Set, cst.Dict)):
            return container([self.value(element.value) for element in node.elements])
        if isinstance(node, (cst.ListComp, cst.SetComp, cst.GeneratorExp)):
            return container([self.value(node.elt)])
        if isinstance(node, cst.DictComp):
            return container([self.value(node.value)])
        if isinstance(node, (cst.Lambda, cst.Yield)):
            return UNKNOWN_VALUE
        return HOST_VALUE

    # names -------------------------------------------------------------------------------

    def _name(self, node: cst.Name) -> Value:
        if node.value in ("True", "False", "None"):
            return HOST_VALUE
        bindings = self._flow.reaching(node)
        if not bindings:
            return UNKNOWN_VALUE
        value = NO_VALUE
        checked = self._evidence.checked(node)
        for binding in bindings:
            known = [kind for name, kind in checked if binding in self._flow.reaching(name)]
            if known:
                value |= Value(known[-1])
                continue
            if (
                binding.how is How.UPDATE
                and value.is_array
                and isinstance(binding.node, cst.Assign)
            ):
                continue  # `array[0] = x` leaves it an array, whatever x is
            given = self._binding(binding)
            value |= DEVICE_VALUE if self._is_moved(node, binding, given) else given
        if value.only(Kind.LIKELY) and self._is_loss(node, bindings):
            return DEVICE_VALUE
        if value.kind and not value.has(Kind.UNKNOWN | Kind.PARAMETER):
            return value
        return self._with_evidence(value, node, bindings)

    def _is_moved(self, node: cst.Name, binding: Binding, given: Value) -> bool:
        """Whether a batch has moved itself by now: `batch.to(device)` whose result nobody keeps."""
        if binding.how is not How.ITERATION or not given.only(_UNMOVED):
            return False
        for name, call in self._evidence.moved(node):
            # A module has `to` as well, but no `to_device`.
            certain = not given.has(Kind.UNKNOWN) or dotted_text(call.func).endswith(".to_device")
            away = call.args and self.is_cpu(call.args[0].value)
            if certain and not away and binding in self._flow.reaching(name):
                return True
        return False

    def _is_loss(self, node: cst.Name, bindings: list[Binding]) -> bool:
        """Whether `backward` is called on a name: where its function does so at all, on what the
        name has at this place, or on what the same function gave."""
        scope = self.names.scope(node)
        operands = self._evidence.goes_backward(node.value)
        near = [each for each in operands if self.names.scope(each) is scope]
        if not near:
            return bool(operands)
        losses = [binding for each in near for binding in self._flow.reaching(each)]
        made = {_maker(each) for each in losses} - {""}
        return any(each in losses or _maker(each) in made for each in bindings)

    def _with_evidence(self, found: Value, node: cst.Name, bindings: list[Binding]) -> Value:
        """Adds what the way a name is used, or its words, say where its origin says nothing."""
        name = node.value
        if self._is_loss(node, bindings):
            return Value(Kind.DEVICE, found.parameters, found.classes)
        if found.has(TENSORS):
            return found
        kind = self._kind_by_name(name)
        if kind is Kind.MODULE:
            return Value(Kind.MODULE | Kind.PARAMETER, found.parameters, found.classes)
        if kind:
            return Value(kind, found.parameters, found.classes, found.element)
        if name in self._evidence.tensor_names(node):
            return found | Value(Kind.TENSOR)
        return found

    def _kind_by_name(self, name: str) -> Kind:
        if name in self._evidence.module_names:
            return Kind.MODULE
        return kind_by_name(name.removeprefix("self."))

    def _binding(self, binding: Binding) -> Value:
        if binding.how is How.PARAMETER:
            return self._parameter(binding)
        if binding.how is How.DEFINITION or binding.dotted is not None or binding.value is None:
            return UNKNOWN_VALUE
        value = self.value(binding.value)
        if binding.how is How.ITERATION:
            value = self.iterated(unwrapped(binding.value, self), value)
        elif binding.how is How.CONTEXT and not binding.path:
            return UNKNOWN_VALUE
        elif binding.how is How.UPDATE:
            return value.without(Kind.HOST)
        return self._unpacked(binding, value)

    def _unpacked(self, binding: Binding, value: Value) -> Value:
        source = binding.value
        if binding.how is How.ITERATION:
            source = unwrapped(source, self)
        for index in binding.path:
            if (
                isinstance(source, (cst.Tuple, cst.List))
                and index < len(source.elements)
                and not any(isinstance(e, cst.StarredElement) for e in source.elements)
                and binding.how is not How.ITERATION
            ):
                source = source.elements[index].value
                value = self.value(source)
            else:
                value = self._calls.part(source, index, value)
                source = self._calls.iterable_of_part(source, index)
        return value

    def _parameter(self, binding: Binding) -> Value:
        param = binding.node
        if isinstance(param, cst.Param) and param.annotation is not None:
            for name in self.names.resolve(param.annotation.annotation):
                if name in _SAY_NOTHING:
                    break
                if name in _ANNOTATIONS:
                    known = _ANNOTATIONS[name]
                    return Value(known.kind | Kind.PARAMETER, frozenset({binding.name}))
                return Value(Kind.PARAMETER, frozenset({binding.name}), classes=(name,))
        if binding.starred:
            inner = Value(Kind.PARAMETER, frozenset({binding.name}))
            return Value(Kind.CONTAINER, frozenset({binding.name}), element=inner)
        if binding.name in ("self", "cls"):
            return UNKNOWN_VALUE
        hot_batch = self._calls.framework_batch(param)
        if hot_batch is not None:
            return hot_batch
        return Value(Kind.PARAMETER, frozenset({binding.name}))

    def iterated(self, source: cst.CSTNode | None, value: Value) -> Value:
        """What a loop over `source` gets on each round."""
        if isinstance(source, cst.Call):
            special = iterated_call(source, self)
            if special is not None:
                return special
        if value.has(Kind.LOADER):
            return value.element or Value(Kind.CPU)
        if value.has(Kind.CONTAINER):
            return value.element or UNKNOWN_VALUE
        if value.has(TENSORS | ARRAYS):
            return shared(value) | (Value(Kind.SCALAR) if value.has(ARRAYS) else NO_VALUE)
        return Value(value.kind & (Kind.PARAMETER | Kind.UNKNOWN), value.parameters)

    # attributes and items ----------------------------------------------------------------

    def _attribute(self, node: cst.Attribute) -> Value:
        name = node.attr.value
        if name in _ON_HOST:
            return HOST_VALUE
        if isinstance(node.value, cst.Name) and node.value.value in ("self", "cls"):
            return self._self_attribute(node)
        owner = self.value(node.value)
        if owner == OPTIONS:
            return HOST_VALUE
        counts = sounds_like_count(name)
        if owner.has(TENSORS | Kind.LIKELY) or (name in _SAME_TENSOR and owner.has(Kind.PARAMETER)):
            return owner | HOST_VALUE if counts else owner.without(Kind.HOST)
        if owner.has(ARRAYS):
            return Value(Kind.ARRAY, dtype=owner.dtype)
        if is_bound_of_space(node):
            return Value(Kind.ARRAY)
        class_ = self.definitions.class_of(node.value)
        if class_ is not None and self.assigned(class_, name):
            return self._held(class_, name)
        kind = self._kind_by_name(name)
        if kind:
            return Value(kind)
        if counts or owner.has(Kind.MODULE):
            return UNKNOWN_VALUE
        return Value(owner.kind & (Kind.PARAMETER | Kind.UNKNOWN) or Kind.UNKNOWN, owner.parameters)

    def _self_attribute(self, node: cst.Attribute) -> Value:
        name = node.attr.value
        value = self._held(self.tree.enclosing(node, cst.ClassDef), name)
        unknown = value.has(Kind.UNKNOWN) and value.only(Kind.UNKNOWN | Kind.HOST)
        if value.kind and not unknown:
            return value
        if f"self.{name}" in self._evidence.backward_names:
            return DEVICE_VALUE
        kind = self._kind_by_name(f"self.{name}")
        return Value(kind or Kind.UNKNOWN, classes=value.classes)

    def _held(self, class_: cst.ClassDef | None, name: str) -> Value:
        """What the objects of a class keep under a name."""
        value = NO_VALUE
        for binding in self.assigned(class_, name):
            if self._is_parameter(binding.value):
                value |= DEVICE_VALUE  # it moves with the module
            elif isinstance(binding.node, cst.Call) and name in self._numbers:
                value |= DEVICE_VALUE | HOST_VALUE
            else:
                value |= shared(self._unpacked(binding, self.value(binding.value)))
        return replace(value, kind=value.kind & ~Kind.PARAMETER, parameters=frozenset())

    @cached_property
    def _numbers(self) -> frozenset[str]:
        """The attributes that are given numbers from outside of the class: `model.step = 0`."""
        targets = (
            (target.target, assign.value)
            for assign in self.tree.nodes(cst.Assign)
            for target in assign.targets
        )
        return frozenset(
            target.attr.value
            for target, value in targets
            if isinstance(target, cst.Attribute)
            and dotted_text(target.value) != "self"
            and isinstance(literal(value), int | float)
        )

    def _is_parameter(self, node: cst.BaseExpression | None) -> bool:
        """`nn.Parameter(…)`, `nn.Buffer(…)`."""
        names = self.names.resolve(node.func) if isinstance(node, cst.Call) else ()
        return any(name.endswith(("nn.Parameter", "nn.Buffer")) for name in names)

    def _subscript(self, node: cst.Subscript) -> Value:
        index = node.slice[0].slice
        key = _key(node)
        if isinstance(index, cst.Index) and isinstance(index.value, cst.Integer):
            part = observed(node.value, key, self) if isinstance(key, int) else None
            if part is not None:
                return part
        if isinstance(key, str) and isinstance(node.value, cst.Name):
            kept = self._kept_under(node.value, key)
            if kept.kind:
                return kept
        value = self.value(node.value)
        if value.has(Kind.PARAMETER) and self._is_engine_state(node):
            return DEVICE_VALUE
        if value.has(Kind.CONTAINER | Kind.LOADER):
            return value.element or UNKNOWN_VALUE
        if value.only(ARRAYS | Kind.SCALAR):
            return item_of_array(node, value, self)
        if value.has(ARRAYS):
            rest = value.without(ARRAYS)
            return Value(rest.kind | Kind.ARRAY, rest.parameters, dtype=value.dtype)
        if value.has(TENSORS | Kind.LIKELY | Kind.PARAMETER):
            return value.without(Kind.HOST)
        return UNKNOWN_VALUE

    def _kept_under(self, name: cst.Name, key: str) -> Value:
        """What the file puts under a key of a dict: `{"step": 0}`, `state["step"] = 0`; nothing
        if something else may be there as well."""
        value = NO_VALUE
        for binding in self._flow.reaching(name):
            if binding.how is How.UPDATE:
                target = _target(binding.node)
                if target is None:
                    return NO_VALUE
                other = _key(target)
                if other is UNKNOWN:
                    return NO_VALUE
                if other == key and binding.value is not None:
                    value |= self.value(binding.value)
            elif isinstance(binding.value, cst.Dict) and not binding.path:
                for element in binding.value.elements:
                    if not isinstance(element, cst.DictElement):
                        return NO_VALUE
                    if literal(element.key) == key:
                        value |= self.value(element.value)
        return value

    def is_cpu(self, device: cst.BaseExpression) -> bool:
        """Whether a device expression is the CPU for certain."""
        return self._calls.is_cpu(device)

    def _is_engine_state(self, node: cst.Subscript) -> bool:
        """`state["loss"]` in a function that a training engine calls on each step."""
        function = self.tree.enclosing(node, cst.FunctionDef)
        if function is None or function.name.value not in self.step_hooks:
            return False
        key = node.slice[0].slice
        return isinstance(key, cst.Index) and literal(key.value) in ANY.state_tensors

    @cached_property
    def step_hooks(self) -> frozenset[str]:
        """Functions that are registered with a training engine, which calls them on each step."""
        return registered_hooks(self.tree)

    # evidence ----------------------------------------------------------------------------

    @cached_property
    def attributes(self) -> dict[cst.ClassDef, dict[str, list[Binding]]]:
        """For each class, the assignments to `self.name` in its methods."""
        attributes: dict[cst.ClassDef, dict[str, list[Binding]]] = {}
        for assign in self.tree.nodes(cst.Assign):
            for target in assign.targets:
                self._collect_attributes(attributes, target.target, assign, assign.value, ())
        for annotated in self.tree.nodes(cst.AnnAssign):
            if annotated.value is not None:
                self._collect_attributes(
                    attributes, annotated.target, annotated, annotated.value, ()
                )
        for call in self.tree.nodes(cst.Call):
            self._collect_buffer(attributes, call)
        return attributes

    def is_buffer(self, node: cst.BaseExpression) -> bool:
        """Whether an expression is `self.name`, and the class gives the name a buffer alone."""
        if not isinstance(node, cst.Attribute) or not dotted_text(node).startswith("self."):
            return False
        name = node.attr.value
        given = self.assigned(self.tree.enclosing(node, cst.ClassDef), name)
        registered = bool(given) and all(each.node is each.value for each in given)
        return registered and name not in self._numbers

    def assigned(self, class_: cst.ClassDef | None, name: str) -> list[Binding]:
        """The assignments to `self.name` in the methods of a class."""
        return self.attributes.get(class_, {}).get(name, []) if class_ is not None else []

    def _collect_attributes(
        self,
        found: dict[cst.ClassDef, dict[str, list[Binding]]],
        target: cst.BaseExpression,
        node: cst.CSTNode,
        value: cst.BaseExpression,
        path: tuple[int, ...],
    ) -> None:
        if isinstance(target, (cst.Tuple, cst.List)):
            for index, element in enumerate(target.elements):
                self._collect_attributes(found, element.value, node, value, (*path, index))
        elif isinstance(target, cst.Attribute) and dotted_text(target).startswith("self."):
            class_ = self.tree.enclosing(node, cst.ClassDef)
            if class_ is not None and dotted_text(target).count(".") == 1:
                binding = Binding(target.attr.value, How.ASSIGNMENT, node, value, path)
                found.setdefault(class_, {}).setdefault(target.attr.value, []).append(binding)

    def _collect_buffer(
        self, found: dict[cst.ClassDef, dict[str, list[Binding]]], call: cst.Call
    ) -> None:
        """`self.register_buffer("queue", …)` makes a tensor that moves with the module."""
        if dotted_text(call.func) not in ("self.register_buffer", "self.register_parameter"):
            return
        text = literal(call.args[0].value) if call.args else None
        class_ = self.tree.enclosing(call, cst.ClassDef)
        if isinstance(text, str) and class_ is not None:
            self._known[id(call)] = DEVICE_VALUE
            binding = Binding(text, How.ASSIGNMENT, call, call)
            found.setdefault(class_, {}).setdefault(text, []).append(binding)


def _maker(binding: Binding) -> str:
    """The function whose result a name is given, by its text."""
    return dotted_text(binding.value.func) if isinstance(binding.value, cst.Call) else ""


def _key(item: cst.Subscript) -> Literal:
    """The key or index of an item, if it is written out."""
    index = item.slice[0].slice
    return literal(index.value) if isinstance(index, cst.Index) else UNKNOWN


def _target(update: cst.CSTNode) -> cst.Subscript | None:
    """The item that an assignment sets, if that is all that it sets."""
    if isinstance(update, cst.AugAssign):
        target = update.target
    elif isinstance(update, cst.Assign) and len(update.targets) == 1:
        target = update.targets[0].target
    else:
        return None
    return target if isinstance(target, cst.Subscript) else None
