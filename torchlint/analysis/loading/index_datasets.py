"""Datasets that contain only indices: `range(n)`, `torch.arange(n)`, `split_idx["train"]`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.names import How, dotted_text

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

_COUNTING = frozenset({"builtins.range", "torch.arange", "numpy.arange"})
_INDEX_WORDS = re.compile(r"(?:^|_)(?:idx|idxs|index|indices|indexes)$")


def holds_indices(dataset: cst.BaseExpression | None, module: Module) -> bool:
    """Whether an expression is a dataset of indices, as far as its calls or its words show."""
    return counting(dataset, module) is not None or sounds_like_indices(dataset)


def counting(dataset: cst.BaseExpression | None, module: Module) -> cst.Call | None:
    """The `range(n)` or `torch.arange(n)` that an expression means, and nothing else."""
    made = dataset
    if isinstance(dataset, cst.Name):
        bindings = module.flow.reaching(dataset)
        if len(bindings) != 1 or bindings[0].how is not How.ASSIGNMENT:
            return None
        made = bindings[0].value
    found = isinstance(made, cst.Call) and module.calls(made, *_COUNTING)
    return made if isinstance(made, cst.Call) and found else None


def sounds_like_indices(dataset: cst.BaseExpression | None) -> bool:
    """`train_idx`, `split_idx["train"]`, `self.indices`."""
    while isinstance(dataset, cst.Subscript):
        dataset = dataset.value
    return bool(_INDEX_WORDS.search(dotted_text(dataset).rpartition(".")[2].lower()))
