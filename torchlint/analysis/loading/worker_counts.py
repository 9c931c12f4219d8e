"""How many workers a loader is given: none or some, for certain or unless an option is given."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.analysis.literals import UNKNOWN, argument, literal, option_names
from torchlint.analysis.names import Binding, How, dotted_text
from torchlint.analysis.uses import calls_of, method_name, passed_for

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.analysis.module import Module

_DEEPEST = 4
_COUNTS = ("os.cpu_count", "multiprocessing.cpu_count")
_OPTIONS = ("typer.Option", "pydantic.Field")
_LOADERS = re.compile(r"(?:loader|_dl)$", re.IGNORECASE)
_SHORTEST = 4
"""Letters: what is called `n` or `j` may be anything in another file."""


class Workers(NamedTuple):
    """A number of workers that is known to be 0, or not to be.

    Args:
        option: what asks for another number, if it is given; empty for one that is written out.
        elsewhere: whether other files may decide what the option is by default.
        fallback: whether it is 0 where no file says so.
    """

    option: str = ""
    elsewhere: bool = False
    fallback: bool = False


KNOWN = Workers()


def no_workers(node: cst.BaseExpression, module: Module) -> Workers | None:
    """Whether a number of workers is 0 unless somebody asks for more; None if it is not, or if
    nothing shows where it comes from."""
    return _Number(module, some=False).of(node, 0)


def some_workers(node: cst.BaseExpression, module: Module) -> Workers | None:
    """Whether the file shows that a number of workers is not 0 unless somebody asks for none."""
    found = _Number(module, some=True).of(node, 0)
    return None if found is not None and found.elsewhere else found


class _Number:
    """Follows a number of workers to where it is written."""

    def __init__(self, module: Module, *, some: bool) -> None:
        self._module = module
        self._some = some

    def of(self, node: cst.BaseExpression | None, depth: int) -> Workers | None:
        number = literal(node)
        if number is not UNKNOWN:
            fits = isinstance(number, int) and (number > 0 if self._some else number == 0)
            return KNOWN if fits else None
        if node is None or depth > _DEEPEST:
            return None
        if isinstance(node, cst.Name):
            return self._name(node, depth)
        if isinstance(node, cst.Attribute):
            return self._attribute(node, depth)
        if isinstance(node, cst.Subscript):
            key = node.slice[0].slice
            name = literal(key.value) if isinstance(key, cst.Index) else UNKNOWN
            return self._option(name) if isinstance(name, str) else None
        if isinstance(node, cst.Call):
            return self._call(node, depth)
        if isinstance(node, cst.BinaryOperation):
            return self._per_process(node, depth)
        if isinstance(node, cst.IfExp):
            return self._each((node.body, node.orelse), depth)
        if isinstance(node, cst.BooleanOperation):
            return self._each((node.left, node.right), depth)
        return None

    def _each(self, nodes: Iterable[cst.BaseExpression | None], depth: int) -> Workers | None:
        """What is known if each of these fits; an option counts more than what is written out."""
        found: list[Workers] = []
        for node in nodes:
            one = self.of(node, depth + 1)
            if one is None:
                return None
            found.append(one)
        return max(found, key=lambda each: (each.elsewhere, bool(each.option)), default=None)

    def _any(self, nodes: Iterable[cst.BaseExpression], depth: int) -> Workers | None:
        found = (self.of(each, depth + 1) for each in nodes)
        return next((each for each in found if each is not None), None)

    def _call(self, call: cst.Call, depth: int) -> Workers | None:
        """`int(n)`, `min(n, 8)`, `max(0, n)`, `config.get("workers", 0)`, `getattr(args, …, 0)`."""
        module, values = self._module, [arg.value for arg in call.args]
        if module.calls(call, *_COUNTS):
            return KNOWN if self._some else None
        if module.calls(call, "builtins.int") and values:
            return self.of(values[0], depth + 1)
        if module.calls(call, "builtins.min", "builtins.max"):
            one_is_enough = module.calls(call, "builtins.max") is self._some
            return self._any(values, depth) if one_is_enough else self._each(values, depth)
        if module.calls(call, "builtins.getattr"):
            values = values[1:]
        elif method_name(call) not in ("get", "pop"):
            return None
        name = literal(values[0]) if values else UNKNOWN
        default = literal(values[1]) if len(values) > 1 else None
        if not isinstance(name, str) or default not in (0, None):
            return None
        found = self._option(name)
        return found and found._replace(fallback=default == 0)

    def _per_process(self, node: cst.BinaryOperation, depth: int) -> Workers | None:
        """`n // gpus`, `(n + gpus - 1) / gpus`, `n * 2`."""
        if not isinstance(node.operator, cst.Divide | cst.FloorDivide | cst.Multiply):
            return None
        left = node.left
        while isinstance(left, cst.BinaryOperation) and isinstance(
            left.operator, cst.Add | cst.Subtract
        ):
            left = left.left
        return self.of(left, depth + 1)

    # names and options -----------------------------------------------------------------------

    def _name(self, node: cst.Name, depth: int) -> Workers | None:
        bindings = self._module.flow.reaching(node)
        if len(bindings) == 1 and bindings[0].how is How.PARAMETER:
            return self._parameter(bindings[0], depth)
        if any(each.how is not How.ASSIGNMENT for each in bindings):
            return None
        return self._each((each.value for each in bindings), depth)

    def _parameter(self, binding: Binding, depth: int) -> Workers | None:
        """What the callers of a function pass, or its default: in this file, or in others."""
        param, module = binding.node, self._module
        function = module.function(param)
        if not isinstance(param, cst.Param) or function is None:
            return None
        default = param.default
        if isinstance(default, cst.Call) and module.calls(default, *_OPTIONS):
            default = argument(default, "default", 0)
        if default is not None and not self._some and self.of(default, depth + 1) is None:
            return None
        callers = list(calls_of(function, module))
        if not callers or any(arg.star for call in callers for arg in call.args):
            return _elsewhere(binding.name)
        passed = passed_for(binding.name, function, module)
        known = self._each((each or default for each in passed), depth)
        return known and known._replace(option=known.option or binding.name)

    def _attribute(self, node: cst.Attribute, depth: int) -> Workers | None:
        name = node.attr.value
        if dotted_text(node) != f"self.{name}":
            of_loader = _LOADERS.search(dotted_text(node.value))
            return None if of_loader else self._option(name)
        made = self._module.values.assigned(self._module.class_(node), name)
        if any(each.how is not How.ASSIGNMENT for each in made):
            return None
        return self._each((each.value for each in made), depth) if made else _elsewhere(name)

    def _option(self, name: str) -> Workers | None:
        """An option of the command line, in this file or in another."""
        calls = self._module.calls_by_method.get("add_argument", ())
        made = next((call for call in calls if name in option_names(call)), None)
        if made is None:
            return _elsewhere(name)
        default = argument(made, "default")
        known = self.of(default, _DEEPEST)
        return None if known is None else Workers(option_names(made)[-1])


def _elsewhere(name: str) -> Workers | None:
    sound = len(name) >= _SHORTEST and name.isidentifier() and name.isascii()
    return Workers(name, elsewhere=True) if sound else None
