"""Where gradients may be off, as far as a file shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from torchlint.analysis.training.grad_modes import may_be_off, switched_off_calls

if TYPE_CHECKING:
    from collections.abc import Callable

    from torchlint.analysis.module import Module

PLACE = "model(x)"


@pytest.mark.parametrize(
    ("code", "off"),
    [
        ("model(x)", False),
        ("with torch.no_grad():\n    model(x)", True),
        ("with torch.set_grad_enabled(trains):\n    model(x)", True),
        ("with torch.autocast('cuda'):\n    model(x)", False),
        ("with open(path) as file, tqdm(x) as bar, self.autocast():\n    model(x)", False),
        ("with open(path) as file, mode:\n    model(x)", True),
        ("with torch.no_grad():\n    y = 1\nmodel(x)", False),
        ("torch.set_grad_enabled(False)\ndef f():\n    model(x)", True),
        ("def f():\n    torch.set_grad_enabled(False)\n    model(x)", True),
        ("def g():\n    torch.set_grad_enabled(False)\ndef f():\n    model(x)", False),
        ("@torch.inference_mode()\ndef f():\n    model(x)", True),
        ("@anything\ndef f():\n    model(x)", True),
        ("class A:\n    @classmethod\n    def f(cls):\n        model(x)", False),
        ("@torch.no_grad()\ndef f():\n    def g():\n        model(x)", True),
        ("def f():\n    model(x)\nwith torch.no_grad():\n    f()", True),
        ("def f():\n    model(x)\nf()", False),
        ("def f():\n    model(x)\ndef g():\n    f()\nwith torch.no_grad():\n    g()", True),
        ("def f():\n    model(x)\n    f()", False),
    ],
)
def test_gradients_are_off_by_a_with_a_decorator_a_statement_or_a_caller(
    module_of: Callable[..., Module], code: str, off: bool
) -> None:
    module = module_of(f"import torch\n{code}\n")
    (call,) = module.calls_by_method.get("", ()) or [
        each for name in module.spelled("model") if (each := module.parent(name))
    ]
    assert may_be_off(call, module) is off


def test_what_is_called_with_gradients_off_for_certain(module_of: Callable[..., Module]) -> None:
    module = module_of(
        """
        import torch
        with torch.no_grad():
            validate(model)
            trainer.test()
        with mode:
            train(model)
        @torch.no_grad()
        def main():
            infer(model)
        model(x)
        """
    )
    assert list(switched_off_calls(module)) == ["infer", "test", "validate"]
