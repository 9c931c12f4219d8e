"""Which names of other packages star imports of files of the project bind."""

from __future__ import annotations

import pytest

from torchlint.config.settings import Selection
from torchlint.engine.check import check
from torchlint.project.star_imports import Offered, Stars
from torchlint.project.symbols import Locator
from torchlint.project.target import Target

BROUGHT: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "a name": (
        {"common.py": "from torch.utils.data import DataLoader\n"},
        {"DataLoader": "torch.utils.data.DataLoader"},
    ),
    "another name for it": (
        {"common.py": "import numpy as np, os\nfrom torch import nn as layers\n"},
        {"np": "numpy", "os": "os", "layers": "torch.nn"},
    ),
    "a package": ({"common.py": "import torch.backends.cudnn\n"}, {"torch": "torch"}),
    "several in parentheses": (
        {"common.py": "from torch.nn import (\n    Conv2d,  # 2d (not 3d)\n    Linear as L,\n)\n"},
        {"Conv2d": "torch.nn.Conv2d", "L": "torch.nn.Linear"},
    ),
    "what a `try` imports": (
        {"common.py": "try:\n    from apex import amp\nexcept ImportError:\n    amp = None\n"},
        {"amp": "apex.amp"},
    ),
    "not what a function imports": (
        {"common.py": "def f(\n    x,\n):\n    import os\nclass A:\n    import re\nimport json\n"},
        {"json": "json"},
    ),
    "not what the file defines": (
        {"common.py": "from torch.utils.data import DataLoader\nclass DataLoader:\n  pass\n"}, {},
    ),
    "not what it assigns": (
        {"common.py": "from tqdm import tqdm\ntqdm: object = None\nimport os\nos == 3\n"},
        {"os": "os"},
    ),
    "not what begins with an underscore": ({"common.py": "import os as _os\n"}, {}),
    "only what it makes public": (
        {"common.py": "import os, re\n__all__ = [\n    'os',\n]\n"}, {"os": "os"},
    ),
    "also what begins with an underscore, then": (
        {"common.py": "import os as _os, re\n__all__ = ('_os',)\n"}, {"_os": "os"},
    ),
    "all where the public names are put together": (
        {"common.py": "import os\n__all__ = ['f']\n__all__ += names\n"}, {"os": "os"},
    ),
    "through another star": (
        {"common.py": "from base import *\nimport re\n", "base.py": "import os\n"},
        {"os": "os", "re": "re"},
    ),
    "a star of a package": (
        {"common.py": "from torch.nn import *\n"}, {"*torch.nn": "torch.nn"},
    ),
    "not another star that is not public": (
        {"common.py": "from torch.nn import *\n__all__ = ['f']\n"}, {},
    ),
    "not a name of the project": (
        {"common.py": "from net import Net\nfrom .other import f\n", "net.py": "", "other.py": ""},
        {},
    ),
    "round in a circle": (
        {"common.py": "from base import *\nimport re\n", "base.py": "from common import *\n"},
        {"re": "re"},
    ),
    "nothing of a file that is not there": ({}, {}),
}  # fmt: skip


def brought(files: dict[str, str], text: str = "from common import *\n") -> dict[str, str]:
    texts = {"train.py": text, **files}
    stars = Stars(lambda path: Offered(texts[path].encode()), Locator(texts))
    return dict(stars.brought("train.py"))


@pytest.mark.parametrize(("files", "names"), BROUGHT.values(), ids=BROUGHT)
def test_a_star_brings(files: dict[str, str], names: dict[str, str]) -> None:
    assert brought(files) == names


def test_the_last_star_of_a_name_counts() -> None:
    files = {"a.py": "from tqdm import tqdm\nimport os\n", "b.py": "import tqdm\nclass os: pass\n"}
    assert brought(files, "from a import *\nfrom b import *\n") == {"tqdm": "tqdm"}
    assert brought(files, "from b import *\nfrom a import *\n") == {"tqdm": "tqdm.tqdm", "os": "os"}


def test_only_what_a_file_offers_changes_its_fingerprint() -> None:
    texts = ("import os\n", "# os\nimport os\n", "import re\n", "import os\n__all__ = []\n")
    same, also, *others = (Offered(text.encode()).fingerprint for text in texts)
    assert same == also
    assert same not in others


def test_a_star_is_followed_into_a_folder_on_the_path() -> None:
    files = {
        "train.py": b"import sys, torch\nsys.path.append('core')\nfrom common import *\n"
        b"DataParallel(model)\n",
        "core/__init__.py": b"",
        "core/common.py": b"from torch.nn import DataParallel\n",
    }
    targets = [Target(path, Selection(), (2, 13), data) for path, data in files.items()]
    assert [each.code for each in check(targets).findings] == ["TL601"]
