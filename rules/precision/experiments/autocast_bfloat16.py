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
from torchlint.analysis.uses import called_name, method_name, receiver
from torchlint.rule import COMPUTING, Bench, Edit, Experiment, Module, Proposal, edits

_FARTHEST = 4
"""Names from that of a result to that of an array."""
_OTHER_FORMATS = frozenset("item tolist float double long int bool argmax len numel size".split())

experiment = Experiment(
    "the forward pass computes in bfloat16",
    speeds=COMPUTING,
    may_change="losses and gradients are rounded to bfloat16",
    since=(1, 10),
    covers=("TL501",),
)


def _becomes_an_array(site: LossSite, module: Module) -> bool:
    """Whether what the block computes becomes an array of NumPy, which has no bfloat16: at once, or
    by other names and out of lists, as at the end of an epoch."""
    scope, names = module.names.scope(site.lines[0]), set(site.names)
    given = list(_given(scope, module))
    for _ in range(_FARTHEST):
        names |= {name for name, value in given if _carries(value, names, module)}
    return any(
        _carries(part, names, module)
        for call in module.nodes(cst.Call)
        if module.names.scope(call) is scope
        for part in _made_an_array(call, module)
    )


def _given(scope: Scope, module: Module) -> Iterator[tuple[str, cst.CSTNode]]:
    """The names of a scope, each with what it is given, or what is put into it."""
    given: list[tuple[cst.CSTNode, cst.BaseExpression]] = []
    for assign in module.nodes(cst.Assign):
        given += [(target, assign.value) for target in assign.targets]
    given += [(added.target, added.value) for added in module.nodes(cst.AugAssign)]
    for target, value in given:
        for each in module.within(target) if module.names.scope(target) is scope else ():
            if isinstance(each, cst.Name | cst.Attribute):
                yield dotted_text(each), value
    for call in module.nodes(cst.Call):
        if method_name(call) in ("append", "extend") and module.names.scope(call) is scope:
            yield from ((dotted_text(receiver(call)), arg.value) for arg in call.args)


def _made_an_array(call: cst.Call, module: Module) -> Iterator[cst.CSTNode]:
    if method_name(call) == "numpy":
        yield receiver(call)
    elif any(name.startswith("numpy.") for name in module.resolve(call.func)):
        yield from (arg.value for arg in call.args)


def _carries(value: cst.CSTNode, names: set[str], module: Module) -> bool:
    """Whether one of the names is in an expression that has its format."""
    return any(
        dotted_text(each) in names and not _changes_format(each, value, module)
        for each in module.within(value)
        if isinstance(each, cst.Name | cst.Attribute)
    )


def _changes_format(name: cst.CSTNode, value: cst.CSTNode, module: Module) -> bool:
    for above in module.ancestors(name):
        if isinstance(above, cst.Comparison) or (
            isinstance(above, cst.Call) and called_name(above) in _OTHER_FORMATS
        ):
            return True
        if above is value:
            break
    return False


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
