"""Spend less time between the steps: on evaluation, on checkpoints, on the start of each epoch.

## What it does
Reports lines that take a notable part of an epoch, and that no step contains: an evaluation, a
checkpoint, the time until the first batch. It also reports such lines that only a few steps come
to, and says how long the script takes until its first step.

## Why it is slow
Nothing is trained meanwhile. A step may be as fast as it can be, and the training still takes twice
as long as its steps do.

## How it is seen
In a run of its own, each epoch of a `DataLoader` that steps are taken with ends after 30 steps or
less, so that the end of an epoch comes soon however long an epoch is. Another thread checks every
five milliseconds what the training thread does. What a usual step takes at a line is subtracted.
The line is the one in the loop over the steps, or over the epochs.

## What the ceiling means
What an epoch is shorter if the line took no time at all. The length of an epoch is that of the
loader, times the time of a step. An evaluation that nobody wants to miss cannot be had for nothing.

## When it is silent
- For a script that reads its batches from something other than a `DataLoader`, unless several of
  its steps come to such a line while it is watched.
- If a loader cannot tell its length.
- For an evaluation, or another line, that takes less than a tenth of an epoch, and for a checkpoint
  or a first batch that take less than other findings have to.
- If the script asks for the end of an epoch by counting batches: it does not come.

## What to do
Save less often, and only what is needed to go on. Evaluate less often or on a part of the data, in
larger batches and without gradients. Keep the workers of a loader from epoch to epoch with
`persistent_workers=True`.

## References
- PyTorch documentation, `torch.utils.data`: `persistent_workers`
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import duration
from torchlint.profile.evidence import CUT
from torchlint.profile.kind import FindingKind, Observed, Told
from torchlint.runtime.probe.instrument_messages import InputSeen, OutsideSeen
from torchlint.runtime.probe.steps.gap_lines import COMPUTES, LOADS, SAVES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torchlint.profile.evidence import Evidence
    from torchlint.runtime.probe.instrument_messages import OutsidePart

_LEAST: Final = 0.1
"""Of an epoch, of what is meant to take time."""
_LEAST_S: Final = 0.05
"""Of a line in an epoch: less is as long as a look at it."""
_TIMES: Final = 2
"""That a line within epochs was seen to take long."""
_RULES: Final = {SAVES: ("TL702",), LOADS: ("TL103",), COMPUTES: ("TL701",)}
_ACTIONS: Final = {
    SAVES: "save less often, and only what is needed",
    LOADS: "keep workers and open files from one epoch to the next",
    COMPUTES: "evaluate less often, on less, or in larger batches",
}

kind = FindingKind(
    code="TR705",
    summary="time between steps: evaluation, checkpoints, the start of an epoch",
    instruments=("outside",),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """One for each line."""
    seen = evidence.window(OutsideSeen).seen
    steps, step_s = seen.epoch_steps, evidence.timing.step_s
    if steps is not None and seen.ends:
        whole_s = steps * step_s + seen.between_s / seen.ends
        for each in _lines(seen.parts):
            each_s = each.seconds / seen.ends
            if each.does == LOADS and _starts_are_known(evidence):
                continue
            least = "at least " if seen.unfinished else ""
            fact = f"{least}{_long(each_s)} after each epoch of {steps:.0f} steps"
            yield from _observed(each, each_s, whole_s, f"{fact} ({_long(steps * step_s)})")
    for each in _lines(seen.seldom):
        if each.times >= _TIMES:
            each_s = each.seconds / each.times
            fact = f"{_long(each_s)} in {each.times} of the steps that were watched"
            yield from _observed(each, each.seconds, seen.within_s, fact)


@kind.tells
def tell(evidence: Evidence) -> Iterator[Told]:
    """The start, and what an epoch takes."""
    seen = evidence.window(OutsideSeen).seen
    yield Told(
        "start",
        f"{_long(seen.start_s)} from the start of the script to the end of its first step",
        {"seconds": seen.start_s},
    )
    if seen.epoch_steps is None or not seen.ends:
        return
    steps_s, between_s = seen.epoch_steps * evidence.timing.step_s, seen.between_s / seen.ends
    yield Told(
        "epoch",
        f"{seen.epoch_steps:.0f} steps take {_long(steps_s)}, and {_long(between_s)} pass "
        "until the next epoch's first",
        {"steps": seen.epoch_steps, "steps_s": steps_s, "between_s": between_s},
    )


def _lines(parts: Iterable[OutsidePart]) -> Iterator[OutsidePart]:
    """One part for each line, with the call and the doing that take most of it."""
    lines: dict[tuple[str, int], list[OutsidePart]] = defaultdict(list)
    for each in parts:
        lines[each.place].append(each)
    for those in lines.values():
        most = max(those, key=lambda each: each.seconds)
        computes = any(each.does == COMPUTES and each.call == most.call for each in those)
        yield replace(
            most,
            does=COMPUTES if computes and most.does != SAVES else most.does,
            times=max(each.times for each in those),
            seconds=sum(each.seconds for each in those),
        )


def _long(seconds: float) -> str:
    return duration(seconds) if seconds >= 10 else f"{seconds:.2g} s"


def _observed(part: OutsidePart, each_s: float, whole_s: float, fact: str) -> Iterator[Observed]:
    share = each_s / whole_s if whole_s else 0.0
    if part.seconds < _LEAST_S or share < (CUT if part.does in (SAVES, LOADS) else _LEAST):
        return
    what = f" in `{part.call.removeprefix('__main__.')}`" if part.call else ""
    yield Observed(
        part.place,
        f"{fact}{what}",
        _ACTIONS.get(part.does, "do it less often, or beside the training"),
        share,
        _RULES.get(part.does, ()),
        {"seconds": each_s, "does": part.does, "call": part.call},
    )


def _starts_are_known(evidence: Evidence) -> bool:
    """Whether the start of workers was seen in the run that watches the input."""
    window = evidence.window_or_none(InputSeen)
    return window is not None and any(each.firsts for each in window.seen.loaders)
