"""Shard a model block by block, not as one piece.

## What it does
Reports `FullyShardedDataParallel(model)` without `auto_wrap_policy`, and `fully_shard(model)`, if
nothing in the program shards the layers of the model.

## Why it is slow
FSDP gathers the parameters of one unit at a time. If the whole model is one unit, all parameters
are gathered before the forward pass starts, and all gradients are sent after the backward pass has
ended: the GPUs compute nothing meanwhile. And each GPU then holds all parameters, which is the
memory that FSDP was meant to save. With a unit for each block, the next block is gathered while
one is computed.

## Example
```python
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

model = FSDP(model, device_id=device)
```

## Use instead
```python
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp.wrap import ModuleWrapPolicy

blocks = ModuleWrapPolicy({nn.TransformerEncoderLayer})
model = FSDP(model, auto_wrap_policy=blocks, device_id=device)
```
With FSDP2, `for block in model.blocks: fully_shard(block)` goes before `fully_shard(model)`.

## When it is silent
Where an option or `**kwargs` may contain the policy; where the file wraps more than one module, or
does so in a loop; for a part of a model; in programs that wrap with `wrap` and `enable_wrap`; in
tests; in programs that do not train. It is a hint, since a model of a few layers may be one unit.

## Fix safety
There is no fix: only you know which blocks the model repeats.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against train_blocks.py --nproc-per-node 2`
compares with your own version.

## References
- PyTorch tutorial, "Getting Started with Fully Sharded Data Parallel (FSDP2)"
- `torch.distributed.fsdp.FullyShardedDataParallel`, `auto_wrap_policy`
"""

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.rule import Argument, Context, Effect, Match, Rule, Tier, because, calls

_WRAPPER = "torch.distributed.fsdp.FullyShardedDataParallel"
_FUNCTION = "torch.distributed.fsdp.fully_shard"
_REPEATS = (cst.For, cst.While, cst.ListComp, cst.GeneratorExp, cst.DictComp, cst.Lambda)


def _wraps_others(match: Match) -> bool:
    """Whether the file shards more than this module, which then may be a block or the rest."""
    again = match.module.enclosing(match.node, *_REPEATS)
    if again is not None:
        return because(True, "it runs for one module after the other, in {}", again)
    for name in (_WRAPPER, _FUNCTION):
        for call in match.module.calls_by_name.get(name, ()):
            if call is not match.node:
                return because(True, "the file shards other modules too, by {}", call)
    return False


def _is_part(match: Match) -> bool:
    """`model.embed`, not `self.model`."""
    wrapped = match.module.argument(match.call, "module", 0)
    part = "." in dotted_text(wrapped).removeprefix("self.")
    return part and because(True, "{:code} is a part of a model", wrapped)


rule = Rule(
    code="TL606",
    effect=Effect.LARGE,
    summary="FSDP gathers the whole model at once",
    tier=Tier.HINT,
    finds=(
        calls(_WRAPPER, Argument("auto_wrap_policy", 4, bad=None, missing=True)),
        calls(_FUNCTION),
    ),
    unless=(_wraps_others, _is_part),
    message="As one unit of FSDP, the whole model is gathered before each forward pass; shard each "
    "of its blocks.",
    change="only you know which blocks the model repeats",
    contexts=(Context.TRAINS,),
    program_lacks={
        "modules that shard their own blocks": r"\benable_wrap\b|"
        r"\bfor\b[^\n]{0,200}:\s{1,40}fully_shard\("
    },
    triggers=(r"\b(?:FullyShardedDataParallel|FSDP\w*|fully_shard\w*)\((?!\))",),
    needs_gpu=True,
)
