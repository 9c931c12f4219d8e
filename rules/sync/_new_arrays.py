"""Which arrays NumPy makes of sizes and numbers alone, so that torch could create them."""

from collections.abc import Sequence

import libcst as cst

from torchlint.analysis.literals import UNKNOWN, argument, literal
from torchlint.analysis.uses import method_name, receiver
from torchlint.analysis.values.kinds import Kind
from torchlint.rule import Module, once

_MADE = tuple(
    f"numpy.{name}"
    for name in "arange eye full identity indices linspace ones tri zeros".split()
    + [f"random.{name}" for name in "rand randint randn random standard_normal".split()]
)
_JOINED = tuple(
    f"numpy.{name}" for name in "concatenate dstack hstack meshgrid stack vstack".split()
)
_RESHAPES = ("astype", "copy", "flatten", "ravel", "reshape", "transpose")
_DEEPEST = 8


def is_new_array(node: cst.BaseExpression | None, module: Module, *, depth: int = _DEEPEST) -> bool:
    """Whether an array is made of sizes and numbers each time: `np.eye(3).flatten()`,
    `np.stack(np.meshgrid(np.arange(w) * stride, np.arange(h)))`, `np.random.permutation(n)`."""
    made = _value_of(node, module)
    if depth == 0:
        return False

    def are_new(parts: Sequence[cst.BaseExpression]) -> bool:
        return bool(parts) and all(is_new_array(each, module, depth=depth - 1) for each in parts)

    if isinstance(made, cst.BinaryOperation):
        sides = [made.left, made.right]
        return are_new([side for side in sides if not _is_number(side, module)])
    if isinstance(made, cst.Attribute):
        return made.attr.value == "T" and are_new([made.value])
    if isinstance(made, cst.Subscript):
        return "numpy.mgrid" in module.resolve(made.value)
    if not isinstance(made, cst.Call):
        return False
    if module.calls(made, *_JOINED):  # one by one, as a list, or as the result of another call
        given = [arg.value for arg in made.args if arg.keyword is None]
        listed = given[0] if given and isinstance(given[0], cst.List | cst.Tuple) else None
        return are_new([each.value for each in listed.elements] if listed else given)
    if method_name(made) in _RESHAPES:
        return are_new([receiver(made)])
    return module.calls(made, *_MADE) or _holds_numbers(made, module)


def _value_of(node: cst.BaseExpression | None, module: Module) -> cst.BaseExpression | None:
    """What a name was given, if that is certain and nothing was written into it since."""
    if not isinstance(node, cst.Name):
        return node
    bindings = module.flow.reaching(node)
    written = node.value in _names_with_set_items(module)
    return bindings[0].value if len(bindings) == 1 and not written else None


@once
def _names_with_set_items(module: Module) -> set[str]:
    """The names whose items a line sets: `grid[i, j] = 1`."""
    targets = [each.target for each in module.nodes(cst.AssignTarget)]
    targets += [each.target for each in module.nodes(cst.AugAssign)]
    names: set[str] = set()
    for target in targets:
        node: cst.BaseExpression = target
        while isinstance(node, cst.Subscript):
            node = node.value
        if node is not target and isinstance(node, cst.Name):
            names.add(node.value)
    return names


def _is_number(node: cst.BaseExpression | None, module: Module) -> bool:
    return module.value(node).only(Kind.HOST | Kind.SCALAR)


def _holds_numbers(call: cst.Call, module: Module) -> bool:
    """`np.array([1, 0, 0])`, `np.random.permutation(n)`."""
    if module.calls(call, "numpy.array"):
        return literal(argument(call, "object", 0)) is not UNKNOWN
    counts = module.calls(call, "numpy.random.permutation")
    return counts and _is_number(argument(call, "x", 0), module)
