"""Compute with fewer positions that are padding.

## What it does
Reports batches in which at least a fifth of all positions are padding, by their `attention_mask`,
and how much of it is beyond the longest text of its batch.

## Why it is slow
The model computes with padding as with any other position, and the mask only hides the result. A
batch that is half padding takes as long as one with twice as many words.

## How it is seen
The masks of the batches that a `DataLoader` hands out are counted while they are in main memory.
Only masks with one row per sample count, in which each row has one block of ones.

## What the ceiling means
The step time if the work in proportion to positions shrank to those that are not padding: the
optimizer and what else does not depend on the length takes its time anyway, so the gain is smaller.
Two things are not in it: attention over long texts grows with the square of the length, and may
gain more; a model that removes padding itself, as some do with FlashAttention, gains nothing.

## When it is silent
- If less than a fifth is padding.
- If batches have no `attention_mask`, if it is on a GPU already, or if it says something else, as
  a causal mask does: nothing tells then what is padding.
- At lines that take fewer positions than another one, such as that of a validation.

## What to do
Pad to the longest text of the batch, not to a fixed length: `padding="longest"`, or
`DataCollatorWithPadding` in a collate function. If texts of a batch differ much in length, put
texts of similar length together, or pack several texts into one row.

## References
- Hugging Face documentation, "Padding and truncation"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.profile.kind import FindingKind, Observed
from torchlint.runtime.probe.instrument_messages import PaddingSeen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.evidence import Evidence

_WASTE: Final = 0.2
_FIXED: Final = 0.5
"""Of the padding: if this much is beyond the longest text, the length is a fixed one."""

kind = FindingKind(
    code="TR103",
    summary="a large part of each batch is padding",
    instruments=("padding",),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """A finding for the line that takes the most positions."""
    places = evidence.window(PaddingSeen).seen.places
    if not places:
        return
    most = max(places, key=lambda each: each.positions)
    positions, padded, batches, beyond = most.positions, most.padded, most.batches, most.beyond
    # A batch that was not counted may be without any padding.
    others = most.odd + most.unmasked
    if not positions or not _WASTE * positions <= padded < positions or others > batches:
        return
    share = padded / positions
    fixed = beyond >= _FIXED * padded
    yield Observed(
        most.place,
        f"{share:.0%} of {positions / batches:.0f} positions a batch are padding"
        + (f", {beyond / positions:.0%} beyond its longest text" if beyond else ""),
        "pad to the longest text of the batch" if fixed else "batch texts of similar length",
        share * batches / (batches + others),
        ("TL111",) if fixed else (),
        {"positions": positions, "padded": padded, "beyond": beyond, "batches": batches},
    )
