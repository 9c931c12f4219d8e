"""Copy to the device in the background.

## What it does
Reports where Python waits on each training step while data crosses from host memory to the device:
- `images.to(device)` and `labels.cuda()` without `non_blocking=True`, in a program whose loader has
  `pin_memory=True`;
- a batch that is computed with on the host before it is copied, as by `torch.cat(images).cuda()`,
  since the result is not pinned;
- a batch of a loader from another file, in a program that pins nothing, or of which nothing shows
  whether it does;
- a batch that a function moves as a whole, one tensor after the other, such as
  `move_to_device(batch)`, which may call itself for dicts and lists;
- what a tokenizer makes in the step: `tokenizer(texts, return_tensors="pt").to(device)`;
- `torch.tensor(rewards, device=device)`, `torch.from_numpy(array).to(device)`, and tensors that are
  joined in host memory and then copied;
- a part of an object of which nothing is known, such as `camera.image.cuda()`.

The places of one step are one finding.

## Why it is slow
The GPU reads pinned memory by itself, while Python continues. But `.to(device)` still waits for the
copy, and the copy takes its turn behind everything that the GPU has queued: usually the backward
pass and the optimizer of the step before. With `non_blocking=True` the copy is queued as well, and
Python can prepare the next kernels meanwhile. What the GPU does afterwards still sees the whole
batch, since it works in order.

## Example
```python
for images, labels in loader:
    images = images.to(device)
    labels = labels.to(device)
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
```

## Use instead
```python
for images, labels in loader:
    images = images.to(device, non_blocking=True)
    labels = labels.to(device, non_blocking=True)
    loss = criterion(model(images), labels)
    loss.backward()
    optimizer.step()
```

## When it is silent
For batches of a loader that the same file makes and does not pin: TL102 is about that, with the
copies as its other places. For copies with `non_blocking=`, if the batch may be pinned; in
functions that move tensors and whose name and parameters do not say that these are a batch; where
Lightning or Accelerate moves the batches; for constants, for tensors that are created from sizes
alone and for arrays that are copied twice, which other rules are about; where a dataset or a
collate function loads samples; under `if x is None` and similar conditions, which may hold only
once; in evaluation and in tests. It is a hint: where Python waits for the GPU on each step anyway,
as for `loss.item()`, nothing is gained.

## Fix safety
**Unsafe**: the host memory of the batch must not be overwritten before the copy is done. Batches of
a `DataLoader` are not, unless the loader reuses its memory by itself. There is no fix for a whole
batch, `batch.to(device)`, which may be an object that does not take the argument, none in a
function that moves what others give it, and none where another line has to change, too.

## How verify confirms it
It measures the fix, which needs a GPU. A batch that is small compared with the step leaves the
ratio UNRESOLVED around 1. The numbers are bitwise equal.

## References
- PyTorch tutorial, "A guide on good usage of non_blocking and pin_memory()"
- PyTorch CUDA notes, "Use pinned memory buffers"
"""

import re

import libcst as cst

from torchlint.analysis.arrays.tensor_constructors import (
    Copy,
    copy_made,
    needs_its_copy,
    tensor_constructor,
)
from torchlint.analysis.frameworks import frameworks
from torchlint.analysis.literals import UNKNOWN, argument, literal
from torchlint.analysis.loading.batch_copies import (
    BatchCopy,
    batch_copy,
    may_wait,
    moved_member,
    tokenized,
)
from torchlint.analysis.names import dotted_text
from torchlint.analysis.torch_api import TYPED_TENSORS
from torchlint.analysis.training.batches import loads
from torchlint.analysis.training.transfers import Transfer, names_device
from torchlint.analysis.uses import method_name, receiver
from torchlint.analysis.values.kinds import ARRAYS, TENSORS, Kind
from torchlint.rule import (
    Applicability,
    Change,
    Context,
    Match,
    Module,
    Related,
    Rule,
    Tier,
    because,
    calls,
    method,
    once,
    pass_argument,
)

from ._created_tensors import may_run_once, transfer_of_created
from ._new_arrays import is_new_array

_PINS = {"a pinned loader": r"pin_memory['\"]?\s*[=:][\s(]*(?:True|[\w.\[\]'\" =!]{0,40}cuda)"}
_LOADS = {"a loader": r"DataLoader\("}
_MAY_PIN = {
    "memory that may be pinned": r"(?<!loader\.)pin_mem\w{0,20}"
    r"(?!['\"]?\s{0,4}[=:,]\s{0,4}False|\s{0,4}=\s{0,4}\w{0,40}loader\.pin_mem|\w)"
}
"""`pin_memory=loader.pin_memory` makes a loader like another one."""
_TYPED = tuple(f"torch.{name}" for name in TYPED_TENSORS)
_JOINS = ("torch.stack", "torch.cat", "torch.concat")
_HOLDS_BATCH = re.compile(r"batch|data|input|sample|example|feature|item", re.IGNORECASE)
_WIDENS = ("long", "double", "type")
"""Casts that TL218 is about."""


def _moves_batch(match: Match) -> BatchCopy | None:
    """How a batch, or a tensor of one, is moved to a device."""
    found = batch_copy(match.call, match.module)
    if found is None:
        said = "nothing shows that {:code} is a tensor straight from a loader"
        return because(None, said, match.receiver)
    return found


def _moves_members(match: Match) -> BatchCopy | None:
    """How a function moves one tensor after the other of what it is given."""
    call, module = match.call, match.module
    moved = moved_member(call, module)
    if moved is None or batch_copy(call, module) is not None:
        said = "the function around it is not known to move all tensors of a batch"
        return because(None, said)
    return BatchCopy(call, moved)


def _moves_attribute(match: Match) -> bool:
    """Whether something of another object, of which nothing is known, is moved to a device: the
    image of `camera.image.cuda()`."""
    moved, module = match.receiver, match.module
    if not isinstance(moved, cst.Attribute) or batch_copy(match.call, module) is not None:
        return because(False, "nothing shows that {:code} lies in host memory", moved)
    owner = dotted_text(moved).partition(".")[0]
    if owner in ("", "self", "cls") or not module.value(moved).only(Kind.UNKNOWN):
        return because(False, "nothing shows that {:code} lies in host memory", moved)
    device = match.call.args[0].value if match.call.args else None
    if method_name(match.call) == "to" and (device is None or not names_device(device, module)):
        return because(False, "nothing shows that it is moved to an accelerator")
    waits = all(each.keyword is None for each in match.call.args)
    return waits or because(False, "the call says whether Python waits")


def _attribute_message(match: Match) -> str:
    name = match.module.source(match.receiver)
    return (
        f"`{name}` is moved to the device on every step, and Python waits for the copy unless it "
        "is there already; keep it there, or in pinned memory with `non_blocking=True`."
    )


def _moves_tokens(match: Match) -> cst.Call | None:
    """The call of a tokenizer or processor that made what is moved: `return_tensors="pt"`."""
    made = tokenized(match.call, match.module)
    said = "nothing shows that {:code} was tokenized here"
    return because(None, said, match.receiver) if made is None else made


def _tokens_message(match: Match) -> str:
    name = match.module.source(match.found(cst.Call).func)
    return (
        f"`{name}` works on the host on every step, and Python waits while its tensors are copied; "
        "call it in the loader, as in its `collate_fn`, and pass `pin_memory=True`."
    )


def _waits(match: Match) -> bool:
    """Whether Python waits for a copy from a pinned loader."""
    copy = match.found(BatchCopy)
    if copy.computed is not None:
        return not _is_cast(copy, match.module)
    if not may_wait(copy):
        return because(False, "the call says whether Python waits")
    return True


def _waits_for_pageable(match: Match) -> bool:
    """Whether Python waits for a copy from a loader of which this file shows nothing."""
    copy, module = match.found(BatchCopy), match.module
    if module.calls_by_name.get("torch.utils.data.DataLoader"):
        return because(False, "the file makes its loaders itself, and TL102 is about those")
    owner = copy.batch
    while isinstance(owner, cst.Subscript | cst.Attribute):
        owner = owner.value
    if module.flow.is_parameter(owner) and not _HOLDS_BATCH.search(dotted_text(owner)):
        return because(False, "nothing shows that {:code} is a batch", owner)
    return not _is_cast(copy, module)


def _waits_in_any_case(match: Match) -> bool:
    """Whether Python waits for a copy whether or not a loader of another file pins its batches."""
    copy = match.found(BatchCopy)
    if copy.computed is None and not may_wait(copy):
        return because(False, "the call says whether Python waits")
    return _waits_for_pageable(match)


def _is_cast(copy: BatchCopy, module: Module) -> bool:
    """Whether numbers are made wider before the copy, which is another rule's to say."""
    made = copy.computed
    widens = isinstance(made, cst.Call) and method_name(made) in _WIDENS
    divided = isinstance(made, cst.Call) and isinstance(module.parent(made), cst.BinaryOperation)
    return (widens or divided) and because(True, "TL218 is about {:code}", made)


def _is_moved_by_hand(match: Match) -> bool:
    """Whether no framework that pins memory itself also moves the batches."""
    imported = match.module.imported
    return not frameworks.owns("pinned memory", imported) or because(
        False,
        "a framework moves the batches itself: the file imports {}",
        next(f"`{each}`" for each in imported if frameworks.owns("pinned memory", (each,))),
    )


def _may_be_pinned(match: Match) -> bool:
    """Whether the loaders of the file, if it makes any, may pin their batches."""
    loader = _unpinned(match.module)
    return loader is None or because(False, "{} does not pin its batches", loader)


@once
def _unpinned(module: Module) -> cst.Call | None:
    """The first loader that the file makes, if none of them pins its batches."""
    calls = module.calls_by_name.get("torch.utils.data.DataLoader", ())
    return None if any(_may_pin(each, module) for each in calls) else next(iter(calls), None)


def _may_pin(call: cst.Call, module: Module) -> bool:
    given = module.argument(call, "pin_memory", 7)
    return module.has_star_kwargs(call) or (given is not None and literal(given) is not False)


def _pinned_message(match: Match) -> str:
    copy, module = match.found(BatchCopy), match.module
    if copy.computed is not None:
        name = module.source(copy.batch)
        return (
            f"`{name}` is computed with on the host, so the copy is made from memory that is not "
            f"pinned, and Python waits for it; copy `{name}` first with `non_blocking=True`, and "
            "compute on the device."
        )
    name = module.source(match.receiver)
    return (
        f"Python waits for the copy of `{name}`, behind all that the GPU has queued; pass "
        "`non_blocking=True`, since it is pinned."
    )


def _pageable_message(match: Match) -> str:
    copy = match.found(BatchCopy)
    name = match.module.source(copy.batch)
    if copy.computed is None and not may_wait(copy):
        return (
            f"No loader of the program pins `{name}`, so Python waits for this copy although it is "
            "`non_blocking`; pass `pin_memory=True` to the loader."
        )
    return (
        f"Python waits while `{name}` is copied from memory that is not pinned; pass "
        "`pin_memory=True` to the loader, and `non_blocking=True` here."
    )


def _waiting_message(match: Match) -> str:
    name = match.module.source(match.found(BatchCopy).batch)
    return (
        f"Python waits while `{name}` is copied, behind all that the GPU has queued; pass "
        "`non_blocking=True` here, and `pin_memory=True` to the loader."
    )


def _background(match: Match) -> Change | str:
    if match.found(BatchCopy).computed is not None:
        return "the copy has to come before what is computed"
    if match.found(BatchCopy).whole:
        return "only you know whether the batch is an object whose `to` takes `non_blocking`"
    return pass_argument("non_blocking", "True")(match)


# data that no loader gives -----------------------------------------------------------------


def _is_new_data(match: Match) -> Transfer | bool:
    """Whether data of the host, which no other rule is about, is made into a tensor."""
    given = match.call.args[0].value if match.call.args else None
    module = match.module
    if given is None or match.call.args[0].star:
        return because(False, "nothing shows which data is passed here")
    if _is_written_out(given):
        return because(False, "{:code} is a constant, which TL213 is about", given)
    value = module.value(given)
    if value.has(TENSORS | Kind.LIKELY):
        return because(False, "{:code} may be a tensor already", given)
    if module.calls(match.call, "torch.from_numpy") and is_new_array(given, module):
        return because(False, "NumPy makes {:code} anew, which TL205 is about", given)
    if _is_of_arrays(match.call, given, module):
        return because(False, "TL105 and TL106 are about tensors that are made of arrays")
    return _reaches_device(match)


def _is_of_arrays(call: cst.Call, given: cst.BaseExpression, module: Module) -> bool:
    """Whether it is one of the copies of arrays that other rules are about."""
    value = module.value(given)
    if value.element is not None and value.element.has(ARRAYS):
        return True
    made = tensor_constructor(call, module)
    if made is None or made.shares:
        return False
    if made.typed:
        return not module.flow.is_parameter(given)
    kept = needs_its_copy(call, module) or copy_made(made, value, module) is Copy.FORCED
    return value.has(ARRAYS) and not kept


def _reaches_device(match: Match) -> Transfer | bool:
    device = argument(match.call, "device")
    if device is not None:
        said = "nothing shows that {:code} is an accelerator"
        return names_device(device, match.module) or because(False, said, device)
    return transfer_of_created(match.call, match.module) or False


def _joins_host_tensors(match: Match) -> Transfer | bool:
    """Whether tensors of the host are joined each time, and then copied."""
    given = argument(match.call, "tensors", 0)
    if given is None or not _is_joined_on_host(match.call, given, match.module):
        return because(False, "nothing shows that these tensors are in host memory")
    transfer = transfer_of_created(match.call, match.module)
    if transfer is None:
        return False
    if batch_copy(transfer.call, match.module) is not None:
        return because(False, "the copy, in {:line}, is that of a batch", transfer.call)
    return transfer


def _is_joined_on_host(call: cst.Call, given: cst.BaseExpression, module: Module) -> bool:
    """Whether `torch.cat` joins tensors in host memory, perhaps those that a list was given."""
    if module.value(call).only(Kind.CPU):
        return True
    added = [
        module.value(each.args[0].value)
        for each in module.calls_by_method.get("append", ())
        if isinstance(given, cst.Name)
        and dotted_text(receiver(each)) == given.value
        and module.function(each) is module.function(call)
        and each.args
    ]
    # What is computed from a tensor in host memory and a parameter is there, too.
    near = Kind.CPU | Kind.TENSOR | Kind.PARAMETER
    return bool(added) and all(each.has(Kind.CPU) and each.only(near) for each in added)


def _is_written_out(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.List | cst.Tuple):
        return all(_is_written_out(each.value) for each in node.elements)
    return literal(node) is not UNKNOWN


def _is_loaded(match: Match) -> bool:
    loading = loads(match.call, match.module)
    return loading and because(True, "this is where batches are loaded, perhaps in a worker")


def _data_message(match: Match) -> str:
    name = match.module.source(match.call.func)
    return (
        f"`{name}` makes a tensor of data in host memory on every step, and Python waits while it "
        "is copied to the device; keep the data there, or pin it and pass `non_blocking=True`."
    )


def _copy_below(match: Match) -> tuple[Related, ...]:
    """Where the tensor is copied, if that is in another statement."""
    moved = next((each.call for each in match.evidence if isinstance(each, Transfer)), None)
    if moved is None or match.module.statement(moved) is match.module.statement(match.call):
        return ()
    place = match.module.span(moved)[0]
    return (Related(match.module.path, place, "this copies it"),)


rule = Rule(
    code="TL206",
    summary="Python waits while data is copied from host memory to the device on every step",
    tier=Tier.HINT,
    fix=Applicability.UNSAFE,
    finds=(
        method(
            "to",
            "cuda",
            where=(_moves_batch, _is_moved_by_hand, _waits, _may_be_pinned),
            message=_pinned_message,
            change=_background,
            program_has=_PINS,
        ),
        method(
            "to",
            "cuda",
            where=(_moves_batch, _is_moved_by_hand, _waits_for_pageable),
            message=_pageable_message,
            change="the loader has to pin its batches first",
            program_has=_LOADS,
            program_lacks=_MAY_PIN,
        ),
        method(
            "to",
            "cuda",
            where=(_moves_batch, _is_moved_by_hand, _waits_in_any_case),
            message=_waiting_message,
            change=_background,
            program_has=_MAY_PIN,
            program_lacks=_PINS,
        ),
        method(
            "to",
            "cuda",
            where=(_moves_members, _is_moved_by_hand, _waits),
            message=_waiting_message,
            change="other callers may need the tensors at once",
        ),
        method(
            "to",
            "cuda",
            where=(_moves_tokens,),
            message=_tokens_message,
            change="the text has to be tokenized in the loader first",
        ),
        method(
            "to",
            "cuda",
            where=(_moves_attribute,),
            message=_attribute_message,
            change="only you know where it could be kept",
        ),
        calls(
            "torch.tensor",
            "torch.as_tensor",
            "torch.from_numpy",
            *_TYPED,
            where=(_is_new_data,),
            message=_data_message,
            change="only you know where the data could be kept",
        ),
        calls(
            *_JOINS,
            where=(_joins_host_tensors,),
            message=_data_message,
            change="only you know where the data could be kept",
        ),
    ),
    unless=(_is_loaded, may_run_once),
    related=_copy_below,
    together="this is copied in the same way",
    contexts=(Context.HOT, Context.ACCELERATOR),
    needs_gpu=True,
)
