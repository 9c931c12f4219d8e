"""Create a tensor on the device, instead of creating it in host memory and copying it.

## What it does
Reports `torch.zeros(n).to(device)`, `torch.randn(n).cuda()`, `torch.arange(n).type_as(x)` and the
like, also where the copy is on a later line; a buffer in host memory that is filled from the
device and then moved there; and arrays that NumPy makes of sizes and numbers alone, such as
`torch.from_numpy(np.arange(n) * 16).to(device)`, on each step or call of a module, and
`torch.LongTensor(range(n)).to(device)`; and what a function of the file creates in host memory,
where its caller copies it, as in `self.make_mask(lengths).to(x.device)`, unless an attribute keeps
it.

## Why it is slow
The CPU fills the memory, and then the numbers cross the bus. That copy takes its turn behind all
that the GPU has queued, and Python waits until it is done, as it does for `.item()`. With
`device=` the GPU fills its own memory, nothing is copied, and Python continues at once. A host
buffer that is filled from the device costs more: the numbers cross the bus twice, and each time
Python waits.

## Example
```python
for images, labels in loader:
    images, labels = images.to(device), labels.to(device)
    noise = torch.randn(images.shape).to(device)
    loss = criterion(model(images + noise), labels)
    loss.backward()
    optimizer.step()
```

## Use instead
```python
for images, labels in loader:
    images, labels = images.to(device), labels.to(device)
    noise = torch.randn(images.shape, device=device)
    loss = criterion(model(images + noise), labels)
    loss.backward()
    optimizer.step()
```

## When it is silent
At the top level of a file, where it happens once; in files that take no training step, define no
module and are called on no step, unless they move the tensor to the device of another one
(`.to(x.device)`); where the copy is on a later line, in all files that take no training step and
are called on none; in datasets, collate functions and tests; with `out=`, and with `generator=`,
which people pass to get the same numbers on every device; where `torch.set_default_device` or
`with torch.device(…)` chooses the device; for `zeros_like(x)` unless `x` is known to be in host
memory; for `torch.tensor(values)`, which has to be copied in either case; for `torch.empty(0)`. It
is a hint outside of what each training step runs, and under conditions such as `if x is None`,
which may hold only once.

## Fix safety
**Safe** for `zeros`, `ones`, `full`, `empty`, `eye` and an `arange` of integers, which hold the
same numbers on each device. **Unsafe** for random tensors, since the GPU has a random generator of
its own, and for `linspace` and others that the GPU may round differently. There is no fix if the
call has `requires_grad=`, since the created tensor is then a leaf and its copy is not; if the copy
also changes the type of anything but zeros and ones; if something is done with the tensor before
it is copied; or if NumPy creates it.

## How verify confirms it
It measures the fix, which needs a GPU: on a CPU nothing is copied. The numbers are bitwise equal
after a safe fix.

## References
- PyTorch performance tuning guide, "Create tensors directly on the target device"
- PyTorch documentation, `torch.zeros`, argument `device`
"""

import re

import libcst as cst

from torchlint.analysis.literals import argument, literal
from torchlint.analysis.names import How, dotted_text
from torchlint.analysis.training.batches import loads, runs_each_time
from torchlint.analysis.training.transfers import (
    Transfer,
    names_device,
    transfer_behind,
    transfer_of,
)
from torchlint.analysis.uses import method_name, with_items
from torchlint.analysis.values.kinds import ARRAYS, TENSORS, Kind
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
    calls,
    edits,
    method,
)

from ._created_tensors import may_run_once, reads_of_created, run_alike, transfer_of_created
from ._new_arrays import is_new_array

_SIZED = tuple(
    f"torch.{name}"
    for name in (
        "zeros ones empty full eye arange linspace logspace tril_indices triu_indices hann_window "
        "hamming_window rand randn randint randperm"
    ).split()
)
_LIKE = tuple(f"torch.{name}_like" for name in "zeros ones empty full rand randn randint".split())
"""Create a tensor on the device of the one that they are given."""
_CREATED = re.compile(
    rb"\b(?:%b|from_numpy|LongTensor)\(" % "|".join(name[6:] for name in (*_SIZED, *_LIKE)).encode()
)
_MOVED = re.compile(
    rb"\)\.(?:to|cuda|type_as)\((?!\s{0,40}(?:dtype=)?(?:torch\.\w{1,20}|[\w.]{0,80}dtype)\s{0,40}\))"
)
"""Not `.to(x.dtype)`."""
_MOST_LINES = 3
_MOVED_TO_ANOTHER = re.compile(
    rb"\)\.(?:type_as\(|to\((?:device=)?"
    rb"(?!(?:self|cls|args|opt|cfg|config|accelerator|fabric|trainer|agent)\.device)"
    rb"[\w.\[\]'\"]{1,80}\.device\b)"
)
"""To the device of another tensor, as a helper of a `forward` in another file does."""
_HELPER_MOVED = re.compile(rb"\b(\w{1,80})\([^()\n]{0,200}\)\.(?:to|cuda|type_as)\(")
"""`self.make_mask(lengths).to(x.device)`."""
_READS = re.compile(r"load|read|open|from_numpy|sample|batch|next")
"""In names of functions that may get data from elsewhere, which has to be copied in any case."""
_ALIKE_IN_ALL_TYPES = ("torch.zeros", "torch.ones", "torch.empty", "torch.eye")
_INEXACT = (
    *(f"torch.{name}" for name in "linspace logspace hann_window hamming_window".split()),
    *(f"torch.{name}" for name in "rand randn randint randperm".split()),
    *(f"torch.{name}_like" for name in "rand randn randint".split()),
)
"""Round differently on another device, or draw other numbers there."""
_PLACES = {
    "device": "`device` is {:code} here",
    "generator": "`generator` is {:code}, perhaps for the same numbers on every device",
    "out": "`out` is {:code}, so no tensor is created here",
}
"""Arguments that say where a tensor goes, and what they mean."""


# where -------------------------------------------------------------------------------------


def _may_create_and_move(text: bytes) -> bool:
    """Whether a file moves what it creates at once, in a file with a `forward` or to the device of
    another tensor."""
    moves = _MOVED if b"def forward" in text else _MOVED_TO_ANOTHER
    ends = (moved.start() for moved in moves.finditer(text))
    lines = (_moved_text(text, end) for end in ends)
    if any(b"device=" not in given for line in lines for given in _CREATED.split(line)[1:]):
        return True
    if moves is _MOVED and _CREATED.search(text):
        helpers = {each[1] for each in _HELPER_MOVED.finditer(text)}
        if any(_CREATED.search(body) for name in helpers for body in _bodies(text, name)):
            return True
    if moves is _MOVED:
        return because(False, "no line of the file creates a tensor and copies it to a device")
    return because(
        False,
        "in files that take no training step and have no `forward`, the rule looks only at new "
        "tensors that are copied to the device of another, as by `.to(x.device)`",
    )


def _bodies(text: bytes, name: bytes) -> list[bytes]:
    """The texts of functions of one name, to the next one."""
    parts = text.split(b"def " + name + b"(")[1:]
    return [part.partition(b"\n    def ")[0].partition(b"\ndef ")[0] for part in parts]


def _moved_text(text: bytes, end: int) -> bytes:
    """What is moved: the line before a place, with those above if it only closes a bracket."""
    start = text.rfind(b"\n", 0, end) + 1
    for _ in range(_MOST_LINES if not text[start:end].strip() else 0):
        start = text.rfind(b"\n", 0, max(0, start - 1)) + 1
    return text[start:end]


# the fix -----------------------------------------------------------------------------------


def _create_on_device(match: Match) -> Fix | str:
    """Give the constructor what the transfer is given, and remove the transfer; or why not."""
    made, module = match.call, match.module
    transfer = transfer_behind(made, module)
    if transfer is None:
        return "the copy is on another line: pass `device=` here and remove it there"
    given = _placed(transfer, module)
    reason = _why_not(transfer, made, given, module)
    if reason:
        return reason
    changes = (
        edits.add_argument(module, made, ", ".join(given)),
        edits.keep_receiver(module, transfer.call),
    )
    safety = Applicability.SAFE if _is_exact(made, module) else Applicability.UNSAFE
    return Fix(safety, "Create it on the device", changes)


def _is_moved(match: Match) -> bool:
    """Whether the tensor is copied to the device before anything else is done with it."""
    return transfer_of_created(match.call, match.module) is not None


def _moves(match: Match) -> bool:
    """The same, also if the device writes into the tensor first."""
    return _is_moved(match) or _is_filled_from_device(match.call, match.module)


def _holds_new_array(match: Match) -> bool:
    """Whether NumPy creates the numbers each time, although torch could."""
    array = argument(match.call, "ndarray", 0)
    if not is_new_array(array, match.module):
        said = "nothing shows that NumPy makes {:code} of sizes and numbers alone"
        return because(False, said, array or match.call)
    return runs_each_time(match.call, match.module)


def _is_like_host_tensor(match: Match) -> bool:
    """Whether the tensor that it should be like is known to be in host memory."""
    other = match.module.argument(match.call, "input", 0)
    said = "the tensor is on the device of {:code}, which is not known to be the CPU"
    return match.module.value(other).only(Kind.CPU) or because(False, said, other or match.call)


def _is_made_by_helper(match: Match) -> bool:
    """Whether a function of the file makes what is copied, in host memory, each time."""
    made, module = match.receiver, match.module
    if isinstance(made, cst.Name):
        made = module.flow.given(made) or made
    callee = module.definitions.callee(made) if isinstance(made, cst.Call) else None
    if callee is None or not isinstance(made, cst.Call):
        return because(False, "no function of the file makes what is copied")
    returned = [each.value for each in module.definitions.returns(callee)]
    created = bool(returned) and all(_is_created(each, module) for each in returned)
    if not created and not _computes_on_host(made, callee, module):
        return because(False, "nothing shows that {:code} creates what it returns", callee)
    transfer = transfer_of(match.call, module)
    if transfer is None:
        return because(False, "nothing shows that this copies to a device")
    kept = _keeper(match.call, module)
    if kept is not None:
        return because(False, "{} keeps it for later calls", kept)
    return _is_for_input(transfer, module) or runs_each_time(match.call, module)


def _keeper(moved: cst.Call, module: Module) -> cst.Assign | None:
    """The line that keeps what is moved in an attribute: `self.window = window`."""
    function, assign = module.function(moved), module.small_statement(moved)
    name = dotted_text(assign.targets[0].target) if isinstance(assign, cst.Assign) else ""
    for each in () if function is None or not name else module.within(function.body):
        if not isinstance(each, cst.Assign):
            continue
        keeps = isinstance(each.targets[0].target, cst.Attribute)
        if keeps and (each is assign or dotted_text(each.value) == name):
            return each
    return None


def _is_for_input(transfer: Transfer, module: Module) -> bool:
    """Whether a tensor goes to where a parameter of the function is: `window.to(image.device)`."""
    target = None if transfer.target is None else transfer.target.value
    if isinstance(target, cst.Call):
        target = target.func
    if isinstance(target, cst.Attribute) and target.attr.value in ("device", "get_device"):
        return module.flow.is_parameter(target.value) and dotted_text(target.value) != "self"
    return False


def _computes_on_host(call: cst.Call, callee: cst.FunctionDef, module: Module) -> bool:
    """Whether a function makes a tensor in host memory of numbers, and reads it from nowhere."""
    if not module.value(call).only(Kind.CPU):
        return False
    given = any(module.value(each.value).has(TENSORS | ARRAYS) for each in call.args)
    called = module.calls_within(callee.body)
    return not given and not any(_READS.search(dotted_text(each.func)) for each in called)


def _is_created(node: cst.BaseExpression | None, module: Module) -> bool:
    """Whether what a function returns was created there in host memory, and perhaps filled."""
    made = [node]
    if isinstance(node, cst.Name):
        reaching = module.flow.reaching(node)
        made = [each.value for each in reaching if each.how is not How.UPDATE]
    return bool(made) and all(
        isinstance(each, cst.Call)
        and module.calls(each, *_SIZED)
        and all(argument(each, name) is None for name in _PLACES)
        for each in made
    )


def _is_empty(match: Match) -> bool:
    """`torch.empty(0)`, which has nothing to copy."""
    if not match.module.calls(match.call, "torch.empty", "torch.zeros", "torch.ones"):
        return False
    empty = match.module.literal(match.module.argument(match.call, "size", 0)) == 0
    return empty and because(True, "an empty tensor has nothing to copy")


def _counts(match: Match) -> bool:
    """`torch.LongTensor(range(n))`."""
    given = match.call.args[0].value if len(match.call.args) == 1 else None
    counts = isinstance(given, cst.Call) and match.module.calls(given, "builtins.range")
    return counts or because(False, "the numbers are not those of `range`, so they must be copied")


def _is_placed(match: Match) -> bool:
    """Whether the call, or a `with torch.device(…)` around it, says where the tensor goes."""
    for name, said in _PLACES.items():
        given = argument(match.call, name)
        if given is not None:
            return because(True, said, given)
    for around in match.module.ancestors(match.call):
        items = around.items if isinstance(around, cst.With) else ()
        if any(names_device(each.item, match.module) for each in items):
            return because(True, "{} says where new tensors are created", around)
    return False


def _runs_at_import(match: Match) -> bool:
    """Whether it happens once, when the file is started or imported."""
    module, call = match.module, match.call
    once = module.function(call) is None and next(module.loops.loops_around(call), None) is None
    return once and because(True, "this runs once, when the file is started or imported")


def _fills_loader(match: Match) -> bool:
    """Whether it is part of what a dataset or a collate function does, perhaps in a worker."""
    fills = loads(match.call, match.module)
    return fills and because(True, "this is where batches are loaded, perhaps in a worker process")


def _message(match: Match) -> str:
    name = match.module.source(match.call.func)
    if _is_filled_from_device(match.call, match.module):
        return (
            f"`{name}` creates this buffer in host memory: a tensor of the GPU is copied to it "
            "and then back; pass `device=` to create it there."
        )
    return (
        f"`{name}` creates a tensor in host memory, and Python waits while it is copied to the "
        "device; pass `device=` to create it there."
    )


rule = Rule(
    code="TL205",
    summary="a tensor is created in host memory and then copied to the device",
    fix=(Applicability.SAFE, Applicability.UNSAFE),
    finds=(
        calls(*_SIZED, where=(_moves,), hint_if=(may_run_once,), else_hint=(Context.HOT,)),
        calls(*_LIKE, where=(_is_like_host_tensor, _is_moved), else_hint=(Context.HOT,)),
        calls(
            "torch.from_numpy",
            where=(_holds_new_array, _is_moved),
            else_hint=(Context.HOT,),
            message="NumPy creates these numbers in host memory, and Python waits while they are "
            "copied to the device; let torch create them there, or keep them in a buffer.",
            change="only you know which function of torch creates the same numbers",
        ),
        calls(
            "torch.LongTensor",
            where=(_counts, _is_moved),
            else_hint=(Context.HOT,),
            message="Python counts in host memory, and waits while the numbers are copied to the "
            "device; pass `device=` to `torch.arange`.",
            change="`torch.arange` has to take its place",
        ),
        method(
            "to",
            "cuda",
            "type_as",
            where=(_is_made_by_helper,),
            hint_if=(may_run_once,),
            else_hint=(Context.HOT,),
            message="A function of this file makes this tensor in host memory, and Python waits "
            "while it is copied to the device; let that function create it there.",
            change="the function that makes it has to be given the device",
        ),
    ),
    unless=(_is_placed, _runs_at_import, _fills_loader, _is_empty),
    message=_message,
    change=_create_on_device,
    contexts=(Context.ACCELERATOR,),
    program_lacks={"a default device": r"set_default_device\(|set_default_tensor_type\("},
    needs_gpu=True,
    triggers=Triggers(
        on_demand=(r"\.(?:to|cuda|type_as)\(",), check=_may_create_and_move, unless=STEP_TEXT
    ),
)


# creation -----------------------------------------------------------------------------------------


def _is_filled_from_device(made: cst.Call, module: Module) -> bool:
    """Whether a tensor of the device is written into the created one, which is then moved there:
    `buffer[:, :n] = x`, `buffer.to(x.device)`."""
    reads = reads_of_created(made, module)[:2]
    written = _written_into(reads[0], module) if len(reads) == 2 else None
    if written is None or not run_alike(reads[1], made, module):
        return False
    transfer = transfer_behind(reads[1], module)
    if transfer is None:
        return False
    target = "" if transfer.target is None else module.source(transfer.target.value)
    on_device = module.value(written).only(Kind.DEVICE | Kind.LIKELY)
    return on_device or target.removesuffix(".device") == module.source(written)


def _written_into(read: cst.Name, module: Module) -> cst.BaseExpression | None:
    """What an assignment writes into an item of a name."""
    target = module.parent(with_items(read, module))
    assign = module.parent(target) if isinstance(target, cst.AssignTarget) else None
    return assign.value if isinstance(assign, cst.Assign) else None


def _placed(transfer: Transfer, module: Module) -> list[str]:
    """The arguments of a constructor that do what a transfer does."""
    target = None if transfer.target is None else transfer.target.value
    if transfer.like and target is not None:
        like = edits.operand(module, target)
        return [f"dtype={like}.dtype", f"device={like}.device"]
    dtype = argument(transfer.call, "dtype", 1)
    typed = [] if dtype is None else [f"dtype={edits.value(module, dtype)}"]
    return [*typed, 'device="cuda"' if target is None else f"device={edits.value(module, target)}"]


def _why_not(transfer: Transfer, made: cst.Call, given: list[str], module: Module) -> str:
    """Why the constructor cannot take what the transfer is given; empty if it can."""
    target = "" if transfer.target is None else module.source(transfer.target.value)
    if transfer.tensor is not made:
        return "more is done before the copy: pass `device=` here and remove it"
    if any(argument(made, name) is not None for name in ("requires_grad", "pin_memory")):
        return "the copy has no gradient of its own and is not pinned"
    if not transfer.sure:
        return f"`{target}` may be a tensor, a device or a type"
    if transfer.like and "(" in target:
        return f"`{target}` would be computed twice"
    if target and method_name(transfer.call) == "cuda":
        return f"`.cuda()` takes the current GPU where `{target}` is None"
    retyped = argument(made, "dtype") is not None or not module.calls(made, *_ALIKE_IN_ALL_TYPES)
    if len(given) > 1 and retyped:
        return "the copy also changes the type"
    return ""


def _is_exact(made: cst.Call, module: Module) -> bool:
    """Whether the same numbers are created on each device."""
    if not module.calls(made, "torch.arange"):
        return not module.calls(made, *_INEXACT)
    steps = [literal(arg.value) for arg in made.args if arg.keyword is None]
    return len(steps) == 1 or all(isinstance(step, int) for step in steps)
