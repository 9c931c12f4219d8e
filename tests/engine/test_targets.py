from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

import pytest

from torchlint.config.settings import NEWEST_TORCH, ConfigError, Selection
from torchlint.engine.targets import Wishes, plan, plan_text
from torchlint.ruleapi import registry
from torchlint.ruleapi.rule_definition import Rule


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    rules = {
        "TL201": Rule(code="TL201", name="item-in-step-loop", family="sync", summary=""),
        "TL401": Rule(code="TL401", name="zero-grad-keeps-tensors", family="optimizer", summary=""),
    }
    monkeypatch.setattr(registry, "all_rules", lambda: MappingProxyType(rules))
    return tmp_path


def put(path: str, content: str = "") -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(content)


def selection(wishes: Wishes, path: str = "a.py") -> Selection:
    (target,) = plan((path,), wishes).targets
    return target.selection


def test_without_words_or_settings_every_rule_is_on_for_the_newest_torch() -> None:
    put("a.py")
    (target,) = plan((".",), Wishes()).targets
    assert target.path == "a.py"
    assert target.selection == Selection()
    assert target.torch == NEWEST_TORCH
    assert target.data is None


def test_select_on_the_command_line_replaces_what_the_settings_say() -> None:
    put("torchlint.toml", 'select = ["TL4"]\nignore = ["TL201"]\n')
    put("a.py")
    assert selection(Wishes()) == Selection(("TL4",), ("TL201",))
    assert selection(Wishes(select=("TL201",))) == Selection(("TL201",), ())


def test_ignore_on_the_command_line_is_added() -> None:
    put("torchlint.toml", 'ignore = ["TL201"]\n')
    put("a.py")
    assert selection(Wishes(ignore=("TL4",))) == Selection(("ALL",), ("TL201", "TL4"))


def test_per_file_ignores_hold_for_what_the_glob_covers_whatever_is_selected() -> None:
    put("torchlint.toml", 'per-file-ignores = { "tests/*" = ["TL2"], "*.py" = ["TL401"] }\n')
    put("a.py")
    put("tests/deep/b.py")
    assert selection(Wishes()).off == ("TL401",)
    found = selection(Wishes(select=("TL201",)), "tests/deep/b.py")
    assert not found.enabled("TL201", "item-in-step-loop")


def test_the_target_torch_comes_from_the_words_then_settings_then_requirements() -> None:
    put("a.py")
    put("requirements.txt", "torch>=1.10\n")

    def torch(**wishes: object) -> tuple[int, int]:
        (target,) = plan(("a.py",), Wishes(**wishes)).targets  # type: ignore[arg-type]
        return target.torch

    assert torch() == (1, 10)
    put("torchlint.toml", 'target-torch = "2.1"\n')
    assert torch() == (2, 1)
    assert torch(target_torch=(1, 4)) == (1, 4)
    assert torch(isolated=True) == NEWEST_TORCH


@pytest.mark.parametrize("wishes", [Wishes(select=("TL999",)), Wishes(ignore=("TL999",))])
def test_an_unknown_rule_in_the_words_is_an_error(wishes: Wishes) -> None:
    with pytest.raises(ConfigError, match=r"Unknown rule `TL999`; `torchlint rule` lists all"):
        plan((".",), wishes)


def test_an_unknown_rule_in_the_settings_stops_only_what_they_govern() -> None:
    put("a.py")
    put("sub/torchlint.toml", 'per-file-ignores = { "x" = ["TL999"] }\n')
    put("sub/b.py")
    put("sub/c.py")
    found = plan((".",), Wishes())
    assert [target.path for target in found.targets] == ["a.py"]
    (diagnostic,) = found.diagnostics
    assert diagnostic.path == "sub/torchlint.toml"
    assert diagnostic.kind == "config"
    assert "`TL999`" in diagnostic.message


def test_default_selections_do_not_load_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    put("a.py")

    def load() -> object:
        raise AssertionError("loading the rules costs more than the check")

    monkeypatch.setattr(registry, "all_rules", load)
    assert len(plan((".",), Wishes(select=("ALL",))).targets) == 1


def test_a_missing_path_is_a_diagnostic() -> None:
    (diagnostic,) = plan(("nope.py",), Wishes()).diagnostics
    assert (diagnostic.path, diagnostic.kind) == ("nope.py", "unreadable")


def test_text_is_checked_under_the_name_and_settings_it_is_given() -> None:
    put("sub/torchlint.toml", 'select = ["TL2"]\n')
    (target,) = plan_text(b"x", "sub/new.py", Wishes()).targets
    assert (target.path, target.data, target.selection.select) == ("sub/new.py", b"x", ("TL2",))


def test_text_without_a_name_has_the_settings_of_this_folder() -> None:
    put("torchlint.toml", 'select = ["TL2"]\n')
    (target,) = plan_text(b"x", None, Wishes()).targets
    assert (target.path, target.selection.select) == ("<stdin>", ("TL2",))


def test_text_under_settings_with_an_unknown_rule_is_not_checked() -> None:
    put("torchlint.toml", 'select = ["TL999"]\n')
    found = plan_text(b"x", None, Wishes())
    assert found.targets == ()
    assert [each.path for each in found.diagnostics] == ["torchlint.toml"]


def test_a_file_is_named_if_its_own_path_was_given() -> None:
    put("a.py")
    put("b.py")
    targets = plan(("b.py", "."), Wishes()).targets
    assert {target.path: target.named for target in targets} == {"a.py": False, "b.py": True}


def test_the_baseline_is_next_to_the_configuration_that_names_it() -> None:
    put("a.py")
    put("sub/torchlint.toml", 'baseline = "known.json"')
    put("sub/deep/b.py")
    known = str(Path("sub/known.json").absolute())
    assert plan((".",), Wishes()).baselines == {"sub/deep/b.py": known}
    assert plan(("a.py",), Wishes(config="sub/torchlint.toml")).baselines == {"a.py": known}
    assert plan_text(b"", "sub/c.py", Wishes()).baselines == {"sub/c.py": known}
