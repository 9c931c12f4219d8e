"""Which functions of a file are found to be compiled, and by which call."""

from __future__ import annotations

import pytest

from torchlint.analysis.compiled import compiled_functions
from torchlint.analysis.module import Module
from torchlint.files.reading import decode
from torchlint.source.parse import parse

FILE = """\
import torch
from torch import nn
def plain(x):
    return x
class Net(nn.Module):
    def forward(self, x):
        return x
    def loss(self, x):
        return x
    def prepare(self):
        {inside}
class Deep(Net):
    pass
class Table:
    def forward(self):
        pass
{code}
"""


def compiled(code: str, inside: str = "pass") -> dict[str, str]:
    """The names of the functions, and the text of the calls."""
    text = FILE.format(code=code, inside=inside)
    source = decode("train.py", text.encode())
    module = Module(source, parse(source), (2, 13))
    return {
        module.qualified_name(function): "" if call is None else module.source(call)
        for function, call in compiled_functions(module).items()
    }


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("@torch.compile\ndef f(x): pass", {"f": ""}),
        ("@torch.compile(dynamic=True)\ndef f(x): pass", {"f": "torch.compile(dynamic=True)"}),
        ("@torch.no_grad()\ndef f(x): pass", {}),
        ("@torch.compile\nclass F: pass", {}),
        ("fast = torch.compile(plain)", {"plain": "torch.compile(plain)"}),
        ("model = Net()\nmodel = torch.compile(model)", {"Net.forward": "torch.compile(model)"}),
        ("fast = torch.compile(Deep())", {"Net.forward": "torch.compile(Deep())"}),
        ("model = Net()\nmodel.compile()", {"Net.forward": "model.compile()"}),
        ("model = Net()\nf = torch.compile(model.loss)", {"Net.loss": "torch.compile(model.loss)"}),
        ("table = Table()\ntable.compile()", {}),
        ("fast = torch.compile(other)", {}),
        ("fast = torch.compile(model=plain)", {"plain": "torch.compile(model=plain)"}),
        ("pattern = re.compile(plain)", {}),
    ],
)
def test_a_compiled_function_is_found_by_what_is_compiled(code: str, found: dict[str, str]) -> None:
    assert compiled(code) == found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("self.fast = torch.compile(self.loss)", {"Net.loss": "torch.compile(self.loss)"}),
        ("self.compile()", {"Net.forward": "self.compile()"}),
        ("torch.compile(self)", {"Net.forward": "torch.compile(self)"}),
    ],
)
def test_a_class_can_compile_its_own_methods(line: str, found: dict[str, str]) -> None:
    assert compiled("", inside=line) == found
