"""What is run, and where its project begins."""

from __future__ import annotations

import os
import sys

import pytest

from torchlint.runtime.program import ProgramError, module, project_root, script


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_script_is_found_with_its_arguments(folder):
    (folder / "train.py").write_text("")
    program = script("train.py", ("--epochs", "3"))
    assert program.file == os.path.realpath("train.py")
    assert program.words == ("train.py", "--epochs", "3")
    assert not program.as_module


@pytest.mark.parametrize("name", ["nowhere.py", ".", "notes.txt"])
def test_an_error_names_what_is_not_a_script(folder, name):
    (folder / "notes.txt").write_text("print(1)")
    with pytest.raises(ProgramError, match="script"):
        script(name, ())


def test_a_module_is_found_without_importing_it(folder):
    package = folder / "pkg_never_imported"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('imported')")
    (package / "train.py").write_text("")
    program = module("pkg_never_imported.train", ())
    assert program.file == os.path.realpath(package / "train.py")
    assert program.words == ("-m", "pkg_never_imported.train")
    assert "pkg_never_imported" not in sys.modules


def test_a_package_is_run_by_its_main_module(folder):
    (folder / "pkg").mkdir()
    (folder / "pkg" / "__init__.py").write_text("")
    (folder / "pkg" / "__main__.py").write_text("")
    assert module("pkg", ()).file.endswith("__main__.py")


def test_a_namespace_package_is_searched(folder):
    (folder / "spaces").mkdir()
    (folder / "spaces" / "train.py").write_text("")
    assert module("spaces.train", ()).file.endswith("train.py")


@pytest.mark.parametrize("name", ["nowhere", "pkg", "math", "pkg.train.deeper", ""])
def test_a_module_without_source_says_so(folder, name):
    (folder / "pkg").mkdir()
    (folder / "pkg" / "__init__.py").write_text("")
    (folder / "pkg" / "train.py").write_text("")
    with pytest.raises(ProgramError, match="start torchlint in the folder"):
        module(name, ())


@pytest.mark.parametrize("marker", [".git", "pyproject.toml", "setup.py"])
def test_the_project_is_the_nearest_folder_with_a_marker(folder, marker):
    (folder / marker).write_text("")
    inner = folder / "src" / "deep"
    inner.mkdir(parents=True)
    assert project_root(str(inner / "train.py")) == os.path.realpath(folder)


def test_without_a_marker_the_project_is_the_scripts_folder(folder):
    assert project_root(str(folder / "train.py")) == os.path.realpath(folder)


def test_the_home_folder_is_never_the_project(folder, monkeypatch):
    (folder / ".git").write_text("")
    monkeypatch.setenv("HOME", str(folder))
    (folder / "src").mkdir()
    assert project_root(str(folder / "src" / "train.py")) == os.path.realpath(folder / "src")
