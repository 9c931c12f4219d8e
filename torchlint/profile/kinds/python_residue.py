"""Do not log, save or collect garbage in each step.

## What it does
Reports what the training process does between computations: Python's garbage collector, and lines
that spend their time in `logging`, `print`, `json`, `csv`, `pickle`, `zipfile`, `copy.deepcopy`,
`torch.save`, progress bars, TensorBoard, W&B, Matplotlib, Pillow or HDF5.

## Why it is slow
The step waits for it. On a GPU the host falls behind with queueing work, and what prints a tensor
waits for the device as well. The garbage collector stops everything to look at each object that
Python has made, and a program with torch and a data set in memory has hundreds of thousands.

## How it is seen
In a run of its own, another thread checks every millisecond which line the training is at and what
it has called there. Pauses of the garbage collector, `gc.collect`, `print`, `json.dump`,
`pickle.dump` and log records are timed as well. That thread only runs when the interpreter is free,
so it may miss a short call that never frees it and is not timed.

## What the ceiling means
The part of the step that these calls or pauses take, in the run that watched them. If the GPU is
the limit, the host may have had that time to spare. What waits for the GPU is part of it.

## When it is silent
What a data set does is input (TR101), what an optimizer or a module of torch does is training, and
the garbage of `torch.compile` is collected while it compiles (TR502). A line with fewer than ten
looks or calls is left out, since their share is not certain. What is written in C and called
directly, as the writer of `csv`, has no name and is not seen.

## What to do
Log each hundred steps, save each few minutes, and compute figures after the epoch. For the
garbage collector, call `gc.collect()` and `gc.freeze()` after the model and the data have been
made: what is there then is not looked at again. Or raise its thresholds with `gc.set_threshold`.

## References
- Python documentation, `gc.freeze`
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.profile.kind import FindingKind, Observed
from torchlint.runtime.probe.instrument_messages import PausesSeen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.evidence import Evidence, Window

_FEWEST: Final = 10
"""Looks at a line, or calls of it."""
_RARER: Final = "do it every hundred steps, or after the epoch"
_IO_RULE: Final = ("TL705",)
_RULES: Final = {
    "torch.save": _IO_RULE,
    "pickle": _IO_RULE,
    "matplotlib": _IO_RULE,
    "PIL": _IO_RULE,
    "tensorboard": _IO_RULE,
    "wandb": _IO_RULE,
    "copy.deepcopy": _IO_RULE,
}

kind = FindingKind(
    code="TR702",
    summary="garbage collection, logging or files take a part of the step",
    instruments=("pauses",),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """One for the garbage collector, one for each line and what it calls."""
    window = evidence.window(PausesSeen)
    yield from _collector(evidence, window)
    for line in window.seen.residue:
        seconds, what = line.seconds, line.what
        if max(line.samples, line.calls) < _FEWEST:
            continue
        yield Observed(
            line.place,
            f"{what} takes {_ms(seconds, window)} ms a step",
            _RARER,
            evidence.at_most(seconds, window),
            _RULES.get(what, ()),
            {"seconds": seconds, "what": what},
        )


def _collector(evidence: Evidence, window: Window[PausesSeen]) -> Iterator[Observed]:
    seconds, count = window.seen.gc_seconds, window.seen.collections
    full = window.seen.full_collections
    if count:
        yield Observed(
            None,
            f"{count} garbage collections in {window.steps} steps, {full} of them of all objects, "
            f"{_ms(seconds, window)} ms a step",
            "call `gc.freeze()` after the model and the data are there, or raise its thresholds",
            evidence.at_most(seconds, window),
            values={"seconds": seconds, "collections": count, "full": full},
        )
    for line in window.seen.asked:
        seconds, calls = line.seconds, line.calls
        yield Observed(
            line.place,
            f"gc.collect takes {_ms(seconds, window)} ms a step, "
            f"{calls} times in {window.steps} steps",
            "leave it to Python, or do it after the epoch",
            evidence.at_most(seconds, window),
            values={"seconds": seconds, "calls": calls},
        )


def _ms(seconds: float, window: Window[PausesSeen]) -> str:
    return f"{1e3 * seconds / window.steps:.3g}"
