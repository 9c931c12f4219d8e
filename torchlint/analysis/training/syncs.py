"""Where the host waits for the device: `.item()`, `float(t)`, `.cpu()`, `np.asarray(t)`."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.literals import argument
from torchlint.analysis.names import dotted_text
from torchlint.analysis.once import once
from torchlint.analysis.torch_api import CPU_TYPES
from torchlint.analysis.training.whereabouts import off_device
from torchlint.analysis.uses import method_name
from torchlint.analysis.values.kinds import ARRAYS, ON_HOST, TENSORS, Kind, Value, placing
from torchlint.because import because

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

_READS = frozenset({"builtins.float", "builtins.int"})
_ARRAYS_FROM = frozenset({"numpy.asarray", "numpy.array"})
_COPIES = frozenset({"cpu", "numpy", "tolist"})

_ALWAYS_TOGETHER = (
    cst.IndentedBlock,
    cst.SimpleStatementSuite,
    cst.Module,
    cst.Lambda,
    cst.IfExp,
    cst.BooleanOperation,
)
"""What runs as a whole, if it runs."""
_MOST_EARLIER = 4
_SYNCHRONIZES = ("torch.cuda.synchronize", "torch.accelerator.synchronize")
_LOGS = frozenset({"wandb.log", "mlflow.log_metrics"})
_LEVELS = frozenset({"info", "warning"})
"""Methods of loggers that format a text with what follows it; `debug` is mostly switched off."""
_HOST_LIBRARIES = ("numpy.", "pandas.", "polars.", "scipy.", "sklearn.", "math.", "jax.")
_IMPORTS_TABLES = re.compile(r"(?m)^[ \t]{0,40}(?:import|from)[ \t]{1,4}(?:pandas|polars)\b")
_ONLY_TENSORS = frozenset({".cpu()", '.to("cpu")'})
"""Syncs that only tensors have, and that nobody writes for those that are on the host already."""
_UNSPELLED = frozenset({"float()", "int()", "np.asarray()", "np.array()"})
"""Syncs that numbers and arrays can be given to as well."""


@dataclass(frozen=True, slots=True, eq=False)
class Sync:
    """One expression that makes the host wait.

    `how` is its spelling, as in `.item()` or `float()`; `operand` the tensor it reads; `scalar`
    whether it reads one number (`.item()`, `float`, `int`) rather than copies a tensor.
    """

    call: cst.Call
    how: str
    operand: cst.BaseExpression
    scalar: bool


def sync_of(call: cst.Call, module: Module) -> Sync | None:
    """The call as a sync, if it is spelled like one or calls a lambda that is; what it reads is
    not yet looked at."""
    return _spelled(call, module) or _by_lambda(call, module)


def _by_lambda(call: cst.Call, module: Module) -> Sync | None:
    """`to_np(loss)`."""
    func = call.func
    if not isinstance(func, cst.Name) or len(call.args) != 1:
        return None
    scalar = _lambdas_that_read(module).get(func.value)
    if scalar is None or len(module.names.lookup(func)) > 1:
        return None
    return Sync(call, f"{func.value}()", call.args[0].value, scalar=scalar)


def _spelled(call: cst.Call, module: Module) -> Sync | None:
    func = call.func
    if isinstance(func, cst.Attribute):
        name = func.attr.value
        if not call.args:
            if name == "item":
                return Sync(call, ".item()", _before_copy(func.value), scalar=True)
            if name in _COPIES and not _is_read_at_once(call, module):
                return Sync(call, f".{name}()", func.value, scalar=False)
        if name == "type" and call.args:
            type_ = call.args[0].value
            if not CPU_TYPES.isdisjoint(module.resolve(type_)):
                return Sync(call, f".type({dotted_text(type_)})", func.value, scalar=False)
        # With `non_blocking=True` Python continues before the copy is done.
        if name == "to" and module.literal(argument(call, "non_blocking", 2)) is not True:
            device = argument(call, "device", 0)
            if device is not None and module.values.is_cpu(device):
                return Sync(call, '.to("cpu")', func.value, scalar=False)
    if len(call.args) >= 1 and not call.args[0].star and call.args[0].keyword is None:
        names = module.resolve(func)
        operand = call.args[0].value
        if len(call.args) == 1 and len(names) == 1 and names[0] in _READS:
            return Sync(call, f"{names[0].rpartition('.')[2]}()", operand, scalar=True)
        if names and names[0] in _ARRAYS_FROM:
            return Sync(call, f"np.{names[0].rpartition('.')[2]}()", operand, scalar=False)
    return None


@once
def _lambdas_that_read(module: Module) -> dict[str, bool]:
    """Names of lambdas that read what they are given, and whether as one number, such as
    `to_np = lambda x: x.detach().cpu().numpy()`."""
    found = {}
    for lambda_ in module.nodes(cst.Lambda):
        assign = module.parent(lambda_)
        params = lambda_.params.params
        if not isinstance(assign, cst.Assign) or len(params) != 1:
            continue
        target = assign.targets[0].target
        for call in module.calls_within(lambda_.body):
            sync = _spelled(call, module)
            root = None if sync is None else dotted_text(_owner_of_all(sync.operand))
            if sync and root == params[0].name.value and isinstance(target, cst.Name):
                found[target.value] = sync.scalar
    return found


def _owner_of_all(node: cst.BaseExpression) -> cst.BaseExpression:
    """`x` for `x.detach().float()`."""
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and not node.args:
        node = node.func.value
    return node


def _before_copy(node: cst.BaseExpression) -> cst.BaseExpression:
    """`loss` for `loss.cpu()`."""
    while isinstance(node, cst.Call) and method_name(node) == "cpu" and not node.args:
        assert isinstance(node.func, cst.Attribute)
        node = node.func.value
    return node


def _is_read_at_once(call: cst.Call, module: Module) -> bool:
    """Whether `.item()` follows on `.cpu()`, so that one number is all that is copied."""
    attribute = module.parent(call)
    if method_name(call) != "cpu" or not isinstance(attribute, cst.Attribute):
        return False
    reads = isinstance(module.parent(attribute), cst.Call) and attribute.attr.value == "item"
    return attribute.value is call and (reads or attribute.attr.value == "cpu")


def is_read_again(operand: cst.BaseExpression, place: cst.CSTNode, module: Module) -> bool:
    """Whether a number that is read at a place was read just before, in code that always runs
    first: the second read waits only for what was queued in between, so not for a backward pass or
    a step."""
    earlier = _read_before(operand, place, module)
    if earlier is None:
        return False
    return because(True, "the same number is read just before, in {:line}", earlier)


def reads_again(sync: Sync, module: Module) -> list[cst.Call]:
    """The reads of the same number that follow on this one: the first of them waits in its place
    once it is gone."""
    orders, alike = _reads(module).get(module.source(sync.operand), ([], []))
    first = bisect_left(orders, module.order(sync.call)) + 1
    return [
        each.call
        for each in alike[first : first + _MOST_EARLIER]
        if _read_before(each.operand, each.call, module) is sync.call
    ]


def _read_before(
    operand: cst.BaseExpression, place: cst.CSTNode, module: Module
) -> cst.Call | None:
    if not isinstance(operand, cst.Name | cst.Attribute | cst.Subscript):
        return None
    orders, alike = _reads(module).get(module.source(operand), ([], []))
    last = bisect_left(orders, module.order(place))
    before = alike[max(0, last - _MOST_EARLIER) : last]
    if not before:
        return None
    loop = next(module.loops.loops_around(place), None)
    above = set(module.ancestors(place))
    values = _read_bindings(operand, module)
    for earlier in before:
        if (
            _runs_first(earlier.call, above, module)
            and next(module.loops.loops_around(earlier.call), None) is loop
            and not module.loops.trains_between(earlier.call, place)
            and _read_bindings(earlier.operand, module) == values
        ):
            return earlier.call
    return None


def _runs_first(earlier: cst.Call, above: set[cst.CSTNode], module: Module) -> bool:
    """Whether an earlier call always runs where something runs that has these ancestors."""
    whole = module.enclosing(earlier, *_ALWAYS_TOGETHER)
    if isinstance(whole, cst.IfExp) and whole.body in (earlier, *module.ancestors(earlier)):
        return whole.body in above  # the other arm runs without it
    return whole in above


def waited_before(place: cst.CSTNode, module: Module) -> cst.Call | None:
    """The last `torch.cuda.synchronize()` that always runs before a place, in the same round, with
    no backward pass or step in between: what is read there has nothing left to wait for."""
    loop = next(module.loops.loops_around(place), None)
    above = set(module.ancestors(place))
    at = module.order(place)
    before = [
        call
        for name in _SYNCHRONIZES
        for call in module.calls_by_name.get(name, ())[-_MOST_EARLIER * 8 :]
        if module.order(call) < at
        and _runs_first(call, above, module)
        and next(module.loops.loops_around(call), None) is loop
        and not module.loops.trains_between(call, place)
    ]
    return max(before, key=module.order, default=None)


@once
def _reads(module: Module) -> dict[str, tuple[list[int], list[Sync]]]:
    """By the text of what they read: the reads of numbers in source order, and their places."""
    reads: dict[str, tuple[list[int], list[Sync]]] = {}
    for call in module.nodes(cst.Call):
        sync = sync_of(call, module)
        if sync is not None and sync.scalar:
            orders, alike = reads.setdefault(module.source(sync.operand), ([], []))
            orders.append(module.order(call))
            alike.append(sync)
    return reads


def _read_bindings(operand: cst.BaseExpression, module: Module) -> list[set[int]]:
    """For each name in the operand, the assignments that it may see."""
    names = [node for node in module.within(operand) if isinstance(node, cst.Name)]
    return [set(map(id, module.flow.reaching(name))) for name in names]


def shown(node: cst.CSTNode, module: Module) -> list[cst.BaseExpression]:
    """What an f-string's placeholder, `%`, `.format(…)` or `print` turns into text, and what a
    logger is given: of a tensor on the device, that waits as `.item()` does. The text of an error
    is made once."""
    parts = _parts_of_text(node, module)
    once = parts and any(
        isinstance(each, cst.Raise | cst.Assert) for each in module.ancestors(node)
    )
    return [] if once else parts


def _parts_of_text(node: cst.CSTNode, module: Module) -> list[cst.BaseExpression]:
    if isinstance(node, cst.FormattedStringExpression):
        return [node.expression]
    if isinstance(node, cst.BinaryOperation):
        if not isinstance(node.operator, cst.Modulo) or not _is_text(node.left, module):
            return []
        right = node.right
        return [each.value for each in right.elements] if isinstance(right, cst.Tuple) else [right]
    if not isinstance(node, cst.Call):
        return []
    if isinstance(node.func, cst.Attribute) and node.func.attr.value == "format":
        formats = _is_text(node.func.value, module)
        return [arg.value for arg in node.args] if formats else []
    return _logged(node, module)


def _logged(call: cst.Call, module: Module) -> list[cst.BaseExpression]:
    """What `print`, TensorBoard's `add_scalar`, `wandb.log`, `mlflow.log_metric`, a logger and a
    progress bar's `set_postfix` are given to show; also `print` of an object."""
    names = module.resolve(call.func)
    method = method_name(call)
    plain = [arg.value for arg in call.args if arg.keyword is None and not arg.star]
    if "builtins.print" in names or method == "print":
        return plain
    if method in _LEVELS:
        return plain[1:] if plain and _is_text(plain[0], module) else []
    if method == "set_postfix":
        named = [arg.value for arg in call.args if arg.keyword is not None]
        return named + _listed(argument(call, "ordered_dict", 0))
    if method == "add_scalars":
        return _listed(argument(call, "tag_scalar_dict", 1))
    if method == "add_scalar" or "mlflow.log_metric" in names:
        value = argument(call, "scalar_value" if method == "add_scalar" else "value", 1)
        return [] if value is None else [value]
    return _listed(plain[0]) if plain and not _LOGS.isdisjoint(names) else []


def _listed(node: cst.BaseExpression | None) -> list[cst.BaseExpression]:
    """The values of a dict that is written out."""
    return [each.value for each in node.elements] if isinstance(node, cst.Dict) else []


def _is_text(node: cst.BaseExpression, module: Module) -> bool:
    """`"%d"`, `"%d" * 2 + "%s"`, a template that the file defines."""
    while isinstance(node, cst.BinaryOperation):
        node = node.left
    return isinstance(module.literal(node), str)


@dataclass(frozen=True, slots=True)
class Operand:
    """What is known of the tensor that a sync reads.

    `sure`: it is on the device as far as the file shows; otherwise `parameters` names the
    parameters that decide, and `tensor` says whether it is a tensor at all. `guessed`: it is one,
    and nothing shows on which device, unless a caller does.
    """

    sure: bool
    tensor: bool
    parameters: tuple[str, ...]
    guessed: bool = False


def operand_of(sync: Sync, module: Module) -> Operand | None:
    """What the sync reads, or None if that lives on the host or is unknown."""
    return _operand(sync, module) or off_device(None, sync.operand, module)


def operand_at(node: cst.BaseExpression | None, module: Module) -> Operand | None:
    """The same for an expression that must be known for a tensor: an object can be compared too."""
    return operand_of_value(module.value(node)) or off_device(None, node, module)


def tensor_at(node: cst.BaseExpression, module: Module) -> Operand | None:
    """The same for what is a tensor by the way it is used; where nothing shows on which device,
    this is a guess: what a training step uses in that way is mostly on the accelerator."""
    value = module.value(node)
    known = operand_of_value(value)
    if known is not None:
        return known if known.sure or known.tensor else replace(known, tensor=True, guessed=True)
    if not value.only(Kind.UNKNOWN | Kind.PARAMETER | Kind.TENSOR | Kind.LIKELY):
        return None
    if isinstance(node, cst.Name) and not module.flow.reaching(node):
        return None
    if _is_of_the_host(node, module):
        return because(None, "{:code} may be an array or a column of a table", node)
    return Operand(True, True, (), guessed=True)


def _operand(sync: Sync, module: Module) -> Operand | None:
    value = module.value(sync.operand)
    if value.has(Kind.MODULE) and not value.has(TENSORS):
        return None
    unspelled = sync.how in _UNSPELLED
    if value.has(Kind.DEVICE):
        if unspelled and value.has(Kind.HOST):
            return None
        if value.has(ARRAYS) and not sync.scalar:
            return None
        # A parameter that is called like a loss is one unless all callers pass numbers.
        if isinstance(sync.operand, cst.Name) and module.flow.is_parameter(sync.operand):
            return Operand(False, True, (sync.operand.value,))
        return Operand(True, True, ())
    if value.has(Kind.LIKELY):
        return None if unspelled else Operand(True, True, ())
    known = _undecided(value, tensor=sync.how in _ONLY_TENSORS)
    if sync.how != ".item()" or (known is not None and (known.sure or known.tensor)):
        return known
    # Hardly anything else has `.item()`, and what a training step reads is mostly on the device.
    likely = value.only(Kind.UNKNOWN | Kind.PARAMETER | Kind.TENSOR)
    if not likely or _is_of_the_host(sync.operand, module):
        return known
    return Operand(known is None, True, () if known is None else known.parameters, guessed=True)


def _is_of_the_host(node: cst.BaseExpression, module: Module) -> bool:
    """Whether an expression begins with a shape, an array, a table or the like."""
    while isinstance(node, cst.Attribute | cst.Subscript | cst.Call):
        node = node.func if isinstance(node, cst.Call) else node.value
        if any(name.startswith(_HOST_LIBRARIES) for name in module.resolve(node)):
            return True
        if module.value(node).only(ON_HOST):
            return True
    return _tables(module)


@once
def _tables(module: Module) -> bool:
    """Whether the file has tables, whose columns have `.item()` as well."""
    return _IMPORTS_TABLES.search(module.text) is not None


def operand_of_value(value: Value) -> Operand | None:
    """The same for the value of an expression."""
    if value.has(Kind.DEVICE):
        return Operand(True, True, ()) if value.only(Kind.DEVICE | Kind.LIKELY) else None
    return None if value.has(Kind.LIKELY | Kind.HOST) else _undecided(value, tensor=False)


def _undecided(value: Value, *, tensor: bool) -> Operand | None:
    parameters = tuple(sorted(value.parameters - placing(value.parameters)))
    if value.has(Kind.PARAMETER) and parameters:
        return Operand(False, tensor or value.has(Kind.TENSOR), parameters)
    if value.has(Kind.TENSOR) and not value.has(Kind.CPU | Kind.UNKNOWN):
        return Operand(True, True, ())
    return None
