"""What NumPy and the libraries that speak it return."""

from __future__ import annotations

import pytest

from tests.probed import probed
from torchlint.analysis.values.kinds import ARRAYS, Kind

IMPORTS = (
    "import cv2\nimport librosa\nimport numpy as np\nimport torch\nfrom scipy import interpolate\n"
)
FRESH, SHARED, NUMBER, EITHER, LIST, ELSE = "fresh", "shared", "number", "either", "list", "else"


def kind_of(code: str) -> str:
    module, node = probed(code, IMPORTS)
    value = module.value(node)
    if value.only(Kind.FRESH):
        return FRESH
    if value.only(ARRAYS):
        return SHARED
    if value.only(Kind.SCALAR):
        return NUMBER
    if value.only(ARRAYS | Kind.SCALAR):
        return EITHER
    if value.has(Kind.CONTAINER):
        return LIST
    return ELSE


KINDS = {
    "a new array": ("np.zeros(3)", FRESH),
    "a copy": ("np.array(x)", FRESH),
    "perhaps no copy": ("np.array(x, copy=False)", SHARED),
    "perhaps no copy either": ("np.asarray(x)", SHARED),
    "a view": ("np.expand_dims(np.zeros(3), 0)", SHARED),
    "the real part is a view": ("np.real(np.zeros(3))", SHARED),
    "joined arrays": ("np.stack(xs)", FRESH),
    "a file": ("np.load('x.npy')", FRESH),
    "a file that is mapped": ("np.load('x.npy', mmap_mode='r')", SHARED),
    "three arguments of where": ("np.where(m, a, b)", FRESH),
    "one argument of where": ("np.where(m)", LIST),
    "unique values": ("np.unique(x)", FRESH),
    "unique values and their places": ("np.unique(x, return_inverse=True)", LIST),
    "parts": ("np.split(x, 3)", LIST),
    "a sum over all": ("np.sum(x)", NUMBER),
    "a sum over an axis": ("np.sum(x, axis=0)", FRESH),
    "a sum over an axis, by position": ("np.sum(x, 0)", FRESH),
    "a sum over no axis": ("np.sum(x, axis=None)", NUMBER),
    "a sum that keeps its axes": ("np.sum(x, keepdims=True)", FRESH),
    "a function of an array": ("np.exp(np.zeros(3))", FRESH),
    "a function of a list": ("np.exp([1, 2])", FRESH),
    "a function of a number": ("np.exp(1.0)", NUMBER),
    "a function of something unknown": ("np.exp(x)", ELSE),
    "a function that writes elsewhere": ("np.exp(np.zeros(3), out=y)", SHARED),
    "a function that writes elsewhere, by position": ("np.exp(np.zeros(3), y)", SHARED),
    "bounds are not an output": ("np.clip(np.zeros(3), 0, 1)", FRESH),
    "a product, which may be a number": ("np.matmul(a, b)", EITHER),
    "draws of a generator": ("np.random.default_rng(0).standard_normal((3, 4))", FRESH),
    "draws of an older generator": ("np.random.RandomState(0).rand(3)", FRESH),
    "a draw of a generator": ("np.random.default_rng(0).normal()", NUMBER),
    "whole numbers of a generator": ("np.random.default_rng(0).integers(0, 9, 64)", FRESH),
    "a number of NumPy": ("np.float32(3)", NUMBER),
    "random numbers": ("np.random.rand(3)", FRESH),
    "a random number": ("np.random.rand()", NUMBER),
    "random integers": ("np.random.randint(0, 9, 3)", FRESH),
    "a random integer": ("np.random.randint(0, 9)", NUMBER),
    "normal numbers of a size": ("np.random.normal(size=3)", FRESH),
    "a normal number": ("np.random.normal(0, 1)", NUMBER),
    "a normal number of no size": ("np.random.normal(0, 1, None)", NUMBER),
    "a permutation": ("np.random.permutation(9)", FRESH),
    "a generator": ("np.random.default_rng(0)", ELSE),
    "a converted array": ("np.zeros(3).astype('f4')", FRESH),
    "an array that is converted if it must": ("np.zeros(3).astype('f4', copy=False)", SHARED),
    "something unknown that is converted": ("x.astype('f4')", EITHER),
    "the array of a data frame": ("df.to_numpy()", SHARED),
    "a sparse matrix as an array": ("m.toarray()", FRESH),
    "a transposed array": ("np.zeros((3, 4)).T", SHARED),
    "a reshaped array": ("np.zeros(12).reshape(3, 4)", SHARED),
    "a mean": ("np.zeros(3).mean()", NUMBER),
    "a mean over an axis": ("np.zeros((3, 4)).mean(0)", FRESH),
    "the numbers of an array": ("np.zeros(3).tolist()", ELSE),
    "a slice": ("np.zeros(9)[0:3]", SHARED),
    "a column": ("np.zeros((3, 4))[:, 0]", SHARED),
    "an item, which may be a number": ("np.zeros((3, 4))[0]", EITHER),
    "a field": ("np.zeros(3, dtype=record)['x']", SHARED),
    "the items of a mask": ("np.zeros(3)[np.zeros(3) > 0]", SHARED),
    "the items of a list": ("np.zeros(3)[[0, 1]]", SHARED),
    "arrays are added": ("np.zeros(3) + np.ones(3)", FRESH),
    "a number is added": ("np.zeros(3) + 1", FRESH),
    "something unknown is added": ("np.zeros(3) + x", SHARED),
    "an image": ("cv2.imread('x.png')", FRESH),
    "a sound and its rate": ("librosa.load('x.wav')", LIST),
    "an interpolation": ("interpolate.interp2d(x, y, z)(a, b)", FRESH),
}


@pytest.mark.parametrize(("code", "kind"), KINDS.values(), ids=KINDS)
def test_arrays_are_told_from_numbers_and_views_from_new_ones(code: str, kind: str) -> None:
    assert kind_of(f"probe({code})") == kind


FLOWS = {
    "the first of a sound and its rate": ("x, _ = librosa.load('a.wav')\nprobe(x)", FRESH),
    "the rate of a sound": ("_, rate = librosa.load('a.wav')\nprobe(rate)", ELSE),
    "an item is replaced": ("x = np.zeros(3)\nx[0] = (1, 2)\nprobe(x)", FRESH),
    "a row of an array in a loop": ("for row in np.zeros((3, 4)):\n  probe(row)", EITHER),
    "a function returns one of several": (
        "def f():\n  return 3, np.zeros(3)\nn, x = f()\nprobe(x)",
        FRESH,
    ),
    "a method of an object": (
        """
        class Tree:
            def __init__(self):
                self.data = np.zeros(3)

            def get(self):
                return self.data

        tree = Tree()
        probe(tree.get())
        """,
        SHARED,
    ),
    "an attribute of an object": (
        """
        class Tree:
            def __init__(self):
                self.data = np.zeros(3)

        tree = Tree()
        probe(tree.data)
        """,
        SHARED,
    ),
}


@pytest.mark.parametrize(("code", "kind"), FLOWS.values(), ids=FLOWS)
def test_arrays_are_followed_through_names_and_calls(code: str, kind: str) -> None:
    assert kind_of(code) == kind


TYPES = {
    "zeros": ("np.zeros(3)", "float64"),
    "zeros of a type": ("np.zeros(3, dtype=np.float32)", "float32"),
    "zeros of a type by position": ("np.zeros(3, np.uint8)", "uint8"),
    "a type as a string": ("np.zeros(3, dtype='<f4')", "float32"),
    "a type that is computed": ("np.zeros(3, dtype=dtype)", None),
    "a square matrix": ("np.eye(3, 4)", "float64"),
    "numbers of unknown type": ("np.array(x)", None),
    "arrays of one type": ("np.stack([np.zeros(3), np.ones(3)])", "float64"),
    "arrays of two types": ("np.stack([np.zeros(3), np.zeros(3, np.uint8)])", None),
    "random numbers": ("np.random.rand(3)", "float64"),
    "random integers": ("np.random.randint(0, 9, 3)", None),
    "an image": ("cv2.imread('x.png')", "uint8"),
    "a converted array": ("np.zeros(3).astype(int)", "int64"),
    "a slice": ("np.zeros(3, np.uint8)[0:2]", "uint8"),
    "a transposed array": ("np.zeros((3, 4), np.float32).T", "float32"),
    "floats by a number": ("np.zeros(3, np.float32) / 255", "float32"),
    "bytes by a number": ("np.zeros(3, np.uint8) / 255", None),
    "floats by floats of another type": ("np.zeros(3, np.float32) / np.zeros(3)", None),
    "a function of floats": ("np.exp(np.zeros(3, np.float32))", "float32"),
    "a function of bytes": ("np.exp(np.zeros(3, np.uint8))", None),
}


@pytest.mark.parametrize(("code", "dtype"), TYPES.values(), ids=TYPES)
def test_the_element_type_is_known_where_the_code_says_it(code: str, dtype: str | None) -> None:
    module, node = probed(f"probe({code})", IMPORTS)
    assert module.value(node).dtype == dtype
