from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from torchlint.config.torch_bounds import TorchBounds, lower_bound

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("spec", "bound"),
    [
        (">=1.13", (1, 13)),
        (">=1.13,<3", (1, 13)),
        ("<3, >=2.0.1", (2, 0)),
        ("==2.1.2", (2, 1)),
        ("==2.1.*", (2, 1)),
        ("~=2.4", (2, 4)),
        (">1.10", (1, 10)),
        ("^2.2", (2, 2)),
        (">=2", (2, 0)),
        ("<2", (1, 13)),
        ("<2.0.1", (2, 0)),
        ("<=1.12.1", (1, 12)),
        ("<=1.12", (1, 12)),
        ("<2.3", (2, 2)),
        ("<3", (2, 13)),
        ("!=2.0", None),
        ("", None),
        ("nonsense", None),
        (">=" + "9" * 50, None),
    ],
)
def test_a_specifier_gives_the_oldest_version_it_states(
    spec: str, bound: tuple[int, int] | None
) -> None:
    got = lower_bound(spec)
    assert got == bound if bound else got is None or got > (9, 0)


FILES = [
    (
        "pyproject.toml",
        '[project]\ndependencies = ["numpy", "torch>=1.13 ; python_version > \'3\'"]',
    ),
    ("pyproject.toml", '[project.optional-dependencies]\ngpu = ["torch[opt] (>=1.13)"]'),
    ("pyproject.toml", '[dependency-groups]\ndev = [{include-group = "x"}, "torch>=1.13"]'),
    ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "^1.13"'),
    ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = {version = "^1.13", source = "x"}'),
    ("requirements.txt", "numpy\ntorch == 1.13.1  # pinned\n"),
    ("requirements-dev.txt", "Torch>=1.13\r\n"),
    ("setup.cfg", "[options]\ninstall_requires =\n    numpy\n    torch>=1.13\n"),
    ("setup.cfg", "[options]\ninstall_requires = torch>=1.13\n"),
    ("setup.py", "setup(install_requires=['numpy', 'torch>=1.13'])\n"),
]


@pytest.mark.parametrize(("name", "content"), FILES)
def test_every_place_for_requirements_is_read(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    assert TorchBounds().oldest(str(tmp_path)) == (1, 13)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("notes.txt", "torch>=1.4\n"),
        ("requirements.in", "torch>=1.4\n"),
        ("requirements.txt", "torchvision>=0.14\npytorch-lightning>=2\ntorch-geometric>=2.0\n"),
        ("requirements.txt", "# torch>=1.4\ntorch\n"),
        ("requirements.txt", "torch @ https://example.org/torch-1.4.0.whl\n"),
        ("setup.py", "# setup(install_requires=['torch>=1.4'])\n"),
        ("pyproject.toml", '[tool.other]\nexample = "torch>=1.4"'),
        ("pyproject.toml", "[torch"),
        ("pyproject.toml", 'project = 3\ntool = []\ndependency-groups = "torch"'),
        ("requirements.txt", "\0torch\ud800>=1".encode("utf-8", "surrogatepass").decode("latin-1")),
    ],
)
def test_what_states_no_bound_on_torch_gives_none(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, encoding="latin-1")
    (tmp_path / ".git").mkdir()
    assert TorchBounds().oldest(str(tmp_path)) is None


def test_the_lowest_of_several_bounds_counts(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch>=2.1\n")
    (tmp_path / "setup.cfg").write_text("[options]\ninstall_requires =\n  torch>=1.10\n")
    assert TorchBounds().oldest(str(tmp_path)) == (1, 10)


def test_a_folder_inside_the_project_has_its_bound(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch>=1.10\n")
    (tmp_path / "src" / "deep").mkdir(parents=True)
    assert TorchBounds().oldest(str(tmp_path / "src" / "deep")) == (1, 10)


def test_a_checkout_does_not_borrow_from_the_folder_it_is_in(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch>=1.10\n")
    (tmp_path / "clone" / ".git").mkdir(parents=True)
    (tmp_path / "clone" / "src").mkdir()
    assert TorchBounds().oldest(str(tmp_path / "clone" / "src")) is None


def test_a_very_deep_folder_is_not_a_problem(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch>=1.10\n")
    assert TorchBounds().oldest(str(tmp_path) + "/a" * 3_000) == (1, 10)


def test_every_folder_on_the_way_up_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "requirements.txt").write_text("torch>=1.10\n")
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "c").mkdir()
    read: list[str] = []
    listdir = os.listdir
    monkeypatch.setattr(os, "listdir", lambda path: read.append(path) or listdir(path))
    bounds = TorchBounds()
    assert [bounds.oldest(str(tmp_path / "a" / name)) for name in ("b", "c", "b")] == [(1, 10)] * 3
    assert len(read) == len(set(read)) == 4
