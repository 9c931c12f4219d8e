"""The journal: what Python can see of what goes past the shield."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.shielded import run_shielded, tree, write_files
from torchlint.runtime.probe.world.journal import JOURNAL, Journal, is_local
from torchlint.runtime.sandbox import fence

if TYPE_CHECKING:
    from pathlib import Path


def test_connections_are_listed_by_name_and_those_to_this_machine_are_not(tmp_path: Path) -> None:
    script = """
        import socket
        def connect(address, kind=socket.SOCK_STREAM, family=socket.AF_INET):
            with socket.socket(family, kind) as wire:
                wire.setblocking(False)
                try:
                    wire.connect_ex(address)
                except OSError:
                    pass
        connect(("192.0.2.1", 80))
        connect(("192.0.2.1", 80))
        connect(("192.0.2.2", 53), socket.SOCK_DGRAM)
        connect(("127.0.0.1", 9))
        connect(("localhost", 9))
        connect("nowhere", family=socket.AF_UNIX)
        try:
            socket.getaddrinfo("data.example.invalid", 443)
        except OSError:
            pass
        connect(("192.0.2.3", 443))
    """
    run = run_shielded(write_files(tmp_path / "project", {"train.py": script}), "train.py")
    assert run.lines == []
    assert run.effects(kept=True) == {
        ("connect", "192.0.2.1:80"),
        ("connect", "data.example.invalid:443"),
    }


PAST = """
    import os, posix, sys
    out = sys.argv[1]
    def attempt(call, *args, **kwargs):
        try:
            return call(*args, **kwargs)
        except OSError as error:
            print(type(error).__name__)
            return posix.open(os.devnull, 0)
    posix.close(attempt(posix.open, out + "/old", posix.O_WRONLY))
    posix.close(attempt(posix.open, out + "/new", posix.O_WRONLY | posix.O_CREAT))
    posix.close(attempt(posix.open, out + "/old", posix.O_RDONLY))
    attempt(posix.mkdir, out + "/folder")
    attempt(posix.rename, out + "/new", out + "/newer")
    folder = posix.open(out, posix.O_RDONLY)
    attempt(posix.unlink, "old", dir_fd=folder)
    os.chdir(out)
    attempt(posix.mkdir, "relative")
"""


@pytest.mark.parametrize("behind_fence", [False, True])
def test_what_goes_past_the_redirection_is_listed(behind_fence: bool, tmp_path: Path) -> None:
    """Into another folder that was there before, so that the project stays as it is."""
    project = write_files(tmp_path / "project", {"train.py": PAST})
    out = write_files(tmp_path / "out", {"old": "old"})
    done = {
        ("write", str(out / "old")),
        ("create", str(out / "new")),
        ("mkdir", str(out / "folder")),
        ("delete", str(out / "new")),
        ("create", str(out / "newer")),
        ("delete", str(out / "old")),
        ("mkdir", str(out / "relative")),
    }
    if behind_fence and not fence.version():
        pytest.skip("this kernel has no Landlock that will do")
    before = tree(out)
    run = run_shielded(project, "train.py", argv=[str(out)], behind_fence=behind_fence)
    assert run.effects(kept=not behind_fence) == done
    assert run.effects(kept=behind_fence) == set()
    no = "PermissionError"
    refused = [no, no, no, "FileNotFoundError", no, no]
    assert run.lines == (refused if behind_fence else [])
    assert (tree(out) == before) is behind_fence


def test_what_the_shield_itself_does_is_not_listed(tmp_path: Path) -> None:
    script = """
        import os, shutil, tempfile, threading
        os.makedirs("a/b")
        with tempfile.NamedTemporaryFile(dir=".") as stream:
            stream.write(b"x")
        open("opened", "w", opener=lambda path, flags: os.open(path, flags)).close()
        os.rename("a", "c")
        shutil.rmtree("data")
        thread = threading.Thread(target=lambda: open("t", "w").close())
        thread.start(), thread.join()
    """
    files = {"train.py": script, "data/x": "x"}
    run = run_shielded(write_files(tmp_path / "project", files), "train.py")
    assert run.lines == []
    assert run.effects(kept=True) == set()


def test_an_entry_is_written_once_a_process_and_forked_processes_write_theirs(
    tmp_path: Path,
) -> None:
    script = """
        import os, subprocess
        for _ in range(3):
            subprocess.run(["true"])
        if os.fork() == 0:
            os.closerange(3, 100)
            subprocess.run(["true"])
            subprocess.run(["true", "child"])
            os._exit(0)
        os.wait()
    """
    run = run_shielded(write_files(tmp_path / "project", {"train.py": script}), "train.py")
    assert run.lines == []
    lines = (run.scratch / JOURNAL).read_text().splitlines()
    assert [json.loads(line)["what"] for line in lines] == ["true", "true child"]


def test_a_process_that_a_package_starts_by_itself_is_told_from_the_scripts(
    tmp_path: Path,
) -> None:
    package = """
        import subprocess
        def fonts():
            subprocess.check_output(["true", "fonts"])
        def calls(back):
            back()
    """
    script = """
        import subprocess, sys
        sys.path.insert(0, "lib/site-packages")
        import plots
        plots.fonts()
        plots.calls(lambda: subprocess.run(["true", "mine"]))
    """
    files = {"train.py": script, "lib/site-packages/plots.py": package}
    run = run_shielded(write_files(tmp_path / "project", files), "train.py")
    assert run.lines == []
    assert run.effects(kept=True) == {("helper", "true fonts"), ("process", "true mine")}


def test_a_script_that_ends_is_not_disturbed(tmp_path: Path) -> None:
    script = """
        import atexit, os, subprocess, threading
        class Late:
            def __del__(self):
                try:
                    open("late", "w").close()
                except NameError:
                    pass
        late = Late()
        atexit.register(lambda: subprocess.run(["true"]))
        threading.Thread(target=lambda: [open("x", "w").close() for _ in range(200)], daemon=True).start()
        print("done")
    """
    run = run_shielded(write_files(tmp_path / "project", {"train.py": script}), "train.py")
    assert run.lines == ["done"]
    assert "journal" not in run.stderr


def test_a_script_that_makes_up_names_for_ever_does_not_fill_the_disk(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path))
    for number in range(5000):
        journal.note("process", f"program {number}", kept=True)
    assert len((tmp_path / JOURNAL).read_text().splitlines()) == 1000


def test_names_that_are_no_text_are_written_down(tmp_path: Path) -> None:
    Journal(str(tmp_path)).note("write", os.fsdecode(b"/\xff\n"), kept=True)
    (line,) = (tmp_path / JOURNAL).read_text().splitlines()
    assert json.loads(line)["what"] == "/\udcff\n"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost", "", None, b"::1"])
def test_this_machine_is_local(host: object) -> None:
    assert is_local(host)


@pytest.mark.parametrize("host", ["8.8.8.8", "huggingface.co", "2001:db8::1", b"10.0.0.1"])
def test_another_machine_is_not(host: object) -> None:
    assert not is_local(host)
