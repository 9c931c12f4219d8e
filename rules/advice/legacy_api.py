"""Replace what torch has ignored, deprecated or removed.

## What it does
Reports names and arguments from older versions of torch that cost something or break:

| pattern | today | since torch |
|---|---|---|
| `Variable(x, volatile=True)` | is ignored with a warning, so evaluation records a graph | 0.4 |
| `clip_grad_norm(…)` | warns on each call; use `clip_grad_norm_` | 0.4 |
| `verbose=…` of a learning rate scheduler | raises a `TypeError` | 2.7 |
| `torch.backends.cuda.sdp_kernel` (a hint) | warns; use `torch.nn.attention.sdpa_kernel` | 2.3 |
| `apex.amp`, DDP of apex (a hint) | no longer developed; use `torch.amp` and torch's DDP | 1.6 |
| `Variable(x)` (pedantic) | detaches `x`, as `x.detach()` does | 0.4 |

## Why it is slow
`volatile=True` once switched gradients off. Now nothing does, so each evaluation keeps all its
activations, as in training. A warning is built and filtered on every call. The patches of
`apex.amp` break the graphs of `torch.compile`, which cannot fuse across them. `Variable(x)` itself
costs little: 6 µs on a CPU.

## Example
```python
for images, labels in loader:
    outputs = model(torch.autograd.Variable(images.to(device), volatile=True))
    losses.append(criterion(outputs, labels.to(device)))
```

## Use instead
```python
with torch.no_grad():
    for images, labels in loader:
        outputs = model(images.to(device))
        losses.append(criterion(outputs, labels.to(device)))
```

## When it is silent
- If the project supports a torch older than the one in the table.
- In code that chooses by version: under `if torch.__version__ …` or `hasattr`, or in `except`.
- `volatile=True` where gradients are off already, and in training steps, whose targets record
  nothing.
- `Variable` of other libraries, or with other arguments, such as `requires_grad=True`.
- In tests.

What other rules report is not repeated here: `torch.cuda.amp`, `nn.DataParallel`.

## Fix safety
**Safe** for `clip_grad_norm_`, which is what the old name calls; for `verbose`, with which no
program gets further; and for `Variable(torch.zeros(3))` and other tensors made on the spot.

**Unsafe** for any other `Variable(x)`: it cuts `x` out of its graph, and the fix does not. If a
gradient must end there, write `x.detach()`. The other rows have no fix.

## How verify confirms it
It measures the fixed script. What a warning costs is a few microseconds per step, so the ratio is
usually UNRESOLVED around 1. The numbers are bitwise equal if no gradient ended at a `Variable`.

## References
- PyTorch 0.4.0 Migration Guide
- `torch.nn.utils.clip_grad_norm_`
- `torch.nn.attention.sdpa_kernel`
"""

import libcst as cst

from torchlint.analysis.torch_api import TYPED_TENSORS
from torchlint.analysis.uses import method_name, receiver
from torchlint.analysis.versions import depends_on_version
from torchlint.rule import (
    Applicability,
    Argument,
    Change,
    Effect,
    Fix,
    Match,
    Module,
    Rule,
    Tier,
    because,
    calls,
    edits,
    remove,
)

_SCHEDULERS = tuple(
    f"torch.optim.{name}"
    for name in (
        "CosineAnnealingLR CosineAnnealingWarmRestarts CyclicLR ExponentialLR LambdaLR LinearLR "
        "MultiplicativeLR MultiStepLR OneCycleLR PolynomialLR ReduceLROnPlateau StepLR"
    ).split()
)
_SAYS = {
    "volatile": "torch ignores `volatile`, so this records a graph; use `with torch.no_grad():`.",
    "verbose": "torch 2.7 has removed `verbose`, so this raises a `TypeError`; remove it.",
    "clip_grad_norm": "`clip_grad_norm` warns on each call; use `clip_grad_norm_`.",
    "sdp_kernel": "`sdp_kernel` warns on each use; use `torch.nn.attention.sdpa_kernel`.",
    "initialize": "`apex.amp` is no longer developed; use `torch.amp`, which has replaced it.",
    "DistributedDataParallel": "This class of apex is no longer developed; use torch's own.",
    "Variable": "`Variable` does what `.detach()` does since torch 0.4; use that, or the tensor.",
}
_MAKERS = frozenset(
    f"torch.{name}"
    for name in (
        "arange empty eye from_numpy linspace ones rand randint randn randperm tensor zeros"
    ).split()
)
_TYPED = frozenset(f"torch.{place}{name}" for name in TYPED_TENSORS for place in ("", "cuda."))
_STAY_WITHOUT = frozenset(
    "bernoulli_ byte clone contiguous cpu cuda double expand fill_ float int long normal_ permute "
    "random_ repeat reshape squeeze t to transpose type uniform_ unsqueeze view zero_".split()
)
"""Methods whose result has no gradient if their object has none."""


def _outdated(match: Match) -> str:
    """The name or argument that is out of date."""
    keyword = match.argument.keyword if match.argument else None
    return keyword.value if keyword else match.module.resolve(match.call.func)[0].rpartition(".")[2]


def _may_be_current(match: Match) -> bool:
    """Whether a version decides about the call, or its name may mean something else."""
    if len(match.module.resolve(match.call.func)) > 1:
        return because(True, "{:code} may mean something else here", match.call.func)
    return depends_on_version(match.node, match.module)


def _records_a_graph(match: Match) -> bool:
    module = match.module
    if module.function(match.node) in module.loops.training_functions:
        return because(False, "the function trains, and what is volatile there records nothing")
    off = module.evaluations.grad_off_around(match.node)
    return off is None or because(False, "gradients are off here, under {}", off)


def _only_wraps(match: Match) -> bool:
    """`Variable(x)`."""
    args = match.call.args
    alone = len(args) == 1 and not (args[0].keyword or args[0].star)
    return alone or because(False, "it is given more than a tensor")


def _underscored(match: Match) -> Change | str:
    func = match.call.func
    if isinstance(func, cst.Attribute):
        return "Use `clip_grad_norm_`", edits.replace(match.module, func.attr, "clip_grad_norm_")
    torch = match.module.names.imported_as("torch", match.node)
    if torch is None:
        return "the import has to change, too"
    new = f"{torch}.nn.utils.clip_grad_norm_"
    return f"Use `{new}`", edits.replace(match.module, func, new)


def _unwrap(match: Match) -> Fix | str:
    """Put `x` in the place of `Variable(x)`. Safe if `x` was made right there, without a gradient:
    `Variable` cuts a tensor with one out of its graph."""
    module, call = match.module, match.call
    (argument,) = call.args
    statement = module.small_statement(call)
    if isinstance(statement, cst.Assign) and statement.value is call:
        (first, *more) = statement.targets
        if not more and module.source(first.target) == module.source(argument.value):
            said, edit = "Remove the line", edits.delete_statement(module, statement)
            return Fix(Applicability.UNSAFE, said, (edit,))
    edit = edits.replace(module, call, edits.value(module, argument.value))
    safe = _has_no_gradient(argument.value, module)
    return Fix(Applicability.SAFE if safe else Applicability.UNSAFE, "Use the tensor", (edit,))


rule = Rule(
    code="TL903",
    effect=Effect.NONE,
    summary="torch ignores, deprecates or has removed this",
    fix=(Applicability.SAFE, Applicability.UNSAFE),
    finds=(
        calls(
            "torch.autograd.Variable",
            Argument("volatile", bad=True),
            where=(_records_a_graph,),
        ),
        calls("torch.nn.utils.clip_grad_norm", change=_underscored),
        calls(*_SCHEDULERS, Argument("verbose", bad=(True, False)), since=(2, 7), change=remove),
        calls("torch.backends.cuda.sdp_kernel", tier=Tier.HINT, since=(2, 3)),
        calls("apex.amp.initialize", "apex.parallel.DistributedDataParallel", tier=Tier.HINT),
        calls("torch.autograd.Variable", tier=Tier.PEDANTIC, where=(_only_wraps,), change=_unwrap),
    ),
    unless=(_may_be_current,),
    message=lambda match: _SAYS[_outdated(match)],
    change="what replaces it takes other arguments, in another place",
    triggers=(
        r"\bvolatile\b|clip_grad_norm\(|\bverbose\b"
        r"|sdp_kernel\(|\bapex\b|\bVariable\(",
    ),
)


def _has_no_gradient(value: cst.BaseExpression, module: Module) -> bool:
    """`torch.from_numpy(x).float()`: made here, so nothing else refers to it either."""
    while isinstance(value, cst.Call) and method_name(value) in _STAY_WITHOUT:
        value = receiver(value)
    if not isinstance(value, cst.Call):
        return False
    names = set(module.resolve(value.func))
    first = value.args[0].value if value.args else None
    if names and names <= _TYPED:  # of another tensor, it keeps the gradient
        return isinstance(first, cst.Integer | cst.List)
    plain = names and names <= _MAKERS and not module.has_star_kwargs(value)
    return bool(plain) and module.argument(value, "requires_grad") is None
