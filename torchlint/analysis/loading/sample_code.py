"""Which code makes the samples of a dataset: `__getitem__` and what it calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.loading.dataset_classes import reachable
from torchlint.analysis.once import once

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

_PER_SAMPLE = ("__getitem__", "__getitems__")


def makes_sample(node: cst.CSTNode, module: Module) -> bool:
    """Whether code runs for each sample of a dataset class of this file."""
    function = module.function(node)
    return function is not None and function in _sample_functions(module)


def is_dataset(class_: cst.ClassDef, module: Module) -> bool:
    """Whether the objects of a class are datasets, by its name or those of its bases."""
    names = [class_.name.value, *module.definitions.bases(class_)]
    return any("dataset" in name.lower() for name in names)


@once
def _sample_functions(module: Module) -> frozenset[cst.FunctionDef]:
    functions: set[cst.FunctionDef] = set()
    for class_ in module.nodes(cst.ClassDef):
        methods = module.definitions.methods(class_)
        for name in _PER_SAMPLE:
            if name in methods and is_dataset(class_, module):
                functions.update(reachable(methods[name], methods, module))
    return frozenset(functions)
