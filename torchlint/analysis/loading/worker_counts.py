"""How many workers a loader is given: none for certain, or none unless an option is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.analysis.literals import UNKNOWN, argument, literal, option_names
from torchlint.analysis.names import Binding, How, dotted_text
from torchlint.analysis.uses import calls_of, method_name, passed_for

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.analysis.module import Module

_DEEPEST = 4
_OPTIONS = ("typer.Option", "pydantic.Field")
_SHORTEST = 4
"""Letters: what is called `n` or `j` may be anything in another file."""


class NoWorkers(NamedTuple):
    """A number of workers that is 0.

    Args:
        option: what asks for no workers unless it is given; empty for a 0 that is written out.
        elsewhere: whether other files may decide what the option is by default.
        fallback: whether it is 0 where no file says so.
        passed: whether it is a parameter or an attribute, which callers may pass by its name.
    """

    option: str = ""
    elsewhere: bool = False
    fallback: bool = False
    passed: bool = False


def no_workers(node: cst.BaseExpression, module: Module, depth: int = 0) -> NoWorkers | None:
    """Whether a number of workers is 0 unless somebody asks for more; None if it is not, or if
    nothing shows where it comes from."""
    if literal(node) is not UNKNOWN:
        return NoWorkers() if literal(node) == 0 else None
    if depth > _DEEPEST:
        return None
    if isinstance(node, cst.Name):
        return _name(node, module, depth)
    if isinstance(node, cst.Attribute):
        return _attribute(node, module, depth)
    if isinstance(node, cst.Subscript):
        key = node.slice[0].slice
        name = literal(key.value) if isinstance(key, cst.Index) else UNKNOWN
        return _option(name, module) if isinstance(name, str) else None
    if isinstance(node, cst.Call):
        return _call(node, module, depth)
    if isinstance(node, cst.BinaryOperation):
        return _per_process(node, module, depth)
    if isinstance(node, cst.IfExp):
        return _all((node.body, node.orelse), module, depth)
    if isinstance(node, cst.BooleanOperation):
        return _all((node.left, node.right), module, depth)
    return None


def _all(nodes: Iterable[cst.BaseExpression], module: Module, depth: int) -> NoWorkers | None:
    """No workers if each of these is 0; the options count."""
    found = [no_workers(each, module, depth + 1) for each in nodes]
    if not found or None in found:
        return None
    return max(filter(None, found), key=lambda each: (each.elsewhere, bool(each.option)))


def _call(call: cst.Call, module: Module, depth: int) -> NoWorkers | None:
    """`int(n)`, `min(n, most)`, `max(0, n)`, `config.get("workers", 0)`, `getattr(args, …, 0)`."""
    values = [arg.value for arg in call.args]
    if module.calls(call, "builtins.int", "builtins.max") and values:
        return _all(values, module, depth)
    if module.calls(call, "builtins.min"):
        found = (no_workers(each, module, depth + 1) for each in values)
        return next(filter(None, found), None)
    if module.calls(call, "builtins.getattr"):
        values = values[1:]
    elif method_name(call) not in ("get", "pop"):
        return None
    name = literal(values[0]) if values else UNKNOWN
    default = literal(values[1]) if len(values) > 1 else None
    if not isinstance(name, str) or default not in (0, None):
        return None
    found = _option(name, module)
    return found and found._replace(fallback=default == 0)


def _per_process(node: cst.BinaryOperation, module: Module, depth: int) -> NoWorkers | None:
    """`n // gpus`, `(n + gpus - 1) / gpus`, `n * 2`."""
    if not isinstance(node.operator, cst.Divide | cst.FloorDivide | cst.Multiply):
        return None
    left = node.left
    while isinstance(left, cst.BinaryOperation) and isinstance(
        left.operator, cst.Add | cst.Subtract
    ):
        left = left.left
    return no_workers(left, module, depth + 1)


# names and options ---------------------------------------------------------------------------


def _name(node: cst.Name, module: Module, depth: int) -> NoWorkers | None:
    bindings = module.flow.reaching(node)
    if len(bindings) == 1 and bindings[0].how is How.PARAMETER:
        return _parameter(bindings[0], module, depth)
    if any(each.how is not How.ASSIGNMENT or each.value is None for each in bindings):
        return None
    return _all((each.value for each in bindings if each.value is not None), module, depth)


def _parameter(binding: Binding, module: Module, depth: int) -> NoWorkers | None:
    """What the callers of a function pass, or its default: in this file, or in others."""
    param = binding.node
    function = module.function(param)
    if not isinstance(param, cst.Param) or function is None:
        return None
    default = param.default
    if isinstance(default, cst.Call) and module.calls(default, *_OPTIONS):
        default = argument(default, "default", 0)
    if default is not None and no_workers(default, module, depth + 1) is None:
        return None
    if not any(True for _ in calls_of(function, module)):
        return _elsewhere(binding.name, passed=True)
    passed = [each or param.default for each in passed_for(binding.name, function, module)]
    if any(each is None for each in passed):
        return None
    known = _all(filter(None, passed), module, depth)
    return known and known._replace(option=known.option or binding.name)


def _attribute(node: cst.Attribute, module: Module, depth: int) -> NoWorkers | None:
    name = node.attr.value
    if dotted_text(node) != f"self.{name}":
        return _option(name, module)
    made = module.values.assigned(module.class_(node), name)
    values = [each.value for each in made if each.how is How.ASSIGNMENT and each.value is not None]
    if len(values) != len(made):
        return None
    return _all(values, module, depth) if values else _elsewhere(name, passed=True)


def _option(name: str, module: Module) -> NoWorkers | None:
    """An option of the command line, in this file or in another."""
    made = option_called(name, module)
    if made is None:
        return _elsewhere(name)
    zero = literal(argument(made, "default")) == 0
    return NoWorkers(option_names(made)[-1]) if zero else None


def _elsewhere(name: str, *, passed: bool = False) -> NoWorkers | None:
    sound = len(name) >= _SHORTEST and name.isidentifier() and name.isascii()
    return NoWorkers(name, elsewhere=True, passed=passed) if sound else None


def option_called(name: str, module: Module) -> cst.Call | None:
    """The `add_argument` that makes `args.name`."""
    calls = module.calls_by_method.get("add_argument", ())
    return next((call for call in calls if name in option_names(call)), None)
