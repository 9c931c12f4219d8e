"""Keep the index on the device, if it picks from a tensor there.

## What it does
Reports a tensor on the device that is indexed by a tensor in host memory or by a NumPy array, on
each training step: `points[torch.randperm(n)]`, `q[np.arange(n), actions]`,
`scores[np.where(wanted)]`, and `features[rows]` where `rows` comes from a loader. As a hint also
such an index of what a model computes with, of which nothing else is known, and the indices that a
matcher gives in the way of DETR, `outputs["boxes"][idx]`, once for each line: they are made by
`linear_sum_assignment` of scipy, and each image and each line copies them anew.

## Why it is slow
The kernel that picks the rows needs the index on the device, so PyTorch copies it there first. The
copy takes its turn behind all that the GPU has queued, and Python waits until it is done, as it
does for `.item()`. With an index that is created on the device, nothing is copied and nothing
waits.

## Example
```python
for images, labels in loader:
    images, labels = images.to(device), labels.to(device)
    mixed = (images + images[torch.randperm(len(images))]) / 2
    loss = criterion(model(mixed), labels)
    loss.backward()
    optimizer.step()
```

## Use instead
```python
for images, labels in loader:
    images, labels = images.to(device), labels.to(device)
    mixed = (images + images[torch.randperm(len(images), device=device)]) / 2
    loss = criterion(model(mixed), labels)
    loss.backward()
    optimizer.step()
```
What a matcher gives is moved once, where it returns it: `[(i.to(device), j.to(device)) for i, j in
indices]`. An index that a loader gives can be copied in the background: `rows = rows.to(device,
non_blocking=True)`, from a loader with `pin_memory=True`.

## When it is silent
For numbers, slices and lists; for masks, since the device must be asked how many of their values
are true; where it is not certain that the index is in host memory, or, outside of a model, that the
tensor is on the device; under `if step % 100 == 0` and similar conditions; in evaluation and in
tests; for a matcher, if no file of the program calls `linear_sum_assignment`. It is a hint where
another index next to it may be in host memory, too, and where the index is computed with what a
caller passes.

## Fix safety
**Safe** for `torch.arange`, which holds the same numbers on each device. **Unsafe** for
`randperm` and `randint`, since the GPU has a random generator of its own, and for `np.arange`,
which becomes `torch.arange`. There is no fix for an index that is made on another line: that line
may also need it in host memory.

## How verify confirms it
It measures the fix, which needs a GPU: on a CPU nothing is copied. The numbers are bitwise equal
after a safe fix.

## References
- PyTorch performance tuning guide, "Avoid unnecessary CPU-GPU synchronization"
- `torch.cuda.set_sync_debug_mode("warn")` warns about each such place at run time
"""

import re
from collections.abc import Iterator

import libcst as cst

from torchlint.analysis.literals import argument
from torchlint.analysis.names import Binding, How, dotted_text
from torchlint.analysis.training.batches import runs_in_forward
from torchlint.analysis.training.syncs import Operand, tensor_at
from torchlint.analysis.training.whereabouts import off_device
from torchlint.analysis.uses import method_name, receiver
from torchlint.analysis.values.kinds import ARRAYS, ON_HOST, Kind, Value, placing
from torchlint.rule import (
    Applicability,
    Context,
    Fix,
    Module,
    Reported,
    Rule,
    Tier,
    because,
    edits,
    once,
)

_IN_HOST_MEMORY = Kind.CPU | ARRAYS
_CREATE = ("torch.arange", "numpy.arange", "torch.randperm", "torch.randint")

_MATCHES = "a matcher on the host"

_MATCHER = re.compile(r"(?:^|_)matcher$")
_INDICES = re.compile(r"(?:^|_)(?:indices|matches|matched_ids?)$")
_OF_INDICES = re.compile(r"idx|indic|index|perm|match")
"""Methods that make indices of indices; others of a criterion give losses."""
_MOVES = frozenset({"cuda", "item", "numel", "size", "to", "tolist"})

rule = Rule(
    code="TL217",
    summary="a tensor on the device is indexed by one in host memory on every training step",
    fix=(Applicability.SAFE, Applicability.UNSAFE),
    contexts=(Context.HOT, Context.ACCELERATOR),
    triggers=(r"rand|arange|permutation|choice|[Ll]oader|numpy|\bnp\.|\btensor\(|matcher\(",),
    clues={_MATCHES: r"\blinear_sum_assignment\("},
    program_lacks={"a default device": r"set_default_device\(|set_default_tensor_type\("},
    needs_gpu=True,
    may_change="another random generator chooses",
)


@rule.on(cst.Subscript)
def copies_its_index_each_step(item: cst.Subscript, module: Module) -> Iterator[Reported]:
    indices = [each.slice.value for each in item.slice if isinstance(each.slice, cst.Index)]
    picked = module.value(item.value)
    for index in _looked_at(indices, picked, module):
        if not _is_on_host(module.value(index)):
            because(None, "nothing shows that {:code} is in host memory", index)
        elif _is_mask(index, module):
            because(None, "{:code} is a mask, for which Python waits on the device too", index)
        elif (operand := _of_picked(item, picked, module)) is not None:
            others = (each for each in indices if each is not index)
            stays = next((each for each in others if _may_stay(each, module)), None)
            if module.value(index).has(Kind.PARAMETER):
                stays = index
            yield from _copied(index, item, stays, operand, module)


def _of_picked(item: cst.Subscript, picked: Value, module: Module) -> Operand | None:
    """What is known of the tensor that is indexed; a guess in a model, and for what an unknown
    function made of a batch."""
    made = Kind.PARAMETER | Kind.TENSOR  # computed from what a caller passes
    if picked.only(Kind.DEVICE | Kind.PARAMETER) or (
        picked.has(Kind.PARAMETER) and picked.only(made)
    ):
        parameters = tuple(sorted(picked.parameters - placing(picked.parameters)))
        return Operand(picked.only(Kind.DEVICE), tensor=False, parameters=parameters)
    guess = picked.has(Kind.LIKELY) or runs_in_forward(item, module)
    known = tensor_at(item.value, module) if guess else None
    return known or off_device(None, item.value, module)


@rule.on_module
def copies_what_a_matcher_gave(module: Module) -> Iterator[Reported]:
    for item, index in _copied_indices(module):
        yield from rule.report(
            module,
            item,
            f"`{module.source(index)}` is made of what the matcher gave, which is in host memory, "
            "so it is copied to the device on every step, and Python waits for that; move the "
            "indices once, where the matcher returns them.",
            tier=because(Tier.HINT, "the matcher may move them itself"),
            fix="other lines may need it in host memory",
            texts=(*rule.texts(), f"has {_MATCHES}"),
        )


def _looked_at(
    indices: list[cst.BaseExpression], picked: Value, module: Module
) -> list[cst.BaseExpression]:
    """The indices in host memory, and those of a tensor on the device that may be tensors."""
    on_device = picked.has(Kind.DEVICE)
    values = [(each, module.value(each)) for each in indices]
    return [
        each
        for each, value in values
        if _is_on_host(value) or (on_device and not value.only(Kind.HOST))
    ]


def _is_on_host(value: Value) -> bool:
    """Whether it is a tensor or an array in host memory, or several, as `np.where(mask)` gives;
    also one that is computed from that and a parameter, `torch.arange(n) + shift`."""
    if value.only(Kind.CONTAINER) and value.element is not None:
        return value.element.only(ARRAYS)
    if value.has(Kind.PARAMETER):
        return value.has(Kind.CPU) and value.only(Kind.CPU | Kind.PARAMETER)
    return value.only(_IN_HOST_MEMORY)


def _copied(
    index: cst.BaseExpression,
    item: cst.Subscript,
    stays: cst.BaseExpression | None,
    operand: Operand,
    module: Module,
) -> Iterator[Reported]:
    """The finding on an index that is copied to the device."""
    said = "{:code} may be in host memory too, so that Python waits in any case"
    if stays is index:
        said = "nothing shows what {:code} is computed with"
    return rule.report(
        module,
        index,
        f"`{module.source(index)}` is in host memory, so it is copied to the device on every "
        "step, and Python waits for that; create it there.",
        tier=None if stays is None else because(Tier.HINT, said, stays),
        fix=_create_on_device(index, item, module),
        operand=operand,
    )


def _creates(index: cst.BaseExpression, module: Module) -> bool:
    return isinstance(index, cst.Call) and module.calls(index, *_CREATE)


def _may_stay(index: cst.BaseExpression, module: Module) -> bool:
    """Whether another index may be in host memory, too, so that Python waits for it."""
    return not _creates(index, module) and not module.value(index).only(Kind.DEVICE | Kind.HOST)


def _is_mask(index: cst.BaseExpression, module: Module) -> bool:
    """Whether it says for each element whether to take it, so that Python waits in any case."""
    for each in (index, *(binding.value for binding in module.flow.reaching(index))):
        inverts = isinstance(each, cst.UnaryOperation) and isinstance(each.operator, cst.BitInvert)
        if each and (inverts or isinstance(each, cst.Comparison) or "bool" in module.source(each)):
            return True
    return False


def _create_on_device(index: cst.BaseExpression, item: cst.Subscript, module: Module) -> Fix | str:
    """Let torch create the index on the device of the tensor; or why not."""
    where = dotted_text(item.value)
    if not isinstance(index, cst.Call) or not _creates(index, module) or not where:
        return "other lines may need it in host memory"
    if any(argument(index, name) is not None for name in ("device", "generator")):
        return "its arguments choose the CPU"
    placed = edits.add_argument(module, index, f"device={where}.device")
    if not module.calls(index, "numpy.arange"):
        safety = Applicability.SAFE if module.calls(index, "torch.arange") else Applicability.UNSAFE
        return Fix(safety, "Create it on the device", (placed,))
    torch = module.names.imported_as("torch", item)
    if torch is None or any(arg.keyword is not None for arg in index.args):
        return "`torch.arange` with `device=` creates it there"
    named = edits.replace(module, index.func, f"{torch}.arange")
    return Fix(Applicability.UNSAFE, "Create it on the device", (named, placed))


# what a matcher gives -----------------------------------------------------------------------------


def _copied_indices(module: Module) -> Iterator[tuple[cst.Subscript, cst.BaseExpression]]:
    """The items that are picked by what a matcher gave, and the index, once for each line."""
    matching = {module.class_(call) for call in _known(module)} - {None}
    seen: set[int] = set()
    for item in module.nodes(cst.Subscript) if matching else ():
        row = module.span(item)[0].row
        if row in seen or module.class_(item) not in matching:
            continue
        indices = [each.slice.value for each in item.slice if isinstance(each.slice, cst.Index)]
        index = next((each for each in indices if _is_matched(each, module)), None)
        picked = module.value(item.value)
        if index is not None and not picked.only(ON_HOST) and not _is_matched(item.value, module):
            seen.add(row)
            yield item, index


@once
def _known(module: Module) -> dict[cst.BaseExpression, bool]:
    """By expression: whether it is an index of a matcher; at first that of what matchers give."""
    return {
        call: True
        for call in module.nodes(cst.Call)
        if _MATCHER.search(dotted_text(call.func).rpartition(".")[2])
    }


def _is_matched(node: cst.BaseExpression, module: Module) -> bool:
    """Whether an expression is an index of a matcher, or tensors and tuples made of some."""
    known = _known(module)
    if node not in known:
        known[node] = False  # an index that depends on itself alone comes from nowhere
        known[node] = _is_made_of_matched(node, module)
    return known[node]


def _is_made_of_matched(node: cst.BaseExpression, module: Module) -> bool:
    parts: list[cst.BaseExpression] = []
    if isinstance(node, cst.Name):
        bindings = module.flow.reaching(node)
        return any(_gives_matched(each, module) for each in bindings)
    if isinstance(node, cst.Call):
        return _makes_matched(node, module)
    if isinstance(node, cst.Subscript):
        parts = [node.value]
    elif isinstance(node, cst.Tuple | cst.List):
        parts = [each.value for each in node.elements]
    elif isinstance(node, cst.ListComp | cst.GeneratorExp):
        parts = [node.elt]
    elif isinstance(node, cst.IfExp):
        parts = [node.body, node.orelse]
    elif isinstance(node, cst.BinaryOperation):
        parts = [node.left, node.right]
    return any(_is_matched(each, module) for each in parts)


def _gives_matched(binding: Binding, module: Module) -> bool:
    if binding.how is How.PARAMETER:
        return _INDICES.search(binding.name) is not None
    source, path = binding.value, binding.path
    while isinstance(source, cst.Call) and binding.how is How.ITERATION and path:
        names = module.resolve(source.func)
        if "builtins.zip" in names and path[0] < len(source.args):
            source, path = source.args[path[0]].value, path[1:]
        elif "builtins.enumerate" in names and source.args and path[0] == 1:
            source, path = source.args[0].value, path[1:]
        else:
            break
    return source is not None and _is_matched(source, module)


def _makes_matched(call: cst.Call, module: Module) -> bool:
    """A method of the class that is given indices, `torch.cat` of some, `i.long()`."""
    method, owner = method_name(call), receiver(call)
    if method in _MOVES or module.argument(call, "device") is not None:
        return False
    own = dotted_text(call.func).startswith("self.") and _OF_INDICES.search(method)
    torchs = any(name.startswith("torch.") for name in module.resolve(call.func))
    if own or torchs:
        return any(_is_matched(arg.value, module) for arg in call.args)
    return owner is not None and _is_matched(owner, module)
