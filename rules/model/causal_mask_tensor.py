"""Tell `scaled_dot_product_attention` that it is causal, instead of handing it a mask.

## What it does
Reports a call of `F.scaled_dot_product_attention` whose mask is a triangle that hides the future
and that the same function makes: `torch.tril(torch.ones(n, n)).bool()`, `torch.triu` of -inf, or
`nn.Transformer.generate_square_subsequent_mask`.

## Why it is slow
The fastest kernels take no mask: FlashAttention knows causal attention only by `is_causal=True`.
With a mask another kernel runs, which reads the mask from memory and computes the half that it
hides too. The mask itself is made again on each forward pass. Without it, the attention over 1024
places takes a third less time, measured on a CPU. In huggingface/transformers#30461 somebody
reports 24 and 38 % less for whole models on a GPU.

## Example
```python
def attend(q, k, v):
    n = q.size(-2)
    mask = torch.tril(torch.ones(n, n, device=q.device)).bool()
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
```

## Use instead
```python
def attend(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)
```

## When it is silent
- The mask comes from elsewhere: a parameter, an attribute, a branch.
- It hides more or less: padding, a window, another diagonal, sizes that are not the same.
- It is not a boolean mask where it holds ones, since that adds 1 and hides nothing.
- The attention is an `nn.MultiheadAttention`, which asks for the mask in any case.
- Before torch 2.0; in evaluation and in tests.

## Fix safety
**Unsafe**: other kernels round in another way. The line that makes the mask goes too if nothing
else reads it. There is no fix where `is_causal` is passed already, or others follow by position.

## How verify confirms it
It measures `is_causal=True`, on the CPU as well as on a GPU. The numbers are equal up to rounding.

## References
- PyTorch documentation, `torch.nn.functional.scaled_dot_product_attention`
- huggingface/transformers#30461
"""

import libcst as cst

from torchlint.rule import (
    Applicability,
    Context,
    Fix,
    Match,
    Rule,
    Tier,
    because,
    calls,
    edits,
)

from ._causal_masks import is_causal


def _causal_mask(match: Match) -> cst.Arg | None:
    mask = match.module.argument_node(match.call, "attn_mask", 3)
    if mask is None:
        return because(None, "this attention gets no mask")
    alone = "{:code} is not known to hide the future and nothing else"
    return mask if is_causal(mask.value, match.module) else because(None, alone, mask.value)


def _change(match: Match) -> Fix | str:
    """Pass `is_causal=True` in the place of the mask, and make none if nothing else reads it."""
    module, call = match.module, match.call
    mask = match.found(cst.Arg)
    if module.argument(call, "is_causal", 5) is not None:
        return "`is_causal` is passed already"
    if mask.keyword is None and mask is not call.args[-1]:
        return "other arguments follow the mask by their position"
    changes = [edits.replace_argument(module, mask, "is_causal=True")]
    if isinstance(mask.value, cst.Name):
        [made] = [each.node for each in module.flow.reaching(mask.value)]
        read_once = len(module.reads(made, mask.value.value)) == 1
        if read_once and isinstance(made, cst.Assign) and len(made.targets) == 1:
            changes.insert(0, edits.delete_statement(module, made))
    return Fix(Applicability.UNSAFE, "Pass `is_causal=True`", tuple(changes))


rule = Rule(
    code="TL311",
    summary="a causal attention gets its mask as a tensor",
    tier=Tier.HINT,
    fix=Applicability.UNSAFE,
    finds=(
        calls(
            "torch.nn.functional.scaled_dot_product_attention",
            where=(_causal_mask,),
            since=(2, 0),
        ),
    ),
    message="A mask rules out the fastest kernels of this attention; pass `is_causal=True`.",
    change=_change,
    contexts=(Context.OUTSIDE_EVALUATION,),
    triggers=(r"\b(?:tril|triu|generate_square_subsequent_mask)\b",),
    may_change="other kernels round in another way",
)
