"""Compute a constant once, not in each forward pass.

## What it does
Reports tensors that each training step computes again although nothing but sizes and settings
decides them: tables of frequencies, causal and window masks, grids of coordinates, windows of
filters. It counts what is computed, and speaks from three operations on.

## Why it is slow
Each operation on such a small tensor costs its launch, some ten microseconds of Python and
queueing, which is more than the GPU needs for it. A table of ten operations in each layer of a
network adds milliseconds to a step. Where the tensor is made in host memory, the copy to the
device waits for what is queued. A large one, as a mask of all pairs or a grid of all pixels, is
written and read again too.

## Example
```python
def forward(self, x, t):
    half = self.width // 2
    freqs = torch.exp(-math.log(10000) * torch.arange(half, device=t.device) / half)
    args = t[:, None] * freqs[None]
    return self.layer(x + torch.cat([args.cos(), args.sin()], dim=-1))
```

## Use instead
```python
def __init__(self, width):
    super().__init__()
    half = width // 2
    freqs = torch.exp(-math.log(10000) * torch.arange(half) / half)
    self.register_buffer("freqs", freqs, persistent=False)

def forward(self, x, t):
    args = t[:, None] * self.freqs[None]
    return self.layer(x + torch.cat([args.cos(), args.sin()], dim=-1))
```
What depends on the size of the input can be kept for the largest size and sliced, or kept in a
dictionary by size.

## When it is silent
Where fewer than three operations make the constant; where values of other tensors go into it, or
random numbers; for masks of `scaled_dot_product_attention` (TL311); where it is kept: in an
attribute, a dictionary or by `functools.lru_cache`; outside
of forward passes, of steps of the file, and of what these call in it; in evaluation and in tests.
Where `torch.compile` compiles the function, it may be computed once, or within another kernel.

## Fix safety
There is no fix: where the tensor is kept, and what happens when a size changes, only you know.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against kept.py` compares with your own
version; the numbers are bitwise equal.

## References
- PyTorch documentation, `torch.nn.Module.register_buffer`
"""

import re
from itertools import chain
from typing import Final

import libcst as cst

from torchlint.analysis.uses import called_name, calls_of
from torchlint.rule import (
    Context,
    Match,
    Module,
    Related,
    Rule,
    Tier,
    Triggers,
    because,
    calls,
    once,
)

from .constants import LISTS, SOURCES, VIEWS, is_made, parts_of, resolved_names

_FEWEST: Final = 3
_STARTS: Final = (
    r"\b(?:arange|linspace|logspace|meshgrid|triu|tril|eye|ones_like|Tensor|\w+_window)\(|mask\["
)
_CASTS: Final = frozenset("to type type_as astype float double half long int bool cuda".split())
_FILLS: Final = frozenset("zeros ones full zeros_like ones_like full_like".split())
_TAKEN: Final = ("register_buffer", "setattr", "scaled_dot_product_attention")
"""What keeps a constant, and what is better off without a mask (TL311)."""
_KEEPS: Final = re.compile(r"cache")


def _operations(match: Match) -> list[cst.BaseExpression]:
    """What is computed of a constant alone; nothing if it is kept, or little is computed."""
    module, function = match.module, match.module.function(match.call)
    if function is None or function.name.value == "__init__":
        return because([], "it is not in a function that a step may call")
    if not _is_on_each_pass(module, function):
        return because([], "neither a step of this file nor a forward pass is known to call it")
    if any(_KEEPS.search(module.source(each.decorator)) for each in function.decorators):
        return because([], "the function keeps its results")
    if _firsts(module).get(function) is not match.call:
        return because([], "nothing here is the first of three operations on a constant")
    return _computed(module, match.call)


@once
def _is_on_each_pass(module: Module, function: cst.FunctionDef, depth: int = _FEWEST) -> bool:
    """Whether a function is a forward pass or a step, or the file calls it from one."""
    if function.name.value in ("forward", "training_step"):
        return True
    calls = [] if depth == 0 else [*calls_of(function, module)]
    if any(module.step_loop(call) is not None for call in calls):
        return True
    above = {each for call in calls if (each := module.function(call)) not in (None, function)}
    return any(_is_on_each_pass(module, each, depth - 1) for each in above if each)


@once
def _firsts(module: Module) -> dict[cst.FunctionDef | None, cst.Call]:
    """The call in each function that begins the first constant that is costly enough."""
    firsts: dict[cst.FunctionDef | None, cst.Call] = {}
    named = (module.calls_by_name.get(name, ()) for name in (*SOURCES, *LISTS))
    for call in sorted(chain.from_iterable(named), key=module.order):
        function = module.function(call)
        if function not in firsts and _is_costly(_computed(module, call), module):
            firsts[function] = call
    return firsts


def _is_costly(operations: list[cst.BaseExpression], module: Module) -> bool:
    """Whether three operations are not just a fill and casts, nor all on the host."""
    names = [called_name(each) if isinstance(each, cst.Call) else "" for each in operations]
    of_pairs = not {"triu", "tril"}.isdisjoint(names)
    computes = of_pairs + sum(name not in _CASTS | _FILLS for name in names)
    on_device = any(
        name.startswith("torch.") for each in operations for name in resolved_names(each, module)
    )
    return len(operations) >= _FEWEST and computes > 1 and on_device


def _computed(module: Module, source: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The operations, in source order, that are part of what a source becomes."""
    found: set[cst.BaseExpression] = set()
    todo: list[cst.BaseExpression] = [source] if is_made(module, source) else []
    seen: set[cst.BaseExpression] = set()
    while todo:
        whole = _whole(todo.pop(), module)
        if whole in seen:
            continue
        seen.add(whole)
        call = module.call_with(whole)
        if call is not None and called_name(call) in _TAKEN:
            return []
        parts = [whole, *module.within(whole)]
        found.update(
            each
            for each in parts
            if isinstance(each, cst.BaseExpression) and _is_operation(each, module)
        )
        statement = module.parent(whole)
        if isinstance(statement, cst.Assign):
            for target in (each.target for each in statement.targets):
                if not isinstance(target, cst.Name | cst.Tuple):
                    return []
                for name in _names(target):
                    todo.extend(module.reads(statement, name))
    return sorted(found, key=module.order)


def _names(target: cst.BaseExpression) -> list[str]:
    return [each.value for each in parts_of(target) if isinstance(each, cst.Name)]


def _whole(part: cst.BaseExpression, module: Module) -> cst.BaseExpression:
    """The largest expression around a constant that is one too."""
    whole = part
    for above in module.ancestors(part):
        if isinstance(above, cst.BaseExpression) and is_made(module, above):
            whole = above
        elif not isinstance(above, cst.Arg | cst.Element | cst.List | cst.Tuple | cst.Attribute):
            break
    return whole


def _is_operation(node: cst.CSTNode, module: Module) -> bool:
    """Whether an expression computes or copies a constant, and is no view of it."""
    computes = isinstance(node, cst.BinaryOperation | cst.Comparison | cst.UnaryOperation)
    copies = isinstance(node, cst.Call) and called_name(node) not in VIEWS
    return (computes or copies) and is_made(module, node)


def _places(match: Match) -> tuple[Related, ...]:
    """The operations, and where the function is called if it gives the constant back."""
    module, found = match.module, match.found(list)
    related = [Related(module.path, module.span(each)[0], "computed here") for each in found]
    function = module.function(match.call)
    returned = [_whole(each, module) for each in found]
    if function and any(isinstance(module.parent(each), cst.Return) for each in returned):
        calls = calls_of(function, module)
        related += [Related(module.path, module.span(each)[0], "for this") for each in calls]
    return tuple(related)


def _message(match: Match) -> str:
    return (
        f"Each pass computes this constant again, in {len(match.found(list))} operations; compute "
        "it once, and keep it as a buffer."
    )


rule = Rule(
    code="TL317",
    summary="a tensor that only sizes decide is computed in each forward pass",
    tier=Tier.HINT,
    finds=(calls(*SOURCES, *LISTS, where=(_operations,)),),
    message=_message,
    change="only you know where it can be kept",
    related=_places,
    contexts=(Context.OUTSIDE_EVALUATION,),
    triggers=Triggers((_STARTS,)),
)
