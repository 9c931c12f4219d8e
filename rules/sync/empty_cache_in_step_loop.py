"""Leave the allocator's cache alone while training.

## What it does
Reports `torch.cuda.empty_cache()` that runs on every training step, in the step loop or in a
helper that it calls; `gc.collect()` there is a hint. If the helper is the project's own
`torch_gc()` or the like, the finding is in the helper, names the loop that calls it, and asks you
to remove that call.

## Why it is slow
PyTorch keeps freed GPU memory in a cache, since asking the driver for memory is slow.
`empty_cache()` waits for the GPU, gives the cached blocks back to the driver, and the next step
asks for the same blocks again, which waits once more. It frees nothing that PyTorch could not have
reused, so it prevents an out-of-memory error only where another process needs the memory, or where
the cache is fragmented. `gc.collect()` looks at every object of the process, hundreds of thousands
after `import torch`, while no kernels are launched; tensors are freed without it.

## Example
```python
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    torch.cuda.empty_cache()
```

## Use instead
```python
for images, labels in loader:
    loss = criterion(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
```
If the cache is fragmented, set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` instead.

## When it is silent
Under `if step % 100 == 0` and the like, in `except` blocks, in evaluation, in tests, and between
epochs.

## Fix safety
**Unsafe**: no value changes, but a program that only just fits into memory may no longer fit, as
where the garbage is tensors in cycles of references. There
is no fix in a helper such as `torch_gc()`, which other code may call where it helps.

## How verify confirms it
It measures the loop without the call, which needs a GPU; on a CPU the call does nothing. The
numbers are bitwise equal.

## References
- PyTorch documentation, "CUDA semantics: memory management"
- Hugging Face Transformers, pull request 31530, which removed such a call for its cost
"""

import re

from torchlint.rule import Applicability, Change, Context, Effect, Match, Rule, Tier, calls, remove

_FREES = re.compile(
    r"(?:^|_)(?:empty|cache|gc|garbage|clear|clean\w{0,40}|free|release|flush|memory)(?:_|$)"
)
"""Functions of a project that are called to free memory."""


def _wrapper(match: Match) -> str:
    """The function that frees memory for others and has the call, as `torch_gc` does."""
    module = match.module
    function = module.function(match.call)
    if function is None or module.step_loop(match.call) is not None:
        return ""
    return function.name.value if _FREES.search(function.name.value) else ""


def _message(match: Match) -> str:
    name = _wrapper(match)
    what = f"remove the call of `{name}` in the loop" if name else "remove it"
    if match.module.calls(match.call, "gc.collect"):
        return f"`gc.collect()` looks at every object of the process on every step; {what}."
    return (
        "`empty_cache()` waits for the GPU on every step, and the next step allocates the same "
        f"memory again; {what}."
    )


def _change(match: Match) -> Change | str:
    name = _wrapper(match)
    return f"other code may call `{name}` where it helps" if name else remove(match)


rule = Rule(
    code="TL209",
    effect=Effect.LARGE,
    summary="the allocator's cache is emptied, or garbage collected, on every training step",
    fix=Applicability.UNSAFE,
    finds=(
        calls("torch.cuda.empty_cache", "torch.accelerator.empty_cache"),
        calls("gc.collect", tier=Tier.HINT),
    ),
    message=_message,
    change=_change,
    contexts=(Context.HOT,),
    needs_gpu=True,
)
