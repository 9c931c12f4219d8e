"""A large project is joined part by part, and says what it says when it is joined at once."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from torchlint.config.settings import Selection
from torchlint.engine import large_trees, map_project
from torchlint.engine import project_findings as run
from torchlint.engine.check import Report, check
from torchlint.finding import Diagnostic
from torchlint.memory.cache import Cache
from torchlint.memory.store import Store
from torchlint.project.map_result import Depth, MapResult
from torchlint.project.target import Target

FIXTURES = Path(__file__).parents[2] / "fixtures"
GENERATION = "0123456789abcdef"
TRAIN = """\
import torch
from utils import accuracy

for x, y in loader:
    output = model(x).cuda()
    output.sum().backward()
    accuracy(output, y)
"""
UTILS = "def accuracy(output, target):\n    return output.eq(target).sum().item()\n"
BY_NAME = """\
import torch
import importlib

model = importlib.import_module(args.model).Net()
for x in loader:
    model(x).cuda().sum().backward()
"""
NET = "from torch import nn\nNet = lambda: nn.Conv2d(3, 8, 3)\n"
PROJECT = {
    "a/train.py": TRAIN,
    "a/utils.py": UTILS,
    "b/train.py": TRAIN,
    "b/utils.py": UTILS.replace("(output, t", "( output, t"),
    "c/main.py": BY_NAME,
    "c/kinds/small.py": NET,
    "plain.py": "import os\n",
}
FOUND = ["a/utils.py:2 TL201", "b/utils.py:2 TL201", "c/main.py:5 TL301"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for path, text in PROJECT.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)
    return tmp_path


@pytest.fixture
def split(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Every part is joined by itself from now on; the files of each part."""
    monkeypatch.setattr(large_trees, "_LEAST_FILES", 1)
    seen: list[list[str]] = []
    real = run.join

    def noted(mapper: map_project.Mapper) -> object:
        seen.append(sorted(mapper.files))
        return real(mapper)

    monkeypatch.setattr(run, "join", noted)
    return seen


def checked(folder: Path, *, cached: bool = True) -> Report:
    paths = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.py"))
    cache = Cache(str(folder / "cache"), GENERATION)
    store = Store((lambda: cache) if cached else None)
    return check([Target(path, Selection(), (2, 13)) for path in paths], store=store)


def places(report: Report) -> list[str]:
    return [f"{each.path}:{each.start.row} {each.code}" for each in report.findings]


@pytest.mark.parametrize("cached", [True, False])
def test_files_are_in_one_part_with_those_that_they_import(
    folder: Path, split: list[list[str]], cached: bool
) -> None:
    assert places(checked(folder, cached=cached)) == FOUND
    assert (folder / "cache" / GENERATION / "joins").exists() is cached
    assert split == [
        ["a/train.py", "a/utils.py"],
        ["b/train.py", "b/utils.py"],
        ["c/kinds/small.py"],
        ["c/main.py"],
        ["plain.py"],
    ]


def test_small_parts_are_joined_together(
    folder: Path, split: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_trees, "_LEAST_FILES", 3)
    assert places(checked(folder)) == FOUND
    assert list(map(len, split)) == [4, 3]


@pytest.mark.parametrize("cached", [True, False])
def test_real_programs_say_the_same_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cached: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("seven", "item-in-step-loop", "cudnn-benchmark-missing", "dataloader-no-workers"):
        shutil.copytree(FIXTURES / name, tmp_path / name)
    at_once = checked(tmp_path, cached=False)
    monkeypatch.setattr(large_trees, "_LEAST_FILES", 1)
    assert len(at_once.findings) > 10
    assert checked(tmp_path, cached=cached) == at_once


@pytest.mark.parametrize(
    "new", ["class DataParallel: pass\n", "from torch.nn import DataParallel\n__all__ = []\n"]
)
def test_what_a_star_binds_is_noted_in_parts(
    folder: Path, split: list[list[str]], new: str
) -> None:
    Path("a/common.py").write_text("from torch.nn import DataParallel\n")
    Path("a/train.py").write_text(f"from common import *\n{TRAIN}DataParallel(model)\n")
    assert "TL601" in str(places(checked(folder)))
    Path("a/common.py").write_text(new)
    assert "TL601" not in str(places(checked(folder)))
    assert checked(folder) == checked(folder, cached=False)


def test_a_part_knows_what_rules_recorded_in_another(folder: Path, split: list[list[str]]) -> None:
    own = "import torch\n\n\nclass Conv2d(torch.nn.Module):\n    def step(self, loss):\n        loss.backward()\n"
    Path("c/kinds/small.py").write_text(own)
    assert places(checked(folder)) == FOUND[:2]
    assert ["c/main.py"] in split


def test_what_two_parts_find_is_reported_once_and_joined_again_each_time(
    folder: Path, split: list[list[str]]
) -> None:
    hidden = TRAIN.replace("from utils", "if x: from utils").replace("\n", "\n    ")
    Path("a/train.py").write_text(f"def run(x, loader):\n    {hidden}\n")
    found = "optimizer = torch.optim.SGD(p, 1)\noptimizer.zero_grad(set_to_none=False)\n"
    Path("a/utils.py").write_text(f"import torch\n{found}{UTILS}")
    assert places(checked(folder)) == ["a/utils.py:3 TL401", *FOUND[1:]]
    assert ["a/train.py"] in split
    assert not (folder / "cache" / GENERATION / "joins").exists()


def test_a_part_is_gone_when_the_next_one_is_joined(
    folder: Path, split: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    joined: list[map_project.Mapper] = []
    real = run.join

    def noted(mapper: map_project.Mapper) -> object:
        assert not any(each.results for each in joined)
        joined.append(mapper)
        return real(mapper)

    monkeypatch.setattr(run, "join", noted)
    checked(folder)
    assert len(joined) == len(split) == 5


def test_no_file_is_mapped_twice_if_its_result_is_not_cached(
    folder: Path, split: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    mapped: list[str] = []

    def crashed(targets: list[Target], depth: Depth) -> list[tuple[bytes, MapResult]]:
        found = real(targets, depth)
        mapped.extend(each.path for each in targets if depth is Depth.RULES)
        wrong = (Diagnostic("a/train.py", "TL999 crashed", kind="rule"),)
        return [
            (digest, replace(each, diagnostics=wrong) if each.path == "a/train.py" else each)
            for digest, each in found
        ]

    real = map_project.map_files
    monkeypatch.setattr(map_project, "map_files", crashed)
    report = checked(folder)
    assert [each.message for each in report.diagnostics] == ["TL999 crashed"]
    assert sorted(mapped) == sorted(set(mapped))


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("a/utils.py", "def", "# Counts.\ndef"),
        ("a/utils.py", ".item()", ""),
        ("a/train.py", "from utils", "from plain"),
        ("c/kinds/small.py", "nn.Conv2d(3, 8, 3)", "nn.Linear(3, 8)"),
        ("plain.py", "import os", "from b.train import *"),
    ],
)
def test_after_an_edit_it_says_what_a_first_check_says(
    folder: Path, split: list[list[str]], path: str, old: str, new: str
) -> None:
    checked(folder)
    text = Path(path).read_text()
    assert old in text
    Path(path).write_text(text.replace(old, new))
    assert checked(folder) == checked(folder, cached=False)
