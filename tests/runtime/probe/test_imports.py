"""The probe runs in the user's process: it imports only itself, torch and Python there."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import torchlint.runtime.probe

FOLDER = Path(torchlint.runtime.probe.__file__).parent
ROOT = FOLDER.parents[2]
ALLOWED = {*sys.stdlib_module_names, "torch"}


def imported(tree: ast.AST) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import hides what it reaches"
            assert node.module is not None
            names.add(node.module)
            if ROOT.joinpath(*node.module.split(".")).is_dir():
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def strangers(text: str) -> set[str]:
    return {
        name
        for name in imported(ast.parse(text))
        if name.split(".")[0] not in ALLOWED
        and name != "torchlint.runtime.probe"
        and not name.startswith("torchlint.runtime.probe.")
    }


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda path: path.name)
def test_a_module_imports_only_python_torch_and_its_neighbours(path: Path) -> None:
    assert strangers(path.read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import numpy as np", {"numpy"}),
        (
            "def f():\n    from torchlint.verify import result",
            {"torchlint.verify", "torchlint.verify.result"},
        ),
        ("from torchlint.runtime.probe import link", set()),
        ("import torch.cuda, os.path", set()),
    ],
)
def test_a_stranger_is_found(text: str, found: set[str]) -> None:
    assert strangers(text) == found


def test_the_packages_above_import_the_standard_library_at_most() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import torchlint.runtime.probe; "
        "print(*(name for name in sys.modules if name.partition('.')[0] == 'torchlint'))"
    )
    # Without site-packages, so that what is not in the standard library fails.
    words = [sys.executable, "-S", "-E", "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["torchlint", "torchlint.runtime", "torchlint.runtime.probe"]
