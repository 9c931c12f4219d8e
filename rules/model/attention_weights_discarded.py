"""Ask `nn.MultiheadAttention` for its weights only where something uses them.

## What it does
Reports a call of an `nn.MultiheadAttention` whose second result, the attention weights, is thrown
away: `x = self.attn(x, x, x)[0]`, `x, _ = self.attn(x, x, x)` where nothing reads `_`, and
`out = self.attn(x, x, x)` where only `out[0]` is read.

## Why it is slow
By default the call returns the weights. So it computes, for each head, a tensor with a number for
each pair of query and key, keeps it for the backward pass, and averages it over the heads. With
`need_weights=False` it calls `scaled_dot_product_attention`, whose fused kernels never store that
tensor. Forward and backward over 512 places then take a third less time, measured on a CPU. The
longer the sequence, the more time and memory this saves.

## Example
```python
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attn = nn.MultiheadAttention(width, 8, batch_first=True)

    def forward(self, x):
        attended, _ = self.attn(x, x, x)
        return x + attended
```

## Use instead
```python
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attn = nn.MultiheadAttention(width, 8, batch_first=True)

    def forward(self, x):
        attended, _ = self.attn(x, x, x, need_weights=False)
        return x + attended
```

## When it is silent
Where the weights are used, returned or kept; where `need_weights` is not a literal, or may come
with `**kwargs`; where `average_attn_weights` is passed; in files that register hooks on modules,
which may read the weights; for classes of your own that inherit from `nn.MultiheadAttention`;
before torch 2.0; in evaluation and in tests; for a query that is a parameter of
one place, as in pooling heads, whose weights are small. It is a hint where no code of the project
trains.

## Fix safety
**Unsafe**: the fused kernels round in another way, and a dropout inside the attention draws other
random numbers. A hook of another file that reads the weights gets None.

## How verify confirms it
It measures `need_weights=False`, on the CPU as well as on a GPU. Without dropout the numbers are
equal up to rounding.

## References
- PyTorch documentation, `torch.nn.MultiheadAttention`: set `need_weights=False` for the best
  performance
- lyuwenyu/RT-DETR#678 and #680; pytorch/pytorch#100347
"""

from collections.abc import Iterable

import libcst as cst

from torchlint.analysis.layers.expression_layers import layers_of
from torchlint.analysis.uses import receiver
from torchlint.rule import (
    Applicability,
    Context,
    Effect,
    Match,
    Module,
    Reported,
    Rule,
    because,
    pass_argument,
)

rule = Rule(
    code="TL310",
    effect=Effect.LARGE,
    summary="an attention returns weights that nothing uses",
    fix=Applicability.UNSAFE,
    contexts=(Context.OUTSIDE_EVALUATION,),
    else_hint=(Context.TRAINS,),
    since=(2, 0),
    triggers=(r"\bMultiheadAttention(?:\(|\s+as\s)",),
    may_change="fused kernels round in another way, and dropout draws other random numbers",
)


@rule.on(cst.Call)
def discards_its_weights(call: cst.Call, module: Module) -> Iterable[Reported]:
    if not _is_discarded(call, module):
        return ()
    if not _is_attention(call.func, module):
        return because((), "{:code} is not known to be an `nn.MultiheadAttention`", call.func)
    if not _returns_weights(call, module):
        return ()
    if _asks_with_one(call, module):
        return because((), "{:code} is a single query, so the weights are small", call.args[0])
    hooks = module.spelled("register_forward_hook")
    if hooks:
        return because((), "a hook may read the weights: one is registered in {:line}", hooks[0])
    message = (
        "This attention computes weights that nothing uses, which rules out its fused kernels; "
        "pass `need_weights=False`."
    )
    passed = module.argument_node(call, "need_weights", 4)
    fix = pass_argument("need_weights", "False")(Match(call, module, passed))
    return rule.report(module, call, message, fix=fix)


def _is_discarded(call: cst.Call, module: Module) -> bool:
    """Whether only the first result is taken: `attn(…)[0]`, `x, _ = attn(…)`, and `x = attn(…)`
    where all that reads `x` is `x[0]`."""
    parent = module.parent(call)
    if not isinstance(parent, cst.Assign):
        return _is_first(parent, module)
    target = parent.targets[0].target
    if isinstance(target, cst.Name) and len(parent.targets) == 1:
        reads = module.reads(parent, target.value)
        return bool(reads) and all(_is_first(module.parent(read), module) for read in reads)
    pair = target.elements if isinstance(target, cst.Tuple) else ()
    weights = pair[1].value if len(pair) == 2 else None
    return isinstance(weights, cst.Name) and not module.reads(parent, weights.value)


def _is_first(node: cst.CSTNode | None, module: Module) -> bool:
    """`result[0]`."""
    index = node.slice[0].slice if isinstance(node, cst.Subscript) else None
    return isinstance(index, cst.Index) and module.literal(index.value) == 0


def _asks_with_one(call: cst.Call, module: Module) -> bool:
    """Whether the query is a parameter of one place for each sample, as in a pooling head."""
    query = module.argument(call, "query", 0)
    given = [query] if query is not None else []
    if isinstance(query, cst.Name):
        given = [each.value for each in module.names.lookup(query) if each.value is not None]
    owners = [receiver(each) if isinstance(each, cst.Call) else each for each in given]
    kept = [each for each in owners if isinstance(each, cst.Attribute)]
    made = [
        binding.value
        for each in kept
        for binding in module.values.assigned(module.class_(each), each.attr.value)
    ]
    return bool(made) and len(kept) == len(given) and all(_has_one_place(x, module) for x in made)


def _has_one_place(node: cst.BaseExpression | None, module: Module) -> bool:
    """`nn.Parameter(torch.zeros(1, 1, width))`."""
    if not isinstance(node, cst.Call) or not module.calls(node, "torch.nn.Parameter"):
        return False
    created = node.args[0].value if node.args else None
    sizes = created.args[:2] if isinstance(created, cst.Call) else ()
    return len(sizes) == 2 and all(module.literal(each.value) == 1 for each in sizes)


def _returns_weights(call: cst.Call, module: Module) -> bool:
    if module.has_star_args(call) or module.has_star_kwargs(call):
        return because(False, "`*` or `**` of this call may pass `need_weights`")
    passed = module.argument(call, "need_weights", 4)
    if module.argument(call, "average_attn_weights", 6) is not None:
        return because(False, "it asks for the weights of each head, by `average_attn_weights`")
    if passed is None or module.literal(passed) is True:
        return True
    return because(False, "`need_weights` is {:code} here", passed)


def _is_attention(func: cst.BaseExpression, module: Module) -> bool:
    layers = layers_of(module)
    made = [each.call for each in layers.chain(func).first]
    return bool(made) and all(
        each is not None and layers.is_one_of(each, ("torch.nn.MultiheadAttention",))
        for each in made
    )
