"""Let the optimizer update all parameters at once.

## What it does
Reports an optimizer with `foreach=False`, or with `fused=False` and nothing else, without a stated
reason. As a hint, it reports `Adam` and `AdamW` with neither argument in a program that trains. The
optimizers of a file are one finding.

## Why it is slow
An optimizer of torch has up to three implementations:

- The loop updates one parameter after the other in Python. On a GPU, that is a dozen kernels for
  each parameter. It is the default on the CPU.
- `foreach` launches a few kernels for all parameters together. It is the default on CUDA.
- `fused` does everything in one kernel, and on the CPU in one vectorized function. It is never the
  default.

`fused=False` alone selects the loop, also on CUDA: torch only chooses by itself if it is given
neither. On a CPU, the step of `AdamW` took 4 to 8 times as long in the default loop as with
`fused=True`. How much of a training step that is depends on the model: most in a small batch.

## Example
```python
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False)
```

## Use instead
```python
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
```

## When it is silent
With a comment next to the argument; for a value that is not a literal and for `**kwargs`; with
`differentiable` or `capturable`; with sparse gradients; for a single parameter, as in an optimizer
that steps in the backward pass; where Lightning, a Hugging Face `Trainer`, DeepSpeed or FSDP makes
the optimizer or takes its steps; in tests; in programs that do not train. The hint starts with
torch 2.4, the first with `fused` on the CPU, and leaves out `SGD`, whose loop is short.

## Fix safety
**Unsafe**: each update is rounded in another way, so the numbers drift apart slowly. With
`fused=True` all parameters must be floating-point numbers, on a device that has such an
implementation (CPU, CUDA, MPS, XPU). Before torch 2.4 the fix removes the argument.

## How verify confirms it
It measures `fused=True`, on the CPU as well as on a GPU. The numbers agree up to rounding.

## References
- PyTorch documentation, "torch.optim: algorithms", on for-loop, foreach and fused
- `torch.optim.AdamW`
"""

import libcst as cst

from torchlint.analysis.comments import has_comment
from torchlint.analysis.frameworks import frameworks
from torchlint.rule import (
    Applicability,
    Argument,
    Change,
    Context,
    Match,
    Rule,
    Tier,
    because,
    calls,
    pass_argument,
    remove,
)

_FUSED = tuple(f"torch.optim.{name}" for name in ("Adagrad", "Adam", "AdamW", "SGD"))
_FUSED_ON_CPU = (2, 4)
_OTHER_WAYS = ("capturable", "differentiable", "foreach", "fused")


def _steps_otherwise(match: Match) -> bool:
    """Whether another argument chooses the implementation, or needs a certain one."""
    for name in _OTHER_WAYS:
        given = match.module.argument(match.call, name)
        if given is not None and match.module.literal(given) is not False:
            return because(True, "`{}` decides how this optimizer computes its step", name)
    return False


def _has_reason(match: Match) -> bool:
    commented = match.argument is not None and has_comment(match.call, match.module)
    return commented and because(True, "a comment gives a reason for {:code}", match.argument)


def _has_one_parameter(match: Match) -> bool:
    """`Adam([p])`."""
    params = match.module.argument(match.call, "params", 0)
    elements = params.elements if isinstance(params, cst.List) else ()
    alone = len(elements) == 1 and not isinstance(elements[0].value, cst.Dict)
    return alone and because(True, "it updates a single tensor")


def _says_nothing_of_foreach(match: Match) -> bool:
    passed = match.module.argument(match.call, "foreach")
    return passed is None or because(False, "`foreach` is {:code} here", passed)


def _fuse(match: Match) -> Change | str:
    if match.module.torch < _FUSED_ON_CPU:
        return remove(match)
    return pass_argument("fused", "True")(match)


def _message(match: Match) -> str:
    if match.argument is None:
        return (
            "By default the step is a Python loop over the parameters on a CPU, and a few kernels "
            "for each operation (`foreach`) on CUDA; pass `fused=True`, which does it in one call."
        )
    return (
        f"`{match.module.source(match.argument)}` makes each step a Python loop over the "
        "parameters, on a GPU too; pass `fused=True`."
    )


rule = Rule(
    code="TL403",
    summary="the optimizer updates one parameter after the other",
    fix=Applicability.UNSAFE,
    finds=(
        calls(*_FUSED, Argument("fused", bad=False), Argument("foreach", bad=False), since=(2, 0)),
        calls(
            "torch.optim.Adam",
            "torch.optim.AdamW",
            Argument("fused", missing=True),
            tier=Tier.HINT,
            where=(_says_nothing_of_foreach,),
            since=_FUSED_ON_CPU,
        ),
    ),
    unless=(_steps_otherwise, _has_one_parameter, _has_reason),
    message=_message,
    change=_fuse,
    contexts=(Context.TRAINS,),
    together="this optimizer steps in the same way",
    program_lacks={
        "a framework that takes the optimizer's step itself": frameworks.owned("optimizer step"),
        "sparse gradients": r"\bsparse\s*=\s*True|\bSparseAdam\b",
    },
    triggers=(r"\b(?:Adagrad|AdamW?|SGD)(?:\w*\(|\s+as\s)",),
    may_change="the update of each parameter is rounded in another way",
)
