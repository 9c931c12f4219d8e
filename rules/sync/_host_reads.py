"""Where the numbers of a copy in host memory are read first, and whether the code waits before."""

from bisect import bisect_left

import libcst as cst

from torchlint.analysis.uses import method_name, occurrences, reads_of_targets
from torchlint.rule import Module

_MOST_USES = 50
_VIEWS = frozenset("detach view reshape squeeze unsqueeze flatten transpose permute t".split())
_WAITING = ("synchronize", "wait", "wait_event", "wait_stream", "query")
_READERS = ("torch.", "numpy.", "builtins.")
_OPERATORS = (
    cst.BinaryOperation,
    cst.Comparison,
    cst.ComparisonTarget,
    cst.FormattedStringExpression,
    cst.UnaryOperation,
)
_ASKS = frozenset({"builtins.id", "builtins.isinstance", "builtins.len", "torch.is_tensor"})
_ABOUT = frozenset("shape size dim ndim dtype device numel is_pinned record_stream".split())


def first_read(copy: cst.Call, module: Module) -> cst.CSTNode | None:
    """The first place after a copy, in its function, that reads the numbers of its result."""
    uses = _uses(copy, module)
    later = uses[bisect_left(uses, module.order(copy), key=module.order) :][:_MOST_USES]
    here = (each for each in later if module.function(each) is module.function(copy))
    return next((each for each in here if _is_read(_viewed(each, module), module)), None)


def wait_between(copy: cst.CSTNode, read: cst.CSTNode, module: Module) -> cst.Call | None:
    """The first call between two places in the text that waits for the device."""
    waits = module.once(_waits)
    after = waits[bisect_left(waits, module.order(copy), key=module.order) :]
    return after[0] if after and module.order(after[0]) < module.order(read) else None


def _waits(module: Module) -> list[cst.Call]:
    """Where the file waits for the device."""
    calls = (call for name in _WAITING for call in module.calls_by_method.get(name, ()))
    return sorted(calls, key=module.order)


def _uses(copy: cst.Call, module: Module) -> list[cst.BaseExpression]:
    """The copy, or the places that are written like the name that it has, in source order."""
    if method_name(copy) == "copy_":
        assert isinstance(copy.func, cst.Attribute)
        filled = copy.func.value
        return [each for each in occurrences(filled, module) if each is not filled]
    assign = module.parent(_viewed(copy, module))
    return [*reads_of_targets(assign, module)] if isinstance(assign, cst.Assign) else [copy]


def _viewed(node: cst.BaseExpression, module: Module) -> cst.BaseExpression:
    """`x.detach()[0]` for the `x` in it, which reads no number yet."""
    while True:
        parent = module.parent(node)
        call = module.parent(parent) if isinstance(parent, cst.Attribute) else None
        if isinstance(parent, cst.Subscript):
            node = parent
        elif isinstance(call, cst.Call) and method_name(call) in _VIEWS:
            node = call
        else:
            return node


def _is_read(node: cst.BaseExpression, module: Module) -> bool:
    """Whether the numbers of a tensor are read: by its methods, by operators, by torch and NumPy.
    What else it is given to may only keep it."""
    parent = module.parent(node)
    if isinstance(parent, cst.Attribute):
        return parent.attr.value not in _ABOUT
    call = module.call_with(node)
    if call is not None:
        names = module.resolve(call.func)
        return _ASKS.isdisjoint(names) and any(name.startswith(_READERS) for name in names)
    return isinstance(parent, _OPERATORS)
