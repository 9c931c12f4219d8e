"""Compute the forward pass and the loss in float16, and scale the loss.

GPUs before Ampere have tensor cores for float16 and none for bfloat16. float16 has a smaller range
than float32, so small gradients would become zero: `torch.amp.GradScaler` multiplies the loss by a
large number, divides the gradients by it before the update, and leaves out an update whose
gradients are not finite.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.training.step_sites import loss_sites, mixes_formats, optimizer_sites
from torchlint.analysis.uses import method_name
from torchlint.rule import COMPUTING, Bench, Edit, Experiment, Module, Proposal, edits

_CLIPPING = ("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_")

experiment = Experiment(
    "the forward pass computes in float16, with a scaled loss",
    speeds=COMPUTING,
    may_change="losses and gradients are rounded to float16",
    devices=("cuda",),
    since=(2, 3),
    covers=("TL501",),
)


def _steps(module: Module, optimizer: str) -> list[cst.Call]:
    return [
        call
        for call in module.nodes(cst.Call)
        if method_name(call) == "step" and dotted_text(call.func) == f"{optimizer}.step"
    ]


def _only_clips_between(
    module: Module, first: cst.BaseSmallStatement | None, last: cst.BaseSmallStatement
) -> bool:
    """Whether nothing else reads gradients between the backward pass and the step, which are scaled
    there."""
    if first is None:
        return False
    start, end = module.order(first), module.order(last)
    own = set(module.calls_within(first))
    between = [
        call
        for call in module.nodes(cst.Call)
        if start < module.order(call) < end and call not in own
    ]
    spelled = [each for each in module.spelled("grad") if start < module.order(each) < end]
    return not spelled and all(
        module.calls(call, *_CLIPPING) or method_name(call) in ("parameters", "zero_grad")
        for call in between
    )


@experiment.proposes
def _propose(module: Module, bench: Bench) -> Iterator[Proposal]:
    """Only where one function makes one optimizer, computes one loss and takes the step: the scaler
    is a name that all of them have to see."""
    makers, sites = list(optimizer_sites(module)), list(loss_sites(module))
    backward = module.loops.backward_calls
    if mixes_formats(module) or (len(makers), len(sites), len(backward)) != (1, 1, 1):
        return
    made = module.small_statement(makers[0])
    torch = module.names.imported_as("torch", makers[0])
    if torch is None or not isinstance(made, cst.Assign) or "scaler" in module.text:
        return
    optimizer = dotted_text(made.targets[0].target)
    steps = _steps(module, optimizer) if optimizer else []
    step = module.small_statement(steps[0]) if len(steps) == 1 else None
    scopes = {module.names.scope(each) for each in (makers[0], *backward, *steps)}
    if step is None or steps[0].args or len(scopes) != 1:
        return
    if not _only_clips_between(module, module.small_statement(backward[0]), step):
        return
    head = f'with {torch}.autocast("{bench.device}", dtype={torch}.float16):'
    loss = backward[0].func
    assert isinstance(loss, cst.Attribute)
    changes: list[Edit | None] = [
        edits.insert_after(module, made, f'scaler = {torch}.amp.GradScaler("{bench.device}")'),
        *(edits.put_all_under(module, sites[0].lines, head) or (None,)),
        *edits.wrap(module, loss.value, "scaler.scale"),
        *(
            edits.insert_before(module, statement, f"scaler.unscale_({optimizer})")
            for call in module.nodes(cst.Call)
            if module.calls(call, *_CLIPPING)
            and (statement := module.small_statement(call)) is not None
        ),
        edits.replace(module, steps[0], f"scaler.step({optimizer})"),
        edits.insert_after(module, step, "scaler.update()"),
    ]
    yield Proposal("", "Compute under `torch.autocast` in float16, with a `GradScaler`", changes)
