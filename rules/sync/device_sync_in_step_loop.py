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

import re

import libcst as cst

from torchlint.analysis.frameworks.frameworks import ANY
from torchlint.analysis.training.clocks import clock_reads
from torchlint.analysis.uses import method_name
from torchlint.rule import (
    Applicability,
    Context,
    Match,
    Module,
    Rule,
    because,
    calls,
    method,
    once,
    remove,
)

_MEASURES = re.compile(r"(?:^|_)(?:time|timed|timing|bench|benchmark|profile|measure)(?:_|$)")
_WAITS = re.compile(r"barrier|synchroni[sz]e|wait_for")


def _is_timed(match: Match) -> bool:
    """Whether a clock is read in the same round of the same loop, or a function measures."""
    function = match.module.function(match.call)
    if function is not None and _MEASURES.search(function.name.value):
        return because(True, "`{}` measures times, by its name", function.name.value)
    clock = _timed(match.module).get(_round(match.call, match.module))
    return clock is not None and because(True, "it may belong to a measurement of times, {}", clock)


def _waits_for_copy(match: Match) -> bool:
    """Whether the same function copies to the host without waiting."""
    copy = _copying(match.module).get(match.module.function(match.call))
    return copy is not None and because(True, "it may wait for a copy to the host, {}", copy)


def _is_a_wait_of_its_own(match: Match) -> bool:
    """`def wait_for_all(): dist.barrier()`: where it is called decides."""
    function = match.module.function(match.call)
    waits = function is not None and _WAITS.search(function.name.value) is not None
    return waits and because(True, "{} is there to wait, and its callers decide when", function)


def is_method(match: Match) -> bool:
    """`fabric.barrier()`, not `torch.distributed.barrier()`."""
    return not any(name.startswith("torch.") for name in match.module.resolve(match.call.func))


rule = Rule(
    code="TL208",
    summary="the host waits for the device, or for all processes, on every training step",
    fix=Applicability.UNSAFE,
    finds=(
        calls(
            "torch.cuda.synchronize",
            "torch.accelerator.synchronize",
            message="`synchronize()` makes the host wait for the GPU on every step; remove it, and "
            "measure times with `torch.cuda.Event`.",
        ),
        calls("torch.distributed.barrier"),
        method(*sorted(ANY.barriers), where=(is_method,)),
    ),
    unless=(_is_timed, _waits_for_copy, _is_a_wait_of_its_own),
    message="This barrier makes each process wait for the slowest one on every step, as the "
    "exchange of gradients does already; remove it.",
    change=remove,
    contexts=(Context.HOT,),
    needs_gpu=True,
)


# waits that are needed ----------------------------------------------------------------------------


@once
def _timed(module: Module) -> dict[tuple[cst.CSTNode | None, cst.CSTNode | None], cst.Call]:
    """By the function and the loop: a call that reads a clock there."""
    read = clock_reads(module) + module.calls_by_method.get("elapsed_time", [])
    return {_round(call, module): call for call in read}


def _round(
    call: cst.Call, module: Module
) -> tuple[cst.FunctionDef | None, cst.For | cst.While | None]:
    return module.function(call), next(module.loops.loops_around(call), None)


@once
def _copying(module: Module) -> dict[cst.FunctionDef | None, cst.Call]:
    """By the function: a call in it that copies to the host without waiting."""
    calls = (module.enclosing(word, cst.Call) for word in module.spelled("non_blocking"))
    return {
        module.function(call): call
        for call in calls
        if call is not None
        and (
            method_name(call) in ("copy_", "cpu")
            or any(module.values.is_cpu(arg.value) for arg in call.args)
        )
    }
