"""Say which checkpoint you mean; the older one recomputes more.

## What it does
Reports `torch.utils.checkpoint.checkpoint` and `checkpoint_sequential` without `use_reentrant`, and
as a hint those with `use_reentrant=True`.

## Why it is slow
Without the argument, torch warns and takes `use_reentrant=True`, the older implementation. On the
backward pass it runs the whole function again. The other one stops once it has all that the
gradients need, so it saves what follows the last stored tensor, often a large matrix product:
on a CPU, a training step with four blocks of two linear layers took 1.09 times as long with the
older one. Where little can be left out, the newer one has somewhat more overhead: with twenty
blocks of one linear layer it took 1.09 times as long.

More important is what the older one cannot do: if no input of the function requires a gradient, its
parameters get none, and only a warning says so. It does not work with `torch.autograd.grad`. The
warning of torch 2.13 says that a call without the argument raises an error "starting in PyTorch
2.9"; it does not raise one yet.

## Example
```python
def forward(self, x):
    for block in self.blocks:
        x = torch.utils.checkpoint.checkpoint(block, x)
    return x
```

## Use instead
```python
def forward(self, x):
    for block in self.blocks:
        x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
    return x
```

## When it is silent
If the value is not a literal; if `**kwargs` may contain it; where a condition asks for the version
of torch or for the signature of the function; for the checkpoint functions of other packages; in
tests; if the project supports a torch older than 1.11, which does not know the argument. It is a
hint: many programs have a checkpoint that nobody switches on.

## Fix safety
**Unsafe**: the same values are computed, but parameters that got no gradient before get one now,
and a function that computes something else the second time raises an error. Code that counts on
gradients being off in the first pass sees them on.

## How verify confirms it
It measures `use_reentrant=False`, on the CPU as well as on a GPU. How much is saved depends on the
end of each function, so the ratio may be UNRESOLVED around 1. The numbers are bitwise equal.

## References
- `torch.utils.checkpoint.checkpoint`: the differences between both implementations
"""

import libcst as cst

from torchlint.analysis.versions import depends_on_version
from torchlint.rule import Applicability, Change, Match, Rule, Tier, because, calls, edits

_SEQUENTIAL = "torch.utils.checkpoint.checkpoint_sequential"
_GIVEN = "`use_reentrant` is {:code} here"
_MAY_BE_GIVEN = "`**` of this call may pass `use_reentrant`"
_CHECKPOINTS = ("torch.utils.checkpoint.checkpoint", _SEQUENTIAL)


def _argument(match: Match) -> cst.BaseExpression | None:
    position = 3 if match.module.calls(match.call, _SEQUENTIAL) else None
    return match.module.argument(match.call, "use_reentrant", position)


def _says_nothing(match: Match) -> bool:
    given = _argument(match)
    if given is not None:
        return because(False, _GIVEN, given)
    return not match.module.has_star_kwargs(match.call) or because(False, _MAY_BE_GIVEN)


def _asks_for_the_older(match: Match) -> bool:
    given = _argument(match)
    if given is None:
        return because(False, _MAY_BE_GIVEN)  # else the other pattern matches
    return match.module.literal(given) is True or because(False, _GIVEN, given)


def _depends_on_version(match: Match) -> bool:
    return depends_on_version(match.node, match.module)


def _take_the_newer(match: Match) -> Change:
    text = "use_reentrant=False"
    given = _argument(match)
    if given is None:
        return f"Pass `{text}`", edits.add_argument(match.module, match.call, text)
    return f"Pass `{text}`", edits.replace(match.module, given, "False")


rule = Rule(
    code="TL509",
    summary="a checkpoint recomputes all of its function, with torch's older implementation",
    tier=Tier.HINT,
    fix=Applicability.UNSAFE,
    finds=(
        calls(*_CHECKPOINTS, where=(_says_nothing,)),
        calls(*_CHECKPOINTS, where=(_asks_for_the_older,), tier=Tier.HINT),
    ),
    unless=(_depends_on_version,),
    message="The reentrant checkpoint recomputes all of its function and may lose gradients; pass "
    "`use_reentrant=False`.",
    change=_take_the_newer,
    since=(1, 11),
    triggers=(
        r"\butils\.checkpoint\b|import \*|"
        r"\butils import(?: ?\([^)]{0,200}| [^\n(]{0,200})\bcheckpoint\b",
    ),
    may_change="parameters whose gradient was lost get one",
)
