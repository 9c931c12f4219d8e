"""How a value that was read from the device is used: who takes it, what it decides."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

import libcst as cst

from torchlint.analysis.names import dotted_text
from torchlint.analysis.once import once
from torchlint.analysis.steps.guards import words
from torchlint.analysis.uses import method_name, reads_of_targets
from torchlint.analysis.values.kinds import sounds_like_optimizer
from torchlint.because import because

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torchlint.analysis.module import Module
    from torchlint.analysis.training.syncs import Sync

_T = TypeVar("_T")
_ACTION_WORDS = re.compile(
    r"(?:^|_)(?:actions?|acts?|move|next_word|next_token)(?:_(?:t|np|idx|index|id|n|tensor))?\d*$"
)
_ACTING_FUNCTIONS = re.compile(r"^(?:\w+_)?(?:act|action|choose|select_action|get_action|explore)$")
_STORES = frozenset({"push", "add", "insert", "store", "remember", "store_transition", "append"})
_STORE_WORDS = re.compile(r"buffer|memory|replay|rollout|storage", re.IGNORECASE)
_HOST_REQUIRED = frozenset(
    {
        "torch.nn.utils.rnn.pack_padded_sequence",
        "torch.utils.data.RandomSampler",
    }
)
_ORDERINGS = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)


def is_action(sync: Sync, module: Module) -> bool:
    """Whether the value drives an environment or a search on the host, which needs it there."""
    for word in words(sync.operand):
        if _ACTION_WORDS.search(word):
            return because(True, "it is an action by its name, `{}`, so the host needs it", word)
    function = module.function(sync.call)
    if function is not None and _ACTING_FUNCTIONS.search(function.name.value):
        said = "`{}` chooses an action by its name, so the host needs the value"
        return because(True, said, function.name.value)
    step = _found_at_a_use(_goes_to_environment, sync, module)
    if step is not None:
        return because(True, "the host needs it for a step of an environment, {}", step)
    return False


def is_stored(sync: Sync, module: Module) -> bool:
    """Whether the value goes into a replay buffer or rollout storage."""
    call = consumer(sync, module)
    if call is None or not isinstance(call.func, cst.Attribute):
        return False
    owner = dotted_text(call.func.value)
    stored = call.func.attr.value in _STORES and bool(_STORE_WORDS.search(owner))
    return stored and because(True, "{} stores it for later steps, in host memory", call)


def is_priority(sync: Sync, module: Module) -> bool:
    """Whether the value becomes priorities of a replay buffer, which are kept on the host."""
    return bool(_found_at_a_use(_is_given_as_priority, sync, module))


def _is_given_as_priority(use: cst.CSTNode, module: Module) -> bool:
    return any("priorit" in method_name(call) for call in _calls_with(use, module))


def _calls_with(node: cst.CSTNode, module: Module) -> Iterator[cst.Call]:
    """The calls around an expression in its statement."""
    for above in module.ancestors(node):
        if isinstance(above, cst.BaseSmallStatement):
            return
        if isinstance(above, cst.Call):
            yield above


def needs_host_tensor(sync: Sync, module: Module) -> bool:
    """Whether a torch function takes the value that demands it on the host."""
    return bool(_found_at_a_use(_goes_where_host_is_required, sync, module))


def _goes_where_host_is_required(use: cst.CSTNode, module: Module) -> bool:
    return any(module.calls(call, *_HOST_REQUIRED) for call in _calls_with(use, module))


def consumer(sync: Sync, module: Module) -> cst.Call | None:
    """The call that the value is passed to, if it is an argument by itself."""
    node: cst.CSTNode = sync.call
    parent = module.parent(node)
    while isinstance(parent, (cst.Attribute, cst.Call, cst.Subscript)):
        if isinstance(parent, cst.Call) and parent.func is not node:
            return parent
        node, parent = parent, module.parent(parent)
    return module.call_with(node)


def decides_on_the_host(sync: Sync, module: Module) -> bool:
    """Whether the number ends a loop: `if loss.item() < 1e-3: break`, also by what it counts, as
    the patience of an early stop."""
    stop = _found_at_a_use(_stops_on, sync, module)
    if stop is not None:
        return because(True, "the host needs the number to end the loop, by {}", stop)
    return False


def ends_a_loop(truth: cst.BaseExpression, module: Module) -> bool:
    """Whether a condition of an `if` decides about the end of a loop around it."""
    statement = module.enclosing(truth, cst.If)
    if statement is None or next(module.loops.loops_around(statement), None) is None:
        return False
    ends = _breaks(statement) or _counts_towards_break(statement, module)
    return ends and because(True, "the host needs the condition to end the loop")


def _found_at_a_use(
    ask: Callable[[cst.CSTNode, Module], _T], sync: Sync, module: Module
) -> _T | None:
    """What is found, or true, at the call itself, or at a read of the name that its value is
    assigned to."""
    statement = module.small_statement(sync.call)
    return ask(sync.call, module) or _found_at_a_read(module, ask, statement)


@once
def _found_at_a_read(
    module: Module, ask: Callable[[cst.CSTNode, Module], _T], statement: cst.CSTNode | None
) -> _T | None:
    return next(
        filter(None, (ask(use, module) for use in reads_of_targets(statement, module))), None
    )


def _stops_on(use: cst.CSTNode, module: Module) -> cst.If | cst.While | None:
    """What ends a loop if a comparison with a number says so."""
    child = use
    compared = False
    for above in module.ancestors(use):
        if isinstance(above, cst.Comparison):
            compared = any(isinstance(item.operator, _ORDERINGS) for item in above.comparisons)
        if isinstance(above, cst.While) and child is above.test:
            return above if compared else None
        if isinstance(above, cst.If):
            decides = compared and child is above.test
            ends = decides and (_breaks(above) or _counts_towards_break(above, module))
            return above if ends else None
        if isinstance(above, cst.BaseStatement):
            return None
        child = above
    return None


def _counts_towards_break(statement: cst.If, module: Module) -> bool:
    """Whether what changes under a condition decides about the end of a loop around it."""
    changed = {
        dotted_text(target)
        for node in module.within(statement)
        for target in _targets(node)
        if isinstance(target, cst.Name | cst.Attribute)
    }
    return any(
        not changed.isdisjoint(_names_that_end(module, loop))
        for loop in module.loops.loops_around(statement)
    )


@once
def _names_that_end(module: Module, loop: cst.CSTNode) -> frozenset[str]:
    """The names in the conditions under which a loop ends."""
    ends = (each for each in module.within(loop) if isinstance(each, cst.If) and _breaks(each))
    parts = (part for each in ends for part in module.within(each.test))
    return frozenset(map(dotted_text, parts)) - {""}


def _targets(node: cst.CSTNode) -> list[cst.BaseExpression]:
    if isinstance(node, cst.Assign):
        return [each.target for each in node.targets]
    return [node.target] if isinstance(node, cst.AugAssign) else []


def _breaks(statement: cst.If) -> bool:
    for line in getattr(statement.body, "body", ()):
        parts = line.body if isinstance(line, cst.SimpleStatementLine) else [line]
        if any(isinstance(part, (cst.Break, cst.Return)) for part in parts):
            return True
    return False


def _goes_to_environment(node: cst.CSTNode, module: Module) -> cst.Call | None:
    """The call `env.step(…)` that `node` is an argument of."""
    for above in module.ancestors(node):
        if isinstance(above, cst.Call) and isinstance(above.func, cst.Attribute):
            owner = dotted_text(above.func.value)
            if above.func.attr.value == "step" and not sounds_like_optimizer(owner):
                other = "sched" in owner.lower() or "scaler" in owner.lower()
                return None if other else above
        if isinstance(above, cst.BaseSmallStatement):
            return None
    return None
