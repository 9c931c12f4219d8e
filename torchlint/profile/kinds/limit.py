"""What a step waits for.

## What it does
Says in one sentence, above all findings, what sets the length of a step: the input, the processor,
another rank, the host that queues work for the GPU, or the GPU. It also says whether other
processes take the processors.

## Why it matters
A fix for something else gives nothing. If the step waits for the loader, a faster layer does not
shorten it; if the host needs the whole step to queue its kernels, a faster GPU does not either.

## How it is seen
On a CPU, by the time of the training process against the time of the step, and by what the run
that watches the input saw, or the first look where there is no such run: if three tenths of a step
or more wait for the next batch, the limit is the input. A
process that runs, or is ready to, for less than half of a step is not limited by the processor: it
waits for something. Linux counts how long the thread that trains was ready and had no processor.

With several ranks, the runs that watch the input and the messages tell which rank is waited for:
one whose input takes three tenths of a step, and that of the others not half as long, or else one
that itself waits for messages not half as long as the others.

On a GPU, by the time in which the host queues some steps without waiting, against the time between
two events in the stream: if the host needs nine tenths of a step or more, it is the limit, or the
input if it waits for that.

## What the ceiling means
There is none: it is where to look first.

## When it is silent
The limit is always shown if a step could be timed. Ranks are not compared where `--only` leaves out
those runs, nor other processes where the system does not count them.

## What to do
Read the findings of the same family first.
"""

from __future__ import annotations

from torchlint.profile.kind import FindingKind

kind = FindingKind(
    code="TR001", summary="what a step waits for: input, processor, rank, host or device"
)
