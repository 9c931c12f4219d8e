"""Compute what belongs together, and not all pairs for the diagonal of their matrix.

## What it does
Reports a matrix that is computed for all pairs of two sets, and of which only the diagonal is used:
`torch.diag(a @ b.T)`, `torch.diagonal(torch.cdist(a, b))`,
`torch.diag(generalized_box_iou(boxes, targets))`, also where the matrix has a name that nothing
else reads.

## Why it is slow
For `n` rows each, `n * n` numbers are computed and stored, in the backward pass too, and `n` are
used. For boxes, each of these is a dozen operations on tensors of that size. With ten rows nobody
notices; with a few thousand, as for the queries of a detector, it takes longer than the rest of the
loss.

## Example
```python
def overlap_loss(boxes, targets):
    return 1 - torch.diag(generalized_box_iou(boxes, targets))
```

## Use instead
```python
def overlap_loss(boxes, targets):
    return generalized_box_iou_loss(boxes, targets)
```
That of `torchvision.ops` takes boxes in pairs. The diagonal of `a @ b.T` is `(a * b).sum(-1)`, that
of `torch.cdist(a, b)` is `(a - b).norm(dim=-1)`, and that of a cosine similarity is
`F.cosine_similarity(a, b)`.

## When it is silent
Where the matrix is used elsewhere too, as by a contrastive loss; where it is not known to be one of
pairs: `torch.diag(x)` of a vector makes a matrix; in evaluation and in tests.

## Fix safety
There is no fix: which function takes pairs, only you know, and sums are rounded differently.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against pairs.py` compares with your own
version, on the CPU as well as on a GPU.

## References
- `torchvision.ops.generalized_box_iou_loss`, `torch.nn.functional.cosine_similarity`
"""

import re
from typing import Final

import libcst as cst

from torchlint.analysis.names import How, dotted_text
from torchlint.analysis.uses import method_name, receiver
from torchlint.rule import (
    Context,
    Match,
    Module,
    Related,
    Rule,
    Tier,
    Triggers,
    because,
    method,
)

_OF_PAIRS: Final = re.compile(r"iou|^pairwise_|^cdist$|^cos_sim$", re.IGNORECASE)
"""Functions that compare all of one set with all of another."""
_DIAGONALS: Final = frozenset({"torch.diag", "torch.diagonal"})
_PRODUCTS: Final = frozenset({"torch.matmul", "torch.mm"})
_TURNS: Final = frozenset({"t", "transpose"})
_SCALES: Final = (cst.Multiply, cst.Divide)


def _is_of_pairs(match: Match) -> cst.BaseExpression | None:
    """The computation of all pairs of which only the diagonal is used."""
    module, call = match.module, match.call
    names = module.resolve(call.func)
    if names and _DIAGONALS.isdisjoint(names):
        return because(None, "{:code} is not one of torch", call.func)
    matrix = module.argument(call, "input", 0) if names else receiver(call)
    made = _made(matrix, module)
    said = "nothing shows that this is a matrix of pairs that nothing else reads"
    return made if _compares_all(made, module) else because(None, said)


def _made(node: cst.BaseExpression | None, module: Module) -> cst.BaseExpression | None:
    """What makes a matrix: the first of several results, what a name is given that is read once."""
    while isinstance(node, cst.Subscript):
        node = node.value
    if not isinstance(node, cst.Name):
        return node
    bindings = module.flow.reaching(node)
    if len(bindings) != 1 or bindings[0].how not in (How.ASSIGNMENT, How.UNPACKING):
        return None
    others = [read for read in module.reads(bindings[0].node, node.value) if read is not node]
    if _sets_again(node, module):
        others = [read for read in others if module.order(read) < module.order(node)]
    return None if others else _made(bindings[0].value, module)


def _sets_again(node: cst.Name, module: Module) -> bool:
    """`ious = torch.diag(ious)`: what reads the name below reads the diagonal."""
    statement = module.small_statement(node)
    targets = statement.targets if isinstance(statement, cst.Assign) else ()
    return any(dotted_text(each.target) == node.value for each in targets)


def _compares_all(node: cst.BaseExpression | None, module: Module) -> bool:
    if isinstance(node, cst.BinaryOperation):
        if isinstance(node.operator, cst.MatrixMultiply):
            return _is_turned(node.right)
        scaled = isinstance(node.operator, _SCALES)
        return scaled and any(_compares_all(each, module) for each in (node.left, node.right))
    if not isinstance(node, cst.Call) or len(node.args) < 2:
        return False
    if not _PRODUCTS.isdisjoint(module.resolve(node.func)):
        return _is_turned(node.args[1].value)
    return _OF_PAIRS.search(dotted_text(node.func).rpartition(".")[2]) is not None


def _is_turned(node: cst.BaseExpression) -> bool:
    """`b.T`, `b.t()`, `b.transpose(0, 1)`: a matrix, so that the product is one too."""
    if isinstance(node, cst.Call):
        return method_name(node) in _TURNS
    return isinstance(node, cst.Attribute) and node.attr.value in ("T", "mT")


def _computation(match: Match) -> tuple[Related, ...]:
    module, made = match.module, match.found(cst.BaseExpression)  # type: ignore[type-abstract]
    if any(each is match.call for each in module.ancestors(made)):
        return ()
    return (Related(module.path, module.span(made)[0], "all pairs are computed here"),)


rule = Rule(
    code="TL314",
    summary="all pairs are computed, and only the diagonal of their matrix is used",
    tier=Tier.HINT,
    finds=(method("diag", "diagonal", where=(_is_of_pairs,)),),
    message="A whole matrix of pairs is computed for its diagonal; compute only the pairs that "
    "belong together, as `(a * b).sum(-1)` for `a @ b.T` or `generalized_box_iou_loss` for boxes.",
    change="only you know which function takes pairs",
    related=_computation,
    contexts=(Context.OUTSIDE_EVALUATION,),
    triggers=Triggers((r"iou|IoU|\bpairwise_|\bcdist\b|\bcos_sim\b|@|\bmm\b|\bmatmul\b",)),
)
