"""Findings stay when a program is written in another way that does the same."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Final

import pytest

from tests.variations import ALL, MAIN
from torchlint.config.settings import NEWEST_TORCH, Selection
from torchlint.engine.check import check
from torchlint.project.target import Target

if TYPE_CHECKING:
    from collections.abc import Mapping

FIXTURES: Final = Path(__file__).parents[1] / "fixtures"
PROGRAMS: Final = sorted(
    path
    for path in FIXTURES.glob("*/*.py")
    if "suppression" not in path.parent.name and path.name in ("bad.py", "clean.py", "train.py")
)
_LOOP_ELSEWHERE: Final = "which loop goes over a loader again and again is asked of one file"
_LOADER_ELSEWHERE: Final = "a copy of a batch is named where its loader is made in another file"
_MODEL_ELSEWHERE: Final = "what a function of another file returns is not known to be a model"
_MAY_GIVE_A_REASON: Final = "a comment at a slow option may say why it was chosen"
_IN_A_PROGRAM: Final = "what a program has is asked of its words, by the names that are usual"
EXPECTED: Final[Mapping[tuple[str, str], str]] = {
    ("helpers elsewhere", "tensor-from-array-list/bad.py"): (
        "what a function of another file returns is not known to be an array"
    ),
    ("helpers elsewhere", "conv-bias-before-norm/bad.py"): _LOADER_ELSEWHERE,
    ("helpers elsewhere", "dataloader-no-workers/bad.py"): _LOADER_ELSEWHERE,
    ("helpers elsewhere", "dataloader-no-workers/clean.py"): _LOADER_ELSEWHERE,
    ("helpers elsewhere", "dataloader-no-workers/train.py"): _LOADER_ELSEWHERE,
    ("helpers elsewhere", "item-in-step-loop/bad.py"): _LOADER_ELSEWHERE,
    ("helpers elsewhere", "seven/train.py"): _LOADER_ELSEWHERE,
    ("helpers elsewhere", "cudnn-benchmark-missing/bad.py"): _LOOP_ELSEWHERE,
    ("helpers elsewhere", "cudnn-benchmark-missing/clean.py"): _LOOP_ELSEWHERE,
    ("helpers elsewhere", "ddp-missing-sampler/clean.py"): (
        "a dataset that a function of another file returns is not known to be in memory"
    ),
    ("helpers elsewhere", "index-tensor-on-cpu/train.py"): _MODEL_ELSEWHERE,
    ("helpers elsewhere", "loop-invariant-transfer/train.py"): _MODEL_ELSEWHERE,
    ("helpers elsewhere", "target-without-no-grad/train.py"): _MODEL_ELSEWHERE,
    ("helpers elsewhere", "profiler-left-on/bad.py"): (
        "that a profiler covers a whole training is asked of one file"
    ),
    ("imports elsewhere", "fsdp-without-wrap-policy/bad.py"): (
        "a file that has a class under another name than its own is not parsed for it"
    ),
    ("imports elsewhere", "tokenize-map-unbatched/bad.py"): (
        "a file that names neither torch nor a framework is not parsed"
    ),
    ("other import names", "cpu-only-training/bad.py"): _IN_A_PROGRAM,
    ("other import names", "ddp-accumulation-without-no-sync/bad.py"): _IN_A_PROGRAM,
    ("other import names", "ddp-missing-sampler/bad.py"): _IN_A_PROGRAM,
    ("other import names", "gloo-backend-for-gpu/bad.py"): _IN_A_PROGRAM,
    ("other import names", "gloo-backend-for-gpu/train.py"): _IN_A_PROGRAM,
    ("blank lines and comments", "cudnn-slow-flags/bad.py"): _MAY_GIVE_A_REASON,
    ("blank lines and comments", "fused-adamw/train.py"): _MAY_GIVE_A_REASON,
    ("blank lines and comments", "optimizer-slow-path/bad.py"): _MAY_GIVE_A_REASON,
    ("blank lines and comments", "optimizer-slow-path/train.py"): _MAY_GIVE_A_REASON,
}
"""What may differ, and why."""


def found_in(files: Mapping[str, str]) -> Counter[tuple[str, str]]:
    """The number of findings by rule and tier."""
    targets = [
        Target(path, Selection(), NEWEST_TORCH, text.encode()) for path, text in files.items()
    ]
    report = check(targets)
    assert report.diagnostics == ()
    return Counter((each.code, each.tier.value) for each in report.findings)


@cache
def found_before(path: Path) -> Counter[tuple[str, str]]:
    """The same of a program as it is."""
    return found_in({MAIN: path.read_text(encoding="utf-8")})


@pytest.mark.parametrize("variation", ALL)
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_findings_stay(variation: str, path: Path) -> None:
    files = ALL[variation](path.read_text(encoding="utf-8"))
    if files is None:
        return
    same = found_in(files) == found_before(path)
    assert same is ((variation, f"{path.parent.name}/{path.name}") not in EXPECTED)


PROGRAM = """\
    import numpy as np
    from torch import nn
    def double(x):
        return np.array(x) * 2
    def main():
        loss = nn.Linear(2, 2)
        double(loss)
"""
VARIED = {
    "other import names": """\
        import numpy as np_2
        from torch import nn as nn_2
        def double(x):
            return np_2.array(x) * 2
        def main():
            loss = nn_2.Linear(2, 2)
            double(loss)
    """,
    "whole module imports": """\
        import numpy as np
        import torch
        def double(x):
            return np.array(x) * 2
        def main():
            loss = torch.nn.Linear(2, 2)
            double(loss)
    """,
    "annotations": """\
        import numpy as np
        from torch import nn
        def double(x: object) -> object:
            return np.array(x) * 2
        def main() -> object:
            loss = nn.Linear(2, 2)
            double(loss)
    """,
    "under if true": """\
        import numpy as np
        from torch import nn
        def double(x):
            if True:
                return np.array(x) * 2
        def main():
            if True:
                loss = nn.Linear(2, 2)
                double(loss)
    """,
    "other local names": """\
        import numpy as np
        from torch import nn
        def double(x):
            return np.array(x) * 2
        def main():
            loss_2 = nn.Linear(2, 2)
            double(loss_2)
    """,
    "helpers elsewhere": """\
        import numpy as np
        from torch import nn
        from helpers import double
        def main():
            loss = nn.Linear(2, 2)
            double(loss)
    """,
    "imports elsewhere": """\
        from common import *
        def double(x):
            return np.array(x) * 2
        def main():
            loss = nn.Linear(2, 2)
            double(loss)
    """,
}


@pytest.mark.parametrize(("variation", "varied"), VARIED.items(), ids=VARIED)
def test_a_variation_is_what_it_says(variation: str, varied: str) -> None:
    files = ALL[variation](dedent(PROGRAM))
    assert files is not None
    assert files[MAIN] == dedent(varied)


def test_blank_lines_and_comments_come_before_each_statement() -> None:
    files = ALL["blank lines and comments"]("a = 1\nb = 2\n")
    assert files is not None
    assert (
        files[MAIN]
        == "\n# What follows is as it was.\na = 1\n\n# What follows is as it was.\nb = 2\n"
    )


def test_a_name_that_is_bound_twice_keeps_its_name() -> None:
    assert ALL["other import names"]("import numpy as np\nnp = 3\n") is None
