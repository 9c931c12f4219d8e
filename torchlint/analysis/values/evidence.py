"""What the use of a name shows of its value: losses, modules, tensors."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis import torch_api
from torchlint.analysis.frameworks.frameworks import ANY
from torchlint.analysis.names import dotted_text
from torchlint.analysis.values.kinds import sounds_like_optimizer
from torchlint.source.tree import last_statement

if TYPE_CHECKING:
    from torchlint.source.tree import Tree

_MODULE_ONLY = frozenset(
    {"parameters", "named_parameters", "eval", "train", "state_dict", "load_state_dict", "modules"}
)


class Evidence:
    """The names of one file whose kind is shown by the methods called on them."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    @cached_property
    def backward_names(self) -> frozenset[str]:
        """Names and `self.` attributes that `backward` is called on: losses."""
        found: set[str] = set()
        for call in self._tree.nodes(cst.Call):
            if not isinstance(call.func, cst.Attribute):
                continue
            owner = call.func.value
            if call.func.attr.value == "backward":
                given = dotted_text(call.args[0].value) if call.args else ""
                found.add(given)
                if "loss" not in given.lower():  # `accelerator.backward(loss)`
                    found.add(dotted_text(owner))
                if isinstance(owner, cst.Call) and owner.args:
                    found.add(dotted_text(owner.args[0].value))
            elif call.func.attr.value in ANY.backward_methods and call.args:
                found.add(dotted_text(call.args[0].value))
        return frozenset(found - {""})

    @cached_property
    def module_names(self) -> frozenset[str]:
        """Names on which methods are called that only modules have: `parameters`, `eval`."""
        found: set[str] = set()
        for call in self._tree.nodes(cst.Call):
            if isinstance(call.func, cst.Attribute) and call.func.attr.value in _MODULE_ONLY:
                found.add(dotted_text(call.func.value))
        optimizers = {name for name in found if sounds_like_optimizer(name)}
        return frozenset(found - optimizers - {"", "self"})

    def tensor_names(self, node: cst.CSTNode) -> frozenset[str]:
        """Names of the enclosing function that tensor-only methods are called on."""
        function = self._tree.enclosing(node, cst.FunctionDef)
        return self._tensor_names.get(function, frozenset())

    def is_no_tensor(self, use: cst.Name) -> bool:
        """Whether a check of a parameter lets only what is no tensor come to a use of it:
        `if isinstance(x, torch.Tensor): return x`."""
        checks = self._tensor_checks.get(use.value)
        if not checks:
            return False
        above = set(self._tree.ancestors(use))
        return any(self._leaves_out_tensors(check, above, use) for check in checks)

    def _leaves_out_tensors(self, check: cst.If, above: set[cst.CSTNode], use: cst.CSTNode) -> bool:
        negated = isinstance(check.test, cst.UnaryOperation)
        if check in above:
            return (check.body if negated else check.orelse) in above
        after = self._tree.order(check) < self._tree.order(use)
        return after and not negated and self._tree.parent(check) in above and _leaves(check.body)

    @cached_property
    def _tensor_checks(self) -> dict[str, list[cst.If]]:
        """The conditions that ask whether a name is a tensor, or is none."""
        found: dict[str, list[cst.If]] = {}
        for condition in self._tree.nodes(cst.If):
            test = condition.test
            if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
                test = test.expression
            if isinstance(test, cst.Call) and test.args and _asks_for_tensor(test):
                found.setdefault(dotted_text(test.args[0].value), []).append(condition)
        return found

    @cached_property
    def _tensor_names(self) -> dict[cst.FunctionDef | None, frozenset[str]]:
        found: dict[cst.FunctionDef | None, set[str]] = {}
        for call in self._tree.nodes(cst.Call):
            func = call.func
            if (
                isinstance(func, cst.Attribute)
                and isinstance(func.value, cst.Name)
                and func.attr.value in torch_api.TENSOR_METHODS
            ):
                function = self._tree.enclosing(call, cst.FunctionDef)
                found.setdefault(function, set()).add(func.value.value)
        return {function: frozenset(names) for function, names in found.items()}


def _asks_for_tensor(test: cst.Call) -> bool:
    """`isinstance(x, torch.Tensor)`, `torch.is_tensor(x)`."""
    asked = dotted_text(test.func).rpartition(".")[2]
    if asked != "isinstance" or len(test.args) != 2:
        return asked == "is_tensor"
    return dotted_text(test.args[1].value).rpartition(".")[2] == "Tensor"


def _leaves(body: cst.BaseSuite) -> bool:
    """Whether nothing that follows a block runs after it."""
    last = last_statement(body)
    return isinstance(last, cst.Return | cst.Raise | cst.Continue | cst.Break)
