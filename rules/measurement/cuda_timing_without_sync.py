"""Wait for the GPU before you read the clock.

## What it does
Reports a clock that is read before and after work for the GPU, for each batch or for one operation,
where nothing waits for the GPU before the second read.

## Why it is slow
Python only queues the work: `model(x)` returns before the GPU has begun. The clock then shows the
time to queue it, and the next place that waits, such as `.item()`, is charged for all of it. Who
optimizes by such numbers optimizes the wrong place.

## Example
```python
def measure(model, batches):
    for images in batches:
        start = time.perf_counter()
        scores = model(images.to("cuda"))
        print(f"forward pass: {time.perf_counter() - start:.4f} s")
```

## Use instead
```python
def measure(model, batches):
    for images in batches:
        torch.cuda.synchronize()
        start = time.perf_counter()
        scores = model(images.to("cuda"))
        torch.cuda.synchronize()
        print(f"forward pass: {time.perf_counter() - start:.4f} s")
```
In a training loop, where waiting costs time on each step, record two events,
`torch.cuda.Event(enable_timing=True)`, and ask for `elapsed_time` a few steps later.
`torch.utils.benchmark.Timer` waits by itself, and runs a warm-up.

## When it is silent
Where something waits in between, or may: `synchronize()`, `.item()`, `.cpu()`, `print(loss)`, a
barrier, `generate()`, also in a function of the same file, and any function of another file that
gets a tensor or a model; for the time of a whole epoch or run, where the error is small; for times
from the end of one batch to that of the next, and those that only go into an average,
`batch_time.update(…)`; where the program uses no accelerator; in tests.

## Fix safety
There is no fix: waiting in a training loop slows it, and only you know what to measure.

## How verify confirms it
It does not: no number but the time is wrong. On a GPU, compare the printed time with the one after
`torch.cuda.synchronize()`.

## References
- PyTorch documentation, "CUDA semantics: asynchronous execution"
- PyTorch recipe, "PyTorch Benchmark"
"""

from torchlint.analysis.training.clocks import CLOCKS
from torchlint.rule import Context, Match, Rule, calls

from ._timed_work import times_unfinished_work


def _starts(match: Match) -> bool:
    return times_unfinished_work(match.call, match.module)


_KEPT = (
    r"=[ \t]{0,9}(?:\(\s{0,40})?[\w.]{0,40}"
    r"(?:time|perf_counter|monotonic|process_time|_timer)(?:_ns)?\(\)"
)
"""A clock that is read into a name."""

rule = Rule(
    code="TL801",
    summary="a clock is read before the GPU has done the work that is timed",
    finds=(calls(*CLOCKS, where=(_starts,)),),
    message="The time from here on is read before the GPU has done its work; call "
    "`torch.cuda.synchronize()` before both reads, or use `torch.cuda.Event`.",
    contexts=(Context.ACCELERATOR,),
    triggers=(_KEPT, r"\btorch\b"),
)
