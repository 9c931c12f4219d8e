"""Evaluate under `torch.inference_mode`.

`torch.no_grad` keeps torch from recording what a gradient would need. Under
`torch.inference_mode` tensors also have no counter of versions and no views to track, which saves a
part of what each small operation costs. Such tensors can never take part in a gradient later: where
they do, torch raises an error, and the change is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.analysis.training.model_calls import runs_model
from torchlint.rule import Bench, Edit, Experiment, Module, Proposal, edits

experiment = Experiment(
    "models are evaluated in inference mode",
    speeds=("forward", "other"),
    since=(1, 9),
)


def _evaluates(switch: cst.Call, module: Module) -> bool:
    """Whether a model runs in the block or the function that a switch is for."""
    item = module.parent(switch)
    if not isinstance(item, cst.WithItem | cst.Decorator):
        return False
    block = module.parent(item)
    return block is not None and any(
        runs_model(call, module) for call in module.calls_within(block)
    )


@experiment.proposes
def _propose(module: Module, _bench: Bench) -> Iterator[Proposal]:
    changes: list[Edit] = []
    for call in module.nodes(cst.Call):
        torch = module.names.imported_as("torch", call)
        if torch and module.calls(call, "torch.no_grad") and _evaluates(call, module):
            changes.append(edits.replace(module, call.func, f"{torch}.inference_mode"))
    yield Proposal("", "Evaluate under `torch.inference_mode()`", changes)
