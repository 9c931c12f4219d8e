"""What a step waits for.

## What it does
Says in one sentence, above all findings, what sets the length of a step: the input, the processor,
the host that queues work for the GPU, or the GPU.

## Why it matters
A fix for something else gives nothing. If the step waits for the loader, a faster layer does not
shorten it; if the host needs the whole step to queue its kernels, a faster GPU does not either.

## How it is seen
On a CPU, by the time of the training process against the time of the step, and by what the first
look saw: if three tenths of a step or more wait for the next batch, the limit is the input. On a
GPU, by the time in which the host queues some steps without waiting, against the time between two
events in the stream: if the host needs nine tenths of a step or more, it is the limit.

## What the ceiling means
There is none: it is where to look first.

## When it is silent
It is always said, if a step could be timed.

## What to do
Read the findings of the same family first.
"""

from __future__ import annotations

from torchlint.profile.kind import Kind

kind = Kind(code="TR001", summary="what a step waits for: input, processor, host or device")
