"""Let the host run ahead of the GPU, and each process ahead of the others.

## What it does
Reports `torch.cuda.synchronize()` and `torch.distributed.barrier()` that run on every training
step, also under the names of Accelerate and Fabric (`wait_for_everyone()`, `barrier()`).

## Why it is slow
The host queues kernels faster than the GPU runs them. `synchronize()` waits until the queue is
empty, so the GPU is idle until Python has queued the next kernels. A barrier makes each process
wait for the slowest one, at one more place than the exchange of gradients does already. Neither is
needed for correct numbers: a read such as `.item()` waits by itself, and work in one stream runs in
its order.

## Example
```python
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    torch.cuda.synchronize()
```

## Use instead
```python
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
```
To measure the time of a step, record two events, `torch.cuda.Event(enable_timing=True)`, and ask
for `elapsed_time` a few steps later.

## When it is silent
Where a clock is read in the same loop or helper, or the name of the function says that it measures;
after a copy to the CPU with `non_blocking=True`, which is only complete after a wait; in a function
whose name says that it waits, since other places may call it; under
`if step % 100 == 0` and similar conditions; in `except` blocks; in evaluation; between epochs.

## Fix safety
**Unsafe**: no value changes in a program that is correct. But one that relies on the wait, such as
a transfer between streams of its own without events, loses it.

## How verify confirms it
It measures the loop without the call, which needs a GPU; on a CPU there is nothing to wait for. The
numbers are bitwise equal.

## References
- PyTorch performance tuning guide, "Avoid unnecessary CPU-GPU synchronization"
- PyTorch documentation, "CUDA semantics: asynchronous execution"
"""

from torchlint.analysis.frameworks.frameworks import ANY
from torchlint.rule import Applicability, Context, Match, Rule, calls, method, remove

from ._needed_waits import is_a_wait_of_its_own, is_timed, waits_for_copy


def is_method(match: Match) -> bool:
    """`fabric.barrier()`, not `torch.distributed.barrier()`."""
    return not any(name.startswith("torch.") for name in match.module.resolve(match.call.func))


def _message(match: Match) -> str:
    if "synchronize" in match.module.source(match.call.func):
        return (
            "`synchronize()` makes the host wait for the GPU on every step; remove it, and measure "
            "times with `torch.cuda.Event`."
        )
    return (
        "This barrier makes each process wait for the slowest one on every step, as the exchange "
        "of gradients does already; remove it."
    )


rule = Rule(
    code="TL208",
    summary="the host waits for the device, or for all processes, on every training step",
    fix=Applicability.UNSAFE,
    finds=(
        calls("torch.cuda.synchronize", "torch.accelerator.synchronize"),
        calls("torch.distributed.barrier"),
        method(*sorted(ANY.barriers), where=(is_method,)),
    ),
    unless=(is_timed, waits_for_copy, is_a_wait_of_its_own),
    message=_message,
    change=remove,
    contexts=(Context.HOT,),
    needs_gpu=True,
)
