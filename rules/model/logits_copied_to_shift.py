"""Shift the labels, not the logits.

## What it does
Reports `logits[..., :-1, :].contiguous()`, also with `.reshape(…)` or `.clone()`, in training: a
language model's logits are cut by one token so that each meets the next token's label.

## Why it is slow
The cut logits are not contiguous, so this copies them, and the backward pass copies their gradients
once more. Logits are as large as the vocabulary: for 4 texts of 2048 tokens and 128,000 words they
take 4 GB in float32, usually the largest tensor of the step. Their labels take 64 kB.

## Example
```python
shift_logits = logits[..., :-1, :].contiguous()
shift_labels = labels[..., 1:].contiguous()
loss = F.cross_entropy(shift_logits.view(-1, vocabulary), shift_labels.view(-1))
```

## Use instead
```python
labels = F.pad(labels, (0, 1), value=-100)[..., 1:]
loss = F.cross_entropy(logits.view(-1, vocabulary), labels.reshape(-1))
```
The last token has no label then, and `ignore_index` leaves it out of the mean. Better still, do not
make all logits at once: compute the loss in chunks of tokens, or by
`torch.nn.functional.linear_cross_entropy` with `options`, which torch has since 2.13.

## When it is silent
- For labels, masks and everything else whose name does not say that it is logits.
- Without a copy: `logits[..., :-1, :]` alone, and `.view(…)`.
- Where gradients are off, in evaluation, and in tests.

It is a hint where nothing shows that it runs on each training step.

## Fix safety
There is no fix: with `reduction="none"` the loss of each token has another shape, and the labels
may be used elsewhere.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against changed.py` compares with your own
version; the loss is equal up to rounding.

## References
- PyTorch documentation, `torch.nn.functional.cross_entropy`: `ignore_index`
- PyTorch issue 124480 compares the time and memory of losses over a large vocabulary
"""

from typing import Final

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.rule import Context, Effect, Match, Rule, because, method

_CUTS: Final = {("...", ":-1", ":"), (":", ":-1", ":"), (":", ":-1")}


def _cuts_logits(match: Match) -> bool:
    cut = match.receiver
    if not isinstance(cut, cst.Subscript) or "logit" not in dotted_text(cut.value).lower():
        return because(False, "nothing shows that this copies a part of logits")
    parts = tuple(match.module.source(each.slice).replace(" ", "") for each in cut.slice)
    said = "{:code} leaves out something else than the last token"
    return parts in _CUTS or because(False, said, cut)


rule = Rule(
    code="TL312",
    effect=Effect.LARGE,
    summary="the logits of a language model are copied to leave out the last token",
    finds=(method("contiguous", "reshape", "clone", where=(_cuts_logits,)),),
    message="This copies the logits, which are as large as the vocabulary, and the backward pass "
    "their gradients; shift the labels instead: `F.pad(labels, (0, 1), value=-100)[..., 1:]`.",
    contexts=(Context.OUTSIDE_EVALUATION, Context.TRAINS),
    else_hint=(Context.HOT,),
    triggers=(r"ogits\w{0,40}\[",),
)
