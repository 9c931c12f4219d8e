"""Update all parameters in one call.

By default an optimizer updates one parameter after the other in Python on a CPU, and with a few
kernels for all of them on a GPU; `fused=True` does it in one call on both. How much that saves
depends on the share that the update has in a step: most in small models and small batches.
Optimizers that have no such call can at least do on a CPU what they do on a GPU, `foreach=True`.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.analysis.training.step_sites import optimizer_sites
from torchlint.rule import Bench, Edit, Experiment, Module, Proposal, edits

_FUSED = tuple(f"torch.optim.{name}" for name in ("Adagrad", "Adam", "AdamW", "SGD"))
_FOREACH = tuple(
    f"torch.optim.{name}"
    for name in ("Adadelta", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop")
)
_OTHER_WAYS = ("capturable", "differentiable", "maximize")

experiment = Experiment(
    "all parameters are updated in one call",
    speeds=("optimizer",),
    may_change="the update of each parameter is rounded in another way",
    since=(2, 4),
    covers=("TL403",),
)


def _fused(module: Module) -> list[Edit]:
    changes = []
    for call in optimizer_sites(module):
        given = {
            name: module.argument_node(call, name) for name in (*_OTHER_WAYS, "fused", "foreach")
        }
        if (
            not module.calls(call, *_FUSED)
            or module.has_star_kwargs(call)
            or any(given[name] is not None for name in _OTHER_WAYS)
        ):
            continue
        fused, foreach = given["fused"], given["foreach"]
        if fused is not None:
            if module.literal(fused.value) is not False:
                continue
            changes.append(edits.replace(module, fused.value, "True"))
        elif foreach is not None:
            changes.append(edits.replace_argument(module, foreach, "fused=True"))
            continue
        else:
            changes.append(edits.add_argument(module, call, "fused=True"))
        if foreach is not None:
            changes.append(edits.remove_argument(module, call, foreach))
    return changes


@experiment.proposes
def _propose(module: Module, bench: Bench) -> Iterator[Proposal]:
    yield Proposal("", "Pass `fused=True` to the optimizer", _fused(module))
    if bench.device == "cpu":
        changes = [
            edits.add_argument(module, call, "foreach=True")
            for call in optimizer_sites(module)
            if module.calls(call, *_FOREACH)
            and module.argument(call, "foreach") is None
            and not module.has_star_kwargs(call)
        ]
        yield Proposal("foreach", "Pass `foreach=True` to the optimizer", changes)
