"""Pad texts to the longest of their batch, not to the longest that is allowed.

## What it does
Reports `tokenizer(…, padding="max_length")` where the samples or batches of a training are made: in
`__getitem__`, in a collate function, in a function that `dataset.map` gets.

## Why it is slow
Every text then has as many tokens as the longest one may have, and the model computes with all of
them, mostly padding. What that costs depends on the texts: where most are half as long as the
limit, half of the work is wasted, and more in attention, whose work grows with the square of the
length. People have reported from 10 % to more than twice the time.

## Example
```python
def collate(samples):
    return tokenizer(
        [sample["text"] for sample in samples],
        padding="max_length", max_length=512, truncation=True, return_tensors="pt",
    )
```

## Use instead
```python
def collate(samples):
    return tokenizer(
        [sample["text"] for sample in samples],
        padding=True, max_length=512, truncation=True, return_tensors="pt",
    )
```
If the texts are tokenized one by one or beforehand, leave `padding` out there, and let the loader
pad: `collate_fn=DataCollatorWithPadding(tokenizer)`. `pad_to_multiple_of=8` keeps matrix sizes that
GPUs like.

## When it is silent
- In programs that need the same shape on each step: with `torch.compile` or XLA.
- In programs with a model of images, whose prompt encoder (CLIP, T5) wants one length.
- Where a condition chooses the padding, or the length is computed from the batch.
- For long texts that are cut into pieces (`return_overflowing_tokens`), which are full anyway, and
  for lengths up to 32.
- For processors of images and audio, in tests, and in programs that do not train.

It is a hint: only the texts tell how much of a batch is padding.

## Fix safety
There is no fix: the collate function has to pad instead, which is in another place. The losses stay
the same apart from rounding if the model gets the attention mask and padding counts in no loss.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against fixed.py` compares with your own
version.

## References
- Transformers documentation, "Padding and truncation"
- Transformers documentation, `DataCollatorWithPadding`
"""

import libcst as cst

from torchlint.analysis.loading.sample_code import makes_sample
from torchlint.analysis.names import How
from torchlint.analysis.training.batches import collates
from torchlint.rule import Context, Effect, Match, Module, Rule, Tier, because, once, passes

from ._tokenizers import mapped_function, tokenizes

_SHORT = 32


def _tokenizes(match: Match) -> bool:
    alone = "{:code} is not known to be a tokenizer"
    return tokenizes(match.call) or because(False, alone, match.call.func)


def _prepares(match: Match) -> bool:
    """Whether the call makes samples or batches: in a dataset, a collate or mapped function."""
    module, function = match.module, match.module.function(match.node)
    if makes_sample(match.node, module) or (function is not None and collates(function, module)):
        return True
    mapped = not _mapped(module).isdisjoint(module.ancestors(match.node))
    alone = "no dataset, collate function or function for `map` in the file runs this"
    return mapped or because(False, alone)


@once
def _mapped(module: Module) -> set[cst.CSTNode | None]:
    return {mapped_function(each, module) for each in module.calls_by_method.get("map", ())}


def _is_optional(match: Match) -> bool:
    """Whether a condition may choose another padding."""
    above = next(match.module.conditions(match.node), None)
    return above is not None and because(True, "a condition may choose another padding: {}", above)


def _is_full_anyway(match: Match) -> bool:
    """Whether texts are cut into pieces of the length, or the length is short or computed."""
    module, length = match.module, match.module.argument(match.call, "max_length")
    if module.argument(match.call, "return_overflowing_tokens") is not None:
        pieces = "long texts are cut into full pieces here, by `return_overflowing_tokens`"
        return because(True, pieces)
    known = module.literal(length)
    if isinstance(known, int) and known <= _SHORT:
        return because(True, "`max_length` is only {} here", known)
    if isinstance(length, cst.BinaryOperation | cst.Call):
        return because(True, "`max_length` is computed, by {:code}", length)
    bindings = module.flow.reaching(length)
    for each in bindings:
        if each.how is How.ASSIGNMENT and isinstance(each.value, cst.Call | cst.IfExp):
            return because(True, "`max_length` is computed, by {}", each.value)
    return False


rule = Rule(
    code="TL111",
    effect=Effect.LARGE,
    summary="texts are padded to the longest length that is allowed",
    tier=Tier.HINT,
    finds=(passes("padding", "max_length", where=(_tokenizes, _prepares)),),
    unless=(_is_optional, _is_full_anyway),
    message="Each text is padded to the longest length that is allowed, and the model computes "
    "with the padding; pad to the longest of its batch in the collate function.",
    contexts=(Context.TRAINS,),
    program_lacks={
        "a compiler that wants the same shapes on each step": (
            r"torch\.compile\(|torch_compile\s*=\s*True|(?i:torch_xla|\bxla\b|neuron)"
        ),
        "a model of images": (
            r"diffusers|CLIP(?:Text|Tok|Model|Proc)|T5EncoderModel|pixel_values|UNet2D"
        ),
    },
    triggers=(r"class [^\n]{0,200}[dD]ataset|[cC]ollat|\.map\(|\bset_transform\(",),
)
