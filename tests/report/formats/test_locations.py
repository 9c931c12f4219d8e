from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.report.formats.locations import from_root, repository_root

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_root_is_the_nearest_checkout_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    (tmp_path / ".git").mkdir()
    assert repository_root() == str(tmp_path)
    # A worktree and a submodule have a file.
    (tmp_path / "a" / ".git").touch()
    assert repository_root() == str(tmp_path / "a")


def test_paths_are_relative_to_the_root_and_others_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path / "a")
    root = str(tmp_path)
    assert from_root("x.py", root) == "a/x.py"
    assert from_root("./b/../x.py", root) == "a/x.py"
    assert from_root(str(tmp_path / "y.py"), root) == "y.py"
    assert from_root("../../z.py", root) == str(tmp_path.parent / "z.py")
    assert from_root("x.py", "/") == str(tmp_path / "a" / "x.py").lstrip("/")
