"""Which code evaluates: where gradients are off, where a model was switched, by names."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.frameworks.frameworks import ANY
from torchlint.analysis.literals import argument, literal
from torchlint.analysis.steps.guards import outside_training, snake
from torchlint.analysis.steps.loops import BLOCKS, CALLABLES, LOOPS, goes_over_parts
from torchlint.analysis.values.iteration import is_over_loader

if TYPE_CHECKING:
    from torchlint.analysis.steps.loops import Loop, Loops
    from torchlint.analysis.values.values import Values
    from torchlint.source.tree import Tree

_EVALUATION_NAME = re.compile(
    r"(?:^|_)(?:eval|evaluate|evaluation|valid(?!_(?:tokens?|masks?|labels?|targets?|ind(?:ex|ices)|"
    r"pixels?|points?|positions?|len(?:gth)?s?|frames?|boxes)(?:_|$))|validate|validation|val|test|"
    r"testing|infer|inference|predict|prediction|visuali[sz]e|visuali[sz]ation|"
    r"benchmark_inference)(?:_|\d|$)"
)
"""`count_valid_tokens` belongs to a training step."""
_DRAWING_NAME = re.compile(r"(?:^|_)(?:sample|sampling|generate|translate)(?:_|\d|$)")
"""Functions that make something of a model, or draw numbers for a training step."""
_TRAINING_NAME = re.compile(r"train|fit|learn", re.IGNORECASE)
_GRAD_OFF = frozenset({"torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad"})


class Evaluations:
    """Where one file evaluates a model."""

    def __init__(self, tree: Tree, values: Values, loops: Loops) -> None:
        self._tree = tree
        self._values = values
        self._loops = loops

    def in_evaluation(self, node: cst.CSTNode, inside: Loop | None = None) -> bool:
        """Whether the model evaluates where `node` runs: after `.eval()`, in a loop under
        `torch.no_grad()`, in a function that evaluates.

        With `inside`, only what is within that loop's body is looked at. Code under `no_grad`
        outside such a loop is a metric or an update; its caller decides whether it is hot.
        """
        return self.evaluation_around(node, inside) is not None

    def evaluation_around(
        self, node: cst.CSTNode, inside: Loop | None = None
    ) -> cst.CSTNode | None:
        """What shows that the model evaluates there: a `with` or `if`, a statement with `.eval()`,
        or a function."""
        child = node
        looped = False
        for above in self._tree.ancestors(node):
            if above is inside:
                return None
            kind = above.__class__
            if kind in LOOPS and child is getattr(above, "body", None):
                looped = looped or self._may_take_batches(above)
            elif type(above) is cst.With:
                if looped and any(self.turns_grad_off(item.item) for item in above.items):
                    return above
            elif type(above) is cst.If or type(above) is cst.IfExp:
                if child is outside_training(above):
                    return above
            elif kind in BLOCKS:
                switch = self._eval_call_before(above, child)
                if switch is not None:
                    return switch
            elif type(above) is cst.FunctionDef:
                return above if inside is None and self.is_evaluation(above) else None
            child = above
        return None

    def _may_take_batches(self, loop: cst.CSTNode) -> bool:
        """Whether a loop may go over batches: one over several models together, over parameters, or
        over numbers does not."""
        if not isinstance(loop, cst.For) or is_over_loader(loop.iter, self._values):
            return True
        if not isinstance(loop.iter, cst.Call):
            return True
        names = self._values.names.resolve(loop.iter.func)
        others = "builtins.zip" in names or "builtins.range" in names
        return not others and not goes_over_parts(loop)

    def grad_is_off(self, node: cst.CSTNode, inside: Loop | None = None) -> bool:
        """Whether `node` is under `torch.no_grad()` within the loop's body, or the function."""
        return self.grad_off_around(node, inside) is not None

    def grad_off_around(self, node: cst.CSTNode, inside: Loop | None = None) -> cst.With | None:
        """The `with torch.no_grad()` around `node` there."""
        for above in self._tree.ancestors(node):
            if above is inside or isinstance(above, CALLABLES):
                return None
            if isinstance(above, cst.With) and any(
                self.turns_grad_off(item.item) for item in above.items
            ):
                return above
        return None

    def turns_grad_off(self, node: cst.BaseExpression) -> bool:
        """`torch.no_grad()`, `torch.inference_mode()`, `torch.set_grad_enabled(False)`."""
        func = node.func if isinstance(node, cst.Call) else node
        for name in self._values.names.resolve(func):
            if name in _GRAD_OFF:
                return True
            if name == "torch.set_grad_enabled" and isinstance(node, cst.Call):
                return literal(argument(node, "mode", 0)) is False
        return False

    def _eval_call_before(self, block: cst.CSTNode, child: cst.CSTNode) -> cst.CSTNode | None:
        """The last `.eval()` or `.train()` before `child` in its block, if it was `.eval()`."""
        if block not in self._modes:
            return None
        places, switches = self._modes[block]
        before = bisect_left(places, self._tree.order(child))
        last = switches[before - 1] if before > 0 else None
        return last if last is not None and self._mode_calls[last] else None

    @cached_property
    def _modes(self) -> dict[cst.CSTNode | None, tuple[list[int], list[cst.CSTNode]]]:
        """By block: its statements that switch a model, and where they are."""
        modes: dict[cst.CSTNode | None, tuple[list[int], list[cst.CSTNode]]] = {}
        for line in self._mode_calls:
            places, switches = modes.setdefault(self._tree.parent(line), ([], []))
            places.append(self._tree.order(line))
            switches.append(line)
        return modes

    @cached_property
    def _mode_calls(self) -> dict[cst.CSTNode, bool]:
        """Statements that switch a model: True to evaluation, False to training."""
        calls: dict[cst.CSTNode, bool] = {}
        for call in self._tree.nodes(cst.Call):
            if not isinstance(call.func, cst.Attribute):
                continue
            name = call.func.attr.value
            if name not in ("eval", "train"):
                continue
            line = self._tree.enclosing(call, cst.SimpleStatementLine)
            if line is not None:
                trains = name == "train" and not (
                    call.args and literal(call.args[0].value) is False
                )
                calls[line] = not trains
        return calls

    def is_evaluation(self, function: cst.FunctionDef) -> bool:
        """Whether a function evaluates, by its name, its first statements, or because it goes
        over a loader with gradients off; never if it does a backward pass."""
        return self.sign_of_evaluation(function) is not None

    def sign_of_evaluation(self, function: cst.FunctionDef) -> cst.CSTNode | None:
        """What shows that a function evaluates: its name, a decorator, or the first statement that
        switches a model."""
        if function in self._loops.functions_with_anchor:
            return None
        off = (each for each in function.decorators if self.turns_grad_off(each.decorator))
        grad_off = next(off, None)
        if grad_off is not None and function in self._functions_over_loaders:
            return grad_off
        if function.name.value in ANY.evaluation_hooks:
            return function.name
        name = snake(function.name.value)
        if _EVALUATION_NAME.search(name):
            return function.name
        without_grad = grad_off is not None or function in self._functions_without_grad
        if _DRAWING_NAME.search(name) and without_grad:
            return function.name
        modes = (each for each in getattr(function.body, "body", ()) if each in self._mode_calls)
        first = next(modes, None)
        return first if first is not None and self._mode_calls[first] else None

    def only_evaluates(self, function: cst.FunctionDef) -> bool:
        """Whether a function evaluates and is not named for a training as well, or runs as a whole
        with gradients off."""
        if any(self.turns_grad_off(item.decorator) for item in function.decorators):
            return True
        return self.is_evaluation(function) and not _TRAINING_NAME.search(function.name.value)

    @cached_property
    def _functions_over_loaders(self) -> frozenset[cst.FunctionDef | None]:
        return frozenset(
            self._loops.function(loop)
            for loop in self._tree.nodes(cst.For)
            if is_over_loader(loop.iter, self._values)
        )

    @cached_property
    def _functions_without_grad(self) -> frozenset[cst.FunctionDef | None]:
        """The functions that turn gradients off for a part of what they do."""
        return frozenset(
            self._loops.function(each)
            for each in self._tree.nodes(cst.With)
            if any(self.turns_grad_off(item.item) for item in each.items)
        )


def sounds_like_evaluation(name: str) -> bool:
    """Whether a function is named for an evaluation alone: `validate`, not `train_and_validate`."""
    evaluates = _EVALUATION_NAME.search(snake(name)) is not None
    return evaluates and not _TRAINING_NAME.search(name)
