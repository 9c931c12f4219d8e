"""Copy to the device once what stays the same on every step.

## What it does
Reports `model.to(device)` and `criterion.cuda()` in a step loop, `weights.to(device)` in a step
loop that never changes `weights`, and `self.kernel.to(x.device)` in a `forward` where `__init__`
keeps the tensor in host memory.

## Why it is slow
A tensor in host memory crosses the bus again on every step, and Python waits for that copy behind
all that the GPU has queued. A module that is already on the device is not copied, but `.to()` still
visits each of its parameters: measured on a CPU, 1.35 ms per call for 400 parameters.

## Example
```python
weights = torch.tensor([0.2, 1.0, 3.0])
for images, labels in loader:
    model.to(device)
    output = model(images.to(device))
    loss = F.cross_entropy(output, labels.to(device), weight=weights.to(device))
    loss.backward()
    optimizer.step()
```

## Use instead
```python
weights = torch.tensor([0.2, 1.0, 3.0], device=device)
model.to(device)
for images, labels in loader:
    output = model(images.to(device))
    loss = F.cross_entropy(output, labels.to(device), weight=weights)
    loss.backward()
    optimizer.step()
```
In a module, `self.register_buffer("kernel", kernel, persistent=False)` keeps a constant that moves
with the module and is not part of checkpoints.

## When it is silent
For what the loop assigns, fills or changes in place; for a module that the same code also moves to
the CPU, to save memory; if the device depends on the loop; under `if step % 100 == 0` and similar
conditions; in evaluation, in datasets and in tests. It is a hint for a parameter of a function that
may lie on the device already.

## Fix safety
**Unsafe**: the fix moves a line with nothing but `model.to(device)` before the loop. If the loop
calls a function that replaces the module, the new one stays where it was made. There is no fix for
tensors, since other lines may need them in host memory, and none for attributes of a module, which
become buffers.

## How verify confirms it
It measures the fix, on a CPU as well as on a GPU. The numbers are bitwise equal.

## References
- PyTorch documentation, `torch.nn.Module.register_buffer`
- PyTorch performance tuning guide, "Avoid unnecessary CPU-GPU synchronization"
"""

import libcst as cst

from torchlint.analysis.training.batches import loads, runs_each_time
from torchlint.analysis.training.transfers import transfer_of
from torchlint.analysis.values.kinds import Kind
from torchlint.rule import (
    STEP_TEXT,
    Applicability,
    Context,
    Fix,
    Match,
    Rule,
    because,
    edits,
    method,
)

from ._older import is_changed, is_older, may_move_older, moved_to_host


def _runs_once(match: Match) -> bool:
    """Whether nothing shows that it runs on each step, or on each call of a module."""
    module, call = match.module, match.call
    if isinstance(module.small_statement(call), cst.Return) and module.step_loop(call):
        return because(True, "the loop ends here, so this runs once")
    if loads(call, module):
        return because(True, "this is where batches are loaded, perhaps in a worker process")
    return not runs_each_time(call, module)


def _follows_device(match: Match) -> bool:
    """Whether the call moves nothing to the device, or to another device on each round."""
    transfer = transfer_of(match.call, match.module)
    if transfer is None:
        return because(True, "nothing shows that this copies to a device")
    if transfer.target is None or transfer.like:
        return False
    target = transfer.target.value
    return isinstance(target, cst.Name) and not is_older(target, match.call, match.module)


def _changes(match: Match) -> bool:
    """Whether the step makes what is moved, or changes it in place."""
    node, call, module = match.receiver, match.call, match.module
    return not is_older(node, call, module) or is_changed(node, call, module)


def _is_module(match: Match) -> bool:
    module = match.module.value(match.receiver).has(Kind.MODULE)
    return module or because(False, "nothing shows that {:code} is a module", match.receiver)


def _is_moved_back(match: Match) -> bool:
    """Whether the file also moves it to host memory, to make room or to save it."""
    back = moved_to_host(match.receiver, match.module)
    return back is not None and because(True, "{} moves it back to host memory", back)


def _is_tensor(match: Match) -> bool:
    """Whether it is a tensor in host memory, or a parameter of the function that may be one."""
    host = match.module.value(match.receiver).only(Kind.CPU)
    tensor = host or (_is_parameter(match) and not _is_module(match))
    said = "nothing shows that {:code} is a tensor in host memory"
    return tensor or because(False, said, match.receiver)


def _is_parameter(match: Match) -> bool:
    passed = match.module.flow.is_parameter(match.receiver)
    said = "{:code} is a parameter, which may lie on the device already"
    return passed and because(True, said, match.receiver)


def _message(match: Match) -> str:
    name = match.module.source(match.receiver)
    if _is_module(match):
        return f"`{name}` is moved on every step, which visits all its parameters; move it once."
    if match.module.step_loop(match.call) is None:
        return f"`{name}` is copied from host memory on each call; register it as a buffer."
    return f"`{name}` is the same on every step, and is copied each time; copy it before the loop."


def _before_the_loop(match: Match) -> Fix | str:
    """Put a line that does nothing but move a module before the loop."""
    module, loop = match.module, match.module.step_loop(match.call)
    if not _is_module(match):
        return "other lines may need it in host memory"
    statement = module.small_statement(match.call)
    assert statement is not None
    if loop is None or getattr(statement, "value", None) is not match.call:
        return "move it where the module is made"
    line = module.parent(statement)
    if loop.node.body not in (line, line and module.parent(line)):
        return "the line stands in a block inside the loop"
    changes = edits.move_before(module, statement, loop.node)
    return Fix(Applicability.UNSAFE, "Move it before the loop", changes)


rule = Rule(
    code="TL211",
    summary="what stays the same is moved to the device on every training step",
    fix=Applicability.UNSAFE,
    finds=(
        method("to", "cuda", where=(_is_module,)),
        method("to", "cuda", "type_as", where=(_is_tensor,), hint_if=(_is_parameter,)),
    ),
    unless=(_runs_once, _follows_device, _changes, _is_moved_back),
    message=_message,
    change=_before_the_loop,
    contexts=(Context.ACCELERATOR,),
)
rule.narrow(may_move_older, unless=STEP_TEXT)
