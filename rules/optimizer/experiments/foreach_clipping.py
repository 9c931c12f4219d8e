"""Clip all gradients in a few calls.

`clip_grad_norm_` computes the norm of one gradient after the other on a CPU, and scales one after
the other. With `foreach=True` it uses the functions for many tensors at once, as it does by itself
on a GPU. They save the overhead of each call, and read memory in another order.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.rule import Bench, Experiment, Module, Proposal, edits

experiment = Experiment(
    "all gradients are clipped in a few calls",
    speeds=("other", "optimizer"),
    may_change="the norm of the gradients is rounded in another order",
    devices=("cpu",),
    since=(2, 0),
    seldom=True,
)


@experiment.proposes
def _propose(module: Module, _bench: Bench) -> Iterator[Proposal]:
    calls = [
        call
        for call in module.nodes(cst.Call)
        if module.calls(call, "torch.nn.utils.clip_grad_norm_")
        and module.argument(call, "foreach", 4) is None
        and not module.has_star_kwargs(call)
    ]
    changes = [edits.add_argument(module, call, "foreach=True") for call in calls]
    yield Proposal("", "Pass `foreach=True` to `clip_grad_norm_`", changes)
