"""Calls that make a tensor of data, and whether they must copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst
import pytest

from tests.probed import probed
from torchlint.analysis.arrays.tensor_constructors import (
    Constructor,
    Copy,
    Place,
    copy_made,
    moved_at_once,
    needs_its_copy,
    tensor_constructor,
)

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

IMPORTS = "import numpy as np\nimport torch\n"


def made(code: str) -> tuple[Constructor | None, Module]:
    module, call = probed(code, IMPORTS)
    while isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute):
        if not isinstance(call.func.value, cst.Call):
            break
        call = call.func.value
    assert isinstance(call, cst.Call)
    return tensor_constructor(call, module), module


TYPED = {
    "the function": ("probe(torch.tensor(x))", "", "", Place.HOST),
    "floats": ("probe(torch.FloatTensor(x))", "Float", "float32", Place.HOST),
    "integers": ("probe(torch.LongTensor(x))", "Long", "int64", Place.HOST),
    "signed bytes": ("probe(torch.CharTensor(x))", "Char", "int8", Place.HOST),
    "the default type": ("probe(torch.Tensor(x))", "Tensor", "float32", Place.HOST),
    "on the GPU": ("probe(torch.cuda.FloatTensor(x))", "Float", "float32", Place.DEVICE),
    "here or there": (
        "T = torch.cuda.FloatTensor if c else torch.FloatTensor\nprobe(T(x))",
        "Float",
        "float32",
        Place.EITHER,
    ),
    "here or there, of the default type": (
        "T = torch.cuda.FloatTensor if c else torch.Tensor\nprobe(T(x))",
        "Tensor",
        "float32",
        Place.EITHER,
    ),
    "imported": ("from torch import LongTensor as LT\nprobe(LT(x))", "Long", "int64", Place.HOST),
}


@pytest.mark.parametrize(("code", "typed", "dtype", "place"), TYPED.values(), ids=TYPED)
def test_constructors_are_known_by_type_and_place(
    code: str, typed: str, dtype: str, place: Place
) -> None:
    found, _ = made(code)
    assert found is not None
    assert (found.typed, found.dtype, found.place) == (typed, dtype, place)


OTHERS = {
    "two sizes": "probe(torch.FloatTensor(3, 4))",
    "a keyword": "probe(torch.FloatTensor(device=d))",
    "starred sizes": "probe(torch.FloatTensor(*sizes))",
    "nothing": "probe(torch.tensor())",
    "different types": "T = torch.LongTensor if c else torch.FloatTensor\nprobe(T(x))",
    "a class or a constructor": (
        "from shapes import Shape\nT = Shape if c else torch.FloatTensor\nprobe(T(x))"
    ),
    "a class of the project": "from shapes import Tensor\nprobe(Tensor(x))",
    "another package of torch": "probe(torch.sparse.FloatTensor(x))",
    "zeros": "probe(torch.zeros(x))",
}


@pytest.mark.parametrize("code", OTHERS.values(), ids=OTHERS)
def test_other_calls_are_not_found(code: str) -> None:
    assert made(code)[0] is None


COPIES = {
    "nothing is said": ("a", Copy.WASTED),
    "the type it has": ("a, dtype=torch.float64", Copy.WASTED),
    "the type it has, by another name": ("a, dtype=torch.double", Copy.WASTED),
    "no type": ("a, dtype=None", Copy.WASTED),
    "another type": ("a, dtype=torch.float32", Copy.FORCED),
    "a type that is computed": ("a, dtype=dtype", Copy.PERHAPS),
    "one of two types": ("a, dtype=torch.float32 if half else torch.float64", Copy.PERHAPS),
    "a type, where the array's is unknown": ("np.load('x'), dtype=torch.float32", Copy.PERHAPS),
    "the CPU": ("a, device='cpu'", Copy.WASTED),
    "the CPU, as a device": ("a, device=torch.device('cpu')", Copy.WASTED),
    "the GPU": ("a, device='cuda'", Copy.FORCED),
    "one of the GPUs": ("a, device=torch.device('cuda', 1)", Copy.FORCED),
    "a GPU by its number": ("a, device=0", Copy.FORCED),
    "a device that is computed": ("a, device=device", Copy.PERHAPS),
    "another type on some device": ("a, dtype=torch.float32, device=device", Copy.FORCED),
}


@pytest.mark.parametrize(("arguments", "copy"), COPIES.values(), ids=COPIES)
def test_a_copy_is_wasted_unless_type_or_device_force_it(arguments: str, copy: Copy) -> None:
    found, module = made(f"a = np.zeros(3)\nprobe(torch.tensor({arguments}))")
    assert found is not None
    assert copy_made(found, module.value(found.data.value), module) is copy


MOVES = {
    "not at all": ("", Copy.WASTED),
    "to the GPU": (".cuda()", Copy.FORCED),
    "to the GPU by its name": (".to('cuda:0')", Copy.FORCED),
    "to some device": (".to(device)", Copy.PERHAPS),
    "to the CPU": (".to('cpu')", Copy.WASTED),
    "to a type": (".to(torch.float32)", Copy.WASTED),
    "to a type by keyword": (".to(dtype=torch.float32)", Copy.WASTED),
    "into a shape": (".view(3)", Copy.WASTED),
}


@pytest.mark.parametrize(("method", "copy"), MOVES.values(), ids=MOVES)
def test_a_method_behind_the_call_may_move_the_tensor(method: str, copy: Copy) -> None:
    found, module = made(f"probe(torch.tensor(x){method})")
    assert found is not None
    assert moved_at_once(found.call, module) is copy


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        ("x", False),
        ("x, requires_grad=False", False),
        ("x, requires_grad=True", True),
        ("x, requires_grad=self.train", True),
        ("x, pin_memory=True", True),
    ],
)
def test_gradients_and_pinned_memory_need_a_copy(arguments: str, needed: bool) -> None:
    found, module = made(f"probe(torch.tensor({arguments}))")
    assert found is not None
    assert needs_its_copy(found.call, module) is needed


def test_torch_is_spelled_as_the_file_spells_it() -> None:
    found, module = made("def f():\n  import torch as th\n  probe(th.tensor(x))")
    assert found is not None
    assert module.names.imported_as("torch", found.call) == "th"
