"""What named files import and a check of them leaves out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from torchlint.config.settings import Selection
from torchlint.project.target import Target
from torchlint.project.unchecked import Unchecked, unchecked

Find = Callable[..., "Unchecked | None"]


@pytest.fixture
def find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Find:
    """Checks files of a project, which are named unless they are said to be `found`."""
    monkeypatch.chdir(tmp_path)

    def run(files: dict[str, str], *checked: str, found: str = "") -> Unchecked | None:
        for path, text in files.items():
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(text)
        return unchecked(
            [
                Target(path, Selection(("ALL",)), (2, 13), named=path != found)
                for path in (*checked, *filter(None, (found,)))
            ]
        )

    return run


def test_an_imported_file_that_mentions_torch_is_named(find: Find) -> None:
    files = {
        "train.py": "import torch, sac, words, numpy, metrics",
        "sac.py": "import torch",
        "metrics.py": "def accuracy(right):\n    return right.mean().item()",
        "words.py": "",
    }
    assert find(files, "train.py") == Unchecked(("metrics.py", "sac.py"), "train.py", ".")


def test_what_it_imports_in_turn_is_named_too(find: Find) -> None:
    files = {
        "src/train.py": "from torch import nn\nfrom lib.net import Net",
        "src/lib/net.py": "import torch\nfrom . import layers\nfrom ..data import load",
        "src/lib/layers.py": "import torch",
        "src/data/__init__.py": "import torch",
        "src/lib/unused.py": "import torch",
    }
    expected = ("src/data/__init__.py", "src/lib/layers.py", "src/lib/net.py")
    assert find(files, "src/train.py") == Unchecked(expected, "src/train.py", "src")


def test_a_file_below_its_project_sees_the_folders_above(find: Find) -> None:
    files = {"tools/train.py": "import torch\nimport core.net", "core/net.py": "import torch"}
    assert find(files, "tools/train.py") == Unchecked(("core/net.py",), "tools/train.py", ".")


@pytest.mark.parametrize("text", ["import sac", "import torch", "import torch\nfrom . import x"])
def test_nothing_is_said_where_nothing_is_left_out(find: Find, text: str) -> None:
    assert find({"train.py": text, "sac.py": "import torch"}, "train.py") is None


def test_what_is_checked_or_was_found_in_a_folder_is_not_left_out(find: Find) -> None:
    files = {"train.py": "import torch\nimport sac", "sac.py": "import torch"}
    assert find(files, "train.py", "sac.py") is None
    assert find(files, found="train.py") is None


def test_a_circle_ends(find: Find) -> None:
    files = {"a.py": "import torch, b", "b.py": "import torch, c", "c.py": "import torch, a, b"}
    assert find(files, "a.py") == Unchecked(("b.py", "c.py"), "a.py", ".")
