"""Where a rule may report: on each step, for each batch, in a program that uses an accelerator, …

A rule names contexts. Some are decided by the file with the finding (`placed`), the rest by the
project once all files are joined (`settled`).
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

import libcst as cst

from torchlint.analysis.steps.guards import perhaps_outside_training
from torchlint.analysis.training.batches import loads, runs_per_batch
from torchlint.analysis.training.chosen_branches import demands
from torchlint.analysis.training.processors import runs_without_accelerator
from torchlint.finding import Tier
from torchlint.reported import HotPlace

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.analysis.module import Module
    from torchlint.analysis.training.syncs import Operand
    from torchlint.finding import Finding
    from torchlint.project.project import Project
    from torchlint.reported import Waiting


class Context(str, Enum):
    """What must be true of the place of a finding, or of the program that it is part of."""

    HOT = "hot"
    """The code runs on each training step: in a step loop, or in a function called from one in any
    file.
    Code in evaluation, or under `if step % 100 == 0` and the like, is not hot."""
    LOADING = "loading"
    """The code loads samples or batches: in a dataset's `__getitem__`, in a collate function."""
    PER_BATCH = "per batch"
    """The code runs for each batch or sample: in a step loop of its own function, in a dataset's
    `__getitem__`, in a collate function."""
    OUTSIDE_EVALUATION = "outside evaluation"
    """The code is not in a function that evaluates, and not under `torch.no_grad()`."""
    UNCONDITIONAL = "unconditional"
    """No condition decides whether the code runs, apart from a main guard, and no error does."""
    ENTRY = "entry"
    """The file is a script that is run."""
    ACCELERATOR = "accelerator"
    """A program that uses this file runs on an accelerator, and no condition lets the code run
    only where there is none, as the `else` of `if torch.cuda.is_available():` does."""
    TRAINS = "trains"
    """A program that uses this file trains a model."""


HAS: Final = "has {}"
LACKS: Final = "lacks {}"
"""For `Waiting.contexts`: a file of the program matches a clue, or none does."""


class Placed(NamedTuple):
    """The contexts of a place, as far as its own file decides them.

    Args:
        certain: nothing in the file makes the finding a hint.
        waits: required contexts that the project decides.
        hints: contexts that the project decides and without which the finding is a hint.
        hot: the place that must be hot, or is a hint.
        group: identifies the step loop around the place.
    """

    certain: bool = True
    waits: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    hot: HotPlace | None = None
    group: str | None = None


def placed(
    node: cst.CSTNode,
    module: Module,
    required: tuple[Context, ...],
    else_hint: tuple[Context, ...] = (),
    operand: Operand | None = None,
) -> Placed | None:
    """The contexts of a node, as far as its file decides them; None if a required one does not
    hold.

    Args:
        required: contexts that must hold.
        else_hint: contexts without which a finding is a hint.
        operand: the tensor that `node` reads, if its device matters.
    """
    if not all(holds_here(each, node, module) for each in required):
        return None
    place = Placed(
        certain=all(holds_here(each, node, module) for each in else_hint),
        waits=tuple(each.value for each in required if each in _OF_PROJECT),
        hints=tuple(each.value for each in else_hint if each in _OF_PROJECT),
    )
    if Context.HOT not in (*required, *else_hint):
        return place
    heated = _heated(place, node, module, operand)
    if heated is not None or Context.HOT in required:
        return heated
    hints = tuple(each for each in place.hints if each != Context.HOT.value)
    return place._replace(certain=False, hints=hints)


def settled(waiting: Waiting, project: Project) -> Finding | None:
    """The waiting finding, if its contexts hold in the project."""
    finding, place = waiting.finding, waiting.place
    if not all(holds_in_project(name, waiting, project) for name in waiting.contexts):
        return None
    if not all(holds_in_project(name, waiting, project) for name in waiting.hints):
        finding = _as_hint(finding)
    heat = None if place is None else project.hot(finding.path, place)
    if place is None or heat is None:
        return finding
    if not (heat.certain and heat.near) or project.is_guess(finding.path, place):
        finding = _as_hint(finding)
    if heat.path == finding.path and project.step_loop(finding.path, place.loops) is not None:
        return finding
    calls = project.calls_from_steps(finding.path, place)
    return finding._replace(related=(*finding.related, heat.related(), *calls))


def _as_hint(finding: Finding) -> Finding:
    """The finding as a hint; a pedantic one stays one."""
    pedantic = finding.tier is Tier.PEDANTIC
    return finding if pedantic else finding._replace(tier=Tier.HINT)


def holds_in_project(name: str, waiting: Waiting, project: Project) -> bool:
    """Whether a context that the project decides holds."""
    path, place = waiting.finding.path, waiting.place
    verb, _, clue = name.partition(" ")
    if verb in ("has", "lacks"):
        return project.has_clue(clue, project.programs(path)) is (verb == "has")
    if name == Context.ACCELERATOR:
        return project.uses_cuda(path)
    if name == Context.TRAINS:
        return project.trains(path)
    if place is None or project.hot(path, place) is None:
        return False
    return not place.rare or project.step_loop(path, place.loops) is not None


def _heated(
    found: Placed, node: cst.CSTNode, module: Module, operand: Operand | None
) -> Placed | None:
    """Add what decides whether the node is hot; None if it certainly is not."""
    loops = module.loops.loops_around(node)
    inner = module.step_loop(node)
    around = module.loops.judged_within(node)
    if module.loops.guard(node, around) or module.evaluations.in_evaluation(node, inside=around):
        return None
    function = module.function(node)
    if function is not None and inner is None and module.evaluations.is_evaluation(function):
        return None
    place = HotPlace(
        function=module.qualified_name(function),
        loops=tuple(module.loops.index(loop) for loop in loops),
        parameters=() if operand is None or operand.sure else operand.parameters,
        tensor=operand is None or operand.tensor,
        rare=inner is None and module.loops.is_rare(around),
        demands=demands(node, module),
        guessed=operand is not None and operand.guessed,
    )
    return found._replace(
        certain=found.certain and not _may_be_outside_training(node, module),
        hot=place,
        group=f"{module.path}:{module.span(inner.node)[0].row}" if inner is not None else None,
    )


def _may_be_outside_training(node: cst.CSTNode, module: Module) -> bool:
    """Whether code is in a branch that training need not take."""
    child = node
    for above in module.ancestors(node):
        if isinstance(above, cst.FunctionDef):
            return False
        if isinstance(above, cst.If | cst.IfExp) and child is perhaps_outside_training(above):
            return True
        child = above
    return False


def _outside_evaluation(node: cst.CSTNode, module: Module) -> bool:
    function = module.function(node)
    if function is not None and module.evaluations.is_evaluation(function):
        return False
    return not module.evaluations.grad_is_off(node)


def _unconditional(node: cst.CSTNode, module: Module) -> bool:
    return next(module.conditions(node), None) is None


def holds_here(context: Context, node: cst.CSTNode, module: Module) -> bool:
    """Whether a context holds at a node, as far as its file decides it; heat is not asked for."""
    return context not in _LOCAL or _LOCAL[context](node, module)


_OF_PROJECT: Final = frozenset({Context.HOT, Context.ACCELERATOR, Context.TRAINS})
"""Contexts that hold only if the project says so as well."""
_LOCAL: Final[dict[Context, Callable[[cst.CSTNode, Module], bool]]] = {
    Context.LOADING: loads,
    Context.PER_BATCH: runs_per_batch,
    Context.OUTSIDE_EVALUATION: _outside_evaluation,
    Context.UNCONDITIONAL: _unconditional,
    Context.ENTRY: lambda _, module: module.is_entry,
    Context.ACCELERATOR: lambda node, module: not runs_without_accelerator(node, module),
}
