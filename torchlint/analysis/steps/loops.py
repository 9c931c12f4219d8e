"""Which code runs on each training step: step loops, step functions, guards."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.frameworks.frameworks import ANY, is_step_hook
from torchlint.analysis.names import dotted_text, is_super
from torchlint.analysis.steps.guards import (
    asked_truths,
    leaves_function,
    leaves_round,
    looks_for_broken,
    rarity,
    skips_most,
    usual_truth,
)
from torchlint.analysis.values.kinds import Kind, sounds_like_optimizer
from torchlint.source.tree import last_statement, within

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.analysis.values.values import Values
    from torchlint.source.tree import Tree

Loop = cst.For | cst.While
_Asked = tuple[cst.BaseExpression, frozenset[str], bool]
LOOPS = (cst.For, cst.While)
CALLABLES = (cst.FunctionDef, cst.Lambda)
BLOCKS = (cst.IndentedBlock, cst.SimpleStatementSuite, cst.Module)
_UNDER_CONDITIONS = (cst.If, *BLOCKS)

_PARTS = frozenset(
    f"{named}{parts}"
    for named in ("", "named_")
    for parts in ("parameters", "buffers", "modules", "children")
)


@dataclass(frozen=True, slots=True, eq=False)
class StepLoop:
    """A loop that trains on each round, and the call that shows it."""

    node: Loop
    anchor: cst.Call


class Loops:
    """The context predicates of one file."""

    def __init__(self, tree: Tree, values: Values) -> None:
        self._tree = tree
        self._values = values
        self._rare: dict[_Asked, cst.BaseExpression | None] = {}

    # anchors -----------------------------------------------------------------------------

    @cached_property
    def backward_calls(self) -> list[cst.Call]:
        """`loss.backward()`, `accelerator.backward(loss)`, `self.manual_backward(loss)`."""
        calls = []
        for call in self._tree.nodes(cst.Call):
            name = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
            if (name in ANY.backward_methods and not self._is_super(call)) or (
                isinstance(call.func, cst.Name) and self._is_loss_scaler(call)
            ):
                calls.append(call)
        return calls

    @cached_property
    def optimizer_steps(self) -> list[cst.Call]:
        """`optimizer.step()`, `scaler.step(optimizer)`."""
        steps = []
        for call in self._tree.nodes(cst.Call):
            func = call.func
            if not isinstance(func, cst.Attribute) or func.attr.value != "step":
                continue
            owner = dotted_text(func.value).rpartition(".")[2]
            if "sched" in owner.lower():
                continue  # of learning rates: once per epoch, or per update of PPO
            if (
                "scaler" in owner.lower()
                or sounds_like_optimizer(owner)
                or self._values.value(func.value).has(Kind.OPTIMIZER)
            ):
                steps.append(call)
        return steps

    @staticmethod
    def _is_super(call: cst.Call) -> bool:
        """`super().backward(…)` and `ctx.backward`: an implementation, not a training step."""
        return isinstance(call.func, cst.Attribute) and is_super(call.func.value)

    @staticmethod
    def _is_loss_scaler(call: cst.Call) -> bool:
        """`loss_scaler(loss, optimizer, …)`: timm's scaler object does the backward itself."""
        name = dotted_text(call.func).lower()
        return "scaler" in name and any(
            sounds_like_optimizer(dotted_text(arg.value)) for arg in call.args
        )

    @cached_property
    def anchors(self) -> list[cst.Call]:
        return [*self.backward_calls, *self.optimizer_steps]

    def trains_between(self, first: cst.CSTNode, second: cst.CSTNode) -> bool:
        """Whether the text between two places does a backward pass or an optimizer step."""
        places = self._anchor_places
        return bisect_left(places, self._tree.order(first)) < bisect_left(
            places, self._tree.order(second)
        )

    @cached_property
    def _anchor_places(self) -> list[int]:
        return sorted(map(self._tree.order, self.anchors))

    # loops -------------------------------------------------------------------------------

    @cached_property
    def step_loops(self) -> dict[Loop, StepLoop]:
        """The loops whose own body does a backward pass or an optimizer step."""
        loops: dict[Loop, StepLoop] = {}
        for anchor in self.anchors:
            for loop in self.loops_around(anchor):
                if self._walks_over(loop, anchor):
                    continue
                loops.setdefault(loop, StepLoop(loop, anchor))
                break
        return loops

    @cached_property
    def _indices(self) -> dict[cst.CSTNode, int]:
        loops = [*self._tree.nodes(cst.For), *self._tree.nodes(cst.While)]
        return {loop: index for index, loop in enumerate(loops)}

    def index(self, loop: Loop) -> int:
        """A number for each loop of the file, the same in every run."""
        return self._indices[loop]

    def loops_around(self, node: cst.CSTNode) -> Iterator[Loop]:
        """The loops of the same function that run `node` on each round, innermost first."""
        child = node
        for above in self._tree.ancestors(node):
            kind = above.__class__
            if kind in CALLABLES and child is not getattr(above, "params", None):
                return
            if (type(above) is cst.For or type(above) is cst.While) and (
                child is above.body or child is getattr(above, "test", None)
            ):
                yield above
            child = above

    def _walks_over(self, loop: Loop, anchor: cst.Call) -> bool:
        """`for opt in optimizers: opt.step()` is one step, not a loop of steps."""
        if not isinstance(loop, cst.For) or not isinstance(anchor.func, cst.Attribute):
            return False
        bound = {name.value for name in _target_names(loop.target)}
        owner = anchor.func.value
        used = {dotted_text(owner).partition(".")[0]}
        used |= {dotted_text(arg.value).partition(".")[0] for arg in anchor.args}
        return bool(bound & used)

    def step_loop(self, node: cst.CSTNode) -> StepLoop | None:
        """The innermost step loop of the same function around `node`."""
        for loop in self.loops_around(node):
            if loop in self.step_loops:
                return self.step_loops[loop]
        return None

    def judged_within(self, node: cst.CSTNode) -> Loop | None:
        """The loop in whose rounds guards and evaluation around `node` count: the innermost step
        loop of its function, else the outermost loop."""
        around = None
        for around in self.loops_around(node):
            if around in self.step_loops:
                break
        return around

    # functions ---------------------------------------------------------------------------

    def function(self, node: cst.CSTNode) -> cst.FunctionDef | None:
        return self._tree.enclosing(node, cst.FunctionDef)

    @cached_property
    def stepping_functions(self) -> dict[cst.FunctionDef, bool]:
        """Functions that do a backward pass or an optimizer step outside any loop of theirs.

        True for those that do both, or that give the optimizer the loss: their body is one
        training step.
        """
        functions: dict[cst.FunctionDef, set[str]] = {}
        for what, anchors in (("back", self.backward_calls), ("step", self.optimizer_steps)):
            for anchor in anchors:
                function = self.function(anchor)
                if function is None or self.is_closure(function):
                    continue
                if all(self._walks_over(loop, anchor) for loop in self.loops_around(anchor)):
                    functions.setdefault(function, set()).add(what)
                    if what == "step" and _takes_loss(anchor):
                        functions[function].add("back")
        return {function: len(what) == 2 for function, what in functions.items()}

    @cached_property
    def _closures(self) -> frozenset[str]:
        names = set()
        for step in self.optimizer_steps:
            names |= {arg.value.value for arg in step.args if isinstance(arg.value, cst.Name)}
        return frozenset(names)

    @cached_property
    def training_functions(self) -> frozenset[cst.FunctionDef | None]:
        """The functions that hold a training step; None means the top level."""
        return frozenset(map(self.function, self.step_loops)) | self.stepping_functions.keys()

    def is_closure(self, function: cst.FunctionDef) -> bool:
        """Whether a function is handed to `optimizer.step(closure)`."""
        return function.name.value in self._closures or function.name.value == "closure"

    def is_step_hook(self, function: cst.FunctionDef) -> bool:
        """Whether a training framework calls this function on each step."""
        class_ = self._tree.enclosing(function, cst.ClassDef)
        if class_ is not None:
            bases = self._values.definitions.bases(class_)
            if is_step_hook(function.name.value, bases):
                return True
        return function.name.value in self._values.step_hooks

    @cached_property
    def functions_with_anchor(self) -> frozenset[cst.FunctionDef | None]:
        """The functions that do a backward pass or an optimizer step."""
        return frozenset(self.function(anchor) for anchor in self.anchors)

    # guards ------------------------------------------------------------------------------

    def guard(self, node: cst.CSTNode, loop: cst.CSTNode | None) -> cst.CSTNode | None:
        """The condition, `except` or function between `node` and the loop (or, without one, the
        function) around it that keeps it from running on each round; None if nothing does."""
        child = node
        around_step = self._around_step.get(self.function(node) if loop is None else loop, ())
        for above in self._tree.ancestors(node):
            kind = above.__class__
            if kind is cst.ExceptHandler:
                return above
            if kind in _UNDER_CONDITIONS and child in around_step:
                pass  # the step itself is under the same condition
            elif (condition := _condition_before(above, child)) is not None:
                if self.rare_part(condition, self._inner_names(above, loop)) is not None:
                    return above
            elif _is_seldom_else(above, child):
                return above
            elif kind in BLOCKS:
                skip = self._skip_before(above, child)
                if skip is not None:
                    return skip
                if self._fails(above) or (loop is not None and self._runs_once(above, loop)):
                    return self._tree.parent(above)
            elif type(above) is cst.Assert and child is above.msg:
                return above
            if above is loop:
                return None
            if kind in CALLABLES:
                closure = isinstance(above, cst.FunctionDef) and self.is_closure(above)
                return above if closure else None
            child = above
        return None

    def _fails(self, block: cst.CSTNode) -> bool:
        """Whether a branch ends in an error: `if not mask.any(): raise ValueError(…)`."""
        return (
            isinstance(block, cst.BaseSuite)
            and isinstance(last_statement(block), cst.Raise)
            and isinstance(self._tree.parent(block), cst.If | cst.Else)
        )

    def _runs_once(self, block: cst.CSTNode, loop: cst.CSTNode) -> bool:
        """Whether a block in a loop ends that loop: `if step > last: save(model); break`."""
        if not isinstance(block, cst.BaseSuite) or self._tree.parent(block) is loop:
            return False
        last = last_statement(block)
        loops = (each for each in self._tree.ancestors(block) if isinstance(each, LOOPS))
        return leaves_function(last) or (isinstance(last, cst.Break) and next(loops) is loop)

    def _inner_names(self, node: cst.CSTNode, loop: cst.CSTNode | None) -> frozenset[str]:
        """The names that take all of their values in one round of a step loop, by loops inside of
        it; also those of loops over the parameters of a model."""
        names: set[str] = set()
        for each in self.loops_around(node):
            inside = each is not loop and loop in self.step_loops
            if isinstance(each, cst.For) and (inside or goes_over_parts(each)):
                names |= {name.value for name in _target_names(each.target)}
            if each is loop:
                break
        return frozenset(names)

    def rare_part(
        self,
        test: cst.BaseExpression,
        inner: frozenset[str] = frozenset(),
        *,
        truth: bool = True,
    ) -> cst.BaseExpression | None:
        """What shows that a condition holds on few steps: itself, or what a name in it refers to,
        as in `due = step % 100 == 0`, or what a function of this file returns that it asks:
        `if counter.due():` with `return self.steps % 100 == 0`.

        Args:
            inner: as in `rarity`.
            truth: as in `rarity`.
        """
        key = test, inner, truth
        if key not in self._rare:
            parts = ((test, truth), *self._meant(test, truth=truth))
            rare = (part for part, holds in parts if rarity(part, inner, truth=holds) is not None)
            self._rare[key] = next(rare, None)
        return self._rare[key]

    def _meant(
        self, test: cst.BaseExpression, *, truth: bool
    ) -> Iterator[tuple[cst.BaseExpression, bool]]:
        """The conditions that the names and calls of a condition refer to, and whether they hold
        where it does, or where it does not."""
        asked = {part: holds is truth for part, holds in asked_truths(test)}
        for name, holds in asked.items():
            for binding in self._values.names.lookup(name) if isinstance(name, cst.Name) else ():
                if isinstance(binding.value, cst.Comparison | cst.BooleanOperation):
                    yield binding.value, holds
        for call in within(test):
            called = self._values.definitions.callee(call) if isinstance(call, cst.Call) else None
            for answer in self._values.definitions.returns(called) if called else ():
                if answer.value is not None and isinstance(call, cst.Call):
                    yield answer.value, asked.get(call, truth)

    @cached_property
    def _around_step(self) -> dict[cst.CSTNode | None, set[cst.CSTNode]]:
        """By step loop or function: what is around its first anchor or all its optimizer steps.

        With gradients accumulated over four batches, what is read at each optimizer step is read on
        each step.
        """
        anchors: dict[cst.CSTNode | None, list[cst.Call]] = {}
        for anchor in self.anchors:
            step = self.step_loop(anchor)
            holder: cst.CSTNode | None = self.function(anchor) if step is None else step.node
            anchors.setdefault(holder, []).append(anchor)
        steps = set(self.optimizer_steps)
        blocks: dict[cst.CSTNode | None, set[cst.CSTNode]] = {}
        for holder, each in anchors.items():
            around = [set(self._tree.ancestors(call)) for call in each if call in steps]
            common = set.intersection(*around) if around else set()
            blocks[holder] = common.union(self._tree.ancestors(each[0]))
        return blocks

    def is_rare(self, loop: Loop | None) -> bool:
        """Whether a whole loop runs only now and then, each time that its function is called."""
        return loop is not None and self.guard(loop, None) is not None

    def _skip_before(self, block: cst.CSTNode, child: cst.CSTNode) -> cst.If | None:
        """An earlier `if step % 100: continue` in the block, which skips `child`."""
        first = self._first_skips.get(block)
        before = first is not None and self._tree.order(first) < self._tree.order(child)
        return first if before else None

    @cached_property
    def _first_skips(self) -> dict[cst.CSTNode | None, cst.If]:
        """By block: its first statement that skips what follows on most rounds."""
        skips: dict[cst.CSTNode | None, cst.If] = {}
        for statement in self._tree.nodes(cst.If):
            if (
                statement.orelse is None
                and leaves_round(statement.body)
                and self.rare_part(statement.test, truth=False) is not None
                and skips_most(statement.test)
                and not looks_for_broken(statement.test)
            ):
                skips.setdefault(self._tree.parent(statement), statement)
        return skips


def _takes_loss(step: cst.Call) -> bool:
    """`optimizer.step(loss)`: an optimizer of the project's own that does the backward pass."""
    return bool(step.args) and dotted_text(step.args[0].value).endswith("loss")


def _condition_before(above: cst.CSTNode, child: cst.CSTNode) -> cst.BaseExpression | None:
    """The condition that must hold for `child`, a part of `above`, to run."""
    if (type(above) is cst.If or type(above) is cst.IfExp) and child is above.body:
        return above.test
    if type(above) is cst.BooleanOperation and child is above.right:
        return above.left if isinstance(above.operator, cst.And) else None
    return None


def _is_seldom_else(above: cst.CSTNode, child: cst.CSTNode) -> bool:
    """Whether `child` is the `else` of a condition that holds on nearly all steps: `step % 100`."""
    if type(above) is not cst.If and type(above) is not cst.IfExp:
        return False
    return child is above.orelse and usual_truth(above.test) is True


def goes_over_parts(loop: cst.For) -> bool:
    """Whether a loop goes over parameters, buffers or parts of a model."""
    return any(
        isinstance(node, cst.Attribute) and node.attr.value in _PARTS for node in within(loop.iter)
    )


def _target_names(target: cst.CSTNode) -> Iterator[cst.Name]:
    if isinstance(target, cst.Name):
        yield target
    elif isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from _target_names(element.value)
