"""Give a large table of embeddings a sparse gradient, or make the table smaller.

## What it does
Reports embeddings whose gradient is as large as the table although a step looks up a tenth of its
rows or less.

## Why it is slow
The backward pass fills a tensor of the size of the table with zeros, adds a few rows to it, and the
optimizer goes through all rows of the gradient, of the table and of its own state. That takes as
long for one row as for all.

## How it is seen
In the run of a few steps that looks at operations, those that fill such gradients are timed, and
the rows that were looked up for them are counted. Of the optimizer's operations the table has the
part that it has of the bytes of all gradients.

## What the ceiling means
The part of a step that these operations take in the backward pass, and of the optimizer's part of a
step that of the table. What clipping and filling with zeros between steps take is not in it. On a
GPU operations are not timed, so there is none.

## When it is silent
- If more than a tenth of the rows are looked up in a step.
- If the table is used otherwise, too: its gradient is dense anyway where the last layer of a
  language model shares its weights.
- If no optimizer steps it, with `scale_grad_by_freq=True`, and where something is compiled.
- On a GPU, if it has less than half of the bytes of the optimizer's gradients.

## What to do
Make the embedding with `sparse=True`, and step it with `torch.optim.SparseAdam` or with `SGD`
without momentum, in an optimizer of its own. `SparseAdam` leaves rows and their state as they are
until they are looked up again, so the numbers change; there is no decay of weights with sparse
gradients. Or use a smaller table: rows that share an entry (hashing), or only those that occur in
the data.

## References
- PyTorch documentation, `torch.nn.Embedding`, `torch.optim.SparseAdam`
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.profile.kind import FindingKind, Observed
from torchlint.runtime.probe.instrument_messages import KernelsSeen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.evidence import Evidence, Window
    from torchlint.runtime.probe.instrument_messages import EmbeddingTable

_FEW: Final = 0.1
"""Of the rows of a table, that a gradient is for."""
_MOSTLY: Final = 0.5
"""Of the bytes of an optimizer's gradients, where nothing was timed."""

kind = FindingKind(
    code="TR305",
    summary="the gradient of an embedding is dense, for a small part of its rows",
    instruments=("kernels",),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """One for each table."""
    window = evidence.window(KernelsSeen)
    for table in window.seen.embeddings:
        touched = table.touched / window.steps
        if table.other_uses or not table.optimizer or touched > _FEW * table.rows:
            continue
        if evidence.on_gpu and table.part < _MOSTLY:
            continue
        size = f"{table.size / 2**20:.3g} MiB"
        yield Observed(
            table.place,
            f"the gradient of an embedding of {table.rows:,} x {table.width:,} values is dense "
            f"({size}), and a step looks up at most {touched:,.0f} of its rows; "
            f"{table.optimizer} goes through all of it",
            _action(table),
            None if evidence.on_gpu else _share(table, evidence, window),
            (),
            {
                "rows": table.rows,
                "touched": touched,
                "bytes": table.size,
                "backward_s": table.backward_s,
                "optimizer_s": table.optimizer_s,
            },
        )


def _share(table: EmbeddingTable, evidence: Evidence, window: Window[KernelsSeen]) -> float:
    """Of a step. The optimizer's is that of the first look, which no dispatch mode has slowed."""
    part = table.optimizer_s / (table.optimizers_s or 1.0)
    looked = evidence.looked_share("optimizer") * part
    watched = evidence.at_most(table.backward_s + table.optimizer_s, window)
    return max(watched, evidence.at_most(table.backward_s, window) + looked)


def _action(table: EmbeddingTable) -> str:
    without = " and no decay of weights" if table.decays else ""
    return (
        f"use `sparse=True` with an optimizer of its own, `SparseAdam` or plain `SGD`{without}, or "
        "a smaller table"
    )
