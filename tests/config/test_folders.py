from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from torchlint.config import folders as configs
from torchlint.config.folders import Configs
from torchlint.config.settings import ConfigError, Settings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def settings(folder: Path, **options: object) -> Settings:
    folder.mkdir(parents=True, exist_ok=True)
    return Configs(**options).for_folder(str(folder))  # type: ignore[arg-type]


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    found = settings(tmp_path)
    assert found.source is None
    assert found.select == ("ALL",)


def test_the_nearest_file_above_holds_alone(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.torchlint]\nignore = ["TL1"]\n')
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "pyproject.toml").write_text('[tool.torchlint]\nselect = ["TL2"]\n')
    found = settings(tmp_path / "a" / "b" / "c")
    assert (found.select, found.ignore) == (("TL2",), ())
    assert found.root == str(tmp_path / "a")


def test_a_pyproject_without_the_table_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "torchlint.toml").write_text('select = ["TL2"]\n')
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "pyproject.toml").write_text('[project]\nname = "not-torchlint"\n')
    assert settings(tmp_path / "a").select == ("TL2",)


def test_torchlint_toml_goes_before_pyproject_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.torchlint]\nselect = ["TL1"]\n')
    (tmp_path / "torchlint.toml").write_text('select = ["TL2"]\n')
    assert settings(tmp_path).select == ("TL2",)


def test_a_broken_pyproject_of_somebody_else_is_not_our_error(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.black\n")
    assert settings(tmp_path).source is None


def test_a_broken_file_is_an_error_for_every_folder_below(tmp_path: Path) -> None:
    (tmp_path / "torchlint.toml").write_text("selct = []\n")
    (tmp_path / "a").mkdir()
    found = Configs()
    for folder in (tmp_path / "a", tmp_path, tmp_path / "a"):
        with pytest.raises(ConfigError, match="`selct`"):
            found.for_folder(str(folder))


def test_each_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torchlint.toml").write_text("")
    read = configs.read_toml
    paths: list[str] = []
    monkeypatch.setattr(configs, "read_toml", lambda path: paths.append(path) or read(path))
    found = Configs()
    for name in ("a", "b", "a"):
        found.for_folder(str(tmp_path / name))
    assert paths == [str(tmp_path / "torchlint.toml")]


def test_a_very_deep_folder_is_not_a_problem(tmp_path: Path) -> None:
    (tmp_path / "torchlint.toml").write_text('select = ["TL2"]\n')
    assert Configs().for_folder(str(tmp_path) + "/a" * 3_000).select == ("TL2",)


def test_isolated_reads_no_file(tmp_path: Path) -> None:
    (tmp_path / "torchlint.toml").write_text("broken")
    assert settings(tmp_path, isolated=True).source is None


def test_a_named_file_holds_everywhere_with_globs_from_here(tmp_path: Path) -> None:
    named = tmp_path / "ci" / "strict.toml"
    named.parent.mkdir()
    named.write_text('select = ["TL2"]\n')
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "torchlint.toml").write_text("broken")
    found = settings(tmp_path / "a", file=str(named))
    assert found.select == ("TL2",)
    assert found.root == str(tmp_path)


def test_a_named_pyproject_is_read_from_its_table(tmp_path: Path) -> None:
    named = tmp_path / "pyproject.toml"
    named.write_text('[project]\nname = "x"\n[tool.torchlint]\nselect = ["TL2"]\n')
    assert settings(tmp_path, file=str(named)).select == ("TL2",)


def test_a_named_pyproject_without_the_table_gives_the_defaults(tmp_path: Path) -> None:
    named = tmp_path / "pyproject.toml"
    named.write_text('[project]\nname = "x"\n')
    assert settings(tmp_path, file=str(named)).select == ("ALL",)


def test_a_named_file_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ConfigError, match="There is no such file; check the name"):
        Configs(file="nope.toml")
