"""What is a constant: a tensor made of sizes, settings and written numbers, and no other tensor."""

import re
from collections.abc import Callable
from typing import Final, Protocol

import libcst as cst

from torchlint.analysis.names import How, dotted_text
from torchlint.analysis.uses import (
    called_name,
    method_behind,
    method_name,
    occurrences,
    passed_for,
    receiver,
    with_items,
)
from torchlint.analysis.values.kinds import TENSORS
from torchlint.rule import Module

_DEEPEST: Final = 16
SOURCES: Final = tuple(
    f"{library}.{name}"
    for library in ("torch", "numpy")
    for name in (
        "arange linspace logspace eye ones zeros full ones_like zeros_like full_like tril_indices "
        "triu_indices hann_window hamming_window kaiser_window"
    ).split()
)
LISTS: Final = ("torch.tensor", "torch.Tensor", "torch.FloatTensor", "numpy.array")
VIEWS: Final = frozenset(
    "view reshape unsqueeze squeeze expand expand_as transpose permute flatten t broadcast_to "
    "unbind view_as detach split chunk".split()
)
_ANY_ARGUMENTS: Final = VIEWS | frozenset("to type type_as cuda cpu repeat tile astype".split())
_RANDOM: Final = re.compile(
    r"rand|uniform_|exponential_|bernoulli|multinomial|normal|dropout|sample|poisson|shuffle"
)
_ABOUT: Final = frozenset({"shape", "size", "dim", "ndim", "dtype", "device", "numel"})
_READS: Final = re.compile(r"^(item|max|min|sum|amax|any|all|tolist|unique|nonzero|cpu|numpy)$")
_NUMBERS: Final = re.compile(r"\b(int|float|bool|str|device|dtype)\b")


_LIBRARIES: Final = ("math.", "numpy.")
_CALCULATES: Final = frozenset(
    f"builtins.{each}" for each in "len int float max min range abs slice".split()
)


class _Question(Protocol):
    def __call__(self, module: Module, node: cst.CSTNode | None, depth: int = _DEEPEST) -> bool: ...


def _known(ask: Callable[[Module, cst.CSTNode | None, int], bool]) -> _Question:
    """Let a file keep each answer, whatever depth is left; one that is still open is no."""

    def kept(module: Module, node: cst.CSTNode | None, depth: int = _DEEPEST) -> bool:
        key = (ask, node)
        if key not in module.answers:
            module.answers[key] = False
            module.answers[key] = depth > 0 and ask(module, node, depth)
        return module.answers[key] is True

    return kept


@_known
def is_made(module: Module, node: cst.CSTNode | None, depth: int) -> bool:
    """Whether an expression is a tensor that is made of sizes, settings and written numbers."""

    def ask(part: cst.CSTNode | None) -> bool:
        return is_made(module, part, depth - 1)

    def fits(part: cst.CSTNode | None) -> bool:
        return ask(part) or _is_plain(module, part, depth)

    if isinstance(node, cst.Name):
        bindings = [each for each in module.flow.reaching(node) if each.how is not How.UPDATE]
        known = all(each.how in (How.ASSIGNMENT, How.UNPACKING) for each in bindings)
        made = bool(bindings) and known and all(ask(each.value) for each in bindings)
        return made and not _is_written(node, module, depth)
    if isinstance(node, cst.Subscript):
        return ask(node.value) and not any(map(_reads_tensor, module.calls_within(node)))
    if isinstance(node, cst.UnaryOperation):
        return ask(node.expression)
    if isinstance(node, cst.BinaryOperation):
        both = fits(node.left) and fits(node.right)
        return both and (ask(node.left) or ask(node.right))
    if isinstance(node, cst.Comparison):
        compared = [node.left, *(each.comparator for each in node.comparisons)]
        return any(map(ask, compared)) and all(map(fits, compared))
    if isinstance(node, cst.Attribute):
        return node.attr.value in ("T", "mT") and ask(node.value)
    if not isinstance(node, cst.Call):
        return False
    given = [arg for arg in node.args if arg.keyword is None or arg.keyword.value not in _ABOUT]
    if module.calls(node, *SOURCES):
        return not any(_is_tensor(arg.value, module) for arg in given) or called_name(
            node
        ).endswith("_like")
    if module.calls(node, *LISTS):
        return all(_is_plain(module, arg.value, depth) for arg in given)
    names = module.resolve(node.func)
    parts = [part for arg in given for part in parts_of(arg.value)]
    if not names and isinstance(node.func, cst.Attribute) and ask(receiver(node)):
        if _RANDOM.search(method_name(node)) or method_name(node) == "requires_grad_":
            return False
        return method_name(node) in _ANY_ARGUMENTS or all(map(fits, parts))
    known = any(each.startswith(("torch.", "numpy.")) for each in names)
    known = known or module.definitions.callee(node) is not None
    random = _RANDOM.search(called_name(node)) is not None
    return known and not random and any(map(ask, parts)) and all(map(fits, parts))


def parts_of(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The elements of a list or tuple."""
    listed = isinstance(node, cst.List | cst.Tuple)
    return [each.value for each in node.elements] if listed else [node]  # type: ignore[attr-defined]


def _is_written(name: cst.Name, module: Module, depth: int) -> bool:
    """Whether anything but constants is written into a tensor: `out[i] = x`, `out.add_(x)`."""
    return any(
        not _fits(value, module, depth)
        for each in occurrences(name, module)
        for value in _written(each, module)
    )


def _written(name: cst.BaseExpression, module: Module) -> list[cst.BaseExpression]:
    """What the place of a name writes into it."""
    items = with_items(name, module)
    above, indices = module.parent(items), module.parent(name)
    if items is not name and isinstance(above, cst.AssignTarget | cst.AugAssign):
        statement = above if isinstance(above, cst.AugAssign) else module.parent(above)
        assert isinstance(statement, cst.Assign | cst.AugAssign)
        assert isinstance(indices, cst.Subscript)
        return [statement.value, *_indices(indices)]
    if isinstance(above, cst.AugAssign):
        return [] if above.value is name else [above.value]
    call = method_behind(items, module)
    in_place = call is not None and method_name(call).endswith("_")
    if call is None or not in_place:
        return []
    drawn = [call] if _RANDOM.search(method_name(call)) else []
    return [*drawn, *(arg.value for arg in call.args)]


def _indices(node: cst.Subscript) -> list[cst.BaseExpression]:
    parts = (part for each in node.slice for part in each.slice.children)
    return [part for part in parts if isinstance(part, cst.BaseExpression)]


def _fits(node: cst.BaseExpression, module: Module, depth: int) -> bool:
    return is_made(module, node, depth - 1) or _is_plain(module, node, depth - 1)


@_known
def _is_plain(module: Module, node: cst.CSTNode | None, depth: int) -> bool:
    """Whether an expression is a number, a size or a setting, and no tensor."""

    def ask(part: cst.CSTNode | None) -> bool:
        return _is_plain(module, part, depth - 1)

    if isinstance(node, cst.Name):
        bindings = module.flow.reaching(node)
        if not bindings:
            return node.value in ("None", "True", "False")
        return any(_counts(each, module) for each in occurrences(node, module)) or all(
            _is_number(each.node, module, depth)
            if each.how is How.PARAMETER
            else ask(each.value) or _is_size(each.value) or each.how is How.DEFINITION
            for each in bindings
        )
    if isinstance(node, cst.Attribute):
        return _is_size(node) or _is_setting(node, module)
    if isinstance(node, cst.Call):
        names = module.resolve(node.func) or (dotted_text(node.func),)
        calculates = any(each.startswith(_LIBRARIES) or each in _CALCULATES for each in names)
        values = [arg.value for arg in node.args]
        return _is_size(node) or (
            calculates and (called_name(node) == "len" or all(map(ask, values)))
        )
    if isinstance(node, cst.Subscript):
        return _is_size(node.value) or ask(node.value)
    if isinstance(node, cst.BinaryOperation):
        return ask(node.left) and ask(node.right)
    if isinstance(node, cst.UnaryOperation):
        return ask(node.expression)
    if isinstance(node, cst.List | cst.Tuple):
        return bool(node.elements) and all(ask(each.value) for each in node.elements)
    if isinstance(node, cst.ListComp):
        return ask(node.for_in.iter) and not any(map(_reads_tensor, module.calls_within(node.elt)))
    return isinstance(node, cst.BaseNumber | cst.BaseString)


def _is_size(node: cst.CSTNode | None) -> bool:
    """`x.shape`, `x.size(0)`, `x.device`."""
    if isinstance(node, cst.Subscript):
        node = node.value
    if isinstance(node, cst.Call):
        node = node.func
    return isinstance(node, cst.Attribute) and node.attr.value in _ABOUT


def _counts(name: cst.BaseExpression, module: Module) -> bool:
    """Whether a name is passed as the size of a constant, or to `range`: then it is a number."""
    call = module.call_with(name)
    return (
        call is not None
        and not called_name(call).endswith("_like")
        and (module.calls(call, *SOURCES, "builtins.range"))
    )


def _is_number(param: cst.CSTNode, module: Module, depth: int) -> bool:
    """Whether a parameter is a number: by its annotation, its default, or since it is a size."""
    if not isinstance(param, cst.Param):
        return False
    if param.annotation is not None:
        return _NUMBERS.search(module.source(param.annotation.annotation)) is not None
    if isinstance(module.literal(param.default), int | float | str):
        return True
    function = module.function(param)
    given = passed_for(param.name.value, function, module) if function else []
    return bool(given) and all(_is_plain(module, each, depth - 1) for each in given)


def _is_setting(node: cst.Attribute, module: Module) -> bool:
    """`self.width`, `self.cfg.width`, a buffer: no parameter, no layer and no state."""
    text = dotted_text(node)
    if not text.startswith("self."):
        named = any(
            each.startswith((*_LIBRARIES, "torch.")) for each in module.resolve(node) or (text,)
        )
        return named or text.startswith(("cfg.", "config.", "args."))
    first = node
    while isinstance(first, cst.Attribute) and isinstance(first.value, cst.Attribute):
        first = first.value
    sets = [
        value
        for each in occurrences(first, module)
        if isinstance(target := module.parent(each), cst.AssignTarget)
        if isinstance(value := getattr(module.parent(target), "value", None), cst.BaseExpression)
    ]
    learns = any(
        name.startswith("torch.nn.") for each in sets for name in resolved_names(each, module)
    )
    buffers = module.calls_by_method.get("register_buffer", ())
    is_buffer = any(
        module.literal(module.argument(each, "name", 0)) == first.attr.value for each in buffers
    )
    return is_buffer or (bool(sets) and not learns)


def resolved_names(node: cst.BaseExpression, module: Module) -> tuple[str, ...]:
    return module.resolve(node.func) if isinstance(node, cst.Call) else ()


def _is_tensor(node: cst.BaseExpression, module: Module) -> bool:
    """Whether a number comes from a tensor, which may have another value on each step."""
    reads = any(_reads_tensor(call) for call in module.calls_within(node))
    return reads or bool(module.value(node).kind & TENSORS)


def _reads_tensor(call: cst.Call) -> bool:
    return _READS.search(method_name(call)) is not None
