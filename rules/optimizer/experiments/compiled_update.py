"""Compile the step of the optimizer.

`torch.compile` makes few loops over all parameters of what an optimizer does to each. It pays where
no fused kernel exists, or where the optimizer is one of one's own. What changes from one step to
the next as a number in Python, such as the learning rate of a scheduler, makes torch compile again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.training.step_sites import optimizer_sites
from torchlint.rule import Bench, Edit, Experiment, Module, Proposal, edits

_WRAPS = re.compile(r"(?i)sched|lr$|prepare$|warmup|swa")
_LATER = (cst.For, cst.While, cst.FunctionDef, cst.ClassDef)

experiment = Experiment(
    "torch compiles the step of the optimizer",
    speeds=("optimizer",),
    may_change="operations that are merged round in another way",
    since=(2, 2),
    compiles=True,
)


def _after(
    module: Module, made: cst.Assign, name: str
) -> cst.BaseSmallStatement | cst.BaseStatement:
    """The last statement of a block that makes a scheduler of the optimizer, or prepares it: it
    wraps the method `step` and wants it as it was."""
    line = module.parent(made)
    block = module.parent(line) if line is not None else None
    last: cst.BaseSmallStatement | cst.BaseStatement = made
    for each in getattr(block, "body", ()):
        smalls = each.body if isinstance(each, cst.SimpleStatementLine) else (each,)
        for small in smalls:
            if module.order(small) > module.order(made) and _wraps(module, small, name):
                last = small
    return last


def _wraps(module: Module, statement: cst.CSTNode, name: str) -> bool:
    return not isinstance(statement, _LATER) and any(
        _WRAPS.search(dotted_text(call.func))
        and any(dotted_text(arg.value) == name for arg in call.args)
        for call in module.calls_within(statement)
    )


@experiment.proposes
def _propose(module: Module, _bench: Bench) -> Iterator[Proposal]:
    if "GradScaler" in module.text or not module.loops.anchors:
        return
    changes: list[Edit | None] = []
    for call in optimizer_sites(module):
        statement = module.small_statement(call)
        torch = module.names.imported_as("torch", call)
        if torch is None or not isinstance(statement, cst.Assign) or statement.value is not call:
            continue
        name = dotted_text(statement.targets[0].target)
        if name:
            code = f"{name}.step = {torch}.compile({name}.step)"
            changes.append(edits.insert_after(module, _after(module, statement, name), code))
    yield Proposal("", "Compile the step of the optimizer", changes)
