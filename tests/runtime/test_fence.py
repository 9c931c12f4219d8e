"""Landlock: the kernel refuses to write where a run must not, whoever tries."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.shielded import tree, write_files
from torchlint.runtime.run import Run
from torchlint.runtime.sandbox import fence
from torchlint.runtime.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.scenes import Scene

needs_landlock = pytest.mark.skipif(bool(fence.why_not()), reason=fence.why_not() or "there is one")
ELSEWHERE = ("/dev", "/proc")


def run(command: list[str], *folders: Path) -> subprocess.CompletedProcess[str]:
    fenced = fence.wrap(command, [*map(str, folders), *ELSEWHERE])
    return subprocess.run(fenced, capture_output=True, text=True, timeout=600, check=False)


@needs_landlock
def test_files_change_in_the_named_folders_and_nowhere_else(tmp_path: Path) -> None:
    own = write_files(tmp_path / "own", {"old": "old", "a/x": "x", "b/": ""})
    other = write_files(tmp_path / "other", {"old": "old", "a/x": "x", "b/": "", "empty/": ""})
    before = tree(other)
    code = """if True:
        import os, sys
        os.chdir(sys.argv[1])
        for action in (
            lambda: open("old", "w").write("new"), lambda: open("new", "w"),
            lambda: os.truncate("old", 0), lambda: os.mkdir("c"), lambda: os.symlink("old", "link"),
            lambda: os.rename("a/x", "b/y"), lambda: os.link("old", "b/hard"),
            lambda: os.mkfifo("pipe"), lambda: os.unlink("old"), lambda: os.rmdir("empty"),
        ):
            try:
                action()
            except PermissionError:
                print("refused", end=" ")
        print(os.listdir("a"), open(os.devnull, "w").write("x"))
    """
    (own / "empty").mkdir()
    assert run([sys.executable, "-c", code, str(own)], own).stdout == "[] 1\n"
    done = run([sys.executable, "-c", code, str(other)], own)
    version = fence.version()
    # Until Linux 6.2 a file can be made shorter without being opened.
    assert done.stdout == "refused " * 10 + "['x'] 1\n" or version < 3, done.stderr
    assert tree(other) == before or version < 3


@needs_landlock
def test_programs_are_behind_it_too_and_nothing_can_be_moved_out(tmp_path: Path) -> None:
    own = write_files(tmp_path / "own", {"x": "x"})
    other = write_files(tmp_path / "other", {"x": "x"})
    before = tree(tmp_path)
    words = f"echo a > {other}/x; cp {own}/x {other}/y; mv {own}/x {other}/z; mv {other}/x {own}/z"
    done = run(["/bin/sh", "-c", words], own)
    assert done.stderr.count("ermission denied") == 4
    assert tree(tmp_path) == before


@needs_landlock
def test_a_file_can_be_named_and_what_is_missing_is_left_out(tmp_path: Path) -> None:
    files = write_files(tmp_path / "files", {"one": "1", "two": "2"})
    words = f"echo x > {files}/one; echo x > {files}/two; echo x > {files}/three"
    run(["/bin/sh", "-c", words], files / "one", tmp_path / "nothing")
    assert [path.read_text() for path in sorted(files.iterdir())] == ["x\n", "2"]


@needs_landlock
def test_the_command_keeps_its_process_arguments_and_signals(tmp_path: Path) -> None:
    code = """if True:
        import os, signal, sys
        print(os.getpid(), os.getuid(), os.geteuid(), *sys.argv[1:])
        print(signal.getsignal(signal.SIGPIPE), sorted(os.listdir("/proc/self/fd"))[3:])
    """
    command = [sys.executable, "-c", code, "a b", "--", "$HOME"]
    wrapped = fence.wrap(command, [str(tmp_path)])
    with subprocess.Popen(wrapped, stdout=-1, text=True) as process:
        assert process.stdout is not None
        first, second = process.stdout.read().splitlines()
    assert first == f"{process.pid} {os.getuid()} {os.geteuid()} a b -- $HOME"
    plain = subprocess.run(command, capture_output=True, text=True, check=True)
    assert second == plain.stdout.splitlines()[1]


@needs_landlock
def test_a_command_that_the_kernel_does_not_fence_does_not_run(tmp_path: Path) -> None:
    """It takes sixteen of them around each other."""
    command = ["/bin/sh", "-c", "echo ran"]
    for _ in range(17):
        command = fence.wrap(command, [str(tmp_path)])
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stdout) == (fence.REFUSED, "")
    assert done.stderr.startswith("torchlint: writes cannot be held back by Landlock: ")
    assert "Traceback" not in done.stderr


@pytest.fixture
def reasons() -> Iterator[None]:
    fence.why_not.cache_clear()
    yield
    fence.why_not.cache_clear()


@pytest.mark.usefixtures("reasons")
@pytest.mark.parametrize("kernel", ["first version", "none", "another system"])
def test_the_reason_is_given_where_the_kernel_cannot_do_it(
    kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def call(*_arguments: object) -> int:
        if kernel == "none":
            raise OSError
        return 1

    monkeypatch.setattr(fence, "_call", call)
    monkeypatch.setattr(sys, "platform", "darwin" if kernel == "another system" else "linux")
    assert fence.why_not() == "there is no Landlock (Linux 5.19)"


@pytest.mark.usefixtures("reasons")
@pytest.mark.parametrize(
    ("user", "there", "works"),
    [
        (1000, {"/proc/driver/nvidia"}, False),
        (1000, {"/proc/driver/nvidia", "/dev/nvidia-uvm"}, True),
        (0, {"/proc/driver/nvidia"}, True),
        (1000, set(), True),
    ],
)
def test_a_driver_that_has_to_make_its_devices_first_is_let(
    user: int, there: set[str], works: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program with the rights of root does it, which this user would have given up."""
    monkeypatch.setattr(fence, "version", lambda: 3)
    monkeypatch.setattr(fence.os, "geteuid", lambda: user)
    monkeypatch.setattr(fence.os.path, "exists", there.__contains__)
    monkeypatch.setattr("shutil.which", lambda _name: "/usr/bin/nvidia-modprobe")
    assert (fence.why_not() == "") is works


# what a run has of it -----------------------------------------------------------------------


@needs_landlock
def test_a_run_is_fenced_in(scene: Scene, tmp_path: Path) -> None:
    keep = tmp_path / "keep"
    keep.write_text("keep")
    body = """
        import ctypes, os
        result = ctypes.CDLL(None).unlink(os.fsencode({!r}))
        inside = os.path.join(settings["scratch"], "own")
        open(inside, "w").close()
        link.send(type="tried", result=result, settings=settings["fenced"])
        link.wait()
    """
    with scene.workspace() as workspace, Run(scene.job(body.format(str(keep))), workspace) as child:
        child.greet(20)
        child.start()
        _, told = child.receive(20, "try")
        assert os.path.exists(os.path.join(child.folder, "own"))
    assert (told.values["result"], told.values["settings"]) == (-1, True)
    assert keep.read_text() == "keep"


def test_folders_of_caches_are_there_for_a_run_and_go_if_nothing_is_kept_in_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = write_files(tmp_path / "home", {".keras/x": "x"})
    monkeypatch.setattr(fence, "why_not", lambda: "")
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CACHE_HOME", "HF_HOME"):
        monkeypatch.setenv(name, str(home / "deep" / name))
    with Workspace(str(tmp_path)):
        for name in (".cache", ".config/matplotlib", "deep/HF_HOME", "deep/XDG_CACHE_HOME"):
            assert (home / name).is_dir()
        (home / "deep/HF_HOME/weights").write_text("w")
    assert sorted(map(str, (path.relative_to(home) for path in home.rglob("*")))) == [
        ".keras",
        ".keras/x",
        "deep",
        "deep/HF_HOME",
        "deep/HF_HOME/weights",
    ]
