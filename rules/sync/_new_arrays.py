"""Arrays that NumPy makes of sizes and numbers alone, as torch could on the device."""

from collections.abc import Sequence

import libcst as cst

from torchlint.analysis.literals import UNKNOWN, argument, literal
from torchlint.analysis.uses import method_name
from torchlint.analysis.values.kinds import Kind
from torchlint.rule import Module

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
    """Whether an array is made anew of sizes and numbers: `np.eye(3).flatten()`,
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
    if module.calls(made, *_JOINED):
        return are_new(_joined_by(made))
    if method_name(made) in _RESHAPES:
        assert isinstance(made.func, cst.Attribute)
        return are_new([made.func.value])
    return module.calls(made, *_MADE) or _holds_numbers(made, module)


def _value_of(node: cst.BaseExpression | None, module: Module) -> cst.BaseExpression | None:
    """What a name was given, if that is certain and nothing was written into it since."""
    if not isinstance(node, cst.Name):
        return node
    bindings = module.flow.reaching(node)
    written = module.once(_written_into)
    return bindings[0].value if len(bindings) == 1 and node.value not in written else None


def _written_into(module: Module) -> set[str]:
    """The names of which a line sets items: `grid[i, j] = 1`."""
    targets = [each.target for each in module.nodes(cst.AssignTarget)]
    targets += [each.target for each in module.nodes(cst.AugAssign)]
    found: set[str] = set()
    for target in targets:
        node: cst.BaseExpression = target
        while isinstance(node, cst.Subscript):
            node = node.value
        if node is not target and isinstance(node, cst.Name):
            found.add(node.value)
    return found


def _is_number(node: cst.BaseExpression | None, module: Module) -> bool:
    return module.value(node).only(Kind.HOST | Kind.SCALAR)


def _joined_by(call: cst.Call) -> list[cst.BaseExpression]:
    """The arrays that are given one by one, as a list, or as the result of another call."""
    given = [arg.value for arg in call.args if arg.keyword is None]
    if given and isinstance(given[0], cst.List | cst.Tuple):
        return [each.value for each in given[0].elements]
    return given


def _holds_numbers(call: cst.Call, module: Module) -> bool:
    """`np.array([1, 0, 0])`, `np.random.permutation(n)`."""
    if module.calls(call, "numpy.array"):
        return literal(argument(call, "object", 0)) is not UNKNOWN
    counts = module.calls(call, "numpy.random.permutation")
    return counts and _is_number(argument(call, "x", 0), module)
