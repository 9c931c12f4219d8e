"""Which files could live with None in place of a gradient."""

from __future__ import annotations

import libcst as cst
import pytest

from torchlint.analysis.module import Module
from torchlint.analysis.training import manual_gradients
from torchlint.files.reading import decode
from torchlint.source.parse import parse


def module(code: str) -> Module:
    source = decode("train.py", ("import torch\n" + code).encode())
    return Module(source, parse(source), (2, 13))


@pytest.mark.parametrize(
    ("code", "reads", "sums"),
    [
        ("n = p.grad.norm()", True, False),
        ("p.grad.mul_(0.5)", True, False),
        ("p.grad /= 2", True, False),
        ("p.grad += g", True, True),
        ("p.grad -= g", True, True),
        ("p.grad.data += g", True, True),
        ("p.grad.data.add_(g)", True, True),
        ("p.grad[0] += g", True, True),
        ("p.grad.copy_(g)", True, True),
        ("p.grad = None", False, False),
        ("p.grad = g", False, False),
        ("torch.autograd.grad(loss, x)", False, False),
        ("f = torch.autograd.grad", False, False),
        ("g = field.grad(x)", False, False),
        ("if p.grad is not None: p.grad.mul_(2)", False, False),
        ("if p.grad is None: make(p)\np.grad += g", False, False),
        ("def f(p):\n    return p.grad is None\ndef g(p):\n    p.grad += 1", True, True),
        ("if p.grad == 0: stop()", True, False),
    ],
)
def test_what_a_file_does_with_gradients(code: str, reads: bool, sums: bool) -> None:
    assert manual_gradients.reads(module(code)) is reads
    assert manual_gradients.accumulates(module(code)) is sums


def test_code_that_does_not_count() -> None:
    parsed = module("for p in ps:\n    p.grad += g\n")
    (loop,) = parsed.nodes(cst.For)
    assert manual_gradients.reads(parsed)
    assert not manual_gradients.reads(parsed, outside=loop)
