"""When the linter or one of its rules changes, nothing that was cached before is used."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from torchlint.memory import cache_key as module
from torchlint.memory.cache_key import generation

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A torchlint of few files, with one package of rules and a plugin in `site`."""
    for path in (
        "torchlint/__init__.py",
        "torchlint/config/settings.py",
        "torchlint/ruleapi/rule_definition.py",
        "torchlint/report/formats/text.py",
        "site/plugin/__init__.py",
        "site/plugin/deep/rule.py",
        "site/other.py",
    ):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x = 1\n")
    monkeypatch.setattr(module, "_HOME", str(tmp_path / "torchlint"))
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "site")])
    door(tmp_path / "site", "plugin")
    return tmp_path


def door(site: Path, name: str) -> None:
    """Let an installed package provide rules in a module."""
    information = site / f"{name}-1.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (information / "entry_points.txt").write_text(f"[torchlint.rules]\nx = {name}:rule\n")


def edit(path: Path) -> None:
    path.write_text("x = 22\n")


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        (lambda home: edit(home / "torchlint" / "ruleapi" / "rule_definition.py"), True),
        (lambda home: edit(home / "torchlint" / "config" / "settings.py"), True),
        (lambda home: edit(home / "site" / "plugin" / "deep" / "rule.py"), True),
        (lambda home: (home / "site" / "plugin" / "new.py").write_text(""), True),
        (lambda home: (home / "site" / "plugin" / "deep" / "rule.py").unlink(), True),
        (lambda home: edit(home / "torchlint" / "report" / "formats" / "text.py"), False),
        (lambda home: edit(home / "site" / "other.py"), False),
        (lambda home: (home / "site" / "plugin" / "notes.txt").write_text(""), False),
        (lambda home: None, False),
    ],
    ids=[
        "the engine",
        "the settings",
        "a rule of a plugin",
        "a new rule of a plugin",
        "a rule that is gone",
        "how findings are printed",
        "a package without rules",
        "a file that is not code",
        "nothing",
    ],
)
def test_it_changes_with_what_decides_findings(
    home: Path, change: Callable[[Path], object], counts: bool
) -> None:
    before = generation(str(home / "cache"))
    change(home)
    assert (generation(str(home / "cache")) != before) is counts


def test_it_changes_with_the_version(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = generation(str(home / "cache"))
    monkeypatch.setattr(module, "__version__", "99")
    assert generation(str(home / "cache")) != before


def test_it_changes_with_a_plugin_that_is_installed(home: Path) -> None:
    before = generation(str(home / "cache"))
    site = home / "site"
    door(site, "other")
    os.utime(site, ns=(0, site.stat().st_mtime_ns + 1))
    assert generation(str(home / "cache")) != before


def test_installed_packages_are_searched_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = generation(str(home / "cache"))
    monkeypatch.setattr(module, "_find_rule_places", lambda: pytest.fail("searched again"))
    assert generation(str(home / "cache")) == first


def test_the_search_is_repeated_where_it_cannot_be_remembered(home: Path) -> None:
    (home / "cache").write_text("no folder")
    assert generation(str(home / "cache")) == generation(str(home / "nowhere"))
