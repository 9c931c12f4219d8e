from __future__ import annotations

import os
from pathlib import Path

import pytest

from torchlint.config.folders import Configs
from torchlint.files.discover import discover
from torchlint.finding import Diagnostic


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def put(*paths: str, content: str = "") -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(content)


def names(*paths: str) -> list[str]:
    found, problems = discover(paths or (".",), Configs())
    assert problems == []
    return [file.path for file in found]


def problems(*paths: str) -> list[Diagnostic]:
    return discover(paths, Configs())[1]


def test_a_folder_is_searched_for_python_files_in_order() -> None:
    put("b.py", "a.py", "sub/c.py", "a.txt", "a.pyi", "a.pyc")
    assert names() == ["a.py", "b.py", os.path.join("sub", "c.py")]


def test_a_named_file_is_taken_whatever_excludes_it() -> None:
    put("script", ".venv/x.py", "old.py")
    put(".gitignore", content="old.py\n")
    assert names("script", ".venv/x.py", "old.py") == ["script", ".venv/x.py", "old.py"]


def test_a_named_file_of_another_kind_is_taken_if_its_first_line_names_python() -> None:
    put("train.run", content="#!/usr/bin/env python3\nimport torch\n")
    put("start.sh", content="#!/bin/sh\npython train.py\n")
    put("notes.txt", content="import torch\n")
    found, told = discover(("train.run", "start.sh", "notes.txt"), Configs())
    assert [each.path for each in found] == ["train.run"]
    assert [(each.path, each.message.partition(";")[0]) for each in told] == [
        ("start.sh", "This is not a Python file"),
        ("notes.txt", "This is not a Python file"),
    ]


def test_a_file_named_twice_is_taken_once() -> None:
    put("a.py", "sub/b.py")
    assert names("a.py", "./a.py", ".", "sub", os.path.abspath("a.py")) == ["a.py", "sub/b.py"]


def test_a_path_outside_the_working_folder_keeps_its_form() -> None:
    put("../other/a.py")
    assert names("../other") == ["../other/a.py"]
    absolute = os.path.abspath("../other")
    assert names(absolute) == [f"{absolute}/a.py"]


def test_the_usual_folders_of_others_code_are_left_out() -> None:
    put(
        "a.py", ".git/a.py", ".venv/a.py", "build/a.py", "sub/node_modules/a.py", "__pycache__/a.py"
    )
    assert names() == ["a.py"]


def test_a_virtual_environment_is_left_out_under_any_name() -> None:
    put("a.py", "mine/pyvenv.cfg", "mine/a.py", "mine/lib/a.py")
    assert names() == ["a.py"]
    assert names("mine") == ["mine/a.py", "mine/lib/a.py"]


def test_a_named_folder_is_searched_although_it_is_excluded() -> None:
    put("build/a.py", ".gitignore", content="build/\n")
    Path(".git").mkdir()
    assert names() == []
    assert names("build") == ["build/a.py"]


def test_what_ignores_a_named_folder_ignores_nothing_in_it() -> None:
    put("gen/gen_a.py", "gen/b.py", "gen_c.py")
    put(".gitignore", content="gen_*\nge?/\n")
    Path(".git").mkdir()
    assert names() == []
    assert names("gen") == ["gen/b.py", "gen/gen_a.py"]


def test_globs_of_settings_from_elsewhere_mean_names_at_any_depth() -> None:
    put("../other/a.py", "../other/b.py", "ci.toml", content='exclude = ["a.py", "/b.py"]\n')
    found, _ = discover(("../other",), Configs(file="ci.toml"))
    assert [file.path for file in found] == ["../other/b.py"]


def test_excludes_of_the_settings_are_relative_to_their_folder() -> None:
    put("torchlint.toml", content='extend-exclude = ["gen", "/only/here.py", "*_pb2.py"]\n')
    put("gen/a.py", "sub/gen/a.py", "only/here.py", "sub/only/here.py", "a_pb2.py", "build/a.py")
    assert names() == ["sub/only/here.py"]
    assert names("sub") == ["sub/only/here.py"]


def test_exclude_replaces_the_default_excludes() -> None:
    put("torchlint.toml", content='exclude = ["gen"]\n')
    put("gen/a.py", "build/a.py")
    assert names() == ["build/a.py"]


def test_gitignore_files_add_up_from_the_root_of_the_checkout() -> None:
    Path(".git/info").mkdir(parents=True)
    put(".git/info/exclude", content="private.py\n")
    put(".gitignore", content="*.gen.py\n/top.py\n")
    put("sub/.gitignore", content="!kept.gen.py\nlocal.py\n")
    put("top.py", "private.py", "sub/top.py", "a.gen.py", "sub/a.gen.py", "sub/kept.gen.py")
    put("sub/local.py", "sub/deep/local.py", "sub/deep/b.py", "local.py")
    expected = ["sub/kept.gen.py", "sub/top.py", "sub/deep/b.py"]
    assert names() == ["local.py", *expected]
    assert names("sub") == expected


def test_gitignore_above_a_folder_outside_any_checkout_does_not_count() -> None:
    put(".gitignore", content="*.py\n")
    put("sub/a.py")
    assert names("sub") == ["sub/a.py"]
    assert names() == []


def test_a_clone_inside_a_checkout_has_its_own_rules() -> None:
    Path(".git").mkdir()
    Path("clone/.git").mkdir(parents=True)
    put(".gitignore", content="train.py\n")
    put("clone/train.py", "train.py")
    assert names() == ["clone/train.py"]


def test_a_gitignore_that_cannot_be_read_ignores_nothing() -> None:
    Path(".gitignore").mkdir()
    put("a.py")
    assert names() == ["a.py"]


def test_a_folder_called_like_a_file_is_searched() -> None:
    put("x.py/a.py")
    assert names() == ["x.py/a.py"]


def test_links_to_folders_are_not_followed() -> None:
    put("sub/a.py", "../other/b.py")
    Path("sub/loop").symlink_to("..")
    Path("out").symlink_to("../other")
    assert names() == ["sub/a.py"]
    assert names("out") == ["out/b.py"]


def test_links_to_files_count_once_and_only_inside_the_folder() -> None:
    put("real.py", "data.txt", "../other/b.py")
    Path("alias.py").symlink_to("real.py")
    Path("from_data.py").symlink_to("data.txt")
    Path("out.py").symlink_to("../other/b.py")
    assert names() == ["real.py", "from_data.py"]
    assert names("out.py") == ["out.py"]


def test_broken_links_are_left_out_of_folders_and_kept_when_named() -> None:
    Path("dangling.py").symlink_to("nowhere")
    Path("looping.py").symlink_to("looping.py")
    assert names() == []
    assert names("dangling.py", "looping.py") == ["dangling.py", "looping.py"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_in_a_folder_is_left_out() -> None:
    os.mkfifo("pipe.py")
    assert names() == []


def test_a_path_that_does_not_exist_does_not_hide_the_others() -> None:
    put("a.py")
    found, wrong = discover(("nope.py", "a.py", "bad\0name"), Configs())
    assert [file.path for file in found] == ["a.py"]
    assert [each.path for each in wrong] == ["nope.py", "bad\0name"]
    assert wrong[0].kind == "unreadable"
    assert "no such file" in wrong[0].message


def test_a_folder_that_cannot_be_listed_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    put("a.py", "shut/b.py")
    scandir = os.scandir

    def guarded(path: str) -> object:
        if path.endswith("shut"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    found, wrong = discover((".",), Configs())
    assert [file.path for file in found] == ["a.py"]
    assert wrong == [Diagnostic("shut", "Cannot be read: Permission denied.", kind="unreadable")]


def test_broken_settings_are_reported_once_and_stop_only_what_they_govern() -> None:
    put("a.py", "bad/b.py", "bad/deep/c.py")
    put("bad/torchlint.toml", content="selct = []\n")
    found, wrong = discover((".", "bad/b.py"), Configs())
    assert [file.path for file in found] == ["a.py"]
    assert [(each.path, each.kind) for each in wrong] == [("bad/torchlint.toml", "config")]


def test_each_file_carries_the_settings_above_it() -> None:
    put("a.py", "sub/b.py")
    put("sub/torchlint.toml", content='select = ["TL2"]\n')
    found, _ = discover((".",), Configs())
    assert [file.settings.select for file in found] == [("ALL",), ("TL2",)]


def test_a_name_that_is_not_utf8_is_found() -> None:
    name = os.fsdecode(b"caf\xe9.py")
    try:
        put(name)
    except OSError:
        pytest.skip("this file system takes only UTF-8")
    assert names() == [name]
