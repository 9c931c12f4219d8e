"""`Variable(x)`, from the time before tensors had gradients, and what stands in its place."""

import libcst as cst

from torchlint.analysis.torch_api import TYPED_TENSORS
from torchlint.analysis.uses import method_name
from torchlint.rule import Applicability, Fix, Match, Module, edits

_MAKERS = frozenset(
    f"torch.{name}"
    for name in (
        "arange empty eye from_numpy linspace ones rand randint randn randperm tensor zeros"
    ).split()
)
_TYPED = frozenset(f"torch.{place}{name}" for name in TYPED_TENSORS for place in ("", "cuda."))
_STAY_WITHOUT = frozenset(
    "bernoulli_ byte clone contiguous cpu cuda double expand fill_ float int long normal_ permute "
    "random_ repeat reshape squeeze t to transpose type uniform_ unsqueeze view zero_".split()
)
"""Methods whose result has no gradient if their object has none."""


def unwrap(match: Match) -> Fix | str:
    """Put `x` in the place of `Variable(x)`. Safe if `x` was made right there, without a gradient:
    `Variable` cuts a tensor with one out of its graph."""
    module, call = match.module, match.call
    (argument,) = call.args
    statement = module.small_statement(call)
    if isinstance(statement, cst.Assign) and statement.value is call:
        (first, *more) = statement.targets
        if not more and module.source(first.target) == module.source(argument.value):
            said, edit = "Remove the line", edits.delete_statement(module, statement)
            return Fix(Applicability.UNSAFE, said, (edit,))
    edit = edits.replace(module, call, edits.value(module, argument.value))
    safe = _has_no_gradient(argument.value, module)
    return Fix(Applicability.SAFE if safe else Applicability.UNSAFE, "Use the tensor", (edit,))


def _has_no_gradient(value: cst.BaseExpression, module: Module) -> bool:
    """`torch.from_numpy(x).float()`: made here, so nothing else refers to it either."""
    while isinstance(value, cst.Call) and method_name(value) in _STAY_WITHOUT:
        assert isinstance(value.func, cst.Attribute)
        value = value.func.value
    if not isinstance(value, cst.Call):
        return False
    names = set(module.resolve(value.func))
    first = value.args[0].value if value.args else None
    if names and names <= _TYPED:  # of another tensor, it keeps the gradient
        return isinstance(first, cst.Integer | cst.List)
    plain = names and names <= _MAKERS and not module.has_star_kwargs(value)
    return bool(plain) and module.argument(value, "requires_grad") is None
