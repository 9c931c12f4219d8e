"""Choose between weight decay and an L2 penalty on purpose: `AdamW` decays, `Adam` does not.

## What it does
Reports `torch.optim.Adam` with a `weight_decay` that is not zero. This is advice on training, not
on speed, so it is pedantic.

## Why it is slow
No step takes longer. `Adam` adds the decay to the gradient, and then divides both by the size of
past gradients. So weights with large gradients are hardly decayed, and the best `weight_decay`
changes with the learning rate, which takes more training runs to find. `AdamW` subtracts the decay
from the weights, apart from the gradient.

## Example
```python
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-2)
```

## Use instead
```python
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2)
```

## When it is silent
For a decay of zero or one that is not a literal; with `decoupled_weight_decay`, which makes `Adam`
do the same as `AdamW`; in tests. If a paper is reproduced that trained with `Adam` and an L2
penalty, keep it, and silence the rule there.

## Fix safety
**Unsafe**: this is another optimizer. Other weights come out, and the decay has to be chosen again;
usually it is larger than the L2 penalty was. There is no fix where the file does not import `AdamW`
and calls `Adam` without its module.

## How verify confirms it
It measures no difference: both take the same time. The losses differ, as they should.

## References
- `torch.optim.AdamW`
- Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019
"""

import libcst as cst

from torchlint.rule import Applicability, Change, Effect, Match, Rule, Tier, because, calls, edits


def _decays(match: Match) -> bool:
    given = match.module.argument(match.call, "weight_decay", 4)
    if given is None:
        return because(False, "`{}` is not passed", "weight_decay")
    decay = match.module.literal(given)
    decays = isinstance(decay, int | float) and decay != 0
    return decays or because(False, "`weight_decay` is {:code} here", given)


def _may_be_another(match: Match) -> bool:
    another = len(match.module.resolve(match.call.func)) > 1
    return another and because(True, "{:code} may be another class here", match.call.func)


def _is_decoupled(match: Match) -> bool:
    given = match.module.argument(match.call, "decoupled_weight_decay")
    return given is not None and because(True, "`decoupled_weight_decay` is {:code} here", given)


def _use_adamw(match: Match) -> Change | str:
    module, func = match.module, match.call.func
    if isinstance(func, cst.Attribute):
        return "Use `AdamW`", edits.replace(module, func.attr, "AdamW")
    name = module.names.imported_as("torch.optim.AdamW", match.call)
    if name is None:
        return "the file does not import `AdamW`"
    return f"Use `{name}`", edits.replace(module, func, name)


rule = Rule(
    code="TL902",
    effect=Effect.NONE,
    summary="`Adam` with `weight_decay` adds an L2 penalty to the gradient",
    tier=Tier.PEDANTIC,
    fix=Applicability.UNSAFE,
    finds=(calls("torch.optim.Adam", where=(_decays,)),),
    unless=(_may_be_another, _is_decoupled),
    message="`Adam` divides the decay by the size of past gradients; use `AdamW`, which decays all "
    "weights alike.",
    change=_use_adamw,
    may_change="weights are decayed apart from their gradients",
)
