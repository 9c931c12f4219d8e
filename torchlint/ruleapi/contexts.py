"""Where a rule may report: on each step, for each batch, in a program that uses an accelerator, …

A rule names contexts. The file with the finding decides what it can (`placed`); the project decides
the rest once all files are joined (`settled`).
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from torchlint.analysis.frameworks import frameworks
from torchlint.analysis.training.batches import runs_per_batch
from torchlint.analysis.training.guards import Guard
from torchlint.finding import HotPlace, Tier

if TYPE_CHECKING:
    from collections.abc import Callable

    import libcst as cst

    from torchlint.analysis.module import Module
    from torchlint.analysis.training.syncs import Operand
    from torchlint.finding import Finding, Waiting
    from torchlint.project.project import Project


class Context(str, Enum):
    """What must be true of the place of a finding, or of the program that it is part of."""

    HOT = "hot"
    """The code runs on each training step: in a step loop, or in what one calls, in any file.
    Code in evaluation, or under `if step % 100 == 0` and the like, is not hot. Under
    `if rank == 0` or `torch.no_grad()` in the loop, the finding is a hint."""
    PER_BATCH = "per batch"
    """The code runs for each batch or sample: in a step loop of its own function, in a dataset's
    `__getitem__`, in a collate function."""
    OUTSIDE_EVALUATION = "outside evaluation"
    """The code is not in a function that evaluates, and not under `torch.no_grad()`."""
    ENTRY = "entry"
    """The file is a script that somebody starts."""
    ACCELERATOR = "accelerator"
    """A program that the file is part of uses an accelerator."""
    TRAINS = "trains"
    """A program that the file is part of trains a model."""


HOT_WORDS: Final = f"{frameworks.STEP_WORDS}|{frameworks.HOOK_WORDS}"
"""The words of a file in which steps are taken, so that its code can be hot."""


class Placed(NamedTuple):
    """What a file knows of the contexts of a place in it.

    Args:
        certain: the finding need not be a hint, as far as the file knows.
        waits: the required contexts that the project decides.
        hints: those without which the finding is a hint, likewise.
        hot: where it must be hot.
        group: names the step loop around the place.
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
    """What the file knows of the contexts of a node; None if one that is required does not hold.

    Args:
        required: contexts that must hold.
        else_hint: contexts without which a finding is a hint.
        operand: what is known of the tensor that `node` reads, if it matters where it lies.
    """
    if not all(_LOCAL[each](node, module) for each in required if each in _LOCAL):
        return None
    found = Placed(
        certain=all(_LOCAL[each](node, module) for each in else_hint if each in _LOCAL),
        waits=tuple(each.value for each in required if each not in _LOCAL),
        hints=tuple(each.value for each in else_hint if each not in _LOCAL),
    )
    return _heated(found, node, module, operand) if Context.HOT in required else found


def settled(waiting: Waiting, project: Project) -> Finding | None:
    """The finding that waited, if its contexts hold in the project."""
    finding, place = waiting.finding, waiting.place
    if not all(_holds(name, waiting, project) for name in waiting.contexts):
        return None
    if not all(_holds(name, waiting, project) for name in waiting.hints):
        finding = finding._replace(tier=Tier.HINT)
    heat = None if place is None else project.hot(finding.path, place)
    if place is None or heat is None:
        return finding
    if heat.path == finding.path and project.step_loop(finding.path, place.loops) is not None:
        return finding
    return finding._replace(related=(*finding.related, heat.related()))


def _holds(name: str, waiting: Waiting, project: Project) -> bool:
    """Whether a context that the project decides holds."""
    path, place = waiting.finding.path, waiting.place
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
    """The same with what decides whether the node is hot; None if it certainly is not."""
    loops = list(module.loops.loops_around(node))
    inner = module.step_loop(node)
    around = inner.node if inner else (loops[-1] if loops else None)
    guard = module.loops.guard(node, around)
    if guard is Guard.PERIODIC or module.loops.in_evaluation(node, inside=around):
        return None
    function = module.function(node)
    if function is not None and inner is None and module.loops.is_evaluation(function):
        return None
    off = inner is not None and module.loops.grad_is_off(node, inside=inner.node)
    place = HotPlace(
        function=module.qualified_name(function),
        loops=tuple(module.loops.index(loop) for loop in loops),
        parameters=() if operand is None or operand.sure else operand.parameters,
        tensor=operand is None or operand.tensor,
        rare=inner is None and module.loops.is_rare(around),
    )
    return found._replace(
        certain=found.certain and not off and guard is not Guard.RANK,
        hot=place,
        group=f"{module.path}:{module.span(inner.node)[0].row}" if inner is not None else None,
    )


def _outside_evaluation(node: cst.CSTNode, module: Module) -> bool:
    function = module.function(node)
    if function is not None and module.loops.is_evaluation(function):
        return False
    return not module.loops.grad_is_off(node)


_LOCAL: Final[dict[Context, Callable[[cst.CSTNode, Module], bool]]] = {
    Context.PER_BATCH: runs_per_batch,
    Context.OUTSIDE_EVALUATION: _outside_evaluation,
    Context.ENTRY: lambda _, module: module.is_entry,
}
