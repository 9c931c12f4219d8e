"""Python's own functions that go over a tensor element by element, and those of torch."""

import libcst as cst

from torchlint.analysis.uses import method_name
from torchlint.rule import Applicability, Fix, Match, because, edits

from ._samples import is_one_tensor

BUILTINS = ("sum", "max", "min", "any", "all", "sorted", "set")
_TRUTHS = ("any", "all")


def takes_a_tensor(match: Match) -> bool:
    args = match.call.args
    if len(args) != 1 or args[0].star:
        return because(False, "it is given more than a single tensor")
    said = "{:code} may be a list or the like, and not a single tensor"
    one = is_one_tensor(args[0].value, match.module)
    return one or because(False, said, args[0].value)


def _name(match: Match) -> str:
    assert isinstance(match.call.func, cst.Name)
    return match.call.func.value


def message(match: Match) -> str:
    instead = {"sorted": "torch.sort", "set": "torch.unique"}.get(_name(match))
    use = f"use `{instead}`" if instead else f"call `.{_name(match)}()` of the tensor"
    return f"Python's `{_name(match)}` goes over a tensor element by element; {use}."


def by_torch(match: Match) -> Fix | str:
    """The same by a method of the tensor."""
    name, value = _name(match), match.call.args[0].value
    if name in ("sorted", "set"):
        return f"what uses the {'list' if name == 'sorted' else 'set'} may not take a tensor"
    text = f"{edits.operand(match.module, value)}.{name}()"
    text = f"bool({text})" if name in _TRUTHS else text
    counts = name == "sum" and isinstance(value, cst.Comparison) and _becomes_a_number(match)
    applies = Applicability.SAFE if counts or name in _TRUTHS else Applicability.UNSAFE
    message = f"Call `.{name}()` of the tensor"
    return Fix(applies, message, (edits.replace(match.module, match.call, text),))


def _becomes_a_number(match: Match) -> bool:
    """`sum(…).item()`, `int(sum(…))`: it has one element, so the tensor has one dimension."""
    taker, attribute = match.module.call_with(match.call), match.module.parent(match.call)
    if taker is not None:
        return match.module.calls(taker, "builtins.int", "builtins.float")
    read = match.module.parent(attribute) if isinstance(attribute, cst.Attribute) else None
    return isinstance(read, cst.Call) and method_name(read) == "item"
