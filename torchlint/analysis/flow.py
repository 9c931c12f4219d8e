"""Which assignment a use of a name sees: reaching definitions, approximated by blocks."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.names import Binding, How, Names
from torchlint.source.tree import last_statement

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.source.tree import Tree

LOOPS = (cst.For, cst.While)
_ABOUT = frozenset({"shape", "size", "dim", "ndim", "dtype", "device", "numel"})
_IMPORTED = (cst.ImportFrom, cst.ImportAlias)
_DEFINED = (cst.Param, cst.FunctionDef, cst.ClassDef, cst.Del, cst.Global, cst.Nonlocal, *_IMPORTED)
_WEAK = frozenset({How.UPDATE, How.OTHER})


class Flow:
    """Answers with the bindings that can hold when a name is read.

    A binding dominates a use if its block encloses the use and it comes earlier; the last such
    binding hides those before it. Bindings in other branches, updates, and bindings later in a
    shared loop are kept beside it, so the answer errs on the side of too many.
    """

    def __init__(self, tree: Tree, names: Names) -> None:
        self._tree = tree
        self._names = names
        self._reaching: dict[int, list[Binding]] = {}

    def is_parameter(self, node: cst.BaseExpression) -> bool:
        """Whether an expression is a parameter of its function, as it was passed."""
        bindings = self.reaching(node) if isinstance(node, cst.Name) else []
        return bool(bindings) and all(each.how is How.PARAMETER for each in bindings)

    def reaching(self, use: cst.Name) -> list[Binding]:
        """The bindings, in source order, whose value `use` may read."""
        known = self._reaching.get(id(use))
        if known is None:
            known = self._reaching[id(use)] = self._found(use)
        return known

    def _found(self, use: cst.Name) -> list[Binding]:
        scope = self._names.scope(use)
        bindings = self._names.lookup(use)
        if len(bindings) < 2 or scope.bindings.get(use.value) is not bindings:
            return bindings
        above = set(self._tree.ancestors(use))
        at = self._tree.order(use)
        last: Binding | None = None
        beside: list[Binding] = []
        for binding in reversed(bindings):
            node = binding.node
            if self._tree.order(node) > at and binding.how is not How.PARAMETER:
                continue
            if node in above and not self._visible_inside(binding, above):
                continue
            if binding.how not in _WEAK and self._dominates(binding, above):
                last = binding
                break
            if not self._cut_off(node, above):
                beside.append(binding)
        kept = [*([last] if last else []), *reversed(beside)]
        loops = self._loops_that_carry(above, last)
        if loops:
            seen = set(map(id, kept))
            kept += [
                binding
                for binding in bindings
                if id(binding) not in seen
                and not loops.isdisjoint(self._tree.ancestors(binding.node))
            ]
        return kept or bindings

    def reads(self, names: Iterable[cst.Name]) -> dict[cst.CSTNode, list[cst.Name]]:
        """Of each assignment, those of the names, in their order, that may read what it set."""
        found: dict[cst.CSTNode, list[cst.Name]] = defaultdict(list)
        for name in filter(self._is_read, names):
            for node in {binding.node for binding in self.reaching(name)}:
                found[node].append(name)
        return found

    def _is_read(self, name: cst.Name) -> bool:
        parent = self._tree.parent(name)
        if isinstance(parent, cst.Attribute):
            return parent.value is name and parent.attr.value not in _ABOUT
        if isinstance(parent, cst.Arg):
            return parent.keyword is not name
        if isinstance(parent, _DEFINED):
            return isinstance(parent, cst.Param) and parent.default is name
        node: cst.CSTNode = name
        while isinstance(parent, (cst.Element, cst.Tuple, cst.List)):
            node, parent = parent, self._tree.parent(parent)
        if isinstance(parent, (cst.For, cst.CompFor, cst.AnnAssign)):
            return parent.target is not node
        return not isinstance(parent, cst.AssignTarget)

    def _visible_inside(self, binding: Binding, above: set[cst.CSTNode]) -> bool:
        """Whether a use within the binding's own node comes after it, not before."""
        node = binding.node
        return binding.how is How.PARAMETER or (isinstance(node, cst.For) and node.body in above)

    def _dominates(self, binding: Binding, above: set[cst.CSTNode]) -> bool:
        node = binding.node
        if binding.how is How.PARAMETER or isinstance(node, cst.For):
            return binding.how is How.PARAMETER or node in above
        for parent in self._tree.ancestors(node):
            if isinstance(parent, (cst.IndentedBlock, cst.SimpleStatementSuite, cst.Module)):
                if parent in above:
                    return True
                if not isinstance(self._tree.parent(parent), cst.With):
                    return False  # what stands in a `with` runs whenever the `with` does
        return False

    def _cut_off(self, node: cst.CSTNode, above: set[cst.CSTNode]) -> bool:
        """Whether `node` lies in the other arm of an `if` around the use, or in a block that leaves
        before the use is reached."""
        child = node
        leaves_round = False
        for parent in self._tree.ancestors(node):
            if parent in above:
                return leaves_round or (
                    isinstance(parent, cst.If)
                    and child is parent.body
                    and parent.orelse is not None
                    and parent.orelse in above
                )
            if _ends_with(parent, cst.Return, cst.Raise):
                return True
            if parent.__class__ in LOOPS:
                leaves_round = False  # the use comes after the loop
            elif _ends_with(parent, cst.Break, cst.Continue):
                leaves_round = True
            child = parent
        return False

    def _loops_that_carry(self, above: set[cst.CSTNode], last: Binding | None) -> set[cst.CSTNode]:
        """The loops around a use that carry values past `last` into the next round."""
        loops: set[cst.CSTNode] = {node for node in above if node.__class__ in LOOPS}
        if last is not None:
            loops -= {last.node, *self._tree.ancestors(last.node)}
        return loops


def _ends_with(block: cst.CSTNode, *kinds: type[cst.CSTNode]) -> bool:
    """Whether the last statement of a block is of one of these kinds."""
    return isinstance(block, cst.IndentedBlock) and isinstance(last_statement(block), kinds)
