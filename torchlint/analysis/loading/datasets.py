"""What a dataset expression is: which class, what a sample of it costs, where it comes from."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.literals import argument, literal
from torchlint.analysis.loading.dataset_classes import Cost, Dataset, dataset_class
from torchlint.analysis.loading.worker_processes import ONLY_FORKED, holds_local_function
from torchlint.analysis.names import Binding, How
from torchlint.analysis.once import once
from torchlint.analysis.uses import methods_called_on, occurrences, passed_for
from torchlint.analysis.values.kinds import ARRAYS, TENSORS, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torchlint.analysis.module import Module

_DEEPEST = 12
_CHANGES = (cst.Call, cst.AssignTarget, cst.AugAssign)
_UNKNOWN = Dataset(Cost.UNKNOWN)
_MEMORY = Dataset(Cost.MEMORY)
_TENSORS = Dataset(Cost.MEMORY, "its samples are rows of tensors")
_LIST = Dataset(Cost.MEMORY, "its samples are items of a list")
_STREAM = Dataset(Cost.STREAM)
_IN_MEMORY = frozenset(
    {"torch.utils.data.TensorDataset", "builtins.list", "builtins.range", "builtins.zip",
     "builtins.tuple", "builtins.sorted", "builtins.enumerate"}
)  # fmt: skip
_PARTS_OF_ONE = frozenset({"torch.utils.data.Subset", "torch.utils.data.random_split"})
_STREAMS = ("webdataset.", "torchtext.", "torchdata.")
_TABLES = frozenset(
    f"datasets.{name}"
    for name in ("load_dataset", "load_from_disk", "Dataset", "DatasetDict", "concatenate_datasets")
)
_TRANSFORMS = ("torchvision.transforms.", "albumentations.", "monai.transforms.", "torchio.")
_ON_THE_FLY = frozenset({"with_transform", "set_transform"})
_INDICES = re.compile(r"(?:^|_)(?:idx|index|indices|indexes)$")
_DISPLAYS = (cst.List, cst.Tuple, cst.ListComp, cst.GeneratorExp)


def dataset_of(node: cst.BaseExpression | None, module: Module, depth: int = 0) -> Dataset:
    """What is known of the dataset that an expression means."""
    if node is None or depth > _DEEPEST:
        return _UNKNOWN
    return _dataset_of(module, node, depth)


@once
def _dataset_of(module: Module, node: cst.BaseExpression, depth: int) -> Dataset:
    if isinstance(node, cst.Name):
        found = _joined(_bound(binding, module, depth) for binding in module.flow.reaching(node))
        return found if found != _UNKNOWN else _by_value(node, module)
    if isinstance(node, cst.Call):
        return _call(node, module, depth)
    if isinstance(node, cst.Subscript):
        return _item(node, module, depth)
    if isinstance(node, cst.IfExp):
        both = (node.body, node.orelse)
        return _joined(dataset_of(each, module, depth + 1) for each in both)
    if isinstance(node, cst.BinaryOperation):
        both = (node.left, node.right)
        return _joined(dataset_of(each, module, depth + 1) for each in both)
    if isinstance(node, _DISPLAYS):
        return _LIST
    if isinstance(node, cst.Attribute):
        bindings = _attribute_bindings(node, module)
        if bindings:
            return _joined(_bound(binding, module, depth) for binding in bindings)
    return _by_value(node, module)


def _by_value(node: cst.BaseExpression, module: Module) -> Dataset:
    if isinstance(node, cst.Name) and _INDICES.search(node.value):
        return _MEMORY
    value = module.value(node)
    if value.has(ARRAYS | TENSORS) and not value.has(Kind.UNKNOWN | Kind.PARAMETER):
        return _TENSORS
    return _UNKNOWN


def _joined(found: Iterable[Dataset]) -> Dataset:
    """One answer for several candidates: a reason to report nothing wins, then doubt."""
    datasets = [
        each for each in found if each.cost is not Cost.UNKNOWN or each.imported or each.indexed
    ]
    if not datasets:
        return _UNKNOWN
    for cost in (Cost.STREAM, Cost.DEVICE):
        if any(each.cost is cost for each in datasets):
            return Dataset(cost)
    first = datasets[0]
    if any(each.cost is not first.cost or each.imported != first.imported for each in datasets):
        return _UNKNOWN
    return next((each for each in datasets if each.held), first)


# names -------------------------------------------------------------------------------------


def _bound(binding: Binding, module: Module, depth: int) -> Dataset:
    if binding.how is How.PARAMETER:
        return _parameter(binding, module, depth)
    if binding.how not in (How.ASSIGNMENT, How.UNPACKING) or binding.value is None:
        return _UNKNOWN
    node: cst.BaseExpression = binding.value
    for index in binding.path:
        part = _part(node, index, module)
        if part is None:
            return _UNKNOWN
        node = part
    return dataset_of(node, module, depth + 1)


def _part(node: cst.BaseExpression, index: int, module: Module) -> cst.BaseExpression | None:
    """The expression of the `index`-th of several values; `random_split` counts for all."""
    if isinstance(node, (cst.Tuple, cst.List)):
        return node.elements[index].value if index < len(node.elements) else None
    if isinstance(node, cst.Call):
        if module.calls(node, *_PARTS_OF_ONE):
            return node
        function = module.definitions.callee(node)
        if function is not None:
            for statement in module.definitions.returns(function):
                if isinstance(statement.value, cst.Tuple):
                    return _part(statement.value, index, module)
    return None


def _parameter(binding: Binding, module: Module, depth: int) -> Dataset:
    """What the calls in this file pass for a parameter."""
    param = binding.node
    if not isinstance(param, cst.Param):
        return _UNKNOWN
    annotated = _annotated(param, module)
    if annotated is not None:
        return annotated
    function = module.function(param)
    if function is None or depth > _DEEPEST // 2:
        return _UNKNOWN
    passed = passed_for(binding.name, function, module)
    return _joined(dataset_of(each, module, depth + 1) for each in passed if each is not None)


def _annotated(param: cst.Param, module: Module) -> Dataset | None:
    if param.annotation is None:
        return None
    for name in module.resolve(param.annotation.annotation):
        if name == "torch.utils.data.TensorDataset":
            return _TENSORS
        if name == "torch.utils.data.IterableDataset":
            return _STREAM
        class_ = module.definitions.class_named(name)
        if class_ is not None:
            return dataset_class(class_, module)
    return None


def _attribute_bindings(node: cst.Attribute, module: Module) -> list[Binding]:
    class_ = module.definitions.class_of(node.value)
    if class_ is None:
        return []
    for owner in (class_, *module.definitions.base_classes(class_)):
        found = module.values.assigned(owner, node.attr.value)
        if found:
            return found
    return []


# calls and items ---------------------------------------------------------------------------


def _call(node: cst.Call, module: Module, depth: int) -> Dataset:
    names = module.resolve(node.func)
    if names:
        return _joined(_made_by(name, node, module, depth) for name in names)
    function = module.definitions.callee(node)
    if function is not None:
        return _returned(function, module, depth)
    if isinstance(node.func, cst.Attribute):
        owner = dataset_of(node.func.value, module, depth + 1)
        if owner.cost is Cost.TABLE:
            return _table_method(node.func.attr.value)
    return _by_value(node, module)


def _table_method(method: str) -> Dataset:
    if method in _ON_THE_FLY:
        return Dataset(Cost.WORK, f"`{method}` transforms each sample when it is read")
    return _STREAM if method == "to_iterable_dataset" else Dataset(Cost.TABLE)


def _made_by(name: str, node: cst.Call, module: Module, depth: int) -> Dataset:
    first = node.args[0].value if node.args else None
    if name in _IN_MEMORY:
        return _TENSORS if name.startswith("torch.") else _LIST
    if name in _PARTS_OF_ONE:
        return dataset_of(first, module, depth + 1)
    if name == "torch.utils.data.ConcatDataset":
        return _joined(dataset_of(each, module, depth + 1) for each in _elements(first, module))
    if name.startswith(_STREAMS) or name == "torch.utils.data.ChainDataset":
        return _STREAM
    if name.startswith(("torchvision.datasets.", "torchaudio.datasets.")):
        reason = f"`{name.rpartition('.')[2]}` decodes and transforms each sample"
        return replace(Dataset(Cost.WORK, reason), held=_local_argument(node, module))
    if name.startswith("datasets."):
        return _table(name, node)
    if name.startswith(":"):
        return _own(name, node, module, depth)
    if name.startswith(("torch.", "numpy.", "builtins.")):
        return _by_value(node, module)
    held = _local_argument(node, module)
    if _transforms(node, module):
        return Dataset(Cost.WORK, "`transform` changes each sample", held=held, imported=name)
    return Dataset(Cost.UNKNOWN, held=held, imported=name)


def _transforms(node: cst.Call, module: Module) -> bool:
    """Whether a class is given the transforms of a library, which it applies to each sample."""
    given = argument(node, "transform")
    made = [given]
    if isinstance(given, cst.Name):
        made = [each.value for each in module.flow.reaching(given)]
    return any(
        name.startswith(_TRANSFORMS)
        for each in made
        if isinstance(each, cst.Call)
        for name in module.resolve(each.func)
    )


def _table(name: str, node: cst.Call) -> Dataset:
    if ".".join(name.split(".")[:2]) not in _TABLES:
        return Dataset(Cost.UNKNOWN, imported=name)
    streaming = literal(argument(node, "streaming"))
    return _STREAM if streaming is True else Dataset(Cost.TABLE)


def _own(name: str, node: cst.Call, module: Module, depth: int) -> Dataset:
    class_ = module.definitions.class_named(name)
    if class_ is None:
        function = module.definitions.callee(node)
        return _UNKNOWN if function is None else _returned(function, module, depth)
    found = dataset_class(class_, module) or _UNKNOWN
    if found.option and _passes(node, found.option, class_, module):
        found = replace(found, cost=Cost.WORK)
    return found if found.held else replace(found, held=_local_argument(node, module))


def _passes(node: cst.Call, option: str, class_: cst.ClassDef, module: Module) -> bool:
    """Whether a call of a class gives a parameter of its `__init__` something but None."""
    init = module.definitions.methods(class_).get("__init__")
    if init is None:
        return False
    names = [param.name.value for param in init.params.params][1:]
    given = argument(node, option, names.index(option) if option in names else None)
    return given is not None and literal(given) is not None


def _returned(function: cst.FunctionDef, module: Module, depth: int) -> Dataset:
    statements = module.definitions.returns(function)
    return _joined(dataset_of(each.value, module, depth + 1) for each in statements)


def _local_argument(node: cst.Call, module: Module) -> str:
    if any(holds_local_function(arg.value, module) for arg in node.args):
        return f"the dataset holds a local function, {ONLY_FORKED}"
    return ""


def _item(node: cst.Subscript, module: Module, depth: int) -> Dataset:
    elements = _elements(node.value, module)
    if elements:
        return _joined(dataset_of(each, module, depth + 1) for each in elements)
    owner = dataset_of(node.value, module, depth + 1)
    return _by_value(node, module) if owner == _UNKNOWN else owner


def _elements(
    node: cst.BaseExpression | None, module: Module, depth: int = 0
) -> list[cst.BaseExpression]:
    """What a list, tuple or dict holds, where the code spells it out."""
    return list(_spelled_out(module, node, depth))


@once
def _spelled_out(
    module: Module, node: cst.BaseExpression | None, depth: int
) -> dict[cst.BaseExpression, None]:
    return dict.fromkeys(_each_spelled_out(node, module, depth))


def _each_spelled_out(
    node: cst.BaseExpression | None, module: Module, depth: int
) -> Iterator[cst.BaseExpression]:
    if isinstance(node, (cst.List, cst.Tuple)):
        yield from (element.value for element in node.elements)
    elif isinstance(node, (cst.ListComp, cst.GeneratorExp)):
        yield node.elt
    elif isinstance(node, cst.Dict):
        yield from (each.value for each in node.elements if isinstance(each, cst.DictElement))
    elif isinstance(node, cst.DictComp):
        yield node.value
    elif isinstance(node, (cst.Name, cst.Attribute)) and depth < _DEEPEST // 2:
        bindings = (
            module.flow.reaching(node)
            if isinstance(node, cst.Name)
            else _attribute_bindings(node, module)
        )
        for binding in bindings:
            if binding.how is How.ASSIGNMENT and not binding.path:
                yield from _elements(binding.value, module, depth + 1)
            elif binding.how is How.UPDATE and isinstance(binding.node, cst.Assign):
                yield binding.node.value


def change_of_dataset(call: cst.Call, module: Module) -> cst.CSTNode | None:
    """Where a loop, or another function than the one that makes a loader, calls a method or sets an
    attribute of its dataset, which may change it between epochs; None: nowhere."""
    dataset = argument(call, "dataset", 0)
    named = () if dataset is None else occurrences(dataset, module)
    kept = map(module.parent, module.spelled("dataset"))
    for each in filter(None, (*named, *kept)):
        part = module.parent(each)
        changed = isinstance(part, cst.Attribute) and isinstance(module.parent(part), _CHANGES)
        elsewhere = module.function(each) is not module.function(call)
        if changed and (elsewhere or any(True for _ in module.loops.loops_around(each))):
            return part
    return None


def changed_by_steps(call: cst.Call, module: Module) -> bool:
    """Whether a training step calls what may change the dataset of a loader, or an object that the
    dataset is made with, of which worker processes have a copy."""
    dataset = argument(call, "dataset", 0)
    if dataset is None:
        return False
    made = dataset if isinstance(dataset, cst.Call) else module.flow.given(dataset)
    parts = [arg.value for arg in made.args] if isinstance(made, cst.Call) else []
    firsts = (next(occurrences(part, module), None) for part in (dataset, *parts))
    return any(first is not None and _changed_in_steps(module, first) for first in firsts)


@once
def _changed_in_steps(module: Module, first: cst.BaseExpression) -> bool:
    return any(
        isinstance(module.parent(call), cst.Expr) and module.step_loop(call) is not None
        for call in methods_called_on(first, module)
    )
