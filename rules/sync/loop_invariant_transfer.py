"""Copy to the device once what stays the same on every step.

## What it does
Reports `model.to(device)` and `criterion.cuda()` in a step loop, `weights.to(device)` in a step
loop that never changes `weights`, and `self.kernel.to(x.device)` in a `forward` where `__init__`
keeps the tensor in host memory, also a part or a view of it; also in other methods that copy it to
the device of what they are given.

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
may be on the device already, for an attribute that another setting makes a parameter of the module,
for what a function of another file makes, if its name says that it is a table of positions, and for
a table that a method of any other class copies to the device of what it is given.

## Fix safety
**Unsafe**: the fix moves a line that contains only `model.to(device)` before the loop. If the loop
calls a function that replaces the module, the new one stays where it was made. There is no fix for
tensors, since other lines may need them in host memory, and none for attributes of a module, which
become buffers.

## How verify confirms it
It measures the fix, on a CPU as well as on a GPU. The numbers are bitwise equal.

## References
- PyTorch documentation, `torch.nn.Module.register_buffer`
- PyTorch performance tuning guide, "Avoid unnecessary CPU-GPU synchronization"
"""

import re

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.training.batches import loads, runs_each_time
from torchlint.analysis.training.transfers import transfer_of
from torchlint.analysis.uses import method_name, receiver
from torchlint.analysis.values.kinds import Kind
from torchlint.rule import (
    STEP_TEXT,
    Applicability,
    Context,
    Fix,
    Match,
    Module,
    Rule,
    Triggers,
    because,
    edits,
    method,
    once,
)

_MOST_CALLS = 50
_CONSTANT = re.compile(
    rb"(?m)^(?:[ \t]*self\.)?([A-Za-z_]\w{0,80})[ \t]*=[ \t]*"
    rb"(?:(?:torch|np|numpy)\w*\.(?!nn\b)[a-z]|(\w{1,60})\()"
)
_MOVED = re.compile(rb"\.(?:to|cuda|type_as)\(")
_NAME = re.compile(
    rb"(\w{1,80})(?:\[[^\n\]]{0,80}\])?(?:\.(?:expand|unsqueeze|view)\([^()\n]{0,40}\))?$"
)
_VIEWS = frozenset(
    "clone contiguous detach expand flatten float half permute repeat reshape squeeze t transpose "
    "type_as unsqueeze view".split()
)
_MAKES_TABLE = re.compile(r"sinusoid|sin_?cos|encoding_table|pos_(?:table|encoding)")
"""In names of functions that make a table of positions, mostly in host memory."""


def _may_move_older(text: bytes) -> bool:
    """Whether a file moves a name or an attribute that it gives a new tensor."""
    given = _CONSTANT.findall(text)
    kept = {name for name, by in given if not by or _MAKES_TABLE.search(by.decode("latin-1"))}
    ends = (each.start() for each in _MOVED.finditer(text)) if kept else ()
    names = (_NAME.search(text[max(0, end - 80) : end]) for end in ends)
    moves = any(name is not None and name[1] in kept for name in names)
    said = "the file copies nothing to a device by a name or attribute that it gives a new tensor"
    return moves or because(False, said)


def _moved_of(match: Match) -> cst.BaseExpression:
    """What is moved; `self.table` for `self.table[:n].expand(2, -1)`."""
    node = match.receiver
    while True:
        if isinstance(node, cst.Subscript):
            node = node.value
        elif isinstance(node, cst.Call) and method_name(node) in _VIEWS:
            if transfer_of(node, match.module) is not None:
                return match.receiver
            node = receiver(node)
        else:
            return node if dotted_text(node).startswith("self.") else match.receiver


@once
def _calls_that_change(module: Module) -> dict[str, list[cst.Call]]:
    """The calls of methods that change their object, by its text: `x.fill_(0)`, `x[0].fill_(0)`."""
    found: dict[str, list[cst.Call]] = {}
    for name, calls in module.calls_by_method.items():
        for call in calls if name.endswith("_") else ():
            node = receiver(call)
            while isinstance(node, cst.Subscript):
                node = node.value
            found.setdefault(dotted_text(node), []).append(call)
    return found


def _runs_once(match: Match) -> bool:
    """Whether nothing shows that it runs on each step, or on each call of a module."""
    module, call = match.module, match.call
    if isinstance(module.small_statement(call), cst.Return) and module.step_loop(call):
        return because(True, "the loop ends here, so this runs once")
    if loads(call, module):
        return because(True, "this is where batches are loaded, perhaps in a worker process")
    return not _is_table(match) and not runs_each_time(call, module)


def _is_table(match: Match) -> bool:
    """Whether a method copies an attribute to the device of what it is given: `self.table.to(
    x.device)`. It is copied on each call, whoever calls it."""
    transfer, module = transfer_of(match.call, match.module), match.module
    target = None if transfer is None or transfer.target is None else transfer.target.value
    owner = target.value if isinstance(target, cst.Attribute) else target
    if owner is None or not module.flow.is_parameter(owner) or dotted_text(owner) == "self":
        return False
    if not isinstance(_moved_of(match), cst.Attribute):
        return False
    return module.guard(match.call) is None and not module.in_evaluation(match.call)


def _runs_when_called(match: Match) -> bool:
    """Whether only its callers know how often it runs."""
    rarely = not runs_each_time(match.call, match.module)
    return rarely and because(True, "nothing in the file shows that this runs on each step")


def _follows_device(match: Match) -> bool:
    """Whether the call moves nothing to the device, or to another device on each round."""
    transfer = transfer_of(match.call, match.module)
    if transfer is None:
        return because(True, "nothing shows that this copies to a device")
    if transfer.target is None or transfer.like:
        return False
    target = transfer.target.value
    return isinstance(target, cst.Name) and not _is_older(target, match.call, match.module)


def _changes(match: Match) -> bool:
    """Whether the step makes what is moved, or changes it in place."""
    node, call, module = _moved_of(match), match.call, match.module
    return not _is_older(node, call, module) or _is_changed(node, call, module)


def _is_module(match: Match) -> bool:
    module = match.module.value(match.receiver).has(Kind.MODULE)
    return module or because(False, "nothing shows that {:code} is a module", match.receiver)


def _is_moved_back(match: Match) -> bool:
    """Whether the file also moves it to host memory, to make room or to save it."""
    back = _moved_to_host(match.module).get(dotted_text(match.receiver))
    return back is not None and because(True, "{} moves it back to host memory", back)


def _is_tensor(match: Match) -> bool:
    """Whether it is a tensor in host memory, or a parameter of the function that may be one."""
    host = match.module.value(match.receiver).only(Kind.CPU)
    tensor = host or _may_be_table(match) or (_is_parameter(match) and not _is_module(match))
    said = "nothing shows that {:code} is a tensor in host memory"
    return tensor or because(False, said, match.receiver)


def _may_be_table(match: Match) -> bool:
    """Whether an attribute is a tensor in host memory by one of its assignments: a table of
    positions, where a setting may ask for a parameter that is learned."""
    moved, module = _moved_of(match), match.module
    if not isinstance(moved, cst.Attribute) or module.value(match.receiver).only(Kind.CPU):
        return False
    for each in module.values.assigned(module.class_(moved), moved.attr.value):
        made = each.value
        if not isinstance(made, cst.Call) or module.calls(made, "torch.nn.Parameter"):
            continue
        if module.value(made).only(Kind.CPU) or _MAKES_TABLE.search(dotted_text(made.func)):
            return because(True, "{:code} is in host memory if {} makes it", moved, each.node)
    return False


def _is_parameter(match: Match) -> bool:
    passed = match.module.flow.is_parameter(match.receiver)
    said = "{:code} is a parameter, which may be on the device already"
    return passed and because(True, said, match.receiver)


def _moved(match: Match) -> str:
    name = match.module.source(match.receiver)
    return f"`{name}` is moved on every step, which visits all its parameters; move it once."


def _copied(match: Match) -> str:
    name = match.module.source(_moved_of(match))
    if _runs_when_called(match):
        return f"`{name}` is copied from host memory on each call; keep it on the device."
    if match.module.step_loop(match.call) is None:
        return f"`{name}` is copied from host memory on each call; register it as a buffer."
    return f"`{name}` is the same on every step, and is copied each time; copy it before the loop."


def _before_the_loop(match: Match) -> Fix | str:
    """Put a line that only moves a module before the loop."""
    module, loop = match.module, match.module.step_loop(match.call)
    statement = module.small_statement(match.call)
    assert statement is not None
    if loop is None or getattr(statement, "value", None) is not match.call:
        return "move it where the module is made"
    line = module.parent(statement)
    if loop.node.body not in (line, line and module.parent(line)):
        return "the line is in a block inside the loop"
    changes = edits.move_before(module, statement, loop.node)
    return Fix(Applicability.UNSAFE, "Move it before the loop", changes)


rule = Rule(
    code="TL211",
    summary="what stays the same is moved to the device on every training step",
    fix=Applicability.UNSAFE,
    finds=(
        method("to", "cuda", where=(_is_module,), message=_moved, change=_before_the_loop),
        method(
            "to",
            "cuda",
            "type_as",
            where=(_is_tensor,),
            hint_if=(_is_parameter, _may_be_table, _runs_when_called),
        ),
    ),
    unless=(_runs_once, _follows_device, _changes, _is_moved_back),
    message=_copied,
    change="other lines may need it in host memory",
    contexts=(Context.ACCELERATOR,),
    triggers=Triggers(check=_may_move_older, unless=STEP_TEXT),
)


# what is older than the loop ----------------------------------------------------------------------


def _is_older(node: cst.BaseExpression, place: cst.CSTNode, module: Module) -> bool:
    """Whether a name was bound before the step around a place, or an attribute when its object
    was made."""
    if isinstance(node, cst.Name):
        for each in module.flow.reaching(node):
            if _is_in_step(each.node, place, module):
                said = "{:code} is new on each step, or on each call, from {:line}"
                return because(False, said, node, each.node)
        return True
    if not isinstance(node, cst.Attribute) or module.source(node.value) != "self":
        return because(False, "nothing shows that {:code} is the same on each step", node)
    kept = _is_kept(module, module.class_(node), node.attr.value)
    return kept or because(False, "{:code} is not set by `__init__` alone", node)


@once
def _is_kept(module: Module, class_: cst.ClassDef | None, name: str) -> bool:
    """Whether only `__init__` sets an attribute."""
    kept = module.values.assigned(class_, name)
    setters = [module.qualified_name(module.function(each.node)) for each in kept]
    return bool(kept) and all(setter.endswith("__init__") for setter in setters)


def _is_changed(node: cst.BaseExpression, place: cst.CSTNode, module: Module) -> bool:
    """Whether the step around a place changes something by a method."""
    calls = _calls_that_change(module).get(dotted_text(node), [])[:_MOST_CALLS]
    for call in calls:
        if _is_in_step(call, place, module):
            return because(True, "{} changes it in place", call)
    return False


def _is_in_step(node: cst.CSTNode, place: cst.CSTNode, module: Module) -> bool:
    """Whether a node is part of the step around a place: of its step loop, or of its function."""
    loop = module.step_loop(place)
    step = module.function(place) if loop is None else loop.node
    return any(each is step for each in (node, *module.ancestors(node)))


@once
def _moved_to_host(module: Module) -> dict[str, cst.Call]:
    moves = [
        call
        for name in ("cpu", "to")
        for call in module.calls_by_method.get(name, ())
        if name == "cpu" or any(module.values.is_cpu(arg.value) for arg in call.args)
    ]
    return {dotted_text(call.func).rpartition(".")[0]: call for call in moves}
