"""Average gradients once for each step of the optimizer, not once for each batch.

## What it does
Reports a backward pass on every batch, in a program with `DistributedDataParallel`, where the
optimizer steps only on every so many, and nothing in the program uses `no_sync`.

## Why it is slow
DDP averages the gradients over all processes in each backward pass. Where they are accumulated over
eight batches, seven of eight averages are not needed: the sums could stay in each process, and be
averaged in the last of these backward passes.

## Example
```python
ddp_model = DistributedDataParallel(model, device_ids=[device.index])
for index, (images, labels) in enumerate(loader):
    loss = criterion(ddp_model(images.to(device)), labels.to(device))
    (loss / 8).backward()
    if (index + 1) % 8 == 0:
        optimizer.step()
        optimizer.zero_grad()
```

## Use instead
```python
ddp_model = DistributedDataParallel(model, device_ids=[device.index])
for index, (images, labels) in enumerate(loader):
    steps = (index + 1) % 8 == 0
    with contextlib.nullcontext() if steps else ddp_model.no_sync():
        loss = criterion(ddp_model(images.to(device)), labels.to(device))
        (loss / 8).backward()
    if steps:
        optimizer.step()
        optimizer.zero_grad()
```
The forward pass must be in the context too.

## When it is silent
In programs that use `no_sync`, `require_backward_grad_sync`, `no_backward_sync` of Fabric or
`accumulate` of Accelerate; with FSDP, DeepSpeed, Lightning and a Hugging Face `Trainer`; where one
of several optimizers steps on every batch; in tests. It is a hint, since only options may turn
accumulation on.

## Fix safety
There is no fix: the forward and the backward pass have to move into a `with`, and the last batches
of an epoch may need care. Sums are then rounded in another way.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against train_no_sync.py
--nproc-per-node 2` compares with your own version.

## References
- `torch.nn.parallel.DistributedDataParallel.no_sync`
- PyTorch performance tuning guide, "Skip unnecessary all-reduce if training with
  DistributedDataParallel and gradient accumulation"
"""

import libcst as cst

from torchlint.analysis.frameworks import frameworks
from torchlint.analysis.steps.loops import Loop
from torchlint.rule import Effect, Match, Module, Rule, Tier, because, method, once

_HELD_BACK = r"no_sync|no_backward_sync|require_backward_grad_sync|with\s+\w+\.accumulate\("


def _accumulates(match: Match) -> bool:
    """Whether the loop around only accumulates, or every step of an optimizer in it is under a
    condition such as `index % 8 == 0`, which the backward pass is not under."""
    module, around = match.module, match.module.step_loop(match.node)
    if around is None:
        return because(False, "no loop around this trains on each round")
    loop, steps = around.node, _conditions_of_steps(module, around.node)
    if not steps:
        accumulates = isinstance(loop, cst.For) and "accum" in module.source(loop.iter)
        return accumulates or because(False, "{} is not known to accumulate gradients", loop)
    above = set(module.ancestors(match.node))
    rarer = all(not conditions <= above for conditions in steps)
    return rarer or because(False, "an optimizer steps as often as this runs, in {}", loop)


@once
def _conditions_of_steps(module: Module, loop: Loop) -> set[frozenset[cst.CSTNode]]:
    """For each step of an optimizer in a loop, the conditions that count rounds."""
    steps = [each for each in module.loops.optimizer_steps if loop in module.ancestors(each)]
    around = [[up for up in module.ancestors(step) if isinstance(up, cst.If)] for step in steps]
    return {frozenset(each for each in ifs if _counts_rounds(each, module)) for ifs in around}


def _counts_rounds(condition: cst.If, module: Module) -> bool:
    return any(isinstance(node, cst.Modulo) for node in module.within(condition.test))


rule = Rule(
    code="TL603",
    effect=Effect.LARGE,
    summary="DDP averages gradients that are only accumulated",
    tier=Tier.HINT,
    finds=(method("backward", where=(_accumulates,)),),
    message="DDP averages the gradients in each backward pass, but the optimizer steps after only "
    "some; use `no_sync()` for the others.",
    change="the forward pass has to move into the `with` as well",
    program_has={"`DistributedDataParallel`": r"\b(?:DistributedDataParallel|DDP)\("},
    program_lacks={
        "`no_sync()`, or another way to hold gradients back": _HELD_BACK,
        "a framework that exchanges gradients itself": frameworks.owned("optimizer step"),
    },
    needs_gpu=True,
)
