"""What kind of value a call returns."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis import torch_api
from torchlint.analysis.frameworks.frameworks import ANY, is_passed_tensors
from torchlint.analysis.literals import argument, literal
from torchlint.analysis.names import How, dotted_text, sounds_like_class
from torchlint.analysis.values import array_libraries, array_values, environments
from torchlint.analysis.values.iteration import gives_keys, unwrapped
from torchlint.analysis.values.kinds import (
    ARRAYS,
    CPU_VALUE,
    DEVICE_VALUE,
    HOST_VALUE,
    NO_VALUE,
    TENSORS,
    UNKNOWN_VALUE,
    Kind,
    Value,
    makes_module,
    placing,
    sounds_like_settings,
)

if TYPE_CHECKING:
    from torchlint.analysis.values.definitions import Definitions
    from torchlint.analysis.values.inference import Inference

_MODULE_SOURCES = ("torchvision.models.", "torch.nn.", "timm.create_model", "torch.hub.load")
MODULE_METHODS = frozenset(
    "to cuda cpu eval train half float double bfloat16 requires_grad_ apply module".split()
)
"""Methods of modules that return the module."""
_MODULE_ANSWERS = frozenset(
    "parameters named_parameters modules named_modules children state_dict load_state_dict "
    "zero_grad buffers named_buffers register_forward_hook add_module named_children "
    "train_dataloader".split()
)
_HOST_METHODS = frozenset("item size numel dim stride keys format strip".split())
_PLAIN_ANSWERS = frozenset(
    f"torch.{name}" for name in ("allclose", "device", "equal", "is_nonzero", "is_tensor", "numel")
)
_SCORES = frozenset("evaluate score test validate".split())
"""Methods that may give numbers for tensors, as those of torch_geometric do by scikit-learn."""
_MOVING_WORDS = re.compile(r"(?:^|_)to_|_to(?:_|$)|device|cuda|gpu|move|send|transfer")
_MOVES_THERE = re.compile(r"to_(?:cuda|device|gpu)")
_HOST_BUILTINS = frozenset(
    f"builtins.{name}"
    for name in (
        "float int bool str len round abs range repr format isinstance hasattr id type hash ord "
        "chr print input open any all"
    ).split()
)
_COPIED_BUILTINS = frozenset(
    f"builtins.{name}" for name in ("list", "tuple", "sorted", "reversed", "set", "iter")
)
_DTYPES = frozenset(
    f"torch.{name}"
    for name in (
        "float float16 float32 float64 half double bfloat16 int int8 int16 int32 int64 long short "
        "uint8 bool complex64 complex128 float8_e4m3fn"
    ).split()
)
_COMPUTING_METHODS = frozenset(
    "values clone sum mean max min abs sqrt reshape transpose flatten squeeze argmax argmin std "
    "var pow exp log t copy round norm long int float half double cumsum any all sort item_ "
    "data repeat add mul sub div index_add reduce softmax sigmoid".split()
)
"""Methods of tensors and arrays alike: the result is of the caller's kind."""
_PARAMETER_MATHS = frozenset(
    "abs clamp exp log mean norm pow sigmoid softmax sqrt square sum".split()
)
_NORMS = frozenset({"torch.nn.utils.clip_grad_norm_", "torch.nn.utils.get_total_norm"})
_PARSES = frozenset({"parse_args", "parse_known_args"})
_OPTIONS_MADE = frozenset({"argparse.Namespace", "tyro.cli"})
OPTIONS = Value(Kind.HOST, classes=(":options:",))
"""What a command line gives: its attributes are numbers, texts and lists of them."""
WRAPPERS = frozenset(
    {
        "torch.nn.DataParallel",
        "torch.nn.parallel.DistributedDataParallel",
        "torch.compile",
        "torch.jit.script",
        "copy.deepcopy",
        "torch.nn.SyncBatchNorm.convert_sync_batchnorm",
        "torch.distributed.fsdp.FullyShardedDataParallel",
    }
)
"""Functions and classes that give a module which runs the one that they are given."""


def makes_host_tensors(call: cst.Call) -> bool:
    """`tokenizer(text, return_tensors="pt")`, `processor(images=images, return_tensors="pt")`."""
    return literal(argument(call, "return_tensors")) == "pt"


class CallValues:
    """The part of value inference that deals with calls."""

    def __init__(self, values: Inference, own: Definitions) -> None:
        self._values = values
        self._own = own
        self._cpu: dict[tuple[cst.BaseExpression, int], bool] = {}

    def call(self, node: cst.Call) -> Value:
        values = self._values
        for name in values.names.resolve(node.func):
            known = self._by_name(name, node)
            if known is not None:
                return known
        if makes_host_tensors(node):
            return self._on(argument(node, "device"))
        called = dotted_text(node.func).rpartition(".")[2]
        if called in _PARSES:
            return OPTIONS
        if makes_module(called) and not self._own.callee(node):
            return Value(Kind.MODULE)
        if isinstance(node.func, cst.Attribute):
            return self._method(node, node.func)
        callee = values.value(node.func)
        if callee.has(Kind.MODULE):
            return DEVICE_VALUE
        if array_libraries.interpolates(callee):
            return Value(Kind.FRESH)
        return self._unknown_function(node)

    # known names -------------------------------------------------------------------------

    def _by_name(self, name: str, node: cst.Call) -> Value | None:
        if name.startswith("torch."):
            return self._torch(name, node)
        if name.startswith("numpy."):
            return array_values.numpy_call(name, node, self._values)
        if name.startswith("builtins."):
            return self._builtin(name, node)
        if name.startswith(":"):
            return self._defined_here(name, node)
        if name.startswith(_MODULE_SOURCES) or name.endswith(".from_pretrained"):
            if "okenizer" in name or "Processor" in name or "Config" in name:
                return UNKNOWN_VALUE
            return Value(Kind.MODULE)
        if name.startswith("torchvision.datasets."):
            return Value(Kind.DATASET)
        if name.rpartition(".")[2] == "tqdm" or name.startswith("tqdm."):
            return self._values.value(node.args[0].value) if node.args else UNKNOWN_VALUE
        array = array_libraries.other_library(name) or environments.made_environment(name)
        if array is not None:
            return array
        if environments.wraps_environment(name) and node.args:
            return Value(Kind.UNKNOWN, classes=self._values.value(node.args[0].value).classes)
        if name in _OPTIONS_MADE:
            return OPTIONS
        if name.startswith(("time.", "os.", "math.", "random.", "json.", "re.")):
            return HOST_VALUE
        return None

    def _torch(self, name: str, node: cst.Call) -> Value | None:
        values = self._values
        if name in torch_api.CUDA_CONSTRUCTORS:
            return DEVICE_VALUE
        if name in torch_api.CONSTRUCTORS:
            return self._on(argument(node, "device"))
        if name in torch_api.OPTIMIZERS:
            return Value(Kind.OPTIMIZER)
        if name == "torch.utils.data.DataLoader":
            return Value(Kind.LOADER)
        if name in torch_api.DATASETS:
            return Value(Kind.DATASET)
        if name in ("torch.autograd.Variable", "torch.nn.Parameter", "torch.nn.Buffer"):
            inner = values.value(node.args[0].value) if node.args else NO_VALUE
            return inner if inner.has(TENSORS) else Value(Kind.TENSOR) | inner
        if name in WRAPPERS:
            inner = values.value(node.args[0].value) if node.args else UNKNOWN_VALUE
            return Value(Kind.MODULE, classes=inner.classes)
        if name.startswith("torch.nn.functional."):
            return self._computed(node)
        if name in _NORMS:
            return DEVICE_VALUE  # the norm, which is on the device of the gradients
        if name.startswith("torch.nn.") and name.rpartition(".")[2][:1].isupper():
            return Value(Kind.MODULE, classes=(name,))
        if name in torch_api.NOT_TENSORS or name.startswith(torch_api.NOT_TENSOR_PACKAGES):
            return HOST_VALUE if name in _PLAIN_ANSWERS else UNKNOWN_VALUE
        if name.count(".") == 1 or name.startswith(("torch.linalg.", "torch.special.")):
            return self._computed(node)
        return None

    def _on(self, device: cst.BaseExpression | None) -> Value:
        """A tensor on a device; without one, on the CPU."""
        if device is None or literal(device) is None or self.is_cpu(device):
            return CPU_VALUE
        return self._beside(device) or DEVICE_VALUE

    def _beside(self, device: cst.BaseExpression, depth: int = 0) -> Value | None:
        """A tensor on `x.device`, or on a device that a parameter names, also by another name."""
        if isinstance(device, cst.Attribute) and device.attr.value == "device":
            if sounds_like_settings(dotted_text(device.value).rpartition(".")[2]):
                return None
            owner = self._values.value(device.value)
            if owner.has(Kind.DEVICE | Kind.LIKELY | Kind.MODULE):
                return None
            if not owner.has(Kind.CPU | Kind.PARAMETER):
                return None
            place = Value(owner.kind & (Kind.CPU | Kind.TENSOR | Kind.PARAMETER), owner.parameters)
            return place | Value(Kind.TENSOR) if place.only(Kind.PARAMETER) else place
        bindings = self._values.names.lookup(device) if isinstance(device, cst.Name) else []
        if len(bindings) != 1 or bindings[0].path:
            return None
        if bindings[0].how is How.PARAMETER:
            return Value(Kind.DEVICE, frozenset({f"@{bindings[0].name}"}))
        value = bindings[0].value
        return self._beside(value, depth + 1) if value is not None and depth < 4 else None

    def _computed(self, node: cst.Call) -> Value:
        """A tensor function: its result is on the device of its tensors."""
        contents = self._contents(node)
        device = argument(node, "device")
        if device is not None:
            return self._on(device)
        if contents.has(Kind.DEVICE | Kind.LIKELY):
            return Value(Kind.DEVICE, placing(contents.parameters))
        kind = contents.kind & (Kind.CPU | Kind.TENSOR | Kind.PARAMETER)
        if not kind:
            return Value(Kind.TENSOR)
        if kind & Kind.PARAMETER:
            kind |= Kind.TENSOR
        return Value(kind, contents.parameters)

    def _builtin(self, name: str, node: cst.Call) -> Value | None:
        values = self._values
        if name in _HOST_BUILTINS:
            return HOST_VALUE
        first = values.value(node.args[0].value) if node.args else NO_VALUE
        if name in _COPIED_BUILTINS:
            if first.has(Kind.CONTAINER | Kind.LOADER):
                return first
            return Value(Kind.CONTAINER, element=first if first.kind else None)
        if name in ("builtins.sum", "builtins.max", "builtins.min"):
            if len(node.args) > 1 and name != "builtins.sum":
                return first | values.value(node.args[1].value)
            return first.element or first
        if name == "builtins.filter" and len(node.args) > 1:
            return values.value(node.args[1].value)
        if name in ("builtins.enumerate", "builtins.zip", "builtins.map", "builtins.filter"):
            return UNKNOWN_VALUE
        if name == "builtins.next":
            inner = node.args[0].value if node.args else None
            while isinstance(inner, cst.Call) and inner.args:
                inner = inner.args[0].value
            return values.iterated(None, values.value(inner))
        if name == "builtins.getattr":
            return UNKNOWN_VALUE
        return None

    def _defined_here(self, name: str, node: cst.Call) -> Value | None:
        """A class or function of this file."""
        target = self._own.named(name)
        if isinstance(target, cst.ClassDef):
            if node.args and any(map(environments.wraps_environment, self._own.bases(target))):
                return Value(Kind.UNKNOWN, classes=self._values.value(node.args[0].value).classes)
            return self._instance(name, target)
        if isinstance(target, cst.FunctionDef):
            return self._returned(target, node)
        return None

    def _instance(self, name: str, class_: cst.ClassDef) -> Value:
        """An object of a class that this file defines."""
        kind = Kind.NOTHING
        for base in self._own.bases(class_):
            if base.startswith(("torch.nn.", "torchvision.models.")):
                kind |= Kind.MODULE
            elif base in torch_api.DATASETS or base.startswith("torchvision.datasets."):
                kind |= Kind.DATASET
            elif base in torch_api.OPTIMIZERS:
                kind |= Kind.OPTIMIZER
            elif base == "torch.utils.data.DataLoader":
                kind |= Kind.LOADER
            elif base.endswith(("Model", "Module", "Net", "Network")):
                kind |= Kind.MODULE
        return Value(kind or Kind.UNKNOWN, classes=(name,))

    def _returned(self, function: cst.FunctionDef, node: cst.Call) -> Value:
        """What a function of this file returns, given the arguments of a call."""
        returned = NO_VALUE
        for statement in self._own.returns(function):
            value = self._values.value(statement.value)
            if not value.only(Kind.HOST) or not isinstance(statement.value, cst.Name):
                returned |= value
        return self._substituted(returned, function, node)

    def _substituted(self, found: Value, function: cst.FunctionDef, node: cst.Call) -> Value:
        if not found.kind:
            return self._unknown_function(node)
        found = self._placed(found, function, node)
        element = found.element
        if element is not None:
            element = self._substituted(element, function, node)
        places = placing(found.parameters)  # by now of the function around the call
        if found.parameters == places:
            return Value(found.kind, places, found.classes, element, found.dtype)
        order = [param.name.value for param in function.params.params]
        if order[:1] == ["self"]:
            order = order[1:]
        result = Value(found.kind & ~Kind.PARAMETER, places, found.classes, element)
        for parameter in sorted(found.parameters - places):
            position = order.index(parameter) if parameter in order else None
            given = argument(node, parameter, position)
            if given is not None:
                result |= self._values.value(given)
        if found.has(Kind.PARAMETER) and result.has(Kind.DEVICE | Kind.CPU):
            result = result.without(Kind.TENSOR)  # it is on the device of the argument
        if result.has(TENSORS) and not found.has(Kind.CONTAINER):
            return Value(result.kind & (TENSORS | Kind.PARAMETER), result.parameters)
        return result if result.kind else UNKNOWN_VALUE

    def _placed(self, found: Value, function: cst.FunctionDef, node: cst.Call) -> Value:
        """What a function returns, on the devices that a call names for its parameters."""
        for each in placing(found.parameters):
            params = [*function.params.params, *function.params.kwonly_params]
            names = [param.name.value for param in params]
            if each[1:] not in names:
                found = replace(found, parameters=found.parameters - {each})
                continue
            index = names.index(each[1:])
            position = None if index >= len(function.params.params) else index
            if position is not None and names[0] == "self":
                position -= 1
            given = argument(node, each[1:], position)
            place = self._on(params[index].default if given is None else given)
            kind = found.kind if place.has(Kind.DEVICE) else found.kind & ~Kind.DEVICE | place.kind
            parameters = found.parameters - {each} | place.parameters
            found = replace(found, kind=kind, parameters=parameters)
        return found

    # methods -----------------------------------------------------------------------------

    def _method(self, node: cst.Call, func: cst.Attribute) -> Value:
        values = self._values
        name = func.attr.value
        owner = values.value(func.value)
        own = self._own.method(func)
        if own is not None:
            return self._returned(own, node)
        if name in _HOST_METHODS or (name == "split" and _splits_text(node, owner)):
            return HOST_VALUE
        if owner.has(Kind.MODULE) and not owner.has(TENSORS):
            return self._module_method(name, node, owner)
        if owner.has(TENSORS | Kind.LIKELY) or (
            (name in torch_api.TENSOR_METHODS or name == "split") and not owner.classes
        ):
            return self._tensor_method(name, node, owner)
        if owner.has(ARRAYS):
            return array_values.array_method(name, node, owner)
        if name in ("astype", "to_numpy", "toarray", "todense"):
            return array_values.array_method(name, node, NO_VALUE)
        if owner.classes and name in MODULE_METHODS:
            return owner
        if name in ("cpu", "cuda", "to", "numpy"):
            return self._tensor_method(name, node, owner)
        if values.value(func).has(Kind.MODULE):
            return DEVICE_VALUE
        if name in _PARAMETER_MATHS and self._is_held_by_module(func.value):
            return Value(Kind.LIKELY)
        if owner.has(Kind.CONTAINER) and name in ("values", "pop", "get", "copy"):
            return owner if name in ("values", "copy") else owner.element or UNKNOWN_VALUE
        if owner.has(Kind.HOST) and owner.only(Kind.HOST):
            return HOST_VALUE
        if owner.has(Kind.PARAMETER) and name in _COMPUTING_METHODS:
            return Value(Kind.PARAMETER, owner.parameters)
        if name in ANY.prepares and node.args:
            return self._prepared(values.value(node.args[0].value))
        return array_values.drawn(name, node, owner) or self._unknown_function(node)

    def _is_held_by_module(self, node: cst.BaseExpression) -> bool:
        """`model.logit_scale`: with which one computes, so a parameter or a buffer."""
        held = isinstance(node, cst.Attribute) and self._values.value(node.value).has(Kind.MODULE)
        return held and self._values.value(node).only(Kind.UNKNOWN)

    def _tensor_method(self, name: str, node: cst.Call, owner: Value) -> Value:
        if name in ("item", "tolist"):
            return HOST_VALUE
        if name == "numpy":
            return Value(Kind.ARRAY)
        if name == "cpu":
            return CPU_VALUE
        if name == "cuda":
            return DEVICE_VALUE
        if name == "to":
            return self._moved(node, owner)
        if name == "type" and node.args:
            return self._typed(node.args[0].value, owner)
        if name in torch_api.NEITHER_TENSOR_NOR_MOVE:
            return HOST_VALUE
        if name == "values" or name == "items":
            return owner
        if owner.has(TENSORS):
            others = [self._values.value(arg.value) for arg in node.args]
            if any(other.has(Kind.DEVICE) for other in others):
                given = frozenset().union(*(other.parameters for other in (owner, *others)))
                return Value(Kind.DEVICE, placing(given))
            return Value(owner.kind & (TENSORS | Kind.PARAMETER), owner.parameters)
        if owner.has(Kind.LIKELY):
            return Value(Kind.LIKELY)
        return Value(Kind.TENSOR | (owner.kind & Kind.PARAMETER), owner.parameters)

    def _typed(self, type_: cst.BaseExpression, owner: Value) -> Value:
        """`x.type(torch.cuda.FloatTensor)`, which moves it, or `x.type(torch.float)`."""
        names = self._values.names.resolve(type_)
        if not torch_api.CUDA_CONSTRUCTORS.isdisjoint(names):
            return DEVICE_VALUE
        return CPU_VALUE if not torch_api.CPU_TYPES.isdisjoint(names) else owner

    def _moved(self, node: cst.Call, owner: Value) -> Value:
        target = argument(node, "device", 0)
        if target is None:
            return owner
        if self.is_cpu(target):
            return CPU_VALUE
        if any(name in _DTYPES for name in self._values.names.resolve(target)):
            return owner
        if isinstance(target, cst.Attribute) and target.attr.value == "dtype":
            return owner
        if owner.has(Kind.MODULE):
            return owner
        return DEVICE_VALUE

    def is_cpu(self, device: cst.BaseExpression, depth: int = 0) -> bool:
        """Whether a device expression is the CPU for certain."""
        if (device, depth) not in self._cpu:
            self._cpu[device, depth] = self._is_cpu(device, depth)
        return self._cpu[device, depth]

    def _is_cpu(self, device: cst.BaseExpression, depth: int) -> bool:
        if literal(device) == "cpu":
            return True
        if isinstance(device, cst.Call):
            inner = argument(device, "device", 0) or argument(device, "type", 0)
            return inner is not None and depth < 4 and self.is_cpu(inner, depth + 1)
        if isinstance(device, cst.Name) and depth < 4:
            bindings = self._values.names.lookup(device)
            return bool(bindings) and all(
                binding.value is not None
                and binding.how is not How.PARAMETER  # its default is not all that it may be
                and not binding.path
                and self.is_cpu(binding.value, depth + 1)
                for binding in bindings
            )
        return False

    def _module_method(self, name: str, node: cst.Call, owner: Value) -> Value:
        if name in MODULE_METHODS:
            return owner
        if name in _MODULE_ANSWERS:
            if name.endswith(("parameters", "buffers")):
                return Value(Kind.CONTAINER, element=DEVICE_VALUE)
            return UNKNOWN_VALUE
        given = (self._values.value(arg.value) for arg in node.args)
        if name not in _SCORES and any(each.has(TENSORS | Kind.LIKELY) for each in given):
            return DEVICE_VALUE
        return Value(Kind.LIKELY) if node.args else UNKNOWN_VALUE

    def _unknown_function(self, node: cst.Call) -> Value:
        """Nobody knows the callee: what it makes of device tensors is likely one."""
        contents = self._contents(node)
        classes = self._imported_classes(node)
        if classes:
            return Value(Kind.UNKNOWN, classes=classes)
        if contents.has(Kind.DEVICE | Kind.LIKELY) or self._moves(node, contents):
            return Value(Kind.LIKELY)
        return UNKNOWN_VALUE

    def _moves(self, node: cst.Call, contents: Value) -> bool:
        """`batch_to_device(batch, device)`, by its name, its tensors and its device."""
        called = dotted_text(node.func).rpartition(".")[2]
        if not contents.has(TENSORS) or not _MOVING_WORDS.search(called):
            return False
        if _MOVES_THERE.search(called) and len(node.args) == 1:
            return True
        devices = [arg.value for arg in node.args if _is_called_device(arg)]
        return bool(devices) and not any(self.is_cpu(each) for each in devices)

    def _contents(self, node: cst.Call) -> Value:
        """What a call is given: its arguments, and the elements of those that are containers."""
        contents = NO_VALUE
        for arg in node.args:
            value = self._values.value(arg.value)
            if value.has(Kind.CONTAINER):
                value = value.element or value
            contents |= value
        return contents

    def _imported_classes(self, node: cst.Call) -> tuple[str, ...]:
        """What the callee is called, if that looks like a class of another file."""
        names = self._values.names.resolve(node.func)
        return tuple(filter(sounds_like_class, names))

    # several values at once --------------------------------------------------------------

    def part(self, source: cst.CSTNode | None, index: int, value: Value) -> Value:
        """The `index`-th of the values that an expression unpacks to."""
        if isinstance(source, cst.Call):
            func = source.func
            prepares = isinstance(func, cst.Attribute) and func.attr.value in ANY.prepares
            if prepares and index < len(source.args):
                return self._prepared(self._values.value(source.args[index].value))
            names = self._values.names.resolve(func)
            special = self._returned_part(source, index, names)
            if special is not None:
                return special
            if index == 0 and (names == ("builtins.enumerate",) or gives_keys(func)):
                return HOST_VALUE
            if names == ("builtins.zip",) and index < len(source.args):
                arg = source.args[index].value
                return self._values.iterated(arg, self._values.value(arg))
        if value.has(Kind.CONTAINER | Kind.LOADER):
            return value.element or UNKNOWN_VALUE
        return value

    def iterable_of_part(self, source: cst.CSTNode | None, index: int) -> cst.BaseExpression | None:
        """What the `index`-th of the values that `enumerate` or `zip` gives comes from."""
        if not isinstance(source, cst.Call):
            return None
        names = self._values.names.resolve(source.func)
        if names == ("builtins.enumerate",):
            index -= 1
        elif names != ("builtins.zip",):
            return None
        given = 0 <= index < len(source.args)
        return unwrapped(source.args[index].value, self._values) if given else None

    def _returned_part(self, source: cst.Call, index: int, names: tuple[str, ...]) -> Value | None:
        """One of several values that a function returns, where they differ in kind."""
        array = array_libraries.array_of_several(names[0]) if names else None
        if array is not None:
            return Value(Kind.FRESH) if index == array else HOST_VALUE
        function = self._own.callee(source)
        if function is None:
            return environments.observed(source, index, self._values)
        part = NO_VALUE
        for statement in self._own.returns(function):
            if not isinstance(statement.value, cst.Tuple):
                return None
            elements = statement.value.elements
            if index >= len(elements) or any(
                isinstance(element, cst.StarredElement) for element in elements
            ):
                return None
            part |= self._values.value(elements[index].value)
        return self._substituted(part, function, source) if part.kind else None

    @staticmethod
    def _prepared(value: Value) -> Value:
        """What a framework returns ready for the device: a loader that moves its batches."""
        if value.has(Kind.LOADER):
            return Value(Kind.LOADER, element=DEVICE_VALUE)
        return value

    def framework_batch(self, param: cst.CSTNode) -> Value | None:
        """The batch that a framework passes to its step hook, already on the device."""
        tree = self._values.tree
        function = tree.enclosing(param, cst.FunctionDef)
        if function is None or not isinstance(param, cst.Param):
            return None
        class_ = tree.enclosing(function, cst.ClassDef)
        if class_ is None or not is_passed_tensors(function.name.value, self._own.bases(class_)):
            return None
        if param.name.value in ANY.host_parameters:
            return HOST_VALUE
        if param.name.value in ANY.module_parameters:
            return Value(Kind.MODULE)
        return DEVICE_VALUE


def _is_called_device(arg: cst.Arg) -> bool:
    """`device`, `self.device`, `device=where`."""
    named = arg.keyword is not None and arg.keyword.value == "device"
    return named or dotted_text(arg.value).rpartition(".")[2].endswith("device")


def _splits_text(node: cst.Call, owner: Value) -> bool:
    """`text.split(",")`, and not `tensor.split(4, dim=0)`."""
    return not owner.has(TENSORS | Kind.LIKELY) and argument(node, "dim") is None
