"""Which code somebody has written a comment beside."""

from __future__ import annotations

import libcst as cst
import pytest

from torchlint.analysis.comments import has_comment
from torchlint.analysis.module import Module
from torchlint.files.reading import decode
from torchlint.source.parse import parse


@pytest.mark.parametrize(
    ("code", "commented"),
    [
        ("f(x)\n", False),
        ("f(x)  # a reason\n", True),
        ("# a reason\nf(x)\n", True),
        ("y = 1  # about y\nf(x)\n", False),
        ("f(x)\n# about what follows\n", False),
        ("# about more\n\nf(x)\n", False),
        ("f(\n    x,  # a reason\n)\n", True),
        ("f(x)  # noqa: E501\n", False),
        ("f(x)  # torchlint: ignore[TL101]\n", False),
        ("f(x)  # type: ignore\n", False),
        ("f(x)  # noqa: E501 # a reason\n", True),
    ],
)
def test_a_comment_is_next_to_code_or_right_above(code: str, commented: bool) -> None:
    source = decode("train.py", code.encode())
    module = Module(source, parse(source), (2, 13))
    (call,) = module.nodes(cst.Call)
    assert has_comment(call, module) is commented
