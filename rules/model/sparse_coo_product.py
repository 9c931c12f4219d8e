"""Convert a sparse matrix once to the form in which products need it.

## What it does
Reports `torch.sparse.mm(graph, x)`, and `torch.spmm` and `torch.sparse.addmm`, in code that trains,
where nothing in the file makes a matrix in CSR form.

## Why it is slow
`torch.sparse_coo_tensor` and `torch.sparse.FloatTensor` make a list of entries in any order. CUDA
multiplies rows: it sorts the entries and adds up equal ones in each product with a matrix that was
never coalesced, and throws the result away. The backward pass multiplies by the transposed matrix,
which never counts as coalesced: it is sorted again each time, even if the matrix itself is not. A
graph network does this in each layer on each step, for a graph that stays the same.

## Example
```python
class Recommender(nn.Module):
    def __init__(self, indices, values, size):
        super().__init__()
        self.graph = torch.sparse_coo_tensor(indices, values, size)

    def forward(self, x):
        return torch.sparse.mm(self.graph, x)
```

## Use instead
```python
class Recommender(nn.Module):
    def __init__(self, indices, values, size):
        super().__init__()
        graph = torch.sparse_coo_tensor(indices, values, size).coalesce()
        self.graph = graph.to_sparse_csr()

    def forward(self, x):
        return torch.sparse.mm(self.graph, x)
```
`coalesce()` alone saves the sorting in the forward pass, and changes nothing else. A matrix that is
drawn anew on each step, as by dropout of edges, stays coalesced if it keeps some entries of a
coalesced one in their order: pass `is_coalesced=True`.

## When it is silent
Where the file makes a matrix in CSR form: then this may be it; in evaluation and in tests. It is a
hint: another file may have converted the matrix.

## Fix safety
There is no fix: which matrix is multiplied, and which dropout or slice of it expects the form of a
list, only you know. Products in CSR form add in another order.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against csr.py` compares with your own
version; it needs a GPU, since a CPU multiplies in another way.

## References
- PyTorch documentation, "Sparse tensors": uncoalesced tensors, and products by layout
- PyTorch, `SparseCUDABlas` and `s_addmm_out_sparse_dense_cuda`, which coalesces its argument
"""

from collections import defaultdict
from typing import Final

import libcst as cst

from torchlint.rule import (
    Context,
    Effect,
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

_PRODUCTS: Final = ("torch.sparse.mm", "torch.sparse.addmm", "torch.spmm")
_LISTS: Final = ("torch.sparse_coo_tensor", "torch.sparse.FloatTensor")
_CSR: Final = ("to_sparse_csr", "sparse_csr_tensor", "sparse_csr", "sparse_compressed_tensor")


def _is_first(match: Match) -> bool:
    """Whether no earlier product in the function was reported."""
    first = _by_function(match.module)[match.module.function(match.call)][0]
    said = "the same function has an earlier product, which is reported: {:line}"
    return first is match.call or because(False, said, first)


@once
def _by_function(module: Module) -> dict[cst.FunctionDef | None, list[cst.Call]]:
    products: dict[cst.FunctionDef | None, list[cst.Call]] = defaultdict(list)
    for call in module.nodes(cst.Call):
        if module.calls(call, *_PRODUCTS):
            products[module.function(call)].append(call)
    return products


def _makes_rows(match: Match) -> bool:
    made = next((each for word in _CSR for each in match.module.spelled(word)), None)
    return made is not None and because(True, "the file makes a matrix in CSR form: {:line}", made)


def _others(match: Match) -> tuple[Related, ...]:
    """Where the file makes lists that it does not coalesce, and where the function has more
    products."""
    module = match.module
    made = [each for each in module.nodes(cst.Call) if _is_list(each, module)]
    later = _by_function(module)[module.function(match.call)][1:]
    return tuple(
        Related(module.path, module.span(call)[0], said)
        for said, places in (("a list that is not coalesced", made), ("and this product", later))
        for call in places
    )


def _is_list(call: cst.Call, module: Module) -> bool:
    coalesces = getattr(module.parent(call), "attr", None)
    is_coalesced = isinstance(coalesces, cst.Name) and coalesces.value == "coalesce"
    return not is_coalesced and module.calls(call, *_LISTS)


rule = Rule(
    code="TL316",
    effect=Effect.LARGE,
    summary="a sparse matrix is sorted again by each product",
    tier=Tier.HINT,
    finds=(calls(*_PRODUCTS, where=(_is_first,)),),
    unless=(_makes_rows,),
    message="A sparse matrix that is a list of entries is sorted by each product or its backward "
    "pass; convert it once, by `.coalesce().to_sparse_csr()`.",
    change="only you know which matrix this is, and what else reads it",
    related=_others,
    contexts=(Context.OUTSIDE_EVALUATION,),
    triggers=Triggers((r"\bsparse\.(?:add)?mm\b|\bspmm\b|\bimport (?:add)?mm\b",)),
)
