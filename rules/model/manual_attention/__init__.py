"""Let PyTorch compute attention in one step.

## What it does
Reports attention that is written by hand: a product of queries and keys, perhaps scaled and masked,
its softmax, perhaps a dropout, and a product of that with the values, and nothing else done with
the weights.

## Why it is slow
Each step writes a tensor with a number for every pair of query and key, for every head, and reads
it again; the backward pass needs them all once more. `scaled_dot_product_attention` runs fused
kernels that go over the keys block by block and never store that tensor. Measured on a CPU, a
causal attention takes half the time in the forward pass. The longer the sequence, the more time and
memory this saves. Where `torch.compile` already fuses the steps, it may be no faster.

## Example
```python
def attend(q, k, v, dropout):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    weights = dropout(scores.softmax(dim=-1))
    return weights @ v
```

## Use instead
```python
def attend(q, k, v, dropout_p):
    return F.scaled_dot_product_attention(q, k, v, dropout_p=dropout_p)
```
Four things differ: it scales by `1 / sqrt(head size)` unless `scale=` says otherwise; a boolean
mask is True where a query may look; a float mask or a position bias is added (`attn_mask=`); and
`dropout_p` also holds in evaluation, so pass `self.p if self.training else 0.0`.

## When it is silent
- Something else is computed from the weights, or they are changed, as for talking heads. Where they
  are only returned beside the result, kept in an attribute for a plot, or used where a switch such
  as `output_attentions` asks for them, it speaks: the fused way is for all other calls.
- The scores are not a product, or something other than a scale, a sum or a mask changes them: a
  `tanh`, a `topk`, a layer.
- The file calls `scaled_dot_product_attention`, `flash_attn` or `xformers` somewhere: then this is
  the code for those who do without.
- Before torch 2.0; in evaluation and in tests.

## Fix safety
There is no fix: the mask, the scale, the dropout and the order of dimensions must be passed in the
way of that function.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against changed.py` compares the speed and
the numbers with your own version.

## References
- PyTorch documentation, `torch.nn.functional.scaled_dot_product_attention`
- pytorch/pytorch#149857: compiled code by hand that was faster, with twice the memory
"""

import ast
from typing import Final

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.rule import (
    Context,
    Effect,
    Match,
    Module,
    Outline,
    Related,
    Rule,
    Tier,
    Triggers,
    because,
    calls,
    method,
    once,
    outlines,
)

from .._softmax import is_method, softmax_of
from .attention_products import are_scores, only_weigh, product_after, scores_behind

_FUSED: Final = tuple(
    "scaled_dot_product_attention memory_efficient_attention flash_attn_func flash_attn xformers "
    "ALL_ATTENTION_FUNCTIONS".split()
)
_FUNCTIONAL: Final = ("F", "functional")
_OVER_KEYS: Final = (-1, 2, 3)
_NAMES: Final = ("softmax", "attend")
_PRODUCTS: Final = frozenset({"matmul", "bmm", "baddbmm", "einsum"})


def _weighs_values(match: Match) -> bool:
    """Whether a softmax makes weights of scores, and all that these do is to weigh values."""
    module = match.module
    call: cst.CSTNode | None = match.call
    if module.calls(match.call, "torch.nn.Softmax"):
        call = module.parent(match.call)
    softmax = softmax_of(call, module)
    if softmax is None and call is not match.call:
        return because(False, "the layer is created here and called elsewhere: ask there")
    if softmax is None:
        return because(False, "{} is not known to be a softmax", match.call)
    if module.literal(softmax.dim) not in _OVER_KEYS:
        return because(False, "the softmax is not over the keys, the last dimension of the scores")
    if not are_scores(module, softmax.scores):
        return because(False, "its input is not known to be a product of queries and keys")
    alone = "nothing shows that its weights do no more than to weigh values in one product"
    return only_weigh(module, softmax.call) or because(False, alone)


def _is_other_arm(match: Match) -> bool:
    """Whether another branch of the function takes the same softmax, and was reported."""
    key = (match.module.function(match.node), match.module.source(match.node))
    first = _firsts(match.module).get(key, match.node)
    said = "another branch takes the same softmax, and is reported: {}"
    return first is not match.node and because(True, said, first)


def _is_for_others(match: Match) -> bool:
    """Whether the file has a fused way too: this is then for those who do without."""
    fused = next((each for word in _FUSED for each in _fused_ways(word, match.module)), None)
    said = "the file uses a fused attention: {:code} in {:line}"
    return fused is not None and because(True, said, fused, fused)


def _fused_ways(word: str, module: Module) -> list[cst.Name]:
    """Where a file has a word for a fused way; of one that is its own function, where it is torch's
    nevertheless."""
    names = module.spelled(word)
    above = [module.parent(each) for each in names]
    if not any(isinstance(each, cst.FunctionDef) for each in above):
        return names
    return [
        name
        for name, each in zip(names, above, strict=True)
        if isinstance(each, cst.Attribute) and dotted_text(each.value).endswith(_FUNCTIONAL)
    ]


def _products(match: Match) -> tuple[Related, ...]:
    """The product of queries and keys, and that of weights and values."""
    module, call = match.module, match.call
    if module.calls(call, "torch.nn.Softmax"):
        call = cst.ensure_type(module.parent(call), cst.Call)
    softmax = softmax_of(call, module)
    if softmax is None:
        return ()
    places = (
        (scores_behind(module, softmax.scores), "a number for each pair is stored here"),
        (product_after(module, softmax.call), "and read again here"),
    )
    return tuple(Related(module.path, module.span(node)[0], said) for node, said in places if node)


@once
def _firsts(module: Module) -> dict[tuple[cst.FunctionDef | None, str], cst.Call]:
    calls = [call for name in _NAMES for call in module.calls_by_method.get(name, ())]
    return {(module.function(call), module.source(call)): call for call in reversed(calls)}


def _may_have_attention(outline: Outline) -> bool:
    """Whether a file without a fused way has two products, and a softmax beside one."""
    fused = next((word for word in _FUSED if _uses(word, outline)), None)
    if fused is not None:
        return because(False, "the file uses a fused attention: `{}`", fused)
    multiplies = sum(map(_is_product, outline.nodes(ast.BinOp, ast.Call))) > 1 and any(
        any(map(_is_softmax, nodes)) and any(map(_is_product, nodes))
        for each in outline.nodes(ast.FunctionDef, ast.AsyncFunctionDef)
        if (nodes := list(ast.walk(each)))
    )
    alone = "no function of the file has a softmax and a product, with a second product in the file"
    return multiplies or because(False, alone)


def _uses(word: str, outline: Outline) -> bool:
    """Whether a file has a word for a fused way, and not as the name of a function of its own."""
    uses = [each for each in outline.nodes(ast.Attribute) if each.attr == word]
    if any(each.name == word for each in outline.nodes(ast.FunctionDef)):
        return any(outlines.chain(each.value).endswith(_FUNCTIONAL) for each in uses)
    imports = ([*each.name.split("."), each.asname or ""] for each in outline.nodes(ast.alias))
    origins = ((each.module or "").split(".")[0] for each in outline.nodes(ast.ImportFrom))
    named = any(each.id == word for each in outline.nodes(ast.Name))
    return bool(uses) or named or word in origins or any(word in each for each in imports)


def _is_product(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.MatMult)
    return isinstance(node, ast.Call) and _called(node) in _PRODUCTS


def _is_softmax(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = _called(node)
    return name.endswith(_NAMES) or (name == "Softmax" and isinstance(node.func, ast.Call))


def _called(call: ast.Call) -> str:
    """The last part of the name that is called."""
    return outlines.chain(call.func).rpartition(".")[2]


rule = Rule(
    code="TL306",
    effect=Effect.LARGE,
    summary="attention is computed step by step",
    tier=Tier.HINT,
    finds=(
        calls("torch.softmax", "torch.nn.functional.softmax", where=(_weighs_values,)),
        calls("torch.nn.Softmax", where=(_weighs_values,)),
        method(*_NAMES, where=(is_method, _weighs_values)),
    ),
    unless=(_is_other_arm, _is_for_others),
    message="This attention stores a weight for each pair of query and key; "
    "`F.scaled_dot_product_attention` computes it without.",
    change="the mask, the scale and the dropout must be passed in another way",
    contexts=(Context.OUTSIDE_EVALUATION,),
    related=_products,
    since=(2, 0),
    triggers=Triggers(outline=_may_have_attention),
)
