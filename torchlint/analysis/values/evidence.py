"""What the use of a name shows of its value: losses, modules, tensors."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis import torch_api
from torchlint.analysis.frameworks.frameworks import ANY
from torchlint.analysis.names import dotted_text
from torchlint.analysis.values.kinds import sounds_like_optimizer

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
