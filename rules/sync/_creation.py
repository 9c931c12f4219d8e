"""Tensors that are created in host memory and then copied to the device: where, and the fix."""

import re

import libcst as cst

from torchlint.analysis.literals import argument, literal
from torchlint.analysis.training.transfers import Transfer, follow, transfer_behind
from torchlint.analysis.uses import method_name, with_items
from torchlint.analysis.values.kinds import Kind
from torchlint.rule import Applicability, Fix, Match, Module, because, edits

SIZED = tuple(
    f"torch.{name}"
    for name in (
        "zeros ones empty full eye arange linspace logspace tril_indices triu_indices hann_window "
        "hamming_window rand randn randint randperm"
    ).split()
)
LIKE = tuple(f"torch.{name}_like" for name in "zeros ones empty full rand randn randint".split())
"""Create a tensor where the one lies that they are given."""
_CREATED = re.compile(
    rb"\b(?:%b|from_numpy|LongTensor)\(" % "|".join(name[6:] for name in (*SIZED, *LIKE)).encode()
)
_MOVED = re.compile(
    rb"\)\.(?:to|cuda|type_as)\((?!\s{0,40}(?:dtype=)?(?:torch\.\w{1,20}|[\w.]{0,80}dtype)\s{0,40}\))"
)
"""Not `.to(x.dtype)`."""
_MOVED_TO_ANOTHER = re.compile(
    rb"\)\.(?:type_as\(|to\((?:device=)?"
    rb"(?!(?:self|cls|args|opt|cfg|config|accelerator|fabric|trainer|agent)\.device)"
    rb"[\w.\[\]'\"]{1,80}\.device\b)"
)
"""To where another tensor lies, as a helper of a `forward` in another file does."""
_ALIKE_IN_ALL_TYPES = ("torch.zeros", "torch.ones", "torch.empty", "torch.eye")
_INEXACT = (
    *(f"torch.{name}" for name in "linspace logspace hann_window hamming_window".split()),
    *(f"torch.{name}" for name in "rand randn randint randperm".split()),
    *(f"torch.{name}_like" for name in "rand randn randint".split()),
)
"""Round differently on another device, or draw other numbers there."""


# where -------------------------------------------------------------------------------------


def may_create_and_move(text: bytes) -> bool:
    """Whether a file moves what it creates at once, beside a `forward` or to where another tensor
    lies."""
    moves = _MOVED if b"def forward" in text else _MOVED_TO_ANOTHER
    ends = (moved.start() for moved in moves.finditer(text))
    lines = (text[text.rfind(b"\n", 0, end) + 1 : end] for end in ends)
    if any(b"device=" not in given for line in lines for given in _CREATED.split(line)[1:]):
        return True
    if moves is _MOVED:
        return because(False, "no line of the file creates a tensor and copies it to a device")
    return because(
        False,
        "in files that take no training step and have no `forward`, the rule looks only at new "
        "tensors that are copied to where another lies, as by `.to(x.device)`",
    )


def transfer_of_created(made: cst.Call, module: Module) -> Transfer | None:
    """The transfer of a tensor that was just created: in the same statement, or where its name is
    used next, if that runs as often."""
    behind = transfer_behind(made, module)
    if behind is not None:
        return behind
    reads = _reads(made, module)
    if not reads:
        return because(None, "no copy to a device follows on it")
    first = reads[0]
    found = transfer_behind(first, module)
    if found is None:
        said = "{:code} is first used in {:line}, and not copied to a device there"
        return because(None, said, first, first)
    if not _run_alike(first, made, module):
        return because(None, "the copy, in {:line}, may run more or less often than this", first)
    return found


def is_filled_from_device(made: cst.Call, module: Module) -> bool:
    """Whether a tensor of the device is written into the created one, which is then moved there:
    `buffer[:, :n] = x`, `buffer.to(x.device)`."""
    reads = _reads(made, module)[:2]
    written = _written_into(reads[0], module) if len(reads) == 2 else None
    transfer = None if written is None else _transfer_of_read(reads[1], made, module)
    if transfer is None:
        return False
    target = "" if transfer.target is None else module.source(transfer.target.value)
    source = "" if written is None else module.source(written)
    on_device = module.value(written).only(Kind.DEVICE | Kind.LIKELY)
    return on_device or target.removesuffix(".device") == source


def _reads(made: cst.Call, module: Module) -> list[cst.Name]:
    """The reads of the name that a created tensor is given, in source order."""
    whole, _ = follow(made, module)
    assign = module.parent(whole)
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
        return []
    target = assign.targets[0].target
    return module.reads(assign, target.value) if isinstance(target, cst.Name) else []


def _transfer_of_read(read: cst.Name, made: cst.Call, module: Module) -> Transfer | None:
    """The transfer of a name, where it runs as often as what created the tensor."""
    return transfer_behind(read, module) if _run_alike(read, made, module) else None


def _run_alike(read: cst.Name, made: cst.Call, module: Module) -> bool:
    loops = [next(module.loops.loops_around(each), None) for each in (read, made)]
    return loops[0] is loops[1] and module.function(read) is module.function(made)


def _written_into(read: cst.Name, module: Module) -> cst.BaseExpression | None:
    """What an assignment writes into an item of a name."""
    target = module.parent(with_items(read, module))
    assign = module.parent(target) if isinstance(target, cst.AssignTarget) else None
    return assign.value if isinstance(assign, cst.Assign) else None


# the fix -----------------------------------------------------------------------------------


def create_on_device(match: Match) -> Fix | str:
    """Give the constructor what the transfer is given, and remove the transfer; or why not."""
    made, module = match.call, match.module
    transfer = transfer_behind(made, module)
    if module.calls(made, "torch.from_numpy"):
        return "only you know which function of torch creates the same numbers"
    if module.calls(made, "torch.LongTensor"):
        return "`torch.arange` has to take its place"
    if transfer is None:
        return "the copy stands on another line: pass `device=` here and remove it there"
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
    if module.calls(made, *_INEXACT):
        return False
    steps = [arg for arg in made.args if arg.keyword is None]
    return (
        not module.calls(made, "torch.arange")
        or len(steps) == 1
        or all(isinstance(literal(arg.value), int) for arg in steps)
    )
