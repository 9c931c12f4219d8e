"""Do not scale the loss in bfloat16.

## What it does
Reports a `GradScaler` in a program whose autocast regions all compute in bfloat16.

## Why it is slow
Small gradients become zero in float16, so the loss is multiplied by a large number first, and the
gradients are divided by it afterwards. bfloat16 has the range of float32 and needs none of that.
The scaler still divides every gradient and looks for infinities in it, and `scaler.step` then reads
the result with `.item()`: the host waits for the GPU once per step.

## Example
```python
scaler = torch.amp.GradScaler("cuda")
for images, labels in loader:
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = criterion(model(images.to(device)), labels.to(device))
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
```

## Use instead
```python
for images, labels in loader:
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
```

## When it is silent
If any file of the program mentions float16, or has an autocast region whose type is not written out
as `torch.bfloat16`; if `enabled` is not a literal, as in `enabled=(dtype == "float16")`; if the
regions are in another file; in tests.

## Fix safety
**Unsafe**: the fix passes `enabled=False`, which turns all methods of the scaler into what they are
without it. The numbers stay the same, since a power of two is multiplied and divided exactly. But
the scaler no longer skips a step with infinite gradients, and starts from a new scale if a
checkpoint is continued in float16.

## How verify confirms it
It measures `enabled=False`. What is saved are a wait and a division per step, which shows on a GPU
if steps are short. The numbers are bitwise equal unless a step was skipped.

## References
- PyTorch documentation, "Automatic Mixed Precision package: Gradient Scaling"
- `torch/amp/grad_scaler.py`, `_maybe_opt_step`, which reads the infinities that were found
"""

from torchlint.analysis.names import dotted_text
from torchlint.rule import (
    Applicability,
    Argument,
    Match,
    Rule,
    Tier,
    because,
    calls,
    pass_argument,
)

_AUTOCASTS = ("torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast")


def _computes_in_bfloat16(match: Match) -> bool:
    """Whether the file has autocast regions, and all of them name bfloat16."""
    regions = [call for name in _AUTOCASTS for call in match.module.calls_by_name.get(name, ())]
    if not regions:
        return because(False, "the file has no autocast region")
    for region in regions:
        if not dotted_text(match.module.argument(region, "dtype", 1)).endswith("bfloat16"):
            return because(False, "{} does not name bfloat16", region)
    return True


rule = Rule(
    code="TL505",
    summary="the loss is scaled although it is computed in bfloat16",
    tier=Tier.HINT,
    fix=Applicability.UNSAFE,
    finds=tuple(
        calls(name, Argument("enabled", at, bad=True, missing=True), where=(_computes_in_bfloat16,))
        for name, at in (("torch.amp.GradScaler", 5), ("torch.cuda.amp.GradScaler", 4))
    ),
    message="bfloat16 needs no scaled loss, and the scaler makes the host wait on each step; pass "
    "`enabled=False`.",
    change=pass_argument("enabled", "False"),
    program_lacks={
        "float16": r"(?<!b)float16|\bfp16|\.half\(|HalfTensor",
        "an autocast region of another type": r"autocast\((?![^()]{0,200}\b(?:dtype|bfloat16))",
    },
    may_change="a step with infinite gradients is no longer skipped",
)
