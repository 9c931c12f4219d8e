"""Which modules a file freezes."""

from __future__ import annotations

import libcst as cst
import pytest

from torchlint.analysis.module import Module
from torchlint.analysis.training.freezing import is_frozen
from torchlint.files.reading import decode
from torchlint.source.parse import parse


@pytest.mark.parametrize(
    ("code", "frozen"),
    [
        ("net.requires_grad_(False)", True),
        ("for p in net.parameters():\n    p.requires_grad = False", True),
        ("for p in net.parameters():\n    p.requires_grad_(False)", True),
        ("for name, p in net.named_parameters():\n    p.requires_grad = 'bias' in name", True),
        ("for p in net.parameters():\n    p.data.zero_()", False),
        ("other.requires_grad_(False)", False),
        ("net.encoder.requires_grad_(False)", False),
        ("for p in net.encoder.parameters():\n    p.requires_grad = False", False),
        ("net.requires_grad = False", False),
        ("sum(p.requires_grad for p in net.parameters())", False),
    ],
)
def test_a_module_is_frozen_by_its_method_or_in_a_loop(code: str, frozen: bool) -> None:
    source = decode("train.py", f"{code}\n".encode())
    module = Module(source, parse(source), (2, 13))
    assert is_frozen(cst.Name("net"), module) is frozen


def test_what_has_no_name_is_not_found() -> None:
    source = decode("train.py", b"nets[0].requires_grad_(False)\n")
    module = Module(source, parse(source), (2, 13))
    assert not is_frozen(cst.parse_expression("nets[0]"), module)
