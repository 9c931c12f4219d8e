"""Which files of a project a script runs, by what it imports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from torchlint.config.settings import Selection
from torchlint.project.program_files import program_files
from torchlint.project.target import Target

if TYPE_CHECKING:
    from collections.abc import Callable

OTHERS = {
    "other.py": "import torch",
    "tests/test_train.py": "import train",
    "lib/data.py": "",
    "models/resnet.py": "",
    "models/vit.py": "from .deep import block",
    "models/deep/block.py": "",
    "models/deep/unused.py": "",
    "pkg/__init__.py": "",
    "pkg/sub/__init__.py": "from .net import Net",
    "pkg/sub/net.py": "import pkg.sub",
    "pkg/sub/more.py": "",
    "plugins/__init__.py": "",
    "plugins/one.py": "import lib.data",
}
CASES = {
    "nothing": ("import torch", []),
    "a neighbour": ("import other", ["other.py"]),
    "what a neighbour imports": (
        "from models import vit",
        ["models/deep/block.py", "models/vit.py"],
    ),
    "the packages around": ("import pkg.sub.more", ["pkg/__init__.py", "pkg/sub/*.py"]),
    "a circle": ("import pkg.sub", ["pkg/__init__.py", "pkg/sub/__init__.py", "pkg/sub/net.py"]),
    "inside a function": ("def f():\n    from other import x", ["other.py"]),
    "by a name that is written out": (
        "import importlib\nimportlib.import_module('other')",
        ["other.py"],
    ),
    "by a name that is computed": (
        "from importlib import import_module\nimport_module(f'plugins.{name}')",
        ["lib/data.py", "plugins/*.py"],
    ),
    "of a folder that is not a package": (
        "net = __import__('models.' + name)",
        ["models/deep/block.py", "models/resnet.py", "models/vit.py"],
    ),
    "by a name that nothing shows": ("import_module(name)", []),
    "a folder on the path": ("import sys\nsys.path.append('lib')\nimport data", ["lib/data.py"]),
}


@pytest.fixture
def files_of() -> Callable[[str], set[str]]:
    def found(text: str) -> set[str]:
        texts = {"train.py": text, **OTHERS}
        targets = [
            Target(path, Selection(("ALL",)), (2, 13), each.encode())
            for path, each in texts.items()
        ]
        return {target.path for target in program_files(["train.py"], targets)}

    return found


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=list(CASES))
def test_a_program_is_what_its_script_imports(
    files_of: Callable[[str], set[str]], text: str, expected: list[str]
) -> None:
    wanted = {"train.py"}
    for each in expected:
        folder, star, _ = each.partition("*")
        wanted |= {path for path in OTHERS if path == each or (star and path.startswith(folder))}
    assert files_of(text) == wanted


def test_a_script_that_is_not_among_the_files_is_not_a_program() -> None:
    targets = [Target("other.py", Selection(("ALL",)), (2, 13), b"import torch")]
    assert program_files(["train.py"], targets) == []


def test_a_file_that_a_run_has_loaded_adds_what_it_imports() -> None:
    texts = {"train.py": "", "plugin.py": "import beside", "beside.py": "", "other.py": ""}
    targets = [
        Target(path, Selection(("ALL",)), (2, 13), text.encode()) for path, text in texts.items()
    ]
    found = program_files(["train.py", "plugin.py"], targets)
    assert [target.path for target in found] == ["train.py", "plugin.py", "beside.py"]
