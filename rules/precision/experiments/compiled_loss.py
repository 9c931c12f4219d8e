"""Compile the function of the loss.

A loss that is written by hand goes over its tensors once for each operation, forwards and
backwards. Compiled, it goes over them once or twice. Losses of torch are one operation already.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.analysis.training.step_sites import loss_sites
from torchlint.rule import COMPUTING, Bench, Edit, Experiment, Module, Proposal, edits

_FEWEST = 3
"""Operations; a loss of fewer has nothing to merge."""

experiment = Experiment(
    "torch compiles the function of the loss",
    speeds=COMPUTING,
    may_change="operations that are merged round in another way",
    since=(2, 2),
    compiles=True,
)


def _operations(function: cst.FunctionDef, module: Module) -> int:
    within = (cst.Call, cst.BinaryOperation)
    return sum(isinstance(each, within) for each in module.within(function.body))


@experiment.proposes
def _propose(module: Module, _bench: Bench) -> Iterator[Proposal]:
    changes: dict[cst.CSTNode, Edit | None] = {}
    for site in loss_sites(module):
        for call in module.calls_within(site.lines[-1]):
            function = module.definitions.callee(call)
            if function is None or function.decorators or _operations(function, module) < _FEWEST:
                continue
            torch = module.names.imported_as("torch", function)
            if torch is not None:
                changes[function] = edits.insert_before(module, function, f"@{torch}.compile")
    yield Proposal("", "Compile the function of the loss", list(changes.values()))
