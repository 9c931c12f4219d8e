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

from torchlint.analysis.training.step_sites import LossSite, loss_sites, mixes_formats
from torchlint.analysis.uses import method_name
from torchlint.rule import COMPUTING, Bench, Edit, Experiment, Module, Proposal, edits

experiment = Experiment(
    "the forward pass computes in bfloat16",
    speeds=COMPUTING,
    may_change="losses and gradients are rounded to bfloat16",
    since=(1, 10),
    covers=("TL501",),
)


def _becomes_an_array(site: LossSite, module: Module) -> bool:
    """Whether what the block computes becomes an array of NumPy, which has no bfloat16."""
    names, scope = site.names, module.names.scope(site.lines[0])
    return any(
        isinstance(each, cst.Name) and each.value in names and module.names.scope(each) is scope
        for call in module.nodes(cst.Call)
        if method_name(call) == "numpy"
        for each in module.within(call)
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
