"""Questions to texts: each is answered once per content, and never by another content."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from torchlint.config.settings import Selection
from torchlint.memory.cache import Cache
from torchlint.memory.store import Store
from torchlint.project.target import Known, Target, digest_of
from torchlint.project.word_search import WordSearch

if TYPE_CHECKING:
    from pathlib import Path

SEEN = b"import torch\nx.cuda()\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_bytes(SEEN)
    return tmp_path


def known(path: str) -> Known:
    target = Target(path, Selection(), (2, 13))
    return Known(target, digest_of(SEEN), len(SEEN), relevant=True)


def texts(store: Store) -> WordSearch:
    return WordSearch({path: known(path) for path in ("a.py", "b.py")}, store.answers)


def test_files_with_the_same_content_are_asked_once(folder: Path) -> None:
    found = texts(Store())
    assert found.mentions("a.py", "cuda")
    (folder / "b.py").unlink()
    assert found.mentions("b.py", "cuda")


def test_a_file_that_has_changed_answers_only_for_itself(folder: Path) -> None:
    found = texts(Store())
    (folder / "a.py").write_bytes(b"import torch\n")
    assert not found.mentions("a.py", "cuda")
    assert found.mentions("b.py", "cuda")
    assert not found.mentions("a.py", "cuda")


def test_two_files_that_have_changed_are_not_taken_for_one(folder: Path) -> None:
    found = texts(Store())
    (folder / "a.py").write_bytes(b"import torch\n")
    (folder / "b.py").write_bytes(b"import torch\nx.cuda()  # again\n")
    assert not found.mentions("a.py", "cuda")
    assert found.mentions("b.py", "cuda")
    assert not found.mentions("a.py", "again")
    assert found.mentions("b.py", "again")


def test_what_one_file_answered_is_stored_for_all_of_its_content(folder: Path) -> None:
    def store() -> Store:
        return Store(lambda: Cache(str(folder / "cache"), "0123456789abcdef"))

    first = store()
    assert texts(first).mentions("a.py", "cuda")
    first.note_answers([known("a.py"), known("b.py")])
    first.save()
    for path in ("a.py", "b.py"):
        (folder / path).unlink()
        assert texts(store()).mentions(path, "cuda")
