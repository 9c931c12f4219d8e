"""Which code runs for each batch or each sample: training steps, datasets, environments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.once import once
from torchlint.analysis.values.environments import plays_environment
from torchlint.because import because

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

_PER_SAMPLE = frozenset({"__getitem__", "__getitems__"})
_COLLATE = re.compile(
    r"^(?!_*(?:build|create|get|init|load|make|new|prepare|setup)_).*collat",
    re.IGNORECASE,
)
"""In names of functions that collate; `get_collate_fn` gives such a function to a loader."""
_COLLATES = re.compile(r"collat", re.IGNORECASE)
"""In names of classes."""


def runs_per_batch(node: cst.CSTNode, module: Module) -> bool:
    """Whether code runs on each training step, for each sample or batch of a dataset, or on
    each step of an environment; not in evaluation, and not now and then."""
    if loads(node, module):
        return True
    function = module.function(node)
    if module.guard(node) or module.in_evaluation(node):
        return False
    if module.step_loop(node) is not None:
        return True
    if function is not None:
        whole_step = module.loops.stepping_functions.get(function, False)
        if whole_step or module.loops.is_step_hook(function):
            return True
    return any(_plays(loop, module) for loop in module.loops.loops_around(node))


def runs_each_time(node: cst.CSTNode, module: Module) -> bool:
    """Whether code runs for each batch, or on each call of a module, as far as its file shows."""
    if runs_per_batch(node, module) or runs_in_forward(node, module):
        return True
    guard = module.guard(node)
    if guard is not None:
        return because(False, "{} lets this run only now and then", guard)
    if module.in_evaluation(node):
        return because(False, "this is part of an evaluation")
    return because(False, "nothing in the file shows that this runs on each step or model call")


def runs_in_forward(node: cst.CSTNode, module: Module) -> bool:
    """Whether code runs on each call of a module or an autograd function that this file defines:
    in `forward`, or in a method that it calls; not in its branch for evaluation, and not now and
    then."""
    function, class_ = module.function(node), module.class_(node)
    if function is None or class_ is None or not class_.bases:
        return False
    if module.guard(node) is not None or module.in_evaluation(node):
        return False
    return function.name.value == "forward" or _is_called_by_forward(module, function)


@once
def _is_called_by_forward(module: Module, function: cst.FunctionDef) -> bool:
    """Whether the `forward` of its class calls a method."""
    class_ = module.class_(function)
    calls = module.calls_by_method.get(function.name.value, ())
    callers = (module.function(call) for call in calls if module.class_(call) is class_)
    return any(caller is not None and caller.name.value == "forward" for caller in callers)


def loads(node: cst.CSTNode, module: Module) -> bool:
    """Whether code runs where batches are loaded, perhaps in a worker process: in a dataset's
    `__getitem__` or in a collate function."""
    function = module.function(node)
    return function is not None and (
        function.name.value in _PER_SAMPLE or collates(function, module)
    )


def collates(function: cst.FunctionDef, module: Module) -> bool:
    """Whether a function makes batches of samples: by its name, its class's, or because some
    loader gets it as `collate_fn`."""
    if _COLLATE.search(function.name.value):
        return True
    class_ = module.class_(function)
    if class_ is not None and function.name.value == "__call__":
        return bool(_COLLATES.search(class_.name.value))
    return any(
        isinstance(arg, cst.Arg)
        and arg.keyword is word
        and isinstance(arg.value, cst.Name)
        and arg.value.value == function.name.value
        for word in module.spelled("collate_fn")
        if (arg := module.parent(word)) is not None
    )


def _plays(loop: cst.For | cst.While, module: Module) -> bool:
    """Whether a loop takes a step of an environment on each round."""
    return any(
        isinstance(node, cst.Call)
        and plays_environment(node, module.values)
        and next(module.loops.loops_around(node), None) is loop
        for node in module.within(loop.body)
    )
