"""Let float32 matrix products use TF32, if the last bits do not matter.

## What it does
Reports the first training step of a program that trains attention in float32 on a GPU, and never
says how exact matrix products must be. It is shown only if you ask for pedantic findings, since it
is for you to say whether the last bits matter.

## Why it is slow
Since Ampere, tensor cores also take float32 numbers, and use ten bits of their mantissa
instead of 23 (TF32). cuDNN may use that by default, so convolutions and recurrent layers already
do. Matrix products may not, since torch 1.12. PyTorch's CUDA notes give 0.016 s instead of 0.11 s
for the product of two matrices of 10240 rows and columns on an A100. Programs in mixed precision
and older GPUs gain nothing.

## Example
```python
encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(512, 8), 6).to(device)
for tokens, labels in loader:
    loss = criterion(encoder(tokens.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
```

## Use instead
```python
torch.set_float32_matmul_precision("high")
encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(512, 8), 6).to(device)
for tokens, labels in loader:
    loss = criterion(encoder(tokens.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
```

## When it is silent
If any file of the program mentions the precision of float32 under any of its names; where TL501
amp-missing is silent too, such as in mixed precision, float64 or a framework that trains; for
networks of convolutions or recurrent layers, which use TF32 already; in tests; if the project
supports a torch older than 1.12, which lets products use TF32 anyway.

## Fix safety
**Unsafe**: factors are rounded to about three decimal digits; products are added in float32. The
line goes above what the script does first, in its main guard or where it trains at the top level.
There is no fix where other processes train, which would not run the line, and in files that are not
started themselves.

## How verify confirms it
It measures the inserted line, which needs an Ampere GPU or a newer one. Numbers are equal to
rounding.

## References
- `torch.set_float32_matmul_precision`
- PyTorch CUDA notes, "TensorFloat-32 (TF32) on Ampere (and later) devices"
"""

from collections.abc import Sequence

import libcst as cst

from torchlint.rule import (
    Applicability,
    Change,
    Context,
    Effect,
    Match,
    Rule,
    Tier,
    edits,
    first_step,
)

from ._float32_programs import CHOSEN_ELSEWHERE, CODE

_NEW_PROCESSES = ("spawn", "Process", "start_processes")


def _start(match: Match) -> Sequence[cst.BaseStatement | cst.BaseSmallStatement]:
    """What the script does from where it starts: its main guard, or the training at its top level;
    nothing in a file that others start."""
    module = match.module
    if module.main_guard is not None:
        return module.main_guard.body.body
    if module.function(match.node) is not None:
        return ()
    return [up for up in module.ancestors(match.node) if isinstance(up, cst.BaseStatement)][-1:]


def _set(match: Match) -> Change | str:
    module = match.module
    if any(name in module.calls_by_method for name in _NEW_PROCESSES):
        return "other processes train, and each of them has to set it"
    start = _start(match)
    torch = module.names.imported_as("torch", start[0]) if start else None
    line = f'{torch}.set_float32_matmul_precision("high")'
    edit = edits.insert_before(module, start[0], line) if torch else None
    return (f"Set `{line}`", edit) if edit else "set it where the script starts"


rule = Rule(
    code="TL502",
    effect=Effect.LARGE,
    summary="float32 matrix products do not use the tensor cores",
    tier=Tier.PEDANTIC,
    fix=Applicability.UNSAFE,
    finds=(first_step(),),
    message="Matrix products are computed in full float32; "
    '`torch.set_float32_matmul_precision("high")` lets them use TF32.',
    change=_set,
    contexts=(Context.ACCELERATOR,),
    program_has={
        "attention": CODE + r"(?:MultiheadAttention\(|\bTransformer(?:En|De)coder|"
        r"\bclass (?:\w{0,40}(?:Self|Multi[Hh]ead(?:ed)?|Cross|Window))?Attention\b|"
        r"scaled_dot_product_attention|(?:import|from)\s+(?:transformers|diffusers)\b|"
        r"\b(?:deit3?|maxvit|swin|vit)_[a-z]\w{0,60}\()"
    },
    program_lacks={
        **CHOSEN_ELSEWHERE,
        "a setting for the precision of float32": r"float32_matmul_precision|allow_tf32|"
        r"fp32_precision|\bTF32\b",
    },
    since=(1, 12),
    needs_gpu=True,
    may_change="factors of matrix products are rounded to about three decimal digits",
)
