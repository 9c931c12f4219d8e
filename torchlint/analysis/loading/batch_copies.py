"""Where a batch is copied to the device: `images.to(device)`, `[each.cuda() for each in batch]`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.analysis.literals import argument, literal
from torchlint.analysis.loading.batch_parts import is_part_of_batch, is_whole_batch
from torchlint.analysis.names import How, dotted_text
from torchlint.analysis.once import once
from torchlint.analysis.training.transfers import transfer_of
from torchlint.analysis.uses import method_name, receiver
from torchlint.analysis.values.call_values import makes_host_tensors
from torchlint.analysis.values.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.analysis.module import Module

_VIEWS = frozenset(
    "as_subclass detach expand flatten narrow permute reshape select squeeze t transpose unflatten "
    "unsqueeze view".split()
)
"""Methods whose result is in the memory of their tensor."""
_COMPUTE = frozenset(
    "bfloat16 bool byte clone contiguous double float half int long mul div short sub add to "
    "type".split()
)
_JOIN = ("torch.cat", "torch.concat", "torch.stack", "torch.hstack", "torch.vstack")
_DEEPEST = 6
_MOVES = re.compile(
    r"(?:^|_)(?:to|move|send|transfer)(?:_|$)|_to(?:_|$)|device|cuda|gpu"
    r"|^_*(?:convert|prepare|process|unpack)_\w{0,20}(?:batch|data|inputs?|samples?)$"
)
"""In names of functions that move what they are given."""
_BATCH = re.compile(r"batch|data|input|sample", re.IGNORECASE)
_LISTED = frozenset({"items", "keys", "values"})
_TYPE_CHECKS = re.compile(r"\b(?:isinstance|is_tensor|hasattr|type)\(")


class BatchCopy(NamedTuple):
    """A call that copies a batch of a loader, or a tensor of it, to a device.

    `computed` is what made a new tensor of it on the host before, which no loader has pinned;
    `whole` says that it is the batch itself, whose type nobody knows.
    """

    call: cst.Call
    batch: cst.BaseExpression
    computed: cst.BaseExpression | None = None
    whole: bool = False


@once
def batch_copies(module: Module) -> list[BatchCopy]:
    """All of a file, in source order."""
    return sorted(_found(module), key=lambda each: module.order(each.call))


def _found(module: Module) -> Iterator[BatchCopy]:
    for name in ("to", "cuda"):
        for call in module.calls_by_method.get(name, ()):
            found = batch_copy(call, module)
            if found is not None:
                yield found


@once
def batch_copy(call: cst.Call, module: Module) -> BatchCopy | None:
    """The call as a copy of a batch; None for what is not known to be one."""
    transfer = transfer_of(call, module)
    if transfer is None or transfer.like:
        return None
    source, computed = _source(transfer.tensor, module, 0)
    if source is None:
        return None
    return BatchCopy(call, source, computed, whole=not is_part_of_batch(source, module))


def may_wait(copy: BatchCopy) -> bool:
    """Whether nothing in the call says whether Python waits for it."""
    if argument(copy.call, "non_blocking") is not None:
        return False
    return not any(isinstance(literal(arg.value), bool) for arg in copy.call.args)


def _source(
    node: cst.BaseExpression, module: Module, depth: int
) -> tuple[cst.BaseExpression | None, cst.BaseExpression | None]:
    """The batch or the part of one that a tensor is a view of, or is computed from; and the first
    computation."""
    if depth > _DEEPEST:
        return None, None
    if is_part_of_batch(node, module) or is_whole_batch(node, module):
        return node, None
    if isinstance(node, cst.Name):
        bindings = module.flow.reaching(node)
        if len(bindings) != 1 or bindings[0].how is not How.ASSIGNMENT or bindings[0].path:
            return None, None
        made = bindings[0].value
        return (None, None) if made is None else _source(made, module, depth + 1)
    if not isinstance(node, cst.Call):
        return None, None
    if module.calls(node, *_JOIN):
        return _joined(node, module, depth)
    name = method_name(node)
    if name not in _VIEWS and name not in _COMPUTE:
        return None, None
    assert isinstance(node.func, cst.Attribute)
    source, computed = _source(node.func.value, module, depth + 1)
    return source, computed if name in _VIEWS else computed or node


def _joined(
    call: cst.Call, module: Module, depth: int
) -> tuple[cst.BaseExpression | None, cst.BaseExpression | None]:
    """What `torch.cat` joins, if all of it is of one batch: `torch.cat([images[0], images[1]])`."""
    given = argument(call, "tensors", 0)
    parts = [given] if given is not None else []
    if isinstance(given, cst.List | cst.Tuple):
        parts = [each.value for each in given.elements]
    sources = [_source(each, module, depth + 1)[0] for each in parts]
    joined = bool(sources) and all(each is not None for each in sources)
    return (sources[0], call) if joined else (None, None)


@once
def moved_member(call: cst.Call, module: Module) -> cst.BaseExpression | None:
    """Of a call in a function that moves all tensors of what it is given to the device, as
    `batch_to_gpu(batch)` does, what it moves: one member after the other, `batch[key]`, or a
    parameter that was shown to be a tensor, as where the function calls itself for each member."""
    transfer, function = transfer_of(call, module), module.function(call)
    if transfer is None or transfer.like or function is None:
        return None
    moved, value = transfer.tensor, module.value(transfer.tensor)
    owner = moved if _is_given(moved, module) else _owner(moved, module, 0)
    if owner is None or value.has(Kind.MODULE) or value.only(Kind.DEVICE | Kind.LIKELY):
        return None
    by_name = _MOVES.search(function.name.value) is not None
    if owner is not moved:
        named = isinstance(owner, cst.Name) and _BATCH.search(dotted_text(owner)) is not None
        return moved if by_name or named else None
    checked = any(
        isinstance(test := getattr(each, "test", None), cst.BaseExpression)
        and _TYPE_CHECKS.search(module.source(test))
        for each in module.conditions(call)
    )
    return moved if by_name and (checked or _is_all(call, function, module)) else None


def tokenized(call: cst.Call, module: Module) -> cst.Call | None:
    """Of a call that moves to the device what a tokenizer or processor made, the call of that."""
    transfer = transfer_of(call, module)
    made = None if transfer is None or transfer.like else transfer.tensor
    for _ in range(_DEEPEST):
        if isinstance(made, cst.Attribute | cst.Subscript):
            made = made.value
        elif isinstance(made, cst.Name):
            bindings = module.flow.reaching(made)
            made = bindings[0].value if len(bindings) == 1 and not bindings[0].path else None
    if not isinstance(made, cst.Call) or not makes_host_tensors(made):
        return None
    return made if module.value(made).only(Kind.CPU) else None


def _is_given(node: cst.BaseExpression, module: Module) -> bool:
    """Whether a name is a parameter, perhaps with members that the function has replaced."""
    hows = {each.how for each in module.flow.reaching(node)}
    return How.PARAMETER in hows and hows <= {How.PARAMETER, How.UPDATE}


def _owner(node: cst.BaseExpression, module: Module, depth: int) -> cst.BaseExpression | None:
    """`batch` for `batch[key]` and for what a loop over it gives, where it is a parameter or an
    attribute of `self`."""
    if depth > _DEEPEST:
        return None
    if depth and (_is_given(node, module) or dotted_text(node).startswith("self.")):
        return node
    if isinstance(node, cst.Call):
        whole = receiver(node) if method_name(node) in _LISTED else None
        return None if whole is None else _owner(whole, module, depth + 1)
    if isinstance(node, cst.Subscript):
        index = node.slice[0].slice
        key = index.value if isinstance(index, cst.Index) else None
        listed = isinstance(key, cst.Name) and _is_listed(key, module)
        return _owner(node.value, module, depth + 1) if listed else None
    bindings = module.flow.reaching(node) if isinstance(node, cst.Name) else []
    sources = [each.value for each in bindings if each.how is How.ITERATION]
    if len(sources) != 1 or sources[0] is None:
        return None
    return _owner(sources[0], module, depth + 1)


def _is_listed(key: cst.Name, module: Module) -> bool:
    return any(each.how is How.ITERATION for each in module.flow.reaching(key))


def _is_all(call: cst.Call, function: cst.FunctionDef, module: Module) -> bool:
    """Whether a function does nothing but move its parameter: `return tensor.cuda()`."""
    return len(function.body.body) == 1 and isinstance(module.parent(call), cst.Return)
