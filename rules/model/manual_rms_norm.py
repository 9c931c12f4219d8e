"""Let PyTorch compute the root mean square norm in one step.

## What it does
Reports a norm by the root mean square that is written by hand, as language models do:
`x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)`, also where the mean has a name.

## Why it is slow
The square, its mean, the sum with `eps`, the root and the product are five kernels, and a cast to
float32 around them two more. Each reads and writes a tensor, several of them as large as `x`, and
the backward pass needs most of them again. A language model has two norms in each layer.
`F.rms_norm` of torch 2.10 is one kernel on CUDA, forward and backward, which computes in
float32 inside; up to 2.7 it runs the same steps as the code by hand. Where
`torch.compile` already fuses the steps, it may be no faster.

## Example
```python
def norm(self, x):
    x32 = x.float()
    x32 = x32 * torch.rsqrt(x32.pow(2).mean(-1, keepdim=True) + self.eps)
    return x32.type_as(x) * self.weight
```

## Use instead
```python
def norm(self, x):
    return F.rms_norm(x, self.weight.shape, self.weight, self.eps)
```
`nn.RMSNorm(size, eps=eps)` is the same as a module, with a parameter `weight` too.

## When it is silent
Where torch is older than 2.10; where the file calls `rms_norm` somewhere: then this is the code for
those who do without; for means over other dimensions than the last; in evaluation and in tests.

## Fix safety
There is no fix: the product with the weight is elsewhere, and what is rounded to the type of the
input comes before or after it.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against changed.py` compares the speed and
the numbers with your own version; it needs a GPU to show a difference.

## References
- PyTorch documentation, `torch.nn.functional.rms_norm`
- PyTorch, `native_functions.yaml`: `_fused_rms_norm`, which 2.10 has and 2.7 has not
"""

import libcst as cst

from torchlint.analysis.uses import method_name, receiver
from torchlint.rule import Context, Match, Module, Rule, Tier, Triggers, because, method

_SQUARES = frozenset({"pow", "square"})


def _is_norm(match: Match) -> bool:
    """`torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)`, times something."""
    module, call = match.module, match.call
    names = module.resolve(call.func)
    if names and "torch.rsqrt" not in names:
        return because(False, "{:code} is not one of torch", call.func)
    under = module.argument(call, "input", 0) if names else receiver(call)
    made = _given(under, module)
    if not isinstance(made, cst.BinaryOperation) or not isinstance(made.operator, cst.Add):
        return because(False, "nothing is added under the root")
    means = any(
        _is_mean_of_squares(_given(each, module), module) for each in (made.left, made.right)
    )
    return means or because(False, "{:code} is not known to be a mean of squares", made)


def _given(node: cst.BaseExpression | None, module: Module) -> cst.BaseExpression | None:
    return module.flow.given(node) or node


def _is_mean_of_squares(node: cst.BaseExpression | None, module: Module) -> bool:
    """`x.pow(2).mean(-1, keepdim=True)`, `torch.mean(x * x, dim=-1, keepdim=True)`."""
    if not isinstance(node, cst.Call) or method_name(node) != "mean":
        return False
    of_torch = bool(module.resolve(node.func))
    squares = _given(module.argument(node, "input", 0) if of_torch else receiver(node), module)
    last = module.literal(module.argument(node, "dim", 1 if of_torch else 0))
    return last in (-1, (-1,)) and _is_square(squares, module)


def _is_square(node: cst.BaseExpression | None, module: Module) -> bool:
    if isinstance(node, cst.Call):
        return method_name(node) in _SQUARES
    if not isinstance(node, cst.BinaryOperation):
        return False
    if isinstance(node.operator, cst.Power):
        return module.literal(node.right) == 2
    alike = module.source(node.left) == module.source(node.right)
    return isinstance(node.operator, cst.Multiply) and alike


def _is_for_others(match: Match) -> bool:
    """Whether the file calls the fused norm too."""
    fused = next(iter(match.module.spelled("rms_norm")), None)
    return fused is not None and because(True, "the file has a fused norm too, {}", fused)


rule = Rule(
    code="TL315",
    summary="a root mean square norm is computed step by step",
    tier=Tier.HINT,
    finds=(method("rsqrt", where=(_is_norm,)),),
    unless=(_is_for_others,),
    message="This norm runs a kernel for each of its steps; `F.rms_norm` is one.",
    change="the weight and the casts around it must be passed in another way",
    contexts=(Context.OUTSIDE_EVALUATION,),
    since=(2, 10),
    triggers=Triggers((r"\brsqrt\(", r"\bmean\(")),
)
