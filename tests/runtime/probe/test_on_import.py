"""Something is done when a module has been imported by somebody else, and only then."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from typing import TYPE_CHECKING

import pytest

from torchlint.runtime.probe import on_import

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NAME = "a_module_that_is_awaited"


@pytest.fixture
def awaited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Puts a module where Python finds it; forgets it, and who waits for it, afterwards."""
    finders = list(sys.meta_path)
    monkeypatch.setattr(sys, "meta_path", finders)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(tmp_path)

    def write(text: str) -> None:
        (tmp_path / f"{NAME}.py").write_text(text)
        importlib.invalidate_caches()

    yield write
    sys.modules.pop(NAME, None)


def test_it_is_done_once_when_the_module_is_complete(awaited: Callable[[str], None]) -> None:
    awaited("first = 1\nlast = 2\n")
    seen: list[int] = []
    on_import.call(NAME, lambda: seen.append(sys.modules[NAME].last))
    assert seen == []
    importlib.import_module(NAME)
    assert seen == [2]
    importlib.reload(sys.modules[NAME])
    assert seen == [2]


def test_it_is_done_now_for_a_module_that_is_there() -> None:
    seen: list[str] = []
    on_import.call("sys", lambda: seen.append("now"))
    assert seen == ["now"]


def test_looking_for_the_module_is_not_importing_it(awaited: Callable[[str], None]) -> None:
    awaited("")
    seen: list[str] = []
    on_import.call(NAME, lambda: seen.append("imported"))
    assert importlib.util.find_spec(NAME) is not None
    assert seen == []
    importlib.import_module(NAME)
    assert seen == ["imported"]


def test_several_wait_for_one_module(awaited: Callable[[str], None]) -> None:
    awaited("")
    seen: list[int] = []
    for number in (1, 2, 3):
        on_import.call(NAME, lambda number=number: seen.append(number))  # type: ignore[misc]
    importlib.import_module(NAME)
    assert sorted(seen) == [1, 2, 3]


def test_nothing_of_the_wait_is_left(awaited: Callable[[str], None]) -> None:
    awaited("")
    before = list(sys.meta_path)
    on_import.call(NAME, lambda: None)
    module = importlib.import_module(NAME)
    assert sys.meta_path == before
    assert module.__spec__ is not None
    assert type(module.__loader__) is SourceFileLoader
    assert module.__loader__ is module.__spec__.loader
    assert vars(module.__loader__).keys() == {"name", "path"}


def test_a_module_that_fails_calls_nothing(awaited: Callable[[str], None]) -> None:
    awaited("raise ValueError('broken')")
    seen: list[str] = []
    on_import.call(NAME, lambda: seen.append("imported"))
    with pytest.raises(ValueError, match="broken"):
        importlib.import_module(NAME)
    assert seen == []


def test_a_module_that_is_not_there_stays_missing(awaited: Callable[[str], None]) -> None:
    on_import.call(NAME, lambda: None)
    with pytest.raises(ModuleNotFoundError, match=NAME):
        importlib.import_module(NAME)
