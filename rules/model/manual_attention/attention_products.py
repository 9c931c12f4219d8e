"""The two products of an attention: that of queries and keys, and that of weights and values."""

import re
from collections.abc import Iterable
from typing import Final

import libcst as cst

from torchlint.analysis.names import How, dotted_text
from torchlint.analysis.uses import (
    called_name,
    calls_of,
    method_name,
    passed_for,
    reads_of_targets,
    receiver,
    receiving_parameter,
)
from torchlint.rule import Module, once

_DEEPEST: Final = 12
_PRODUCT_CALLS: Final = frozenset({"torch.matmul", "torch.bmm"})
_METHODS: Final = frozenset({"matmul", "bmm"})
_SAME_SCORES: Final = frozenset(
    "masked_fill masked_fill_ float half bfloat16 to type type_as view reshape contiguous flatten "
    "unflatten squeeze unsqueeze nan_to_num add add_ sub sub_ mul mul_ div div_ clamp clamp_ "
    "where rearrange".split()
)
_SAME_WEIGHTS: Final = frozenset(
    "to type type_as float half bfloat16 contiguous view reshape flatten unflatten squeeze "
    "unsqueeze nan_to_num clone rearrange".split()
)
_SHIFTS: Final = re.compile(
    r"rel_?pos|rpe|relative|position|alibi|bias|mask(?!ed_softmax)", re.IGNORECASE
)
"""Functions that add a bias or a mask to the scores that they are given."""
_ASKS_FOR_WEIGHTS: Final = re.compile(r"att|weights", re.IGNORECASE)
_OF_HEADS: Final = re.compile(r"^(layer_)?head_mask$")
"""The mask of heads in the models of transformers, None unless heads are pruned."""
_TURNS: Final = frozenset({"transpose", "permute", "mT"})


@once
def are_scores(module: Module, node: cst.BaseExpression | None, depth: int = _DEEPEST) -> bool:
    """Whether an expression is a product of queries and keys, perhaps scaled, shifted and masked,
    whichever way the code takes."""

    def ask(part: cst.BaseExpression | None) -> bool:
        return depth > 0 and are_scores(module, part, depth - 1)

    if _factors(node, module):
        return True
    if isinstance(node, cst.Name):
        given = _given(node, module)
        return bool(given) and all(map(ask, given))
    if isinstance(node, cst.IfExp):
        return ask(node.body) and ask(node.orelse)
    if isinstance(node, cst.BinaryOperation):
        match node.operator:
            case cst.Add():
                return ask(node.left) or ask(node.right)
            case cst.Multiply():
                return ask(node.left) is not ask(node.right)
            case cst.Subtract() | cst.Divide():
                return ask(node.left)
    if isinstance(node, cst.Call):
        results = _results(node, module)
        parts = _passed_on(node, _SAME_SCORES, module)
        if _SHIFTS.search(called_name(node)):
            parts = [*parts, *(arg.value for arg in node.args)]
        return any(map(ask, parts)) or (bool(results) and all(map(ask, results)))
    return False


@once
def only_weigh(
    module: Module, node: cst.BaseExpression, turned: bool = False, depth: int = _DEEPEST
) -> bool:
    """Whether all that is done with attention weights, perhaps after a dropout, is to multiply
    values by them; if they are turned, from the right."""

    def ask(part: cst.BaseExpression, *, turns: bool = False) -> bool:
        return depth > 0 and only_weigh(module, part, turned is not turns, depth - 1)

    made = _made_of(node, module)
    factors = _factors(made, module)
    if factors:
        return factors[turned] is node
    onward = _onward(made, node, module)
    turns = onward == [made] and _last(made) in _TURNS
    return bool(onward) and all(ask(each, turns=turns) for each in onward)


def scores_behind(
    module: Module, node: cst.BaseExpression | None, depth: int = _DEEPEST
) -> cst.BaseExpression | None:
    """The product that the scores are, or are made of."""
    if _factors(node, module):
        return node
    if depth == 0:
        return None
    parts: list[cst.BaseExpression | None] = []
    if isinstance(node, cst.Name):
        parts = _given(node, module)
    elif isinstance(node, cst.IfExp):
        parts = [node.body]
    elif isinstance(node, cst.BinaryOperation):
        parts = [node.left, node.right]
    elif isinstance(node, cst.Call):
        parts = [receiver(node), *(arg.value for arg in node.args), *_results(node, module)]
    found = (scores_behind(module, part, depth - 1) for part in parts)
    return next((each for each in found if each), None)


def product_after(module: Module, node: cst.BaseExpression) -> cst.CSTNode | None:
    """The product of weights and values, which `only_weigh` has found."""
    for _ in range(_DEEPEST):
        made = _made_of(node, module)
        if _factors(made, module):
            return made
        onward = _onward(made, node, module)
        if not onward:
            break
        node = onward[0]
    return None


# of scores ----------------------------------------------------------------------------------------


def _given(name: cst.Name, module: Module) -> list[cst.BaseExpression | None]:
    """What a name may be given; of a parameter, what the calls in the file pass; a None for what is
    not known."""
    bindings = [each for each in module.flow.reaching(name) if each.how is not How.UPDATE]
    function = module.function(name)
    if function is not None and bindings and all(each.how is How.PARAMETER for each in bindings):
        return passed_for(name.value, function, module)
    return [each.value if each.how is How.ASSIGNMENT else None for each in bindings]


def _results(call: cst.Call, module: Module) -> list[cst.BaseExpression | None]:
    """What a function of the file returns."""
    function = module.definitions.callee(call)
    return [each.value for each in module.definitions.returns(function)] if function else []


def _passed_on(call: cst.Call, names: frozenset[str], module: Module) -> list[cst.BaseExpression]:
    """What a call changes without mixing it: `x.add(bias)`, `torch.add(x, bias)`, and both choices
    of `torch.where`."""
    if called_name(call) not in names:
        return []
    if isinstance(call.func, cst.Attribute) and not module.resolve(call.func):
        return [receiver(call)]
    given = [arg.value for arg in call.args]
    return given[1:3] if called_name(call) == "where" else given[:1]


# of weights ---------------------------------------------------------------------------------------


def _made_of(node: cst.BaseExpression, module: Module) -> cst.CSTNode | None:
    """The call that is given an expression, also in a list, or that is of its method; else what it
    is a part of."""
    parent = module.parent(node)
    if isinstance(parent, cst.Element) and isinstance(module.parent(parent), cst.List):
        return module.call_with(cst.ensure_type(module.parent(parent), cst.List))
    around = module.call_with(node) or parent
    call = module.parent(around) if isinstance(around, cst.Attribute) else None
    return call if isinstance(call, cst.Call) and call.func is around else around


def _onward(
    made: cst.CSTNode | None, weights: cst.BaseExpression, module: Module
) -> list[cst.BaseExpression]:
    """Where weights go on: in another form, or where they are read again, but not aside."""
    if isinstance(made, cst.Call | cst.Attribute | cst.BinaryOperation) and _is_same(
        made, weights, module
    ):
        return [made]
    return [each for each in _uses(made, weights, module) if not _is_aside(each, module)]


def _last(made: cst.CSTNode | None) -> str:
    if isinstance(made, cst.Attribute):
        return made.attr.value
    return called_name(made) if isinstance(made, cst.Call) else ""


def _is_same(made: cst.CSTNode, weights: cst.BaseExpression, module: Module) -> bool:
    """Whether something are weights in another form: dropped out, turned, of another type, without
    those of masked places, for some of the heads."""
    if isinstance(made, cst.BinaryOperation):
        other = made.right if made.left is weights else made.left
        times = isinstance(made.operator, cst.Multiply)
        return times and _OF_HEADS.search(dotted_text(other)) is not None
    name = _last(made)
    if isinstance(made, cst.Attribute):
        return name in _TURNS
    assert isinstance(made, cst.Call)
    if name in _TURNS or name in _SAME_WEIGHTS:
        first = receiver(made) if not module.resolve(made.func) else made.args[0].value
        return first is weights or name == "rearrange"
    of_weights = receiver(made) is weights and isinstance(made.func, cst.Attribute)
    if of_weights:
        zero = module.literal(module.argument(made, "value", 1)) == 0
        return name in ("masked_fill", "masked_fill_") and zero
    return "drop" in dotted_text(made.func).lower()


def _uses(
    made: cst.CSTNode | None, weights: cst.BaseExpression, module: Module
) -> Iterable[cst.BaseExpression]:
    """Where weights are read on: by their name, where a function of the file gets them, or what it
    returns them to."""
    if isinstance(made, cst.Assign):
        target = made.targets[0].target
        if isinstance(target, cst.Attribute):
            return _reads_of_attribute(target, module)
        return reads_of_targets(made, module)
    if isinstance(made, cst.Return):
        function = module.function(made)
        return [] if function is None else calls_of(function, module)
    if isinstance(made, cst.Call):
        function = module.definitions.callee(made)
        param = receiving_parameter(made, weights, function) if function else None
        return [] if param is None else module.reads(param, param.name.value)
    return []


def _reads_of_attribute(target: cst.Attribute, module: Module) -> list[cst.BaseExpression]:
    """Where the same function reads what it has put into an attribute."""
    text, function = dotted_text(target), module.function(target)
    above = (module.parent(each) for each in module.spelled(target.attr.value, near=target))
    return [
        each
        for each in above
        if isinstance(each, cst.Attribute)
        and each is not target
        and dotted_text(each) == text
        and module.function(each) is function
        and not isinstance(module.parent(each), cst.AssignTarget)
    ]


def _is_aside(weights: cst.BaseExpression, module: Module) -> bool:
    """Whether weights are only returned beside something, kept in an attribute or a list, asked for
    NaN, or used where a switch asks for them: `if output_attentions: return out, weights`."""
    parent = module.parent(weights)
    kept = module.parent(parent) if isinstance(parent, cst.Element) else None
    if isinstance(kept, cst.Tuple) and isinstance(module.parent(kept), cst.Return):
        return len(kept.elements) > 1
    if isinstance(parent, cst.Assign) and isinstance(parent.targets[0].target, cst.Attribute):
        return not _reads_of_attribute(parent.targets[0].target, module)
    made = _made_of(weights, module)
    if isinstance(made, cst.Call) and called_name(made) in ("append", "isnan"):
        return True
    child: cst.CSTNode = weights
    for above in module.ancestors(weights):
        if isinstance(above, cst.If | cst.IfExp) and above.body is child:
            test = above.test
            parts = [test.left, test.right] if isinstance(test, cst.BooleanOperation) else [test]
            if any(_ASKS_FOR_WEIGHTS.search(_switch(each)) for each in parts):
                return True
        if isinstance(above, cst.FunctionDef | cst.Lambda):
            break
        child = above
    return False


def _switch(test: cst.BaseExpression) -> str:
    """The name or attribute that a condition is; empty if it is more than that."""
    return dotted_text(test) if isinstance(test, cst.Name | cst.Attribute) else ""


# of both ------------------------------------------------------------------------------------------


def _factors(node: cst.CSTNode | None, module: Module) -> list[cst.BaseExpression]:
    """The two factors of a product of matrices, by an operator, a function or a method."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.MatrixMultiply):
        return [node.left, node.right]
    if not isinstance(node, cst.Call):
        return []
    given = [arg.value for arg in node.args if arg.keyword is None]
    names = module.resolve(node.func)
    if "torch.einsum" in names:
        given = given[1:]
        if len(given) == 1 and isinstance(given[0], cst.List):
            given = [each.value for each in given[0].elements]
    elif "torch.baddbmm" in names:
        given = given[1:]
    elif method_name(node) in _METHODS and not names:
        given = [receiver(node), *given]
    elif _PRODUCT_CALLS.isdisjoint(names):
        return []
    return given if len(given) == 2 else []
