"""Which code makes samples, and which of it puts them on the GPU."""

from __future__ import annotations

import libcst as cst
import pytest

from torchlint.analysis.loading.sample_code import makes_sample
from torchlint.analysis.loading.worker_processes import moves_to_device
from torchlint.analysis.module import Module
from torchlint.files.reading import decode
from torchlint.source.parse import parse

PROGRAM = """\
import torch
from torch.utils.data import Dataset

def scaled(x):
    return inside(x)

class Photos(Dataset):
    def __init__(self):
        outside()
    def __getitem__(self, index):
        return scaled(self.read(index))
    def read(self, index):
        return inside(index)
    def all(self):
        return outside()

class PhotoDataset:
    def __getitems__(self, indices):
        return inside(indices)

class Cache:
    def __getitem__(self, index):
        return outside(index)

outside()
"""


def parsed(text: str) -> Module:
    source = decode("train.py", text.encode())
    return Module(source, parse(source), (2, 13))


def test_what_getitem_reaches_makes_samples() -> None:
    module = parsed(PROGRAM)
    found = [
        (call.func.value, makes_sample(call, module))
        for call in module.nodes(cst.Call)
        if isinstance(call.func, cst.Name) and call.func.value in ("inside", "outside")
    ]
    assert len(found) == 7
    assert all(makes == (name == "inside") for name, makes in found)


def moves(line: str) -> bool:
    module = parsed(f"import torch\nclass A:\n    def f(self, x, y, args):\n        {line}\n")
    calls = module.nodes(cst.Call)
    return any(moves_to_device(each, module) for each in calls)


@pytest.mark.parametrize(
    "line",
    [
        "x.cuda()",
        "x.to('cuda')",
        "x.to(self.device)",
        "x.to(args.device, torch.float32)",
        "torch.tensor(x, device='cuda:0')",
        "device = torch.device('cuda'); torch.zeros(3, device=device)",
    ],
)
def test_a_call_puts_a_tensor_on_the_gpu(line: str) -> None:
    assert moves(line)


@pytest.mark.parametrize(
    "line",
    [
        "x.to(torch.float32)",
        "x.to('cpu')",
        "x.to(y.device)",
        "device = y.device; torch.zeros(3, device=device)",
        "torch.tensor(x)",
        "x.to()",
    ],
)
def test_a_call_leaves_a_tensor_where_it_is(line: str) -> None:
    assert not moves(line)
