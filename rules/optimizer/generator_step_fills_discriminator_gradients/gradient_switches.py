"""Which models a file turns the gradients off for."""

import re
from collections.abc import Iterable, Iterator

import libcst as cst

from torchlint.analysis.names import How
from torchlint.analysis.training.parameter_loops import parameter_loop
from torchlint.analysis.uses import called_name, passed_for
from torchlint.analysis.values.kinds import TENSORS
from torchlint.rule import Module, because, once

from .._loss_routes import text_of

_SWITCHES = re.compile(r"(?i)requires_?grad|toggle_?(?:optimizer|grad)|freez|frozen|readonly")
_NO_MODEL = (cst.SimpleString, cst.Lambda)
_ANYTHING = "?"
"""What is switched is not known."""


def are_switched(names: set[str], module: Module) -> bool:
    """Whether the file turns gradients off, or may do so, for one of these models and optimizers,
    or for an object that has it."""
    for switch, subject in _switches(module):
        if subject == _ANYTHING or any(_is_part(subject, name) for name in names):
            return because(True, "the file switches gradients, by {}", switch)
    return False


def _is_part(subject: str, name: str) -> bool:
    same = subject.rpartition(".")[2] == name.rpartition(".")[2]
    return same or f"{name}.".startswith(f"{subject}.") or f"{subject}.".startswith(f"{name}.")


@once
def _switches(module: Module) -> list[tuple[cst.CSTNode, str]]:
    """The places that turn gradients off or on, each with what it does that for."""
    return [
        (node, subject)
        for node, subjects in (*_calls(module), *_assignments(module))
        for subject in _texts(subjects, module)
    ]


def _calls(module: Module) -> Iterator[tuple[cst.CSTNode, list[cst.BaseExpression]]]:
    """`set_requires_grad([netD], False)`, `netD.requires_grad_(False)`, `netD.freeze()`."""
    for call in module.nodes(cst.Call):
        last = called_name(call)
        if not _SWITCHES.search(last):
            continue
        on = last == "requires_grad_" and (not call.args or module.literal(call.args[0].value))
        given = [arg.value for arg in call.args if text_of(arg.value) or _is_list(arg.value)]
        given = [each for each in given if text_of(each) not in ("True", "False", "None")]
        if not given and isinstance(call.func, cst.Attribute):
            given = [call.func.value]
        if not on:
            yield call, given


def _is_list(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.List | cst.Tuple)


def _assignments(module: Module) -> Iterator[tuple[cst.CSTNode, list[cst.BaseExpression]]]:
    """`for p in netD.parameters(): p.requires_grad = False`."""
    for name in module.spelled("requires_grad"):
        owner, target = module.parent(name), module.enclosing(name, cst.AssignTarget)
        assign = module.parent(target) if target is not None else None
        if not isinstance(assign, cst.Assign) or not isinstance(owner, cst.Attribute):
            continue
        loop = parameter_loop(name, module)
        if module.literal(assign.value) is True:
            continue
        if loop is not None:
            yield assign, [loop.iter if isinstance(loop, cst.For) else loop]
        elif not module.value(owner.value).only(TENSORS):
            yield assign, [owner.value]


def _texts(subjects: Iterable[cst.BaseExpression], module: Module) -> Iterator[str]:
    """The models that expressions stand for: the elements of a list, `netD` for
    `netD.parameters()`, what a loop goes over, and what callers pass for a parameter."""
    todo, seen = list(subjects), set()
    if not todo:
        yield _ANYTHING
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, cst.List | cst.Tuple):
            todo += [each.value for each in node.elements]
        elif isinstance(node, cst.Call):
            inside = node.func.value if isinstance(node.func, cst.Attribute) else None
            named = [arg.value for arg in node.args if not isinstance(arg.value, _NO_MODEL)]
            todo += [inside] if inside is not None and text_of(inside) else named
            if inside is None and not named:
                yield _ANYTHING
        else:
            behind = _behind(node, module)
            todo += behind or ()
            if behind is None:
                yield text_of(node) or _ANYTHING


def _behind(node: cst.BaseExpression, module: Module) -> list[cst.BaseExpression] | None:
    """What a name is given by a loop, or by the calls of its function in the file; None for what
    is no such name."""
    bindings = module.flow.reaching(node) if isinstance(node, cst.Name) else []
    looped = [each.value for each in bindings if each.how is How.ITERATION and each.value]
    if looped:
        return looped
    function = module.function(node)
    if function is None or not any(each.how is How.PARAMETER for each in bindings):
        return None
    assert isinstance(node, cst.Name)
    passed = passed_for(node.value, function, module)
    return [each for each in passed if each is not None]
