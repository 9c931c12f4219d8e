"""Which assignment a use of a name sees: reaching definitions, approximated by blocks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.names import Binding, How, Names
from torchlint.source.tree import last_statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torchlint.source.tree import Tree

LOOPS = (cst.For, cst.While)
_BLOCKS = (cst.IndentedBlock, cst.SimpleStatementSuite, cst.Module)
_LEAVES = (cst.Return, cst.Raise, cst.Break, cst.Continue)
_ABOUT = frozenset({"shape", "size", "dim", "ndim", "dtype", "device", "numel"})
_IMPORTED = (cst.ImportFrom, cst.ImportAlias)
_DEFINED = (cst.Param, cst.FunctionDef, cst.ClassDef, cst.Del, cst.Global, cst.Nonlocal, *_IMPORTED)
_WEAK = frozenset({How.UPDATE, How.OTHER, How.MANY})
_BLOCKS = (cst.IndentedBlock, cst.SimpleStatementSuite, cst.Module)
_FEW = 8
"""Bindings of a name up to which each use is asked by itself."""
_MOST_REACHING = 32
"""A use that sees more bindings may read anything: thousands of uses of hundreds of bindings would
take the product of both."""


class Flow:
    """Answers with the bindings that can hold when a name is read.

    A binding dominates a use if its block encloses the use and it comes earlier; the last such
    binding hides those before it, as do bindings in all arms of an `if`. Bindings in other
    branches, updates, and bindings later in a shared loop are kept as well, so the answer errs on
    the side of too many.
    """

    def __init__(self, tree: Tree, names: Names) -> None:
        self._tree = tree
        self._names = names
        self._reaching: dict[int, list[Binding]] = {}
        self._orders: dict[int, list[int]] = {}
        """Where the bindings of a name are that has more than a few."""
        self._by_place: dict[tuple[int, int, int], list[Binding]] = {}
        self._set_by: dict[int, frozenset[cst.If | cst.Try]] = {}

    def is_parameter(self, node: cst.BaseExpression) -> bool:
        """Whether an expression is a parameter of its function, as it was passed."""
        bindings = self.reaching(node)
        return bool(bindings) and all(each.how is How.PARAMETER for each in bindings)

    def given(self, use: cst.CSTNode | None) -> cst.BaseExpression | None:
        """What a name is certainly given, by a single plain assignment."""
        bindings = self.reaching(use)
        certain = len(bindings) == 1 and bindings[0].how is How.ASSIGNMENT
        return bindings[0].value if certain else None

    def reaching(self, use: cst.CSTNode | None) -> list[Binding]:
        """The bindings, in source order, whose value a name may read; a single one of `How.MANY` if
        there are too many to tell apart, and none if `use` is not a name."""
        if not isinstance(use, cst.Name):
            return []
        known = self._reaching.get(id(use))
        if known is None:
            known = self._reaching[id(use)] = self._found(use)
        return known

    def _found(self, use: cst.Name) -> list[Binding]:
        scope = self._names.scope(use)
        bindings = self._names.lookup(use)
        if len(bindings) < 2:
            return bindings
        if scope.bindings.get(use.value) is not bindings:
            return _bounded(bindings)
        if len(bindings) <= _FEW:
            return self._seen_from(use, bindings)
        place = self._place(use, bindings)
        if place is None:
            return self._seen_from(use, bindings)
        block, statement, before = place
        key = (id(bindings), id(block), before)
        if key not in self._by_place:
            self._by_place[key] = self._seen_from(statement, bindings)
        return self._by_place[key]

    def _place(
        self, use: cst.Name, bindings: list[Binding]
    ) -> tuple[cst.CSTNode, cst.CSTNode, int] | None:
        """The outermost block, and the statement in it around a use, if no binding is in the
        statement; and how many bindings are before it. All uses there see the same."""
        order = self._tree.order
        orders = self._orders.get(id(bindings))
        if orders is None:
            orders = self._orders[id(bindings)] = [order(binding.node) for binding in bindings]
        place = None
        child: cst.CSTNode = use
        for above in self._tree.ancestors(use):
            if isinstance(above, _BLOCKS):
                before = bisect_left(orders, order(child))
                if before != bisect_right(orders, self._tree.last(child)):
                    break
                place = (above, child, before)
            child = above
        return place

    def _seen_from(self, use: cst.CSTNode, bindings: list[Binding]) -> list[Binding]:
        above = set(self._tree.ancestors(use))
        at = self._tree.order(use)
        last: Binding | None = None
        hides: cst.CSTNode | None = None
        beside: list[Binding] = []
        for binding in reversed(bindings):
            node = binding.node
            if self._tree.order(node) > at and binding.how is not How.PARAMETER:
                continue
            if hides is not None and self._tree.order(node) < self._tree.order(hides):
                break
            if node in above and not self._visible_inside(binding, above):
                continue
            if binding.how not in _WEAK and self._dominates(binding, above):
                last, hides = binding, node
                break
            if not self._cut_off(node, above):
                beside.append(binding)
                hides = hides or self._sets_in_all_arms(node, bindings, above)
        kept = [*([last] if last else []), *reversed(beside)]
        loops = self._loops_that_carry(above, hides)
        if loops:
            seen = set(map(id, kept))
            kept += [
                binding
                for binding in bindings
                if id(binding) not in seen
                and not loops.isdisjoint(self._tree.ancestors(binding.node))
            ]
        return _bounded(kept or bindings)

    def reads(self, names: Iterable[cst.Name]) -> dict[cst.CSTNode | None, list[cst.Name]]:
        """Of each assignment, those of the names, in their order, that may read what it set; under
        None a few of those that may read what any of them set."""
        reads_by_function: dict[cst.CSTNode | None, list[cst.Name]] = defaultdict(list)
        for name in filter(self._is_read, names):
            reaching = self.reaching(name)
            if reaching and reaching[0].how is How.MANY:
                reads_by_function[None] += [name] * (len(reads_by_function[None]) < _MOST_REACHING)
            else:
                for node in {binding.node for binding in reaching}:
                    reads_by_function[node].append(name)
        return reads_by_function

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
            if isinstance(parent, _BLOCKS):
                if parent in above:
                    return True
                if not isinstance(self._tree.parent(parent), cst.With):
                    return False  # what is in a `with` runs whenever the `with` does
        return False

    def _sets_in_all_arms(
        self, node: cst.CSTNode, bindings: list[Binding], above: set[cst.CSTNode]
    ) -> cst.CSTNode | None:
        """The `if` or `try` around a binding whose arms all bind the name, in a block around the
        use."""
        if id(bindings) not in self._set_by:
            self._set_by[id(bindings)] = frozenset(self._ifs_that_set(bindings))
        settings = self._set_by[id(bindings)]
        if settings:
            for parent in self._tree.ancestors(node):
                if parent in above:
                    break
                if parent in settings and self._tree.parent(parent) in above:
                    return parent
        return None

    def _ifs_that_set(self, bindings: list[Binding]) -> Iterator[cst.If | cst.Try]:
        """Each `if` with an `else`, and each `try`, whose arms all bind the name, or leave what is
        around them."""
        sets: set[cst.CSTNode] = set()
        left = [
            self._tree.enclosing(each.node, *_BLOCKS)
            for each in bindings
            if each.how not in _WEAK and isinstance(each.node, cst.Assign)
        ]
        while left:
            block = left.pop()
            if block is None or block in sets:
                continue
            sets.add(block)
            holder = self._tree.parent(block)
            if isinstance(holder, cst.With):
                left.append(self._tree.enclosing(holder, *_BLOCKS))
                continue
            whole = self._whole(holder)
            arms = _arms(whole)
            if arms and all(arm in sets or _ends_with(arm, *_LEAVES) for arm in arms):
                assert whole is not None
                yield whole
                left.append(self._tree.enclosing(whole, *_BLOCKS))

    def _whole(self, holder: cst.CSTNode | None) -> cst.If | cst.Try | None:
        """The first `if` of a chain that an arm is part of; a `try`, whose handlers were looked at
        before, since they come later."""
        if isinstance(holder, cst.Try):
            return holder
        while isinstance(holder, cst.Else | cst.If):
            around = self._tree.parent(holder)
            if isinstance(holder, cst.If) and not isinstance(around, cst.If):
                return holder
            holder = around
        return None

    def _cut_off(self, node: cst.CSTNode, above: set[cst.CSTNode]) -> bool:
        """Whether `node` is in the other arm of an `if` around the use, or in a block that leaves
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

    def _loops_that_carry(
        self, above: set[cst.CSTNode], hides: cst.CSTNode | None
    ) -> set[cst.CSTNode]:
        """The loops around a use that carry values past what hides them into the next round."""
        loops: set[cst.CSTNode] = {node for node in above if node.__class__ in LOOPS}
        if hides is not None:
            loops -= {hides, *self._tree.ancestors(hides)}
        return loops


def _bounded(bindings: list[Binding]) -> list[Binding]:
    if len(bindings) <= _MOST_REACHING:
        return bindings
    first = bindings[0]
    return [Binding(first.name, How.MANY, first.node)]


def _arms(whole: cst.If | cst.Try | None) -> list[cst.CSTNode]:
    """The blocks of an `if`, its `elif`s and its `else`; none without an `else`. Those of a `try`
    are its own and those of its handlers: after another error, nothing below runs."""
    if isinstance(whole, cst.Try):
        return [whole.body, *(each.body for each in whole.handlers)] if whole.handlers else []
    arms: list[cst.CSTNode] = []
    arm: cst.If | cst.Else | None = whole
    while isinstance(arm, cst.If):
        arms.append(arm.body)
        arm = arm.orelse
    return [] if arm is None else [*arms, arm.body]


def _ends_with(block: cst.CSTNode, *kinds: type[cst.CSTNode]) -> bool:
    """Whether the last statement of a block is of one of these kinds."""
    return isinstance(block, cst.IndentedBlock) and isinstance(last_statement(block), kinds)
