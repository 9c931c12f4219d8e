"""What a file keeps from learning: modules whose parameters it freezes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.once import once
from torchlint.analysis.steps.guards import words

if TYPE_CHECKING:
    from torchlint.analysis.module import Module


def is_frozen(owner: cst.BaseExpression, module: Module) -> bool:
    """Whether the file freezes the parameters of a module, or lets them learn again: by
    `requires_grad_()` of the module, or in a loop over its parameters."""
    return dotted_text(owner) in frozen_names(module)


@once
def frozen_names(module: Module) -> frozenset[str]:
    """The dotted texts of such modules."""
    calls = module.calls_by_method
    switches = [*calls.get("requires_grad_", ())]
    for method in ("parameters", "named_parameters"):
        switches += (call for call in calls.get(method, ()) if _is_switched(call, module))
    return frozenset(dotted_text(call.func).rpartition(".")[0] for call in switches) - {""}


def _is_switched(parameters: cst.Call, module: Module) -> bool:
    """Whether a loop over parameters sets whether they need gradients."""
    loop = module.parent(parameters)
    return isinstance(loop, cst.For) and any(
        word.startswith("requires_grad") for word in words(loop.body)
    )
