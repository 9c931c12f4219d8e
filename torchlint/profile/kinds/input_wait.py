"""Have the next batch ready when the step needs it.

## What it does
Reports a line that waits for a `DataLoader` in each step, with the time that it waits there. If the
training process loads the batches itself, it names the stage that takes most of the time: the
dataset, or the function that makes a batch of samples. It also reports a loader whose worker
processes start again in each epoch, if that takes a notable part of it.

## Why it is slow
While a step waits for a batch, neither the model nor the GPU works. Worker processes load the next
batches during the step; if they still fall behind, loading itself is too slow for the model.

## How it is seen
Each `next` of a loader's iterator is timed on the thread that trains. The first batch of an epoch,
which has to wait for workers to start, is counted separately. While others have the thread's
processor, this clock stops, if the system is Linux. Then the step is timed with loaders that hand
out one batch again and again, alternating with the program as it is: that is how long a step would
take if batches cost nothing.

## What the ceiling means
The step time if a batch were always there, by the upper end of the interval over these turns. The
ceiling is never more than the wait that was seen at this line, plus a tenth. Here the time without
a processor counts: a thread that sleeps is not always woken at once. Workers need processors too,
so on a CPU that is busy with the model less is gained.

With several ranks, the wait is that of the rank that waits longest. It is named if the others wait
half as long or less: what they wait for is that rank, in the exchange of gradients.

If nearly all of these turns show a gain, the finding is printed however much the step varies.

## When it is silent
- If the wait is short, or if batches that cost nothing would not make the step shorter.
- If a batch takes less than 0.3 ms without workers: it takes as long to receive one from a worker.
- If another thread takes the batches from the loader: what the training thread waits for then is
  not the loader.
- If the data does not come from a torch `DataLoader`.

## What to do
Without workers, set `num_workers`; `torchlint profile --sweep workers` finds out how many pay off.
With workers, add some as long as there are processors, or make the slow stage cheaper: read files
once, decode smaller images, and do for the whole dataset what does not change from epoch to epoch.
Keep workers from one epoch to the next with `persistent_workers=True`.

## References
- PyTorch documentation, `torch.utils.data`: single- and multi-process data loading
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.profile.evidence import CUT
from torchlint.profile.kind import FindingKind, Observed
from torchlint.profile.loader_waits import (
    free_step_s,
    others_wait_s,
    processors_of_a_rank,
    shown,
    waited_s,
    waited_share,
)
from torchlint.runtime.probe.instrument_messages import InputSeen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.evidence import Evidence, Window
    from torchlint.runtime.probe.instrument_messages import LoaderOptions, LoaderWaits

_LEAST: Final = 0.01
"""Of a step; less is not a finding."""
_RECEIVED_S: Final = 0.0003
"""What it takes at least to receive a batch that a worker has ready."""
_MOST_SHARE: Final = 0.99

kind = FindingKind(
    code="TR101",
    summary="a step waits for its batch",
    instruments=("input", "replay"),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """A finding for each place that waits, and for each whose loader starts workers again."""
    # The others do not wait for their batches, but for this rank.
    window = evidence.window(InputSeen).slowest(waited_s)
    for waits in window.seen.loaders:
        yield from _waits(waits, evidence, window)
        yield from _starts(waits, evidence, window)


def _waits(waits: LoaderWaits, evidence: Evidence, window: Window[InputSeen]) -> Iterator[Observed]:
    loader = waits.loader
    share = min(waited_share(waits, evidence, window), _MOST_SHARE)
    own = evidence.at_most(waits.blocked_s, window)
    workers_cannot = not loader.workers and waits.blocked_s <= _RECEIVED_S * waits.batches
    if min(share, own) < _LEAST or workers_cannot:
        return
    wait_ms = 1e3 * waits.blocked_s / window.steps
    cores = processors_of_a_rank(evidence)
    waited = f"{wait_ms:.3g} of {1e3 * free_step_s(window):.3g} ms a step"
    fact = f"{waited} in `next(loader)`{_stage(waits, window.steps)}"
    yield Observed(
        waits.place,
        f"{fact}{_alone(window, evidence)}; {_many(loader.workers, 'worker')}, "
        f"{_many(cores, 'core')}",
        _action(waits, cores),
        share,
        ("TL109",) if _lies_in_memory(loader) else ("TL108",) if loader.workers else _ALONE,
        {
            "wait_ms": wait_ms,
            "workers": loader.workers,
            "processors": cores,
            "dataset": loader.dataset,
            "samples_ms": 1e3 * waits.samples_s / window.steps,
            "collate_ms": 1e3 * waits.collate_s / window.steps,
            "rank": window.rank,
        },
        waits.made,
        certain="replay" in evidence.certain and own >= CUT,
    )


_ALONE: Final = ("TL101", "TL108")


def _lies_in_memory(loader: LoaderOptions) -> bool:
    """Whether workers have nothing to do but to pass samples on."""
    return bool(loader.workers) and loader.dataset == "TensorDataset"


def _stage(waits: LoaderWaits, steps: int) -> str:
    """The stage that takes at least half of the wait. What workers do is not seen."""
    loader, half_s = waits.loader, waits.blocked_s / 2
    stages = ((waits.samples_s, _samples(loader)), (waits.collate_s, _collate(loader)))
    for seconds, name in stages:
        if not loader.workers and seconds >= half_s:
            return f", {1e3 * seconds / steps:.1f} of it in {name}"
    return ""


def _samples(loader: LoaderOptions) -> str:
    return f"`{loader.dataset}`" + (f" ({shown(loader.samples)})" if loader.samples else "")


def _collate(loader: LoaderOptions) -> str:
    return "collating" + (f" ({shown(loader.collate)})" if loader.collate else "")


def _action(waits: LoaderWaits, cores: int) -> str:
    loader = waits.loader
    if _lies_in_memory(loader):
        return "take samples that are in memory without workers"
    cheaper = f"make {_samples(loader)} cheaper"
    if not loader.workers:
        collates = waits.collate_s > waits.samples_s
        slow = f"make {_collate(loader)} cheaper" if collates else cheaper
        return "let workers load (`--sweep workers`)" if cores > 1 else slow
    return cheaper if loader.workers >= cores else f"add workers (`--sweep workers`), or {cheaper}"


def _alone(slowest: Window[InputSeen], evidence: Evidence) -> str:
    """Which rank it is, if the others wait clearly less."""
    others_s = others_wait_s(evidence.window(InputSeen))
    if others_s is None:
        return ""
    return f", on {slowest.who} ({1e3 * others_s:.1f} ms on the other ranks)"


def _starts(
    waits: LoaderWaits, evidence: Evidence, window: Window[InputSeen]
) -> Iterator[Observed]:
    """What it costs that workers start again, and that the first batch waits for them."""
    loader = waits.loader
    if not loader.workers or loader.persistent or not waits.firsts:
        return
    each_s = waits.first_s / waits.firsts
    if waits.firsts > 1:
        share = waits.first_s / window.seconds
    elif loader.length and 2 * waits.batches >= window.steps:  # an epoch of training
        share = each_s / (loader.length * evidence.timing.step_s)
    else:
        return  # how often such an epoch begins is unknown
    if share < _LEAST:
        return
    always = waits.batches == waits.firsts
    yield Observed(
        waits.place,
        f"{1e3 * each_s:.0f} ms until the first batch of "
        f"{'each step' if always else 'an epoch'}; {_many(loader.workers, 'worker')} started again",
        "keep one iterator over the steps" if always else "pass `persistent_workers=True`",
        min(share, _MOST_SHARE),
        ("TL104",) if always else ("TL103",),
        {"first_ms": 1e3 * each_s, "starts": waits.firsts, "workers": loader.workers},
        waits.made,
    )


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
