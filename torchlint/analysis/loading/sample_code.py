"""Which code makes the samples of a dataset: `__getitem__` and what it calls."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.loading.dataset_classes import reachable
from torchlint.analysis.once import once
from torchlint.analysis.training.batches import collates
from torchlint.analysis.uses import calls_of

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


def makes_sample(node: cst.CSTNode, module: Module) -> bool:
    """Whether code runs for each sample of a dataset class of this file."""
    function = module.function(node)
    return function is not None and function in _sample_functions(module)


def loads_samples(node: cst.CSTNode, module: Module) -> bool:
    """Whether code makes a sample, or runs in a collate function, in what that calls, in a method
    such as `get_item` of a reader, in a transform, or in a loop of the `__iter__` of a dataset."""
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
        for name in _PER_SAMPLE:
            if name in methods:
                functions.update(reachable(methods[name], methods, module))
    return frozenset(functions)


@once
def _other_loading_functions(module: Module) -> frozenset[cst.FunctionDef]:
    functions: set[cst.FunctionDef] = set()
    for function in module.nodes(cst.FunctionDef):
        loads = collates(function, module) or _gives_sample(function, module)
        if loads or _transforms(function, module):
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
    named = any(_TRANSFORM.search(each.rpartition(".")[2]) for each in (class_.name.value, *bases))
    return named and "torch.nn.Module" not in bases


def _gives_sample(function: cst.FunctionDef, module: Module) -> bool:
    """Whether a method gives one sample of a dataset or of its reader, which does not ask for all
    of them when it is made."""
    class_ = module.class_(function)
    if class_ is None or not _GIVES_SAMPLE.search(function.name.value):
        return False
    if not _GIVES_SAMPLES.search(class_.name.value):
        return False
    callers = map(module.function, calls_of(function, module))
    return not any(each is not None and each.name.value == "__init__" for each in callers)
