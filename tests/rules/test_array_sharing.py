"""Whether a tensor may share an array's memory."""

from __future__ import annotations

import libcst as cst
import pytest
from torchlint.rules.data.tensor_copies_numpy.array_sharing import (
    array_is_written,
    held_by_nobody,
    is_read_only,
    is_resized,
    root_of,
    tensor_is_written,
)

from tests.probed import probed

IMPORTS = "import cv2\nimport numpy as np\nimport torch\n"
MADE = """\
from scipy import interpolate
g = interpolate.interp1d(x, y)
def f():
    return np.zeros(3)
"""
HELD = {
    "a new array": ("np.stack(xs)", True),
    "a sum": ("a + np.ones(3)", False),
    "a sum of arrays": ("np.zeros(3) + np.ones(3)", True),
    "a converted array": ("np.load('x.npy').astype('f4')", True),
    "a name": ("a", False),
    "a slice": ("np.zeros(9)[0:3]", False),
    "a view": ("np.squeeze(np.zeros(3))", False),
    "a reshaped array": ("np.zeros(3).reshape(3, 1)", False),
    "what another library returns": ("cv2.imread('x.png')", False),
    "what an interpolation returns": ("g(1)", False),
    "what a function of the file returns": ("f()", False),
    "a tensor's numbers": ("torch.zeros(3).numpy()", False),
}


@pytest.mark.parametrize(("code", "free"), HELD.values(), ids=HELD)
def test_only_what_was_just_made_is_held_by_nobody(code: str, free: bool) -> None:
    module, node = probed(f"{MADE}probe({code})", IMPORTS)
    assert held_by_nobody(node, module) is free


READ_ONLY = {
    "a memory map": ("probe(np.memmap('x'))", True),
    "a part of one": ("m = np.memmap('x')\nprobe(m[0:9].reshape(3, 3).T)", True),
    "a part of one by numpy": ("m = np.memmap('x')\nprobe(np.squeeze(m))", True),
    "a copy of one": ("m = np.memmap('x')\nprobe(m.astype('f4'))", False),
    "a buffer": ("probe(np.frombuffer(b))", True),
    "a mapped file": ("probe(np.load('x', mmap_mode='r'))", True),
    "a file": ("probe(np.load('x'))", False),
    "an attribute that is mapped": (
        "class A:\n  def __init__(self):\n    self.m = np.memmap('x')\n  def f(self):\n"
        "    probe(self.m[0:9])",
        True,
    ),
    "an array": ("probe(np.zeros(3))", False),
}


@pytest.mark.parametrize(("code", "expected"), READ_ONLY.values(), ids=READ_ONLY)
def test_memory_that_must_not_be_written_is_known(code: str, expected: bool) -> None:
    module, node = probed(code, IMPORTS)
    assert is_read_only(node, module) is expected


def test_a_view_leads_to_the_array_behind_it() -> None:
    module, node = probed("probe(np.squeeze(a[0:3].reshape(3, 1)).T)", IMPORTS)
    assert module.source(root_of(node, module)) == "a"


WRITTEN = {
    "an item, afterwards": ("a = np.zeros(3)\nprobe(a)\na[0] = 1", True),
    "an item, before": ("a = np.zeros(3)\na[0] = 1\nprobe(a)", False),
    "all of it, afterwards": ("a = np.zeros(3)\nprobe(a)\na += 1", True),
    "another that it is added to": ("a = np.zeros(3)\nprobe(a)\nb += a", False),
    "by a method": ("a = np.zeros(3)\nprobe(a)\na.sort()", True),
    "by a method that copies": ("a = np.zeros(3)\nprobe(a)\nb = a.copy()", False),
    "as an output": ("a = np.zeros(3)\nprobe(a)\nnp.exp(b, out=a)", True),
    "onto it": ("a = np.zeros(3)\nprobe(a)\nnp.copyto(a, b)", True),
    "from it": ("a = np.zeros(3)\nprobe(a)\nnp.copyto(b, a)", False),
    "on the next round": ("a = np.zeros(3)\nfor i in r:\n  a[0] = i\n  probe(a)", True),
    "before, on each round again": ("for i in r:\n  a = f()\n  a[0] = i\n  probe(a)", False),
    "a list's item, afterwards": ("a = [np.zeros(3)]\nprobe(a[0])\na[0] = 1", False),
    "in another function": ("a = np.zeros(3)\nprobe(a)\ndef f(a):\n  a[0] = 1", False),
    "another array": ("a = np.zeros(3)\nprobe(a)\nb[0] = 1", False),
    "in another method": (
        "class A:\n  def f(self):\n    probe(self.a[0:3])\n  def g(self):\n    self.a[0] = 1",
        True,
    ),
    "in another class": (
        "class A:\n  def f(self):\n    probe(self.a)\nclass B:\n  def g(self):\n    self.a[0] = 1",
        False,
    ),
}


@pytest.mark.parametrize(("code", "expected"), WRITTEN.values(), ids=WRITTEN)
def test_writes_to_an_array_that_is_still_in_use_are_seen(code: str, expected: bool) -> None:
    module, node = probed(code, IMPORTS)
    assert array_is_written(node, module) is expected


TENSORS = {
    "an item": ("t = probe(f(x))\nt[0] = 1", True, False),
    "all of it": ("t = probe(f(x))\nt *= 2", True, False),
    "in place": ("t = probe(f(x))\nt.mul_(2)", True, False),
    "a part in place": ("t = probe(f(x))\nt[0].mul_(2)", True, False),
    "in place at once": ("probe(f(x)).mul_(2)", True, False),
    "in place behind another method": ("t = probe(f(x)).view(3)\nt.mul_(2)", True, False),
    "an attribute": ("self.t = probe(f(x))\nself.t.zero_()", True, False),
    "before it was made": ("t.mul_(2)\nt = probe(f(x))", False, False),
    "a new tensor": ("t = probe(f(x))\nt = t.mul(2)", False, False),
    "its gradient": ("t = probe(f(x))\nt.requires_grad_()", False, False),
    "its size": ("t = probe(f(x))\nt.resize_(9)", True, True),
    "its size at once": ("t = probe(f(x)).resize_(9)", True, True),
}


@pytest.mark.parametrize(("code", "written", "resized"), TENSORS.values(), ids=TENSORS)
def test_writes_to_a_tensor_are_seen(code: str, written: bool, resized: bool) -> None:
    module, node = probed(code, IMPORTS)
    call = module.enclosing(node, cst.Call)
    assert call is not None
    assert tensor_is_written(call, module) is written
    assert is_resized(call, module) is resized
