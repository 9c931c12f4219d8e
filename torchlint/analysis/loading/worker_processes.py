"""What keeps a dataset out of worker processes: handles, generators, local functions, writes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.literals import argument, literal
from torchlint.analysis.names import Binding, How, dotted_text
from torchlint.analysis.once import once
from torchlint.analysis.steps.guards import words
from torchlint.analysis.uses import method_name
from torchlint.analysis.values.kinds import Kind

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

Function = cst.FunctionDef
ONLY_FORKED = "which only forked workers can take over, not spawned ones"
"""Of what cannot be pickled: workers are spawned on macOS and Windows, and pickle what they get on
Linux from Python 3.14 on (https://docs.python.org/3/library/multiprocessing.html)."""
_DEEPEST = 2
_HANDLES = {
    "h5py.File": "an open HDF5 file",
    "sqlite3.connect": "a database connection",
    "lmdb.open": "an open LMDB environment",
    "builtins.open": "an open file",
    "zipfile.ZipFile": "an open archive",
    "tarfile.open": "an open archive",
    "numpy.random.default_rng": "a random generator, which draws the same in every worker",
    "numpy.random.RandomState": "a random generator, which draws the same in every worker",
    "torch.Generator": "a random generator, which draws the same in every worker",
    "random.Random": "a random generator, which draws the same in every worker",
}
_SETTINGS = re.compile(r"(?:^|[._])(?:self|args|cfg|conf|config|opts?|options|params)$")
_CHANGES = frozenset({"append", "extend", "update", "add", "setdefault", "pop", "clear", "insert"})


def puts_on_device(class_: cst.ClassDef, functions: list[Function], module: Module) -> bool:
    """Whether samples are put on the GPU, or kept there."""
    calls = (call for function in functions for call in module.calls_within(function.body))
    if any(moves_to_device(call, module) for call in calls):
        return True
    for bindings in module.values.attributes.get(class_, {}).values():
        for binding in bindings:
            if isinstance(binding.value, cst.Call) and moves_to_device(binding.value, module):
                return True
    return False


def moves_to_device(call: cst.Call, module: Module) -> bool:
    """Whether a call puts a tensor on the accelerator: `x.cuda()`, `torch.zeros(3, device=gpu)`."""
    method = method_name(call)
    if method == "cuda":
        return True
    wanted = method == "to" or argument(call, "device") is not None
    if not wanted or not module.value(call).has(Kind.DEVICE):
        return False
    target = argument(call, "device", 0 if method == "to" else None)
    if target is None:
        return False
    if isinstance(literal(target), str):
        return True
    if _is_where_another_lies(target, module):
        return False
    return any("device" in word or "gpu" in word for word in words(target))


def _is_where_another_lies(device: cst.BaseExpression, module: Module) -> bool:
    """Whether a device is that of a tensor, `x.device`, which may be the CPU."""
    bindings = module.flow.reaching(device)
    made = [device, *(each.value for each in bindings if each.value is not None)]
    return any(
        isinstance(part, cst.Attribute)
        and part.attr.value == "device"
        and "torch.device" not in module.resolve(part)
        and not _SETTINGS.search(dotted_text(part.value))
        for each in made
        for part in module.within(each)
    )


def held_by(class_: cst.ClassDef, init: Function | None, module: Module) -> str:
    """What `__init__` opens or draws from, which a worker process cannot take over."""
    if module.function(class_) is not None:
        return f"the class is defined inside a function, {ONLY_FORKED}"
    for name, bindings in module.values.attributes.get(class_, {}).items():
        for binding in bindings:
            if module.function(binding.node) is not init:
                continue
            for target in made_by(binding.value, class_, module):
                if target in _HANDLES:
                    return f"`self.{name}` holds {_HANDLES[target]}"
            if binding.value is not None and holds_local_function(binding.value, module):
                return f"`self.{name}` holds a local function, {ONLY_FORKED}"
    return ""


def made_by(
    node: cst.BaseExpression | None, class_: cst.ClassDef | None, module: Module, depth: int = 0
) -> tuple[str, ...]:
    """The dotted names of what made a value or opened what it is part of: `h5py.File` for
    `h5py.File(path)["images"]`, for a list of such, and for `self.file["images"]` of a class that
    keeps one. What is read as a whole, `file["images"][:]`, is not part of it any more."""
    while isinstance(node, cst.Subscript | cst.Attribute) and not _is_of_self(node):
        if isinstance(node, cst.Subscript) and not _is_keyed(node):
            return ()
        node = node.value
    if isinstance(node, cst.ListComp | cst.DictComp):
        node = node.elt if isinstance(node, cst.ListComp) else node.value
    if isinstance(node, cst.Call):
        return module.resolve(node.func)
    if node is None or not _is_of_self(node) or depth > _DEEPEST:
        return ()
    assigned = module.values.assigned(class_, dotted_text(node).partition(".")[2])
    return tuple(
        name for each in assigned for name in made_by(each.value, class_, module, depth + 1)
    )


def _is_of_self(node: cst.CSTNode) -> bool:
    """`self.name`."""
    return isinstance(node, cst.Attribute) and dotted_text(node.value) == "self"


def _is_keyed(item: cst.Subscript) -> bool:
    """`file["images"]`, `file[name]`: not a slice, not an ellipsis, not a tuple."""
    index = item.slice[0].slice
    return (
        len(item.slice) == 1
        and isinstance(index, cst.Index)
        and not isinstance(index.value, cst.Ellipsis | cst.Tuple | cst.Integer)
    )


def writes_to_self(functions: list[Function], module: Module) -> str:
    for function in functions:
        if function.name.value == "__init__":
            continue
        for node in module.within(function.body):
            written = _written_attribute(node)
            if written:
                return f"`{function.name.value}` writes to `{written}`, which a worker would lose"
    return ""


def _written_attribute(node: cst.CSTNode) -> str:
    """`self.cache` if the node changes what the dataset holds."""
    target: cst.CSTNode | None = None
    if type(node) is cst.AssignTarget or type(node) is cst.AugAssign:
        target = node.target
    elif type(node) is cst.Call and type(node.func) is cst.Attribute:
        target = node.func.value if node.func.attr.value in _CHANGES else None
    while type(target) is cst.Subscript:
        target = target.value
    text = dotted_text(target)
    return text if text.startswith("self.") and text.count(".") == 1 else ""


@once
def holds_local_function(node: cst.BaseExpression, module: Module, depth: int = 0) -> bool:
    """Whether an expression contains a lambda or a function defined inside another one."""
    for inner in module.within(node):
        if type(inner) is cst.Lambda:
            return True
        if type(inner) is not cst.Name or depth > _DEEPEST:
            continue
        if any(_is_local(binding, module, depth) for binding in module.flow.reaching(inner)):
            return True
    return False


def _is_local(binding: Binding, module: Module, depth: int) -> bool:
    if binding.how is How.DEFINITION and isinstance(binding.node, Function):
        nested = module.function(binding.node) is not None
        return nested and module.class_(binding.node) is None
    if binding.how is How.ASSIGNMENT and binding.value is not None:
        return holds_local_function(binding.value, module, depth + 1)
    return False
