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

import re
from typing import Final

import libcst as cst

from torchlint.analysis.uses import method_name, receiver
from torchlint.rule import (
    Applicability,
    Context,
    Fix,
    Match,
    Module,
    Rule,
    Tier,
    because,
    calls,
    edits,
)

_MADE: Final = "torch.nn.Transformer.generate_square_subsequent_mask"
_SAME: Final = frozenset({"unsqueeze", "view", "expand", "to", "type", "bool"})
_TRIANGLES: Final = {"tril": 0, "triu": 1}
"""The diagonal that each triangle must begin at, if the future is the other or that one."""
_MOST_STEPS: Final = 12
_INFINITY: Final = re.compile(r"\binf\b")


def _causal_mask(match: Match) -> cst.Arg | None:
    mask = match.module.argument_node(match.call, "attn_mask", 3)
    if mask is None:
        return because(None, "this attention gets no mask")
    alone = "{:code} is not known to hide the future and nothing else"
    return mask if _is_causal(mask.value, match.module) else because(None, alone, mask.value)


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


# causal masks -------------------------------------------------------------------------------------


def _is_causal(mask: cst.BaseExpression | None, module: Module) -> bool:
    """Whether a mask of `scaled_dot_product_attention` certainly hides the future and no more: it
    is square, and True on and below the diagonal, or -inf above it and else 0."""
    boolean = negated = False
    node = mask
    for _ in range(_MOST_STEPS):
        boolean = boolean or _is_made_bool(node, module)
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.BitInvert):
            node, negated = node.expression, not negated
        elif isinstance(node, cst.Comparison):
            [asked] = {module.literal(each.comparator) for each in node.comparisons[:1]}
            if asked not in (0, 1) or not isinstance(node.comparisons[0].operator, cst.Equal):
                return False
            node, boolean, negated = node.left, True, negated is not (asked == 0)
        elif isinstance(node, cst.Call) and _name(node, module) in _TRIANGLES:
            return _hides_future(node, module, boolean=boolean, negated=negated)
        elif isinstance(node, cst.Call) and module.calls(node, _MADE):
            return not boolean and not negated
        else:
            node = _same(node, module)
    return False


def _hides_future(triangle: cst.Call, module: Module, *, boolean: bool, negated: bool) -> bool:
    """The same for `torch.tril(torch.ones(n, n))`, and for what such calls are made into."""
    called = bool(module.resolve(triangle.func))
    name = _name(triangle, module)
    diagonal = module.argument(triangle, "diagonal", int(called))
    if (0 if diagonal is None else module.literal(diagonal)) != _TRIANGLES[name]:
        return False
    filled = module.argument(triangle, "input", 0)
    if not called:
        filled = receiver(triangle)
    for _ in range(_MOST_STEPS):
        boolean = boolean or _is_made_bool(filled, module)
        if isinstance(filled, cst.Call) and _name(filled, module) in ("ones", "full"):
            break
        filled = _same(filled, module)
    if not isinstance(filled, cst.Call) or not _is_square(filled, module):
        return False
    if _name(filled, module) == "ones":
        return boolean and negated is (name == "triu")
    value = module.argument(filled, "fill_value", 1)
    text = "" if value is None else module.source(value)
    lowest = "-" in text and _INFINITY.search(text) is not None
    return lowest and not boolean and not negated and name == "triu"


def _name(call: cst.Call, module: Module) -> str:
    """`tril` for `torch.tril(…)` and for the method of that name."""
    names = module.resolve(call.func)
    if names:
        return names[0].removeprefix("torch.") if names[0].startswith("torch.") else ""
    return method_name(call)


def _is_made_bool(node: cst.BaseExpression | None, module: Module) -> bool:
    """`x.bool()`, `x.to(torch.bool)`, `torch.ones(n, n, dtype=torch.bool)`."""
    if not isinstance(node, cst.Call):
        return False
    types = (name for arg in node.args for name in module.resolve(arg.value))
    return method_name(node) == "bool" or "torch.bool" in types


def _same(node: cst.BaseExpression | None, module: Module) -> cst.BaseExpression | None:
    """What a name was given, if that is certain, and a mask before its shape or type changed."""
    if isinstance(node, cst.Subscript):
        kept = all(module.source(each) in ("None", ":", "...") for each in node.slice)
        return node.value if kept else None
    if isinstance(node, cst.Call):
        return receiver(node) if method_name(node) in _SAME else None
    return module.flow.given(node)


def _is_square(filled: cst.Call, module: Module) -> bool:
    """Whether the last two sizes of `torch.ones(n, n)` are the same text, and the others 1."""
    given = [arg.value for arg in filled.args if arg.keyword is None]
    if given and isinstance(given[0], cst.Tuple | cst.List):
        given = [each.value for each in given[0].elements]
    sizes = [module.source(each) for each in given]
    return len(sizes) > 1 and sizes[-1] == sizes[-2] and set(sizes[:-2]) <= {"1"}
