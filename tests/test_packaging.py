"""What gets installed: every package of the tree, typed, under one version, without torch."""

from __future__ import annotations

import json
import re
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import torchlint

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def packages(folder: Path, name: str) -> set[str]:
    """The dotted names of a folder's packages, the folder itself included."""
    found = {path.parent.relative_to(folder).parts for path in folder.rglob("__init__.py")}
    return {".".join((name, *parts)) for parts in found}


def folders_with_code(folder: Path, name: str) -> set[str]:
    """The same for every folder that holds a Python file."""
    found = {path.parent.relative_to(folder).parts for path in folder.rglob("*.py")}
    return {".".join((name, *parts)) for parts in found}


def test_every_folder_with_code_is_a_package() -> None:
    for folder, name in ((ROOT / "torchlint", "torchlint"), (ROOT / "rules", "torchlint.rules")):
        assert folders_with_code(folder, name) == packages(folder, name)


def test_there_is_one_version() -> None:
    home = PROJECT["tool"]["setuptools"]["dynamic"]["version"]["attr"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert home == "torchlint.version.__version__"
    assert "version" not in PROJECT["project"]
    assert torchlint.__version__ == metadata.version("torchlint")
    assert re.findall(r"^## (\S+)", changes, re.MULTILINE)[0] == torchlint.__version__


def test_the_extension_has_no_version_of_its_own() -> None:
    extension = ROOT / "editors" / "vscode"
    manifest = json.loads((extension / "package.json").read_text(encoding="utf-8"))
    lock = json.loads((extension / "package-lock.json").read_text(encoding="utf-8"))
    assert {manifest["version"], lock["version"], lock["packages"][""]["version"]} == {"0.0.0"}


def test_the_command_is_installed() -> None:
    (entry,) = metadata.entry_points(group="console_scripts", name="torchlint")
    assert callable(entry.load())


def test_types_are_shipped() -> None:
    assert (Path(torchlint.__file__).parent / "py.typed").is_file()
    assert "py.typed" in PROJECT["tool"]["setuptools"]["package-data"]["torchlint"]


def test_the_templates_of_pages_are_shipped() -> None:
    shipped = PROJECT["tool"]["setuptools"]["package-data"]
    for folder in (ROOT / "torchlint").rglob("templates"):
        assert "templates/*" in shipped[".".join(folder.parent.relative_to(ROOT).parts)]


def names(requirements: list[str]) -> set[str]:
    return {Requirement(requirement).name for requirement in requirements}


def test_torch_is_needed_for_verify_alone() -> None:
    project = PROJECT["project"]
    extras = project["optional-dependencies"]
    with_torch = {name for name, needs in extras.items() if "torch" in names(needs)}
    assert "torch" not in names(project["dependencies"])
    assert with_torch == {"verify"}


@pytest.mark.parametrize("page", ["README.md", "LICENSE"])
def test_what_the_metadata_points_at_is_there(page: str) -> None:
    project = PROJECT["project"]
    assert page in {project["readme"], *project["license-files"]}
    assert (ROOT / page).stat().st_size > 0
