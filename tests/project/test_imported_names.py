"""What a file imports, read off its bytes."""

from __future__ import annotations

import pytest

from torchlint.project.imports import imported_names

IMPORTS = {
    "one": ("import torch", ["torch"]),
    "several": ("import os, numpy as np, a.b", ["os", "numpy", "a.b"]),
    "indented": ("try:\n    import torch\nexcept E:\n\timport other", ["torch", "other"]),
    "from": ("from torch import nn", ["torch", "torch.nn"]),
    "from, under another name": ("from a.b import c as d", ["a.b", "a.b.c"]),
    "from, several": ("from a import b, c", ["a", "a.b", "a.c"]),
    "from, in parentheses": ("from a import (\n    b,\n    c as d,\n)", ["a", "a.b", "a.c"]),
    "from, in parentheses that are never closed": (
        "from a import (b, c\nimport d",
        ["a", "a.b", "a.c", "d"],
    ),
    "from, with an import among the names": (
        "from a import (\nimport b\n)\nimport c",
        ["a", "a.import", "c"],
    ),
    "a dot": ("from . import utils", [".", ".utils"]),
    "dots and a name": ("from ..pkg.mod import f", ["..pkg.mod", "..pkg.mod.f"]),
    "a star": ("from utils import *", ["utils"]),
    "with a comment": ("from a import b  # c, d", ["a", "a.b"]),
    "on one line with more": ("import a; x = 1", ["a"]),
    "each once": ("import a\nimport a", ["a"]),
    "no import": ("x = important\n# import a\nfrom_a = 1", []),
    "Windows lines": ("import a\r\nfrom b import c\r\n", ["a", "b", "b.c"]),
}


@pytest.mark.parametrize(("text", "names"), IMPORTS.values(), ids=list(IMPORTS))
def test_imports_are_read_off_the_bytes(text: str, names: list[str]) -> None:
    assert imported_names(text.encode()) == names


def test_bytes_that_are_no_text_do_not_matter() -> None:
    assert imported_names(b"import \xff\xfe\nimport a\n") == ["a"]
