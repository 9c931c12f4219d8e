"""In how many threads torch computes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis import edits

if TYPE_CHECKING:
    from torchlint.analysis.module import Module
    from torchlint.finding import Edit

_ELSEWHERE = re.compile(r"OMP_NUM_THREADS|MKL_NUM_THREADS")


def sets_threads(module: Module) -> bool:
    """Whether a training script says itself how many threads there are."""
    return bool(_given(module))


def with_threads(module: Module, number: int) -> Edit | None:
    """The edit that lets torch compute in so many threads; None if the file does not train, says so
    already, or decides it in another way."""
    torch = module.names.imported_as("torch", module.tree)
    given = _given(module)
    if (
        torch is None
        or not module.loops.anchors
        or len(given) > 1
        or _ELSEWHERE.search(module.text)
        or any(module.literal(each) == number for each in given)
    ):
        return None
    if given:
        return edits.replace(module, given[0], str(number))
    return edits.at_start(module, f"{torch}.set_num_threads({number})")


def _given(module: Module) -> list[cst.BaseExpression]:
    return [
        call.args[0].value
        for call in module.nodes(cst.Call)
        if module.calls(call, "torch.set_num_threads") and len(call.args) == 1
    ]
