"""Where a function reads what one of its assignments put into a name."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

_ABOUT = frozenset({"shape", "size", "dim", "ndim", "dtype", "device", "numel"})
_DEFINED = (cst.Param, cst.FunctionDef, cst.ClassDef, cst.Del, cst.Global, cst.Nonlocal)
_Key = tuple[cst.FunctionDef | None, str]


class Reads:
    """Answers for one file. `x.shape` and the like are no reads: they ask about a tensor, not
    for its values."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._readers: dict[_Key, dict[cst.CSTNode, list[cst.Name]]] = {}

    def of(self, assign: cst.CSTNode, name: str) -> list[cst.Name]:
        """The places that read what an assignment in a function put into a name."""
        key = (self._module.function(assign), name)
        if key not in self._readers:
            self._readers[key] = self._module.flow.by_assignment(self._all.get(key, ()))
        return self._readers[key].get(assign, [])

    @cached_property
    def _all(self) -> dict[_Key, list[cst.Name]]:
        """Reads of each name in each function and the functions inside it, except `x.shape`."""
        found: dict[_Key, list[cst.Name]] = defaultdict(list)
        for name in self._module.nodes(cst.Name):
            if self._is_read(name):
                for above in self._module.ancestors(name):
                    if isinstance(above, cst.FunctionDef):
                        found[above, name.value].append(name)
        return found

    def _is_read(self, name: cst.Name) -> bool:
        parent = self._module.parent(name)
        if isinstance(parent, cst.Attribute):
            return parent.value is name and parent.attr.value not in _ABOUT
        if isinstance(parent, cst.Arg):
            return parent.keyword is not name
        if isinstance(parent, _DEFINED):
            return isinstance(parent, cst.Param) and parent.default is name
        node: cst.CSTNode = name
        while isinstance(parent, (cst.Element, cst.Tuple, cst.List)):
            node, parent = parent, self._module.parent(parent)
        if isinstance(parent, (cst.For, cst.CompFor, cst.AnnAssign)):
            return parent.target is not node
        return not isinstance(parent, cst.AssignTarget)
