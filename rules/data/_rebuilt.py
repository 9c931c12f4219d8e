"""Whether each round of a loop builds a loader that it could have built once."""

import libcst as cst

from torchlint.analysis.loading.loaders import has_workers
from torchlint.analysis.torch_api import OPTIMIZERS
from torchlint.analysis.training.loops import Loop
from torchlint.analysis.uses import occurrences
from torchlint.rule import Module, because


def is_built_again(call: cst.Call, loop: Loop, module: Module) -> bool:
    """Whether a loader with workers is given the same dataset and options on each round. A loop
    that also makes an optimizer is one of runs, not of epochs."""
    if not has_workers(call, module):
        return False
    parts = [part for arg in call.args for part in module.within(arg.value)]
    for part in parts:
        if isinstance(part, cst.Call):
            return because(False, "{:code} may give something else in each round", part)
    for part in parts:
        place = _set_in(loop, part, module)
        if place is not None:
            return because(False, "{:code} is set in the loop, in {:line}", part, place)
    dataset = module.argument(call, "dataset", 0)
    if not isinstance(dataset, cst.Name):
        return because(False, "its dataset is no plain name, and may change in the loop")
    use = _touched_in(loop, dataset, module)
    if use is not None:
        return because(False, "the loop may change {:code}, in {:line}", dataset, use)
    optimizer = module.once(_made_optimizer, loop)
    runs = "each round is a run of its own, with a new optimizer: {}"
    return optimizer is None or because(False, runs, optimizer)


def _made_optimizer(module: Module, loop: Loop) -> cst.Call | None:
    made = (each for each in module.calls_within(loop.body) if module.calls(each, *OPTIMIZERS))
    return next(made, None)


def is_inside(node: cst.CSTNode, loop: Loop | None, module: Module) -> bool:
    return loop in (node, *module.ancestors(node))


def _set_in(loop: Loop, part: cst.CSTNode, module: Module) -> cst.CSTNode | None:
    """Where the loop gives a name its value."""
    bindings = module.names.lookup(part) if isinstance(part, cst.Name) else []
    return next((each.node for each in bindings if is_inside(each.node, loop, module)), None)


def _touched_in(loop: Loop, dataset: cst.Name, module: Module) -> cst.BaseExpression | None:
    """Where the loop uses a dataset for more than this loader, and may change it."""
    uses = (use for use in occurrences(dataset, module) if use is not dataset)
    touching = (
        use for use in uses if is_inside(use, loop, module) and not _is_counted(use, module)
    )
    return next(touching, None)


def _is_counted(use: cst.BaseExpression, module: Module) -> bool:
    call = module.call_with(use)
    return call is not None and module.calls(call, "builtins.len")
