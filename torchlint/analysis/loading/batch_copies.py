"""Where a batch is copied to the device: `images.to(device)`, `[each.cuda() for each in batch]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.analysis.literals import argument, literal
from torchlint.analysis.loading.batch_parts import is_part_of_batch, is_whole_batch
from torchlint.analysis.names import How
from torchlint.analysis.once import once
from torchlint.analysis.training.transfers import transfer_of
from torchlint.analysis.uses import method_name

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
