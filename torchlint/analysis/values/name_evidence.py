"""What the use of a name shows of its value: losses, modules, tensors."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.analysis import torch_api
from torchlint.analysis.frameworks.frameworks import ANY
from torchlint.analysis.names import dotted_text
from torchlint.analysis.values.kinds import Kind, sounds_like_optimizer
from torchlint.source.tree import last_statement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.source.tree import Tree

_MODULE_ONLY = frozenset(
    {"parameters", "named_parameters", "eval", "train", "state_dict", "load_state_dict", "modules"}
)
_OF_A_TENSOR = frozenset(
    "abs all any argmax argmin bmm cdist clamp cos cumsum exp flatten gather isfinite isinf isnan "
    "log log_softmax matmul max maximum mean min minimum mm norm numel ones_like permute relu "
    "sigmoid sin softmax softplus sqrt square squeeze std sum tanh topk transpose unsqueeze var "
    "zeros_like".split()
)
"""Functions of torch whose first argument is a tensor, never a number or an array."""
_OF_TWO_TENSORS = frozenset({"bmm", "cdist", "matmul", "maximum", "minimum", "mm"})
_TORCH = frozenset({"F", "nn.functional", "torch", "torch.nn.functional"})
_HOST_TYPES = frozenset(
    {"int", "float", "bool", "complex", "str", "bytes", "Number", "Real", "Path"}
)


class _TypeCheck(NamedTuple):
    """What a check says about a name in some code.

    Args:
        name: the name in the check.
        kind: what it is there; `Kind.UNKNOWN` for anything but a tensor.
        where: the code, or the statement after which the check holds.
    """

    name: cst.Name
    kind: Kind
    where: cst.CSTNode
    after: bool


class NameEvidence:
    """The names of one file whose kind is shown by the methods called on them."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    @cached_property
    def backward_names(self) -> frozenset[str]:
        """Names and `self.` attributes that `backward` is called on: losses."""
        return frozenset(self._backward_operands) - {""}

    def goes_backward(self, name: str) -> list[cst.Name]:
        """The places of a name that `backward` is called on."""
        found = self._backward_operands.get(name, ())
        return [each for each in found if isinstance(each, cst.Name)]

    @cached_property
    def _backward_operands(self) -> dict[str, list[cst.BaseExpression]]:
        """What `backward` is called on, by its text."""
        operands: dict[str, list[cst.BaseExpression]] = {}
        for call in self._tree.nodes(cst.Call):
            for operand in _goes_backward(call):
                operands.setdefault(dotted_text(operand), []).append(operand)
        return operands

    @cached_property
    def module_names(self) -> frozenset[str]:
        """Names on which methods are called that only modules have: `parameters`, `eval`."""
        names: set[str] = set()
        for call in self._tree.nodes(cst.Call):
            if isinstance(call.func, cst.Attribute) and call.func.attr.value in _MODULE_ONLY:
                names.add(dotted_text(call.func.value))
        optimizers = {name for name in names if sounds_like_optimizer(name)}
        return frozenset(names - optimizers - {"", "self"})

    def tensor_names(self, node: cst.CSTNode) -> frozenset[str]:
        """Names of the enclosing function that tensor-only methods are called on."""
        function = self._tree.enclosing(node, cst.FunctionDef)
        return self._tensor_names.get(function, frozenset())

    def checked(self, use: cst.Name) -> list[tuple[cst.Name, Kind]]:
        """What checks say that a name is at a use of it, each with the place in the check:
        `Kind.HOST` after `if not isinstance(x, float): continue`, `Kind.UNKNOWN` where it is not a
        tensor."""
        checks = self._type_checks.get(use.value)
        if not checks:
            return []
        above = set(self._tree.ancestors(use))
        return [(each.name, each.kind) for each in checks if self._holds(each, above, use)]

    def moved(self, use: cst.Name) -> list[tuple[cst.Name, cst.Call]]:
        """Where a name has moved in place before a use of it: `batch.to(device)` as a statement."""
        moves = self._moves.get(use.value)
        if not moves:
            return []
        above = set(self._tree.ancestors(use))
        return [(check.name, call) for check, call in moves if self._holds(check, above, use)]

    @cached_property
    def _moves(self) -> dict[str, list[tuple[_TypeCheck, cst.Call]]]:
        moves: dict[str, list[tuple[_TypeCheck, cst.Call]]] = {}
        for statement in self._tree.nodes(cst.Expr):
            call = statement.value
            if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
                continue
            name = call.func.value
            line = self._tree.enclosing(statement, cst.SimpleStatementLine)
            if line is None or not isinstance(name, cst.Name):
                continue
            if call.func.attr.value in ("to", "to_device", "cuda"):
                check = _TypeCheck(name, Kind.DEVICE, line, after=True)
                moves.setdefault(name.value, []).append((check, call))
        return moves

    def _holds(self, check: _TypeCheck, above: set[cst.CSTNode], use: cst.CSTNode) -> bool:
        if not check.after:
            return check.where in above
        follows = self._tree.order(check.where) < self._tree.order(use)
        block = self._tree.enclosing(check.where, cst.IndentedBlock, cst.Module)
        return follows and block in above and check.where not in above

    @cached_property
    def _type_checks(self) -> dict[str, list[_TypeCheck]]:
        """By name: where a check has shown of what type it is, or is not."""
        checks: dict[str, list[_TypeCheck]] = {}
        for call in self._tree.nodes(cst.Call):
            name = call.args[0].value if call.args else None
            kinds = _asked_types(call) if isinstance(name, cst.Name) else None
            if isinstance(name, cst.Name) and kinds is not None:
                for where, truth, after in self._decided(call):
                    if (kind := kinds[truth]) is not None:
                        check = _TypeCheck(name, kind, where, after)
                        checks.setdefault(name.value, []).append(check)
        return checks

    def _decided(self, test: cst.BaseExpression) -> Iterator[tuple[cst.CSTNode, bool, bool]]:
        """Where the truth of a test is known: the code, its truth, and whether that is the code
        after the node rather than in it."""
        truths = {True: True, False: False}  # the truth of the test, by that of what is around it
        child: cst.CSTNode = test
        for above in self._tree.ancestors(test):
            if isinstance(above, cst.BooleanOperation):
                whole = isinstance(above.operator, cst.And)
                if whole not in truths:
                    return
                if child is above.left:
                    yield above.right, truths[whole], False
                truths = {whole: truths[whole]}
            elif isinstance(above, cst.UnaryOperation) and isinstance(above.operator, cst.Not):
                truths = {not truth: truths[truth] for truth in truths}
            else:
                yield from _branches(above, child, truths)
                return
            child = above

    @cached_property
    def _tensor_names(self) -> dict[cst.FunctionDef | None, frozenset[str]]:
        tensor_names: dict[cst.FunctionDef | None, set[str]] = {}
        for call in self._tree.nodes(cst.Call):
            func = call.func
            if (
                isinstance(func, cst.Attribute)
                and isinstance(func.value, cst.Name)
                and func.attr.value in torch_api.TENSOR_METHODS
            ):
                function = self._tree.enclosing(call, cst.FunctionDef)
                tensor_names.setdefault(function, set()).add(func.value.value)
            for taken in _taken_by_torch(call):
                function = self._tree.enclosing(call, cst.FunctionDef)
                tensor_names.setdefault(function, set()).add(taken.value)
        return {function: frozenset(names) for function, names in tensor_names.items()}


def _taken_by_torch(call: cst.Call) -> Iterator[cst.Name]:
    """`x` of `torch.log(x)`, `F.softmax(x[:, 0])` and the like, which take nothing but a tensor,
    and both of `torch.matmul(x, y)`, `torch.min(x[:, :2], y[:, :2])`."""
    func = call.func
    if not isinstance(func, cst.Attribute) or func.attr.value not in _OF_A_TENSOR:
        return
    for position, arg in enumerate(call.args[:2]):
        node = arg.value
        if isinstance(node, cst.Subscript) and _is_index_of_tensor(node):
            node = node.value
        elif position == 1 and func.attr.value not in _OF_TWO_TENSORS:
            break
        if isinstance(node, cst.Name) and dotted_text(func.value) in _TORCH:
            yield node


def _is_index_of_tensor(node: cst.Subscript) -> bool:
    """Whether no list takes what is in the brackets: `x[:, 0]`, `x[y == 1]`."""
    index = node.slice[0].slice
    compares = isinstance(index, cst.Index) and isinstance(index.value, cst.Comparison)
    return compares or len(node.slice) > 1


def _goes_backward(call: cst.Call) -> Iterator[cst.BaseExpression]:
    """What a call does a backward pass from, if it does one."""
    if not isinstance(call.func, cst.Attribute):
        return
    owner = call.func.value
    given = call.args[0].value if call.args else None
    if call.func.attr.value == "backward":
        if given is not None:
            yield given
        # `accelerator.backward(loss)`, `strategy.backward(loss, model)`: those are not tensors.
        takes_loss = given is not None and "loss" in dotted_text(given).lower()
        several = sum(arg.keyword is None for arg in call.args) > 1
        if not takes_loss and not several:
            yield owner
        if isinstance(owner, cst.Call) and owner.args:
            yield owner.args[0].value
    elif call.func.attr.value in ANY.backward_methods and given is not None:
        yield given


def _branches(
    statement: cst.CSTNode, test: cst.CSTNode, known: dict[bool, bool]
) -> Iterator[tuple[cst.CSTNode, bool, bool]]:
    """Where a condition is known to hold, or not to: see `NameEvidence._decided`."""
    if isinstance(statement, cst.Assert) and test is statement.test and True in known:
        yield statement, known[True], True
    if not isinstance(statement, cst.If | cst.IfExp) or test is not statement.test:
        return
    if True in known:
        yield statement.body, known[True], False
    if False in known and statement.orelse is not None:
        yield statement.orelse, known[False], False
    if False in known and isinstance(statement, cst.If) and _leaves(statement.body):
        yield statement, known[False], True


def _asked_types(test: cst.Call) -> dict[bool, Kind | None] | None:
    """What `isinstance(x, torch.Tensor)`, `isinstance(x, (int, float))` or `torch.is_tensor(x)`
    says of its argument if it is true, and if it is false; None for other calls."""
    asked = dotted_text(test.func).rpartition(".")[2]
    if asked == "is_tensor":
        return {True: None, False: Kind.UNKNOWN}
    if asked != "isinstance" or len(test.args) != 2:
        return None
    types = test.args[1].value
    listed = [each.value for each in types.elements] if isinstance(types, cst.Tuple) else [types]
    names = {dotted_text(each).rpartition(".")[2] for each in listed}
    kind = None
    if names <= _HOST_TYPES:
        kind = Kind.HOST
    elif names == {"ndarray"}:
        kind = Kind.ARRAY
    return {True: kind, False: Kind.UNKNOWN if "Tensor" in names else None}


def _leaves(body: cst.BaseSuite) -> bool:
    """Whether nothing that follows a block runs after it."""
    last = last_statement(body)
    return isinstance(last, cst.Return | cst.Raise | cst.Continue | cst.Break)
