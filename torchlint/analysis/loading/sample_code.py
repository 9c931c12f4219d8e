"""Which code makes the samples of a dataset: `__getitem__` and what it calls."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.loading.dataset_classes import reachable
from torchlint.analysis.names import dotted_text
from torchlint.analysis.once import once
from torchlint.analysis.training.batches import collates
from torchlint.analysis.uses import calls_of, method_name, parameters_of

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

_PER_SAMPLE = ("__getitem__", "__getitems__")
_GIVES_SAMPLE = re.compile(r"^_{0,2}(?:get|load|fetch|read)_?(?:item|sample|example)$")
_GIVES_SAMPLES = re.compile(r"dataset|reader|loader", re.IGNORECASE)
"""In the names of classes whose `get_item` a dataset of another file calls."""
_TRANSFORM = re.compile(
    r"Transform|To\w{0,30}Tensor|Normali[sz]e|Convert\w{0,30}(?:Image|Dtype)|Augment|Crop(?:[A-Z]|$)|"
    r"^(?:Group|Rand|Random|Multi[sS]cale|Clip)\w{0,30}(?:Scale|Resize|Rotat|Flip|Blur|Noise|Elastic)"
)
_APPLIES = ("__call__", "transform", "_transform")
_REGISTERED = re.compile(r"(?:transform|pipeline|augment|preproc)\w{0,9}\.register", re.IGNORECASE)
"""The decorator of a transform, `@PIPELINES.register_module()`."""
ONE_SAMPLE = "samples?|data_?dict|dataset_dict|results|img|image|pic"
"""Names of what a transform is given, as a pattern."""
_ONE_SAMPLE = re.compile(rf"^(?:{ONE_SAMPLE})$")
_OF_TRANSFORMS = re.compile(
    r"transform|augment|pipeline|preproc|datasets?\b|data_?load", re.IGNORECASE
)
"""In the paths of files whose objects that are called with one image are transforms."""
INDEX = r"i|idx|index|item|\w{1,20}_(?:idx|index)"
"""Names of the number of a sample, as a pattern."""
_INDEX = re.compile(rf"^(?:{INDEX})$")
_SETS_TRANSFORM = ("with_transform", "set_transform")


def makes_sample(node: cst.CSTNode, module: Module) -> bool:
    """Whether code runs for each sample of a dataset class of this file."""
    function = module.function(node)
    return function is not None and function in _sample_functions(module)


def loads_samples(node: cst.CSTNode, module: Module) -> bool:
    """Whether code makes a sample, or runs in a collate function, in what that calls, in a method
    such as `get_item` of a reader, in a transform, in a function that a dataset gets for its rows
    or files, or in a loop of the `__iter__` of a dataset."""
    function, class_ = module.function(node), module.class_(node)
    if function is None:
        return False
    if function in _sample_functions(module) or function in _other_loading_functions(module):
        return True
    streams = function.name.value == "__iter__" and class_ is not None
    if not streams or class_ is None or not is_dataset(class_, module):
        return False
    return any(True for _ in module.loops.loops_around(node))


def is_dataset(class_: cst.ClassDef, module: Module) -> bool:
    """Whether the objects of a class are datasets, by its name or those of its bases."""
    names = [class_.name.value, *module.definitions.bases(class_)]
    return any("dataset" in name.lower() for name in names)


@once
def _sample_functions(module: Module) -> frozenset[cst.FunctionDef]:
    functions: set[cst.FunctionDef] = set()
    for class_ in module.nodes(cst.ClassDef):
        if not is_dataset(class_, module):
            continue
        methods = module.definitions.methods(class_)
        for name in (*_PER_SAMPLE, "get") if "len" in methods else _PER_SAMPLE:
            if name in methods:  # `get` and `len` are those of PyTorch Geometric
                functions.update(reachable(methods[name], methods, module))
    return frozenset(functions)


@once
def _other_loading_functions(module: Module) -> frozenset[cst.FunctionDef]:
    functions: set[cst.FunctionDef] = set()
    for function in module.nodes(cst.FunctionDef):
        loads = collates(function, module) or _gives_sample(function, module)
        if loads or _transforms(function, module) or _is_passed_on(function, module):
            class_ = module.class_(function)
            methods = {} if class_ is None else module.definitions.methods(class_)
            functions.update(reachable(function, methods, module))
    return frozenset(functions)


def _transforms(function: cst.FunctionDef, module: Module) -> bool:
    """Whether a method transforms one sample, by the name of its class or of a base of that; a
    module may do so on the device."""
    class_ = module.class_(function)
    if class_ is None or function.name.value not in _APPLIES:
        return False
    bases = module.definitions.bases(class_)
    if "torch.nn.Module" in bases:
        return False
    if any(_TRANSFORM.search(each.rpartition(".")[2]) for each in (class_.name.value, *bases)):
        return True
    if any(_REGISTERED.search(module.source(each)) for each in class_.decorators):
        return True
    given = [each.name.value for each in parameters_of(function)[:1]]
    return any(map(_ONE_SAMPLE.search, given)) and bool(_OF_TRANSFORMS.search(module.path))


def _is_passed_on(function: cst.FunctionDef, module: Module) -> bool:
    """Whether a dataset gets a function that reads a file or changes rows: `ImageFolder(root,
    loader=function)`, `dataset.with_transform(function)`."""
    for word in module.spelled(function.name.value):
        arg = module.parent(word)
        call = module.parent(arg) if isinstance(arg, cst.Arg) and arg.value is word else None
        if not isinstance(arg, cst.Arg) or not isinstance(call, cst.Call):
            continue
        reads = arg.keyword is not None and arg.keyword.value == "loader"
        if reads and dotted_text(call.func).endswith(("Folder", "Dataset")):
            return True
        if method_name(call) in _SETS_TRANSFORM:
            return True
    return False


def _gives_sample(function: cst.FunctionDef, module: Module) -> bool:
    """Whether a method gives one sample of a dataset or of its reader, which does not ask for all
    of them when it is made."""
    class_ = module.class_(function)
    if class_ is None:
        return False
    named = _GIVES_SAMPLE.search(function.name.value) and _GIVES_SAMPLES.search(class_.name.value)
    if not named and not _is_of_a_base(function, class_, module):
        return False
    callers = map(module.function, calls_of(function, module))
    return not any(each is not None and each.name.value == "__init__" for each in callers)


def _is_of_a_base(function: cst.FunctionDef, class_: cst.ClassDef, module: Module) -> bool:
    """Whether a dataset whose `__getitem__` is in another file has a method that gets an index."""
    given = [each.name.value for each in parameters_of(function)[:1]]
    if not any(map(_INDEX.search, given)) or function.name.value.startswith(("__", "set")):
        return False
    if not is_dataset(class_, module) or not module.definitions.bases(class_):
        return False
    methods = module.definitions.methods(class_)
    return not any(name in methods for name in (*_PER_SAMPLE, "__iter__"))
