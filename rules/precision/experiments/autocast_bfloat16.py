"""Compute the forward pass and the loss in bfloat16.

`torch.autocast` chooses for each operation: products of matrices and convolutions in bfloat16, what
needs the range in float32. Tensor cores, and processors with AMX or AVX-512 BF16, compute such
products several times as fast; others convert and are slower, which only a measurement tells.
bfloat16 has the range of float32, so the loss needs no scaling, and an eighth of its digits: losses
differ in the third figure from the first step on.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.analysis.names import Scope, dotted_text
from torchlint.analysis.training.step_sites import LossSite, loss_sites, mixes_formats
from torchlint.analysis.uses import method_name, receiver
from torchlint.rule import COMPUTING, Bench, Edit, Experiment, Module, Proposal, edits

experiment = Experiment(
    "the forward pass computes in bfloat16",
    speeds=COMPUTING,
    may_change="losses and gradients are rounded to bfloat16",
    since=(1, 10),
    covers=("TL501",),
)


def _becomes_an_array(site: LossSite, module: Module) -> bool:
    """Whether what the block computes becomes an array of NumPy, which has no bfloat16: at once, or
    at the end of an epoch out of a list that it was put into."""
    scope = module.names.scope(site.lines[0])
    lists = {
        dotted_text(receiver(call))
        for call in module.nodes(cst.Call)
        if method_name(call) in ("append", "extend") and _reads(call, site.names, scope, module)
    }
    return any(
        _reads(call, site.names | lists, scope, module)
        for call in module.nodes(cst.Call)
        if method_name(call) == "numpy"
    )


def _reads(call: cst.Call, names: set[str], scope: Scope, module: Module) -> bool:
    """Whether one of the names, as a scope has them, is in a call."""
    return any(
        dotted_text(each) in names and module.names.scope(each) is scope
        for each in module.within(call)
        if isinstance(each, cst.Name | cst.Attribute)
    )


@experiment.proposes
def _propose(module: Module, bench: Bench) -> Iterator[Proposal]:
    if mixes_formats(module):
        return
    changes: list[Edit | None] = []
    for site in loss_sites(module):
        torch = module.names.imported_as("torch", site.lines[0])
        if torch is None or _becomes_an_array(site, module):
            return
        head = f'with {torch}.autocast("{bench.device}", dtype={torch}.bfloat16):'
        changes += edits.put_all_under(module, site.lines, head) or (None,)
    yield Proposal("", "Compute the forward pass under `torch.autocast` in bfloat16", changes)
