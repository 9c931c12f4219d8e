"""Let DDP average the gradients: it sends them in buckets, while the backward pass continues.

## What it does
Reports a loop over parameters that calls `all_reduce` for each gradient, where it runs on every
training step.

## Why it is slow
Each call is a collective of its own, hundreds on every step for a typical network. Most gradients
are small, so that the latency of the network counts, not its bandwidth. And none is sent before the
backward pass has ended; until the last one has arrived, the GPUs compute nothing.
`DistributedDataParallel` collects gradients in buckets of 25 MB, and sends a bucket as soon as its
gradients are there, while the GPU computes the others.

## Example
```python
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= dist.get_world_size()
    optimizer.step()
    optimizer.zero_grad()
```

## Use instead
```python
ddp_model = DistributedDataParallel(model, device_ids=[device.index])
for images, labels in loader:
    loss = criterion(ddp_model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
```
Where DDP does not fit, join the gradients to one tensor, and call `all_reduce` once.

## When it is silent
For parameters that are picked by a condition, as for tensor parallelism; within a `group`; for what
is not a gradient, such as losses, buffers and weights; where the loop does not run on every step;
with FSDP, DeepSpeed, Lightning and a Hugging Face `Trainer`, which exchange gradients themselves.
It is a hint with `async_op=True`, where the calls at least do not wait for each other, and where
nothing shows that the loop is over all parameters of a model or optimizer.

## Fix safety
There is no fix: the model has to be wrapped where it is made, and `model.module` is what to save.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against train_ddp.py --nproc-per-node 2`
compares with your own version.

## References
- Li and others, "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", 2020
- PyTorch tutorial, "Getting Started with Distributed Data Parallel"
- PyTorch tutorial, "Writing Distributed Applications with PyTorch", which averages by hand to
  explain what DDP does
"""

from typing import NamedTuple

import libcst as cst

from torchlint.analysis.frameworks import frameworks
from torchlint.analysis.steps.guards import words
from torchlint.rule import Context, Effect, Match, Module, Rule, because, calls, once

_SAYS_NOTHING = frozenset({"data", "grad", "None", "requires_grad"})
_ALL = ("parameters()", "param_groups", '["params"]', "['params']")


class _GradientLoop(NamedTuple):
    """A loop over parameters or gradients, and the variable for each of them."""

    loop: cst.For
    variable: str


def _over_each_gradient(match: Match) -> _GradientLoop | None:
    over = _gradient_loop(match.module.argument(match.call, "tensor", 0), match.module)
    if over is None:
        return because(None, "this is not known to be the gradient of a loop over parameters")
    about = {*_SAYS_NOTHING, over.variable}
    if any(not about.issuperset(asked) for asked in _asked(match.module, over.loop)):
        return because(None, "a condition picks some of the gradients, in {}", over.loop)
    return over


def _may_be_few(match: Match) -> bool:
    """Whether the loop is not written to be over all parameters of a model or optimizer."""
    loop = match.found(_GradientLoop).loop
    few = not any(each in match.module.source(loop.iter) for each in _ALL)
    return few and because(True, "{} may be over few parameters", loop)


def _is_in_group(match: Match) -> bool:
    group = match.module.argument(match.call, "group", 2)
    return group is not None and because(True, "it is within a group of processes, {:code}", group)


def _does_not_wait(match: Match) -> bool:
    at_once = match.module.literal(match.module.argument(match.call, "async_op", 3)) is True
    return at_once and because(True, "with `async_op=True` the messages do not wait for each other")


rule = Rule(
    code="TL607",
    effect=Effect.LARGE,
    summary="each gradient is averaged by a collective of its own",
    finds=(
        calls(
            "torch.distributed.all_reduce",
            where=(_over_each_gradient,),
            hint_if=(_does_not_wait, _may_be_few),
        ),
    ),
    unless=(_is_in_group,),
    message="This waits for one message per parameter after the backward pass; "
    "`DistributedDataParallel` sends them in buckets while it runs.",
    change="the model has to be wrapped where it is made",
    contexts=(Context.HOT,),
    program_lacks={
        "a framework that exchanges gradients itself": frameworks.owned("optimizer step")
    },
    needs_gpu=True,
)


# loops over gradients -----------------------------------------------------------------------------


@once
def _asked(module: Module, loop: cst.For) -> list[list[str]]:
    """The names in each condition of a loop."""
    return [
        words(each.test) for each in module.within(loop) if isinstance(each, cst.If | cst.CompIf)
    ]


def _gradient_loop(tensor: cst.BaseExpression | None, module: Module) -> _GradientLoop | None:
    """The loop whose variable is a gradient, or has one: `p.grad` in a loop over parameters, or
    `g` in a loop over gradients."""
    over = "grad"
    node = tensor
    while isinstance(node, cst.Attribute) and node.attr.value in ("data", "grad"):
        over = "param" if node.attr.value == "grad" else over
        node = node.value
    if not isinstance(node, cst.Name):
        return None
    loop = next(module.loops.loops_around(node), None)
    if not isinstance(loop, cst.For) or node.value not in words(loop.target):
        return None
    return _GradientLoop(loop, node.value) if over in module.source(loop.iter) else None
