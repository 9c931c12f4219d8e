"""Send bytes as bytes.

## What it does
Reports a loader whose batches are floating-point numbers that all fit into a byte: whole numbers
from 0 to 255, or those divided by 255, as `ToTensor` makes them of an image.

## Why it is slow
A value takes four bytes instead of one where the batch is put together, where a worker hands it to
the training process, and where it is copied to a GPU. The division is done on a processor, sample
by sample, where the device would do it for a whole batch in almost no time.

## How it is seen
In the run that counts, some thousand values of the first three batches are looked at; tensors of
less than 64 KiB and with few different values are not. Then the run writes as many bytes into
memory that processes share as a batch has, and reads them there, and the same with one byte for
each value.

## What the ceiling means
The difference between those times, for the batches of a step: workers write side by side, so that
each saves its part, and together no more than the step waits for them. On a GPU also three quarters
of the time in which the host copies batches and waits for that.

## When it is silent
- On a CPU without workers, where nothing is sent.
- If the step does not wait for its batches, nor the host for their copies.
- For values that are normalized by more than a division by 255, as by a mean and a deviation.

## What to do
Keep samples as `torch.uint8` in the dataset and in the collate function, and convert the batch
where the model is: `images = images.to(device).float().div_(255)`. The numbers stay the same up to
rounding.

## References
- PyTorch documentation, `torchvision.transforms.v2`: "Performance considerations"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import scaled
from torchlint.profile.kind import FindingKind, Observed
from torchlint.profile.loader_waits import processors_of_a_rank, waited_share
from torchlint.runtime.probe.instrument_messages import FloatBytesSeen, InputSeen, ReadsSeen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.evidence import Evidence
    from torchlint.runtime.probe.instrument_messages import ByteBatches, LoaderWaits

_LEAST: Final = 0.01
"""Of a step; less is not a finding."""

kind = FindingKind(
    code="TR104",
    summary="batches carry bytes as floating-point numbers",
    instruments=("floatbytes", "input", "replay", "reads"),
)


@kind.judges
def judge(evidence: Evidence) -> Iterator[Observed]:
    """A finding for each place that takes such batches."""
    window, waits = evidence.window(FloatBytesSeen), evidence.window(InputSeen)
    for batches in window.seen.places:
        each_step = batches.batches / window.steps
        size = batches.size * each_step
        loaders = [each for each in waits.seen.loaders if each.place == batches.place]
        share = _sent(batches, each_step, loaders, evidence) + _copied(batches, size, evidence)
        if not size or share < _LEAST:
            continue
        yield Observed(
            batches.place,
            f"{scaled(size, 'B')} a step of floating-point numbers that are whole bytes, "
            f"{scaled(size / batches.width, 'B')} as `uint8`",
            "load `uint8`, and convert the batch on the device",
            share,
            (),
            {"bytes": size, "width": batches.width},
            loaders[0].made if loaders else None,
        )


def _sent(
    batches: ByteBatches, each_step: float, loaders: list[LoaderWaits], evidence: Evidence
) -> float:
    """The share of a step that it takes less if workers send bytes."""
    window = evidence.window(InputSeen)
    working = [each for each in loaders if each.loader.workers]
    if not working:
        return 0.0
    waited = sum(waited_share(each, evidence, window) for each in working)
    at_once = min(working[0].loader.workers, processors_of_a_rank(evidence))
    part = each_step / evidence.timing.step_s
    return min(waited, batches.written_s / at_once * part + batches.read_s * part)


def _copied(batches: ByteBatches, size: float, evidence: Evidence) -> float:
    """The share that copies to a GPU take less, which the host waits for."""
    window = evidence.window(ReadsSeen)
    copied = sum(each.size for each in window.seen.copies) / window.steps
    if not evidence.on_gpu or not copied:
        return 0.0
    seconds = sum(each.seconds for each in window.seen.copies)
    part = min(1.0, size / copied) * (1 - 1 / batches.width)
    return part * evidence.at_most(seconds, window)
