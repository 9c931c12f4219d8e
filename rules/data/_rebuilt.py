"""Whether each round of a loop builds a loader that it could have built once."""

import libcst as cst

from torchlint.analysis.loading.loaders import has_workers
from torchlint.analysis.torch_api import OPTIMIZERS
from torchlint.analysis.training.loops import Loop
from torchlint.analysis.uses import occurrences
from torchlint.rule import Module


def is_built_again(call: cst.Call, loop: Loop, module: Module) -> bool:
    """Whether a loader with workers is given the same dataset and options on each round. A loop
    that also makes an optimizer is one of runs, not of epochs."""
    parts = [part for arg in call.args for part in module.within(arg.value)]
    return (
        has_workers(call, module)
        and not any(isinstance(part, cst.Call) for part in parts)
        and not any(_is_set_in(loop, part, module) for part in parts)
        and not _is_touched_in(loop, module.argument(call, "dataset", 0), module)
        and not module.once(_makes_optimizer, loop)
    )


def _makes_optimizer(module: Module, loop: Loop) -> bool:
    return any(module.calls(each, *OPTIMIZERS) for each in module.calls_within(loop.body))


def is_inside(node: cst.CSTNode, loop: Loop | None, module: Module) -> bool:
    return loop in (node, *module.ancestors(node))


def _is_set_in(loop: Loop, part: cst.CSTNode, module: Module) -> bool:
    bindings = module.names.lookup(part) if isinstance(part, cst.Name) else []
    return any(is_inside(each.node, loop, module) for each in bindings)


def _is_touched_in(loop: Loop, dataset: cst.BaseExpression | None, module: Module) -> bool:
    """Whether the loop may change a dataset: it uses it elsewhere, or it is no plain name."""
    if not isinstance(dataset, cst.Name):
        return True
    uses = (use for use in occurrences(dataset, module) if use is not dataset)
    return any(is_inside(use, loop, module) and not _is_counted(use, module) for use in uses)


def _is_counted(use: cst.BaseExpression, module: Module) -> bool:
    call = module.call_with(use)
    return call is not None and module.calls(call, "builtins.len")
