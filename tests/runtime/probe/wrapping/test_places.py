"""Which line of the project is responsible."""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING

import pytest

from torchlint.runtime.probe.run_settings import RunSettings
from torchlint.runtime.probe.wrapping.user_lines import Places

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(RunSettings(main="train.py", project=str(tmp_path)))


CALLS = "def here(places):\n    return places.here()\n"


def asked(path: Path, places: Places) -> object:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(CALLS)
    return runpy.run_path(str(path))["here"](places)


def test_the_innermost_line_of_the_project_counts(tmp_path: Path, places: Places) -> None:
    path = tmp_path / "net.py"
    assert asked(path, places) == (str(path), 2)


def test_the_same_code_in_two_files_has_two_places(tmp_path: Path, places: Places) -> None:
    for name in ("a.py", "b.py"):
        assert asked(tmp_path / name, places) == (str(tmp_path / name), 2)


@pytest.mark.parametrize("folder", ["venv/lib/site-packages/package", "../elsewhere"])
def test_libraries_and_other_projects_are_not_the_users(
    tmp_path: Path, places: Places, folder: str
) -> None:
    assert asked(tmp_path / folder / "net.py", places) is None


def test_code_without_a_file_is_nobodys(places: Places) -> None:
    space: dict[str, object] = {"places": places}
    exec("found = places.here()", space)
    assert space["found"] is None
