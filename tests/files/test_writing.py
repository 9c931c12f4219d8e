"""Writing files: old or new at any moment, and nothing else is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from torchlint.files.reading import SourceError
from torchlint.files.writing import (
    remove_abandoned_drafts,
    why_not,
    write_atomically,
    write_report,
    write_whole,
)


def test_writing_keeps_the_mode_and_leaves_nothing_else_behind(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_bytes(b"old")
    file.chmod(0o751)
    write_atomically(str(file), b"new\r\n")
    assert file.read_bytes() == b"new\r\n"
    assert file.stat().st_mode & 0o7777 == 0o751
    assert [each.name for each in tmp_path.iterdir()] == ["x.py"]


def test_writing_through_a_symlink_changes_its_target(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    target = tmp_path / "deep" / "target.py"
    target.write_bytes(b"old")
    link = tmp_path / "x.py"
    link.symlink_to("deep/target.py")
    write_atomically(str(link), b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_relative_name_is_written_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.py").write_bytes(b"old")
    write_atomically("x.py", b"new")
    assert (tmp_path / "x.py").read_bytes() == b"new"


def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.touch()
    write_whole(str(new), b"new")
    assert new.read_bytes() == b"new"
    assert new.stat().st_mode == old.stat().st_mode
    assert sorted(each.name for each in tmp_path.iterdir()) == ["new.json", "old.json"]


def test_a_file_that_is_there_is_replaced_as_ever(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(b"old")
    file.chmod(0o640)
    write_whole(str(file), b"new")
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"new", 0o640)


def test_a_new_file_in_no_folder_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    for path in (tmp_path / "no" / "x.json", tmp_path / "taken" / "x.json", tmp_path / "a\0b"):
        with pytest.raises(SourceError) as caught:
            write_whole(str(path), b"new")
        assert caught.value.kind == "write"
    assert [each.name for each in tmp_path.iterdir()] == ["taken"]


def test_a_link_to_nothing_is_not_followed(tmp_path: Path) -> None:
    link = tmp_path / "x.json"
    link.symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(SourceError):
        write_whole(str(link), b"new")
    assert [each.name for each in tmp_path.iterdir()] == ["x.json"]


def refused_write(file: Path) -> str:
    with pytest.raises(SourceError) as caught:
        write_atomically(str(file), b"new")
    assert caught.value.kind == "write"
    return caught.value.message


def test_a_read_only_file_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_bytes(b"old")
    file.chmod(0o444)
    assert "read-only" in refused_write(file)
    assert file.read_bytes() == b"old"


def test_a_vanished_folder_is_an_error(tmp_path: Path) -> None:
    assert "No such file" in refused_write(tmp_path / "gone" / "x.py")


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
def test_a_full_disk_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    file = tmp_path / "x.py"
    file.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, full)
    assert "No space left on device" in refused_write(file)
    monkeypatch.undo()
    assert file.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["x.py"]


_WRITER = """
import sys
from torchlint.files.writing import write_atomically
old, new = b"o" * 300_000, b"n" * 300_000
for _ in range(100_000):
    write_atomically(sys.argv[1], new)
    sys.stdout.buffer.write(b".")
    sys.stdout.buffer.flush()
    write_atomically(sys.argv[1], old)
"""


def test_a_file_is_old_or_new_when_the_writer_is_killed(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    whole = {b"o" * 300_000, b"n" * 300_000}
    file.write_bytes(b"o" * 300_000)
    for number in range(12):
        command = [sys.executable, "-c", _WRITER, str(file)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            assert len(writer.stdout.read(1 + number % 5)) == 1 + number % 5
            # A few looks at the file put the kill at other points of the loop each time.
            for _ in range(number * 3):
                assert file.read_bytes() in whole
            writer.send_signal(signal.SIGKILL)
        assert file.read_bytes() in whole


# drafts that were left --------------------------------------------------------------------------


def ended_process() -> int:
    """The number of a process that has ended."""
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def test_a_draft_of_a_killed_writer_is_removed(tmp_path: Path) -> None:
    draft = tmp_path / f".torchlint-{ended_process()}-a1_b2c3d.draft"
    draft.write_bytes(b"half")
    remove_abandoned_drafts([str(tmp_path / "x.py"), str(tmp_path / "y.py")])
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_an_abandoned_draft_stays(tmp_path: Path) -> None:
    dead = ended_process()
    (tmp_path / "deep").mkdir()
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / f".torchlint-{dead}-folder__.draft").mkdir()
    (tmp_path / f".torchlint-{dead}-a_link__.draft").symlink_to("file")
    for name in (
        f".torchlint-{os.getpid()}-a1_b2c3d.draft",
        f".torchlint-{dead}-a1_b2c3d.draft.py",
        f".torchlint-{dead}-a1_b2c3.draft",
        f"deep/.torchlint-{dead}-a1_b2c3d.draft",
        ".torchlint-99999999999999999999-a1_b2c3d.draft",
        ".torchlint-baseline",
    ):
        (tmp_path / name).write_bytes(b"kept")
    before = sorted(tmp_path.rglob("*"))
    remove_abandoned_drafts([str(tmp_path / "x.py"), str(tmp_path / "gone" / "x.py")])
    assert sorted(tmp_path.rglob("*")) == before


_DRAFTER = """
import os, sys
from torchlint.files import writing
def show_and_wait(source, target):
    print(os.path.basename(source), flush=True)
    sys.stdin.read()
writing.os.replace = show_and_wait
writing.write_atomically(sys.argv[1], b"new")
"""


def test_the_draft_of_a_writer_stays_while_it_lives_and_no_longer(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_bytes(b"old")
    with subprocess.Popen(
        [sys.executable, "-c", _DRAFTER, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdout is not None
        draft = tmp_path / writer.stdout.readline().strip()
        remove_abandoned_drafts([str(file)])
        assert draft.read_bytes() == b"new"
        writer.kill()
        writer.wait()
    remove_abandoned_drafts([str(file)])
    assert [each.name for each in tmp_path.iterdir()] == ["x.py"]


def test_a_report_is_a_new_file_with_the_usual_mode(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_report(str(tmp_path / "x.json"), b"new")
    finally:
        assert os.umask(before) == 0o027
    assert (tmp_path / "x.json").read_bytes() == b"new"
    assert (tmp_path / "x.json").stat().st_mode & 0o7777 == 0o640
    assert [each.name for each in tmp_path.iterdir()] == ["x.json"]


def test_a_report_replaces_one_and_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(b"old and longer")
    file.chmod(0o600)
    write_report(str(file), b"new")
    assert file.read_bytes() == b"new"
    assert file.stat().st_mode & 0o7777 == 0o600


def test_a_report_goes_where_a_dangling_link_leads(tmp_path: Path) -> None:
    link = tmp_path / "x.json"
    link.symlink_to("y.json")
    write_report(str(link), b"new")
    assert link.is_symlink()
    assert (tmp_path / "y.json").read_bytes() == b"new"


def test_a_report_that_cannot_be_made_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        write_report(str(tmp_path / ("x" * 300)), b"new")
    assert caught.value.kind == "write"
    with pytest.raises(SourceError):
        write_report(str(tmp_path / "gone" / "x.json"), b"new")
    assert list(tmp_path.iterdir()) == []


def test_a_report_goes_into_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_report(str(pipe), b"new")
        assert os.read(reader, 10) == b"new"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="needs extended attributes")
def test_writing_keeps_extended_attributes(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_bytes(b"old")
    try:
        os.setxattr(file, "user.note", b"kept")
    except OSError:
        pytest.skip("this file system has none")
    write_atomically(str(file), b"new")
    assert os.getxattr(file, "user.note") == b"kept"


@pytest.mark.skipif(not hasattr(os, "chown"), reason="needs groups")
def test_writing_keeps_the_group(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_bytes(b"old")
    others = {*os.getgroups(), 12345 if os.geteuid() == 0 else os.getegid()} - {os.getegid()}
    if not others:
        pytest.skip("this user has one group")
    group = min(others)
    os.chown(file, -1, group)
    write_atomically(str(file), b"new")
    assert file.stat().st_gid == group


def test_what_cannot_be_written_is_seen_before(tmp_path: Path) -> None:
    assert why_not(str(tmp_path / "new.json")) == ""
    assert why_not(os.devnull) == ""
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "not" / "yet.json")
    assert why_not(str(link)).endswith("No such file or directory.")
    link.unlink()
    link.symlink_to(tmp_path / "later.json")
    assert why_not(str(link)) == ""
    (tmp_path / "later.json").touch(0o444)
    assert why_not(str(link)).startswith("The file is read-only")
    assert sorted(os.listdir(tmp_path)) == ["later.json", "link.json"]
