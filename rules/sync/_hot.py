"""What both sync rules do with a sync: report it, let it wait for the project, or drop it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.analysis.training.guards import Guard
from torchlint.analysis.training.syncs import operand_of
from torchlint.finding import Tier
from torchlint.project.project import SyncNeeds
from torchlint.ruleapi.rule import Waiting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.analysis.module import Module
    from torchlint.analysis.training.syncs import Sync
    from torchlint.finding import Finding, Fix
    from torchlint.project.project import Project
    from torchlint.ruleapi.rule import Rule

TRAINS = (
    r"backward\(|(?:opt|scaler|solver)\w{0,80}\.step\(|training_step|compute_loss|loss_scaler|"
    r"ITERATION_|hooks\["
)
"""The words of a file in which steps are taken, so that syncs in it can be hot."""


def report(
    rule: Rule,
    sync: Sync,
    module: Module,
    message: str,
    *,
    fix: Fix | None = None,
    withheld: str | None = None,
    tier: Tier = Tier.DEFAULT,
) -> Iterator[Waiting]:
    """The sync as a finding that waits for the project to say that its place is hot."""
    operand = operand_of(sync, module)
    if operand is None:
        return
    loops = list(module.loops.loops_around(sync.call))
    inner = module.step_loop(sync.call)
    around = inner.node if inner else (loops[-1] if loops else None)
    guard = module.loops.guard(sync.call, around)
    if guard is Guard.PERIODIC:
        return
    if module.loops.in_evaluation(sync.call, inside=around):
        return
    off = inner is not None and module.loops.grad_is_off(sync.call, inside=inner.node)
    if off or guard is Guard.RANK:
        tier = Tier.HINT
    function = module.function(sync.call)
    if function is not None and inner is None and module.loops.is_evaluation(function):
        return
    finding = rule.finding(module, sync.call, message, tier=tier, fix=fix, withheld=withheld)
    if inner is not None:
        row = module.span(inner.node)[0].row
        finding = finding._replace(group=f"{module.path}:{row}")
    yield Waiting(
        finding,
        {
            "function": module.qualified_name(function),
            "loops": tuple(str(module.loops.index(loop)) for loop in loops),
            "parameters": () if operand.sure else operand.parameters,
            "tensor": operand.tensor,
            "rare": inner is None and module.loops.is_rare(around),
        },
    )


def settle_hot(waiting: Waiting, project: Project) -> Finding | None:
    """The finding, if its place is hot in a program that uses an accelerator."""
    finding, needs = waiting.finding, waiting.needs
    site = SyncNeeds(
        function=str(needs["function"]),
        loops=tuple(int(index) for index in _strings(needs["loops"])),
        parameters=_strings(needs["parameters"]),
        tensor=bool(needs["tensor"]),
    )
    heat = project.hot(finding.path, site)
    if heat is None or not project.uses_cuda(finding.path):
        return None
    in_a_step_loop = project.step_loop(finding.path, site.loops) is not None
    if needs["rare"] and not in_a_step_loop:
        return None
    if heat.path == finding.path and in_a_step_loop:
        return finding
    return finding._replace(related=(*finding.related, heat.related()))


def _strings(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, tuple) else ()
