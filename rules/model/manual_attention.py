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
- The weights are also returned, kept or changed, as for a plot or for talking heads. Where only a
  switch such as `output_attentions` asks for them, it speaks: the fused way is for all other calls.
- The scores are not a product, or something other than a scale, a sum or a mask changes them: a
  `tanh`, a `topk`, a layer, the product of a second pair of queries and keys.
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
import re
from typing import Final

import libcst as cst

from torchlint.analysis.names import How, dotted_text
from torchlint.analysis.uses import method_name, reads_of_targets, receiver
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

from ._softmax import is_method, softmax_of

_FUSED: Final = tuple(
    "scaled_dot_product_attention memory_efficient_attention flash_attn_func flash_attn xformers "
    "ALL_ATTENTION_FUNCTIONS".split()
)
_OVER_KEYS: Final = (-1, 2, 3)
_NAMES: Final = ("softmax", "attend")
_DEEPEST: Final = 10
_PRODUCT_CALLS: Final = frozenset({"torch.matmul", "torch.bmm", "torch.einsum"})
_METHODS: Final = frozenset({"matmul", "bmm"})
_SAME_SCORES: Final = frozenset(
    "masked_fill masked_fill_ float half to type type_as view reshape contiguous".split()
)
_SAME_WEIGHTS: Final = frozenset({"to", "type", "type_as", "float", "half", "contiguous"})
_ASKS_FOR_WEIGHTS: Final = re.compile(r"att|weights", re.IGNORECASE)
_TURNS: Final = frozenset({"transpose", "permute"})
_PRODUCTS: Final = _METHODS | {"einsum"}


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
    if not _are_scores(module, softmax.scores):
        return because(False, "its input is not known to be a product of queries and keys")
    alone = "nothing shows that its weights do no more than to weigh values in one product"
    return _only_weigh(module, softmax.call) or because(False, alone)


def _is_other_arm(match: Match) -> bool:
    """Whether another branch of the function takes the same softmax, and was reported."""
    key = (match.module.function(match.node), match.module.source(match.node))
    first = _firsts(match.module).get(key, match.node)
    said = "another branch takes the same softmax, and is reported: {}"
    return first is not match.node and because(True, said, first)


def _is_for_others(match: Match) -> bool:
    """Whether the file has a fused way too: this is then for those who do without."""
    fused = next((each for word in _FUSED for each in match.module.spelled(word)), None)
    said = "the file uses a fused attention: {:code} in {:line}"
    return fused is not None and because(True, said, fused, fused)


def _products(match: Match) -> tuple[Related, ...]:
    """The product of queries and keys, and that of weights and values."""
    module, call = match.module, match.call
    if module.calls(call, "torch.nn.Softmax"):
        call = cst.ensure_type(module.parent(call), cst.Call)
    softmax = softmax_of(call, module)
    if softmax is None:
        return ()
    places = (
        (_scores_behind(module, softmax.scores), "a number for each pair is stored here"),
        (_product_after(module, softmax.call), "and read again here"),
    )
    return tuple(Related(module.path, module.span(node)[0], said) for node, said in places if node)


@once
def _firsts(module: Module) -> dict[tuple[cst.FunctionDef | None, str], cst.Call]:
    calls = [call for name in _NAMES for call in module.calls_by_method.get(name, ())]
    return {(module.function(call), module.source(call)): call for call in reversed(calls)}


def _may_have_attention(outline: Outline) -> bool:
    """Whether in a file without a fused way a function may weigh, and multiply twice."""
    names = {each.id for each in outline.nodes(ast.Name)}
    names |= {each.attr for each in outline.nodes(ast.Attribute)}
    names |= {
        part
        for each in outline.nodes(ast.alias)
        for part in (*each.name.split("."), each.asname or "")
    }
    names |= {(each.module or "").partition(".")[0] for each in outline.nodes(ast.ImportFrom)}
    fused = next((word for word in _FUSED if word in names), None)
    if fused is not None:
        return because(False, "the file uses a fused attention: `{}`", fused)
    multiplies = any(
        sum(map(_is_product, nodes)) > 1 and _may_weigh(nodes)
        for each in outline.nodes(ast.FunctionDef, ast.AsyncFunctionDef)
        if (nodes := list(ast.walk(each)))
    )
    alone = "no function of the file has two products of matrices and a softmax between them"
    return multiplies or because(False, alone)


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


def _may_weigh(nodes: list[ast.AST]) -> bool:
    """Whether a function has a softmax that it does not return."""
    if not any(map(_is_softmax, nodes)):
        return False
    given = {
        target.id
        for each in nodes
        if isinstance(each, ast.Assign) and not any(map(_is_product, ast.walk(each.value)))
        if any(map(_is_softmax, ast.walk(each.value)))
        for target in each.targets
        if isinstance(target, ast.Name)
    }
    asked = {
        id(part)
        for each in nodes
        if isinstance(each, ast.If | ast.IfExp) and isinstance(each.test, ast.Name | ast.Attribute)
        if _ASKS_FOR_WEIGHTS.search(outlines.chain(each.test))
        for part in ast.walk(each)
    }
    kept = {
        name.id
        for each in nodes
        if isinstance(each, ast.Return)
        and asked.isdisjoint(map(id, (each, each.value)))
        and not any(map(_is_product, ast.walk(each)))
        for name in ast.walk(each)
        if isinstance(name, ast.Name)
    }
    return not given or not given <= kept


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


# scores and weights -------------------------------------------------------------------------------


@once
def _are_scores(module: Module, node: cst.BaseExpression | None, depth: int = _DEEPEST) -> bool:
    """Whether an expression is a product of queries and keys, perhaps scaled, shifted and masked,
    whichever way the code takes."""

    def ask(part: cst.BaseExpression | None) -> bool:
        return depth > 0 and _are_scores(module, part, depth - 1)

    if _factors(node, module):
        return True
    if isinstance(node, cst.Name):
        bindings = [each for each in module.flow.reaching(node) if each.how is not How.UPDATE]
        known = all(each.how is How.ASSIGNMENT for each in bindings)
        return bool(bindings) and known and all(ask(each.value) for each in bindings)
    if isinstance(node, cst.IfExp):
        return ask(node.body) and ask(node.orelse)
    if isinstance(node, cst.BinaryOperation):
        either = isinstance(node.operator, cst.Add | cst.Multiply)
        return ask(node.left) is not (either and ask(node.right))
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        return node.func.attr.value in _SAME_SCORES and ask(node.func.value)
    return False


@once
def _only_weigh(
    module: Module, node: cst.BaseExpression, turned: bool = False, depth: int = _DEEPEST
) -> bool:
    """Whether all that is done with attention weights, perhaps after a dropout, is to multiply
    values by them; if they are turned, from the right."""

    def ask(part: cst.BaseExpression, *, turns: bool = False) -> bool:
        return depth > 0 and _only_weigh(module, part, turned is not turns, depth - 1)

    around = _around(node, module)
    method = around.attr.value if isinstance(around, cst.Attribute) else ""
    made = module.parent(around) if isinstance(around, cst.Attribute) else around
    factors = _factors(made, module)
    if factors:
        return factors[turned] is node
    if isinstance(made, cst.Call):
        drops = not method and "drop" in dotted_text(made.func).lower()
        same = drops or method in _SAME_WEIGHTS or method in _TURNS
        return same and ask(made, turns=method in _TURNS)
    uses = [each for each in reads_of_targets(around, module) if not _is_asked_for(each, module)]
    return bool(uses) and all(ask(use) for use in uses)


def _around(node: cst.BaseExpression, module: Module) -> cst.CSTNode | None:
    """The call that is given an expression, also in a list; else what it is a part of."""
    parent = module.parent(node)
    if isinstance(parent, cst.Element) and isinstance(module.parent(parent), cst.List):
        return module.call_with(cst.ensure_type(module.parent(parent), cst.List))
    return module.call_with(node) or parent


def _is_asked_for(weights: cst.BaseExpression, module: Module) -> bool:
    """Whether weights are only returned where a switch asks for them: `if output_attentions:
    return out, weights`."""
    child: cst.CSTNode = weights
    for above in module.ancestors(weights):
        if isinstance(above, cst.If | cst.IfExp) and above.body is child:
            switch = isinstance(above.test, cst.Name | cst.Attribute)
            if switch and _ASKS_FOR_WEIGHTS.search(dotted_text(above.test)):
                return True
        if isinstance(above, cst.FunctionDef | cst.Lambda):
            break
        child = above
    return False


def _scores_behind(
    module: Module, node: cst.BaseExpression | None, depth: int = _DEEPEST
) -> cst.BaseExpression | None:
    """The product that the scores are, or are made of."""
    if _factors(node, module):
        return node
    if depth == 0:
        return None
    parts: list[cst.BaseExpression | None] = []
    if isinstance(node, cst.Name):
        parts = [each.value for each in module.flow.reaching(node)]
    elif isinstance(node, cst.IfExp):
        parts = [node.body]
    elif isinstance(node, cst.BinaryOperation):
        parts = [node.left, node.right]
    elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        parts = [node.func.value]
    found = (_scores_behind(module, part, depth - 1) for part in parts)
    return next((each for each in found if each), None)


def _product_after(module: Module, node: cst.BaseExpression) -> cst.CSTNode | None:
    """The product of weights and values, which `_only_weigh` has found."""
    for _ in range(_DEEPEST):
        around = _around(node, module)
        made = module.parent(around) if isinstance(around, cst.Attribute) else around
        if _factors(made, module):
            return made
        uses = [made] if isinstance(made, cst.Call) else [*reads_of_targets(around, module)]
        if not uses:
            break
        node = uses[0]
    return None


def _factors(node: cst.CSTNode | None, module: Module) -> list[cst.BaseExpression]:
    """The two factors of a product of matrices, by an operator, a function or a method."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.MatrixMultiply):
        return [node.left, node.right]
    if not isinstance(node, cst.Call):
        return []
    given = [arg.value for arg in node.args]
    names = module.resolve(node.func)
    if "torch.einsum" in names:
        given = given[1:]
        if len(given) == 1 and isinstance(given[0], cst.List):
            given = [each.value for each in given[0].elements]
    elif method_name(node) in _METHODS and not names:
        given = [receiver(node), *given]
    elif _PRODUCT_CALLS.isdisjoint(names):
        return []
    return given if len(given) == 2 else []
