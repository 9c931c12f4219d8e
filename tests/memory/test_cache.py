"""A cache makes a run faster and nothing else: what is wrong with it is as good as absent."""

from __future__ import annotations

import errno
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from torchlint.memory import cache as cache_module
from torchlint.memory.cache import (
    TAG,
    VARIABLE,
    Cache,
    clear,
    default_root,
    distrust,
    name_of,
    refusal,
)

if TYPE_CHECKING:
    from pathlib import Path

GENERATION, OTHER = "0123456789abcdef", "fedcba9876543210"
NAME = name_of(b"a name")
DAY_S = 24 * 3600


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def cache(root: Path) -> Cache:
    return Cache(str(root), GENERATION)


def file_of(root: Path) -> Path:
    return root / GENERATION / "files" / NAME


def files_below(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir()}


def test_a_blob_is_got_back(cache: Cache, root: Path) -> None:
    assert cache.get("files", NAME) is None
    cache.put("files", NAME, b"old")
    cache.put("files", NAME, b"new\0")
    assert Cache(str(root), GENERATION).get("files", NAME) == b"new\0"
    assert cache.get("reports", NAME) is None
    assert cache.get("files", name_of(b"another")) is None


def test_another_generation_sees_nothing(cache: Cache, root: Path) -> None:
    cache.put("files", NAME, b"blob")
    assert Cache(str(root), OTHER).get("files", NAME) is None


def test_the_folder_tells_backups_and_git_to_leave_it_out(cache: Cache, root: Path) -> None:
    cache.put("files", NAME, b"blob")
    signature = b"Signature: 8a477f597d28d172789f06886806bc55"
    assert (root / TAG).read_bytes().startswith(signature)
    assert (root / ".gitignore").read_text() == "*\n"
    assert root.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[:-1],
        lambda data: data + b"x",
        lambda data: data[:-1] + b"x",
        lambda data: b"torchlint 2\n" + data[12:],
        lambda data: b"",
        lambda data: b"\0" * 4096,
    ],
    ids=["cut", "longer", "altered", "of the future", "empty", "zeros after a power cut"],
)
def test_a_spoiled_blob_is_absent_until_it_is_written_again(
    cache: Cache, root: Path, spoil: object
) -> None:
    cache.put("files", NAME, b"blob")
    file_of(root).write_bytes(spoil(file_of(root).read_bytes()))  # type: ignore[operator]
    assert cache.get("files", NAME) is None
    cache.put("files", NAME, b"blob")
    assert cache.get("files", NAME) == b"blob"


def test_a_link_is_not_followed(cache: Cache, root: Path, tmp_path: Path) -> None:
    cache.put("files", NAME, b"blob")
    elsewhere = tmp_path / "elsewhere"
    file_of(root).rename(elsewhere)
    file_of(root).symlink_to(elsewhere)
    assert cache.get("files", NAME) is None
    before = elsewhere.read_bytes()
    cache.put("files", NAME, b"new")
    assert elsewhere.read_bytes() == before
    assert cache.get("files", NAME) == b"new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_is_not_waited_for(cache: Cache, root: Path) -> None:
    cache.put("files", NAME, b"blob")
    file_of(root).unlink()
    os.mkfifo(file_of(root))
    assert cache.get("files", NAME) is None


def test_a_giant_is_neither_written_nor_read(
    cache: Cache, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.put("files", NAME, b"x" * 5000)
    monkeypatch.setattr(cache_module, "_LARGEST", 2000)
    assert cache.get("files", NAME) is None
    cache.put("files", name_of(b"giant"), b"x" * 2001)
    assert len(list(file_of(root).parent.iterdir())) == 1


def test_a_full_disk_loses_the_blob_and_nothing_else(
    cache: Cache, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.put("files", NAME, b"old")
    before = files_below(root)

    def full(*_paths: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    cache.put("files", NAME, b"new")
    assert cache.get("files", NAME) == b"old"
    assert files_below(root) == before


def test_writers_at_once_leave_one_whole_blob(cache: Cache, root: Path) -> None:
    blobs = [bytes([65 + number]) * 100_000 for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda blob: Cache(str(root), GENERATION).put("files", NAME, blob), blobs))
    assert cache.get("files", NAME) in blobs
    assert files_below(root) == {
        f"{GENERATION}/files/{NAME}",
        TAG,
        ".gitignore",
    }


def test_a_folder_that_holds_something_else_is_left_alone(cache: Cache, root: Path) -> None:
    root.mkdir()
    (root / "thesis.txt").write_text("mine")
    cache.put("files", NAME, b"blob")
    assert files_below(root) == {"thesis.txt"}
    assert refusal(str(root)) == "it holds something else"
    with pytest.raises(ValueError, match="not a cache"):
        clear(str(root))


@pytest.mark.parametrize("tag", [b"Signature: 8a477f", b"", None])
def test_a_cache_whose_tag_was_damaged_is_mended(
    cache: Cache, root: Path, tag: bytes | None
) -> None:
    cache.put("files", NAME, b"blob")
    whole = (root / TAG).read_bytes()
    (root / TAG).unlink()
    if tag is not None:
        (root / TAG).write_bytes(tag)
    assert refusal(str(root)) is None
    assert cache.get("files", NAME) == b"blob"
    Cache(str(root), GENERATION).put("files", NAME, b"other")
    assert (root / TAG).read_bytes() == whole
    (root / TAG).write_bytes(tag or b"")
    assert clear(str(root))[0] == 1
    assert not root.exists()


def test_a_file_cannot_be_the_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert refusal(str(tmp_path / "file")) == "it is not a folder"
    assert refusal(str(tmp_path / "new")) is None


class TestSweep:
    def age(self, path: Path, days: float) -> None:
        then = time.time() - days * DAY_S
        os.utime(path, (then, then))

    def test_it_removes_what_nobody_used_for_a_month(self, cache: Cache, root: Path) -> None:
        for name in ("old", "young"):
            cache.put("files", name_of(name.encode()), b"blob")
        other = Cache(str(root), OTHER)
        other.put("files", NAME, b"blob")
        folder = root / GENERATION / "files"
        draft = folder / ".draft-1"
        draft.write_bytes(b"")
        for path in (folder / name_of(b"old"), draft, root / OTHER / "files" / NAME):
            self.age(path, 31)
        self.age(folder / name_of(b"young"), 29)
        cache.sweep()
        assert [path.name for path in folder.iterdir()] == [name_of(b"young")]
        assert not (root / OTHER).exists()

    def test_a_blob_that_is_used_stays(self, cache: Cache, root: Path) -> None:
        cache.put("files", NAME, b"blob")
        self.age(file_of(root), 31)
        assert cache.get("files", NAME) == b"blob"
        cache.sweep()
        assert cache.get("files", NAME) == b"blob"

    def test_it_sweeps_once_a_day(self, cache: Cache, root: Path) -> None:
        cache.put("files", NAME, b"blob")
        cache.sweep()
        self.age(file_of(root), 31)
        cache.sweep()
        assert file_of(root).exists()
        self.age(root / ".swept", 2)
        cache.sweep()
        assert not file_of(root).exists()

    def test_it_makes_nothing_where_there_is_no_cache(self, cache: Cache, root: Path) -> None:
        cache.sweep()
        assert not root.exists()


class TestClear:
    def test_it_removes_every_generation_and_the_folder(self, cache: Cache, root: Path) -> None:
        cache.put("files", NAME, b"blob")
        Cache(str(root), OTHER).put("reports", NAME, b"blob")
        cache.sweep()
        count, size = clear(str(root))
        assert (count, size > 8) == (2, True)
        assert not root.exists()
        assert clear(str(root)) == (0, 0)

    def test_it_leaves_what_is_not_its_own(self, cache: Cache, root: Path, tmp_path: Path) -> None:
        cache.put("files", NAME, b"blob")
        mine, outside = tmp_path / "mine", tmp_path / "outside"
        for folder in (mine / "files", outside):
            folder.mkdir(parents=True)
            (folder / NAME).write_text("mine")
        (root / GENERATION / "notes.txt").write_text("mine")
        (root / GENERATION / "files" / "notes.txt").write_text("mine")
        (root / GENERATION / "linked").symlink_to(outside)
        (root / OTHER).symlink_to(mine)
        clear(str(root))
        assert (mine / "files" / NAME).read_text() == "mine"
        assert (outside / NAME).read_text() == "mine"
        assert {path for path in files_below(root) if path.endswith(".txt")} == {
            f"{GENERATION}/notes.txt",
            f"{GENERATION}/files/notes.txt",
        }


def test_names_keep_their_parts_apart() -> None:
    assert name_of(b"ab", b"c") != name_of(b"a", b"bc") != name_of(b"a1:b", b"c")


def test_the_environment_names_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "here"))
    assert default_root() == str(tmp_path / "here")


@pytest.mark.parametrize(
    ("system", "stated", "folder"),
    [
        ("linux", {}, "~/.cache/torchlint"),
        ("linux", {"XDG_CACHE_HOME": "/var/caches"}, "/var/caches/torchlint"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "~/.cache/torchlint"),
        ("freebsd14", {}, "~/.cache/torchlint"),
        ("darwin", {}, "~/Library/Caches/torchlint"),
        ("win32", {}, "~/AppData/Local/torchlint/Cache"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/torchlint/Cache"),
    ],
)
def test_each_system_has_its_folder_for_caches(
    system: str, stated: dict[str, str], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (VARIABLE, "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/someone")
    for name, value in stated.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", system)
    assert default_root() == folder.replace("~", "/home/someone")


needs_owners = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs owners")


@needs_owners
def test_what_comes_with_a_checkout_is_not_believed(tmp_path: Path) -> None:
    cache = Cache(str(tmp_path / "cache"), GENERATION)
    cache.put("files", name_of(b"a"), b"blob")
    assert distrust(cache.root) is None
    assert cache.get("files", name_of(b"a")) == b"blob"
    (entry,) = (tmp_path / "cache" / GENERATION / "files").iterdir()
    entry.chmod(0o644)  # as git makes it
    assert cache.get("files", name_of(b"a")) is None
    (tmp_path / "cache").chmod(0o755)
    assert "others may read or write it" in (distrust(cache.root) or "")


@needs_owners
def test_what_belongs_to_somebody_else_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(str(tmp_path / "cache"), GENERATION)
    cache.put("files", name_of(b"a"), b"blob")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert "somebody else" in (distrust(cache.root) or "")
    assert cache.get("files", name_of(b"a")) is None


@needs_owners
def test_an_empty_folder_becomes_private(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir(mode=0o755)
    assert distrust(str(tmp_path / "cache")) is None
    Cache(str(tmp_path / "cache"), GENERATION).put("files", name_of(b"a"), b"blob")
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700


def test_nothing_is_swept_out_of_a_folder_that_is_not_a_cache(tmp_path: Path) -> None:
    folder = tmp_path / GENERATION / "files"
    folder.mkdir(parents=True)
    blob = folder / name_of(b"a")
    blob.write_bytes(b"mine")
    os.utime(blob, (0, 0))
    Cache(str(tmp_path), GENERATION).sweep()
    assert blob.exists()
    assert [each.name for each in tmp_path.iterdir()] == [GENERATION]
