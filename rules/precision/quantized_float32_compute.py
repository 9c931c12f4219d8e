"""Compute in 16 bits with weights of 4 bits.

## What it does
Reports `BitsAndBytesConfig(load_in_4bit=True)` without `bnb_4bit_compute_dtype`.

## Why it is slow
The weights are stored in four bits and are converted for each matrix product, into the type that
the configuration names. The default is float32: then tensor cores are idle or run in TF32, the
converted weights take twice the memory of 16 bits, and activations in bfloat16 are converted too,
in both directions. bitsandbytes warns of this at run time.

## Example
```python
from transformers import BitsAndBytesConfig

config = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4")
```

## Use instead
```python
from transformers import BitsAndBytesConfig

config = BitsAndBytesConfig(
    load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16
)
```
On GPUs older than Ampere use `torch.float16`.

## When it is silent
If `load_in_4bit` is not a literal `True`; if `**kwargs` may contain the type, or the file sets it
later as an attribute; for other libraries that take `load_in_4bit` and choose a type themselves; in
tests, and in files that do not mention torch.

## Fix safety
**Suggested** only: products are rounded to 16 bits, and the GPU decides which type is fast.

## How verify confirms it
It cannot: a suggestion is not applied. On a GPU, `torchlint verify train.py --against your.py`
compares with your own version.

## References
- `transformers.BitsAndBytesConfig`: "`bnb_4bit_compute_dtype` defaults to `torch.float32`"
- bitsandbytes-foundation/bitsandbytes#2077
"""

import libcst as cst

from torchlint.analysis.frameworks import frameworks
from torchlint.rule import Applicability, Change, Effect, Match, Rule, because, configures, edits

_TYPE = "type that 4-bit computes in"


def _has_a_type(match: Match) -> bool:
    """Whether the call names the type that it computes in, or may."""
    given = match.module.setting(match.call, _TYPE)
    if given:
        return because(True, "{:code} names the type that it computes in", given[0])
    starred = match.module.has_star_kwargs(match.call)
    return starred and because(True, "`**` of this call may name the type that it computes in")


def _gets_a_type_later(match: Match) -> bool:
    """Whether the file names the type as an attribute: `config.bnb_4bit_compute_dtype = …`."""
    for keyword in frameworks.keywords(_TYPE):
        for word in match.module.spelled(keyword):
            if isinstance(match.module.parent(word), cst.Attribute):
                return because(True, "the file names the type in {:line}", word)
    return False


def _name_a_type(match: Match) -> Change:
    torch = match.module.names.imported_as("torch", match.node)
    (keyword,) = frameworks.keywords(_TYPE)
    text = f"{keyword}=" + (f"{torch}.bfloat16" if torch else '"bfloat16"')
    return f"Pass `{text}`", edits.add_argument(match.module, match.call, text)


rule = Rule(
    code="TL512",
    effect=Effect.LARGE,
    summary="weights of 4 bits are multiplied in float32",
    fix=Applicability.SUGGEST,
    finds=(configures("4-bit weights", True),),
    unless=(_has_a_type, _gets_a_type_later),
    message="Products with 4-bit weights are computed in float32 by default; pass "
    "`bnb_4bit_compute_dtype=torch.bfloat16`.",
    change=_name_a_type,
    needs_gpu=True,
)
