"""Which loops go over the parameters of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst
import pytest

from torchlint.analysis.training.parameter_loops import goes_over_parameters, parameter_loop

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.analysis.module import Module


@pytest.mark.parametrize(
    ("head", "goes"),
    [
        ("for p in model.parameters()", True),
        ("for i, p in enumerate(model.parameters())", True),
        ("for name, p in net.named_parameters()", True),
        ("for p, q in zip(a.parameters(), b.parameters())", True),
        ("for name, value in model.state_dict().items()", True),
        ("for name in known", True),
        ("for p in chosen", True),
        ("for b in model.buffers()", False),
        ("for p in group['params']", False),
        ("for x in images", False),
        ("for p in parameters", False),
    ],
)
def test_a_loop_over_parameters(module_of: Callable[..., Module], head: str, goes: bool) -> None:
    module = module_of(
        f"""
        known = dict(model.named_parameters())
        chosen = [p for p in model.parameters() if p.requires_grad]
        {head}:
            step()
        """
    )
    (loop,) = module.nodes(cst.For)
    assert goes_over_parameters(loop, module) is goes


def test_the_nearest_loop_over_parameters(module_of: Callable[..., Module]) -> None:
    module = module_of(
        """
        for p in model.parameters():
            for x in images:
                first(x)
                both = [second(q) for q in x.parameters()]
            def inner():
                third()
        fourth()
        """
    )
    loops = {
        module.source(call.func): parameter_loop(call, module)
        for call in module.nodes(cst.Call)
        if not isinstance(call.func, cst.Attribute)
    }
    assert loops["first"] is module.nodes(cst.For)[0]
    assert loops["second"] is module.nodes(cst.ListComp)[0]
    assert loops["third"] is None
    assert loops["fourth"] is None
