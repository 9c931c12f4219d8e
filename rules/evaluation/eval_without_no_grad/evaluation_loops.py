"""Loops that evaluate a model with gradients on, and what they keep of the graphs."""

import re
from collections.abc import Collection
from itertools import islice
from typing import NamedTuple

import libcst as cst

from torchlint.analysis.names import How, dotted_text
from torchlint.analysis.steps.evaluations import sounds_like_evaluation
from torchlint.analysis.steps.loops import Loop
from torchlint.analysis.training.freezing import is_frozen
from torchlint.analysis.training.grad_modes import may_be_off
from torchlint.analysis.training.model_calls import runs_model
from torchlint.analysis.uses import method_name, receiver
from torchlint.analysis.values.iteration import is_over_loader
from torchlint.analysis.values.kinds import Kind
from torchlint.rule import Module, Tier, because, once

_NEEDS_GRADIENTS = re.compile(
    r"(?i:backward|\bgrad\b|requires_grad|enable_grad|jacobian|hessian|\b[jv][jv]p\b|attack|"
    r"adversar|perturb|saliency|grad_?cam|attribution|captum)"
)
_EVALUATOR = re.compile(r"(?:Evaluator|Validator)$")
_TESTING = frozenset({"pytest", "unittest"})
_MOST_PASSES = 3
_KEEPS = frozenset({"append", "extend", "insert", "add", "put"})
_WITH_GRAPH = Kind.DEVICE | Kind.TENSOR | Kind.LIKELY


class EvaluationLoop(NamedTuple):
    """A loop that evaluates a model.

    Args:
        named: the function, or the class around it, is named for an evaluation.
        switched: `.eval()` of the same model comes before.
        over_loader: the loop goes over batches of a loader.
        leaves: a tensor of the loop may be used after it, or by the caller.
    """

    named: bool
    switched: bool
    over_loader: bool
    leaves: bool

    @property
    def tier(self) -> Tier:
        """A hint, unless it is an evaluation and nothing else, beyond doubt."""
        if self.named and self.switched:
            return Tier.DEFAULT
        if self.leaves:
            return because(Tier.HINT, "a tensor of the loop may be used after it, with its graph")
        if self.switched or self.over_loader:
            return Tier.DEFAULT
        return because(Tier.HINT, "only a name says that the loop evaluates")


def evaluation_in(loop: Loop, module: Module) -> EvaluationLoop | None:
    """The evaluation that a loop is, if it is one with gradients on."""
    call = _evaluated(module).get(loop)
    if call is None:
        refusal = _refusals(module).get(loop)
        return None if refusal is None else because(None, *refusal)
    if _repeats(loop, module):
        return because(None, "the loop runs a fixed number of rounds, as a warm-up does")
    packages = {name.partition(".")[0] for name in module.imported}
    evaluates = module.is_entry and packages.isdisjoint(_TESTING)  # a `test_net.py`
    if module.test_like and not evaluates:
        return because(None, "the file looks like a test")
    if may_be_off(call, module) or _needs_gradients(loop, module):
        return None
    function = module.function(loop)
    named = function is not None and (
        sounds_like_evaluation(function.name.value) or is_of_evaluator(function, module)
    )
    switched = _is_switched(call, loop, module)
    if not switched and not named:
        return because(None, "no `.eval()` of the model comes before {}", call)
    if not switched and _is_run_by_base(call, module):
        said = "a base class of another file may call this with gradients off"
        return because(None, said)
    return EvaluationLoop(named, switched, _is_over_loader(loop, module), _leaves(loop, module))


def forward_passes(loop: Loop, module: Module) -> list[cst.Call]:
    """The first calls of models in a loop, and of methods of these."""
    calls = module.calls_within(loop.body)
    models = {dotted_text(call.func) for call in calls if runs_model(call, module)}
    passes = (
        call
        for call in calls
        if call.args and not models.isdisjoint((dotted_text(call.func), _owner(call)))
    )
    return list(islice(passes, _MOST_PASSES))


def _owner(call: cst.Call) -> str:
    """`model` for `model.predict(x)`."""
    return dotted_text(call.func).rpartition(".")[0]


def is_of_evaluator(function: cst.FunctionDef, module: Module) -> bool:
    """Whether a function is a method of a class such as `Evaluator`."""
    class_ = module.class_(function)
    return class_ is not None and _EVALUATOR.search(class_.name.value) is not None


@once
def _evaluated(module: Module) -> dict[Loop, cst.Call]:
    """The loops that evaluate, with the first call of a model in each. A call belongs to the
    innermost loop around it that goes over a loader, else to the outermost one."""
    calls: dict[Loop, cst.Call] = {}
    for call in module.nodes(cst.Call):
        learns = runs_model(call, module) and not _why_it_learns_nothing(call, module)
        loops = _loops_of(call, module) if learns else []
        function = module.function(call)
        evaluates = function is not None and is_of_evaluator(function, module)
        if loops and (evaluates or module.in_evaluation(call)):
            over = (loop for loop in loops if _is_over_loader(loop, module))
            loop = next(over, loops[-1])
            if _is_first(loop, calls, module):
                calls[loop] = call
    return calls


@once
def _refusals(module: Module) -> dict[Loop, tuple[str, cst.Call]]:
    """Why innermost loops that call a model do not evaluate one that learns, and the call."""
    refusals: dict[Loop, tuple[str, cst.Call]] = {}
    for call in module.nodes(cst.Call):
        loop = next(module.loops.loops_around(call), None)
        if loop is None or loop in refusals or not runs_model(call, module):
            continue
        said = _why_it_learns_nothing(call, module) or "nothing shows that {} evaluates"
        if said.startswith("nothing") and module.in_evaluation(call):
            said = "{} belongs to another loop, or to one that trains"
        refusals[loop] = (said, call)
    return refusals


def _why_it_learns_nothing(call: cst.Call, module: Module) -> str:
    """Why a call does not run a whole model whose parameters need gradients; empty if it does."""
    if is_frozen(call.func, module):
        return "the parameters of the model are frozen: {}"
    if any(each.how is How.ITERATION for each in module.flow.reaching(call.func)):
        return "the loop is one pass through the layers of a model: {}"
    if _is_part_of_model(call, module):
        return "this is code of a module, and its callers decide about gradients: {}"
    return ""


def _is_first(loop: Loop, before: Collection[Loop], module: Module) -> bool:
    """Whether a function that only evaluates was not found yet: one fix is for all its loops."""
    function = module.function(loop)
    if function is None or function in module.loops.training_functions:
        return loop not in before
    return all(module.function(other) is not function for other in before)


def _loops_of(call: cst.Call, module: Module) -> list[Loop]:
    """The loops around a call that do not train, innermost first."""
    loops: list[Loop] = []
    anchors = [module.order(anchor) for anchor in module.loops.anchors]
    for loop in module.loops.loops_around(call):
        inside = set(map(module.order, module.calls_within(loop)))
        if not inside.isdisjoint(anchors):
            break
        loops.append(loop)
    return loops


def _is_part_of_model(call: cst.Call, module: Module) -> bool:
    """Whether it is `forward`, or another method of a module, that calls its parts."""
    class_ = module.class_(call)
    bases = [] if class_ is None else module.definitions.bases(class_)
    name = module.qualified_name(module.function(call)).rpartition(".")[2]
    return any(base.endswith("Module") for base in bases) and not sounds_like_evaluation(name)


def _repeats(loop: Loop, module: Module) -> bool:
    """`for _ in range(10)`, a warm-up."""
    source = loop.iter if isinstance(loop, cst.For) else None
    if not isinstance(source, cst.Call) or not module.calls(source, "builtins.range"):
        return False
    return isinstance(module.literal(source.args[-1].value), int)


def _is_run_by_base(call: cst.Call, module: Module) -> bool:
    """Whether a base class of another file may call the method, with gradients off."""
    class_ = module.class_(call)
    bases = [] if class_ is None else module.definitions.bases(class_)
    return any(not base.startswith((":", "builtins.", "torch.")) for base in bases)


def _is_over_loader(loop: Loop, module: Module) -> bool:
    return isinstance(loop, cst.For) and is_over_loader(loop.iter, module.values)


def _is_switched(call: cst.Call, loop: Loop, module: Module) -> bool:
    """Whether `.eval()` of the model comes before in the function, as its last switch."""
    model, function = dotted_text(call.func), module.function(loop)
    switches = [
        each
        for method in ("eval", "train")
        for each in module.calls_by_method.get(method, ())
        if dotted_text(each.func).rpartition(".")[0] == model
        and module.function(each) is function
        and module.order(each) < module.order(call)
    ]
    last = max(switches, key=module.order, default=None)
    if last is None or method_name(last) == "eval":
        return last is not None
    return bool(last.args) and module.literal(last.args[0].value) is False


def _needs_gradients(loop: Loop, module: Module) -> bool:
    """Whether a loop, its function or a function of the file that it calls names something that
    needs gradients, such as an attack; of a function that trains as well, only the loop counts."""
    function = module.function(loop)
    trains = function in module.loops.training_functions
    read: list[cst.CSTNode] = [loop] if function is None or trains else [function]
    read += [own for call in module.calls_within(loop) if (own := module.definitions.callee(call))]
    for each in read:
        named = _NEEDS_GRADIENTS.search(module.source(each))
        if named is not None:
            return because(True, "{} names what needs gradients: `{}`", each, named[0])
    return False


# what is kept ------------------------------------------------------------------------------


def _leaves(loop: Loop, module: Module) -> bool:
    """Whether a tensor with its graph may be used after the loop, or by who called its function."""
    kept = {name for node in module.within(loop.body) for name in _kept_by(node, module)}
    function = module.function(loop)
    if "" in kept or (kept and function in module.loops.training_functions):
        return True
    for answer in module.definitions.returns(function) if function is not None else ():
        value = answer.value
        elements = value.elements if isinstance(value, cst.Tuple | cst.List | cst.Dict) else ()
        for part in (value, *(each.value for each in elements)):
            named = isinstance(part, cst.Name) and part.value in kept
            if named or module.value(part).has(_WITH_GRAPH):
                return True
    return False


def _kept_by(node: cst.CSTNode, module: Module) -> list[str]:
    """The variables in which a statement keeps a tensor beyond its round; an attribute is ""."""
    targets: list[cst.BaseExpression]
    if isinstance(node, cst.AugAssign):
        kept, targets = [node.value], [node.target]
    elif isinstance(node, cst.Assign):
        targets = [each.target for each in node.targets]
        local = all(isinstance(each, cst.Name | cst.Tuple) for each in targets)
        kept = [] if local else [node.value]
    elif isinstance(node, cst.Call) and method_name(node) in _KEEPS:
        kept, targets = [arg.value for arg in node.args], [receiver(node)]
    else:
        return []
    if not any(module.value(each).has(_WITH_GRAPH) for each in kept):
        return []
    roots = (each.value if isinstance(each, cst.Subscript) else each for each in targets)
    return [each.value if isinstance(each, cst.Name) else "" for each in roots]
