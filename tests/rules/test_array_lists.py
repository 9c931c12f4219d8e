"""Lists of arrays, and arrays that only their use gives away."""

from __future__ import annotations

import pytest
from torchlint.rules.data.tensor_copies_numpy.array_evidence import looks_like_array
from torchlint.rules.data.tensor_from_array_list import _elements_of as elements_of

from tests.probed import probed
from torchlint.analysis.values.kinds import ARRAYS

IMPORTS = "import gymnasium as gym\nimport numpy as np\nimport torch\n"
LISTS = {
    "a list": ("probe([np.zeros(3), np.ones(3)])", True),
    "a generator": ("probe(np.load(n) for n in names)", True),
    "a name": ("xs = [np.zeros(3)]\nprobe(xs)", True),
    "a name that grows": ("xs = []\nxs.append(np.zeros(3))\nprobe(xs)", True),
    "a name that grows by more": ("xs = [np.zeros(3)]\nxs.extend(ys)\nprobe(xs)", False),
    "a name that grows at the front": ("xs = [np.zeros(3)]\nxs.insert(0, y)\nprobe(xs)", False),
    "a name that grows in another function": (
        "xs = [np.zeros(3)]\ndef f(xs):\n  xs.append(3)\nprobe(xs)",
        True,
    ),
    "a name with an item replaced": ("xs = [np.zeros(3)]\nxs[0] = y\nprobe(xs)", False),
    "a list with something else": ("probe([np.zeros(3), y])", False),
    "a list that is unpacked": ("probe([*np.zeros(3)])", False),
    "an empty list": ("probe([])", False),
    "one of several": ("xs, ys = [np.zeros(3)], 3\nprobe(xs)", False),
    "one of the arrays": ("xs, ys = [np.zeros(3), np.ones(3)]\nprobe(xs)", False),
    "each of the arrays": ("for xs in [np.zeros(3)]:\n  probe(xs)", False),
    "a name of a name": ("ys = [np.zeros(3)]\nxs = ys\nprobe(xs)", False),
    "what a function returns": ("xs = f()\nprobe(xs)", False),
}


@pytest.mark.parametrize(("code", "arrays"), LISTS.values(), ids=LISTS)
def test_lists_that_hold_only_arrays_are_known(code: str, arrays: bool) -> None:
    module, node = probed(code, IMPORTS)
    assert elements_of(node, module).only(ARRAYS) is arrays


EVIDENCE = {
    "it was reshaped": ("def f(x):\n  probe(x.reshape(1, -1))", True),
    "a function of a module was": ("import tools\nprobe(tools.reshape(x))", False),
    "an unknown function got an array": ("probe(f(np.zeros(3)))", True),
    "an unknown function got something": ("probe(f(x))", False),
    "a name that means such": ("y = f(np.zeros(3))\nprobe(y)", True),
    "a name that means such or another": (
        "y = f(np.zeros(3))\nif c:\n  y = g()\nprobe(y)",
        False,
    ),
    "it is sliced in two dimensions": ("def f(x):\n  x[:, 0:3] = 0\n  probe(x)", True),
    "it is sliced in one dimension": ("def f(x):\n  x[0:3] = 0\n  probe(x)", False),
    "it is indexed by two numbers": ("def f(x):\n  x[0, 1] = 0\n  probe(x)", False),
    "a tensor that is sliced": ("x = torch.zeros(3, 4)\nx[:, 0:3] = 0\nprobe(x)", False),
    "a tensor that is reshaped": ("x = torch.zeros(3, 4)\nprobe(x.reshape(4, 3))", False),
    "an environment starts": ("env = gym.make('A')\nprobe(env.reset())", True),
    "something else starts": ("probe(timer.reset())", False),
    "nothing": ("def f(x):\n  probe(x)", False),
}


@pytest.mark.parametrize(("code", "likely"), EVIDENCE.values(), ids=EVIDENCE)
def test_arrays_are_known_by_their_use(code: str, likely: bool) -> None:
    module, node = probed(code, IMPORTS)
    assert looks_like_array(node, module) is likely
