"""Overlayfs: writes land elsewhere, and the command runs as it would without."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.shielded import tree, write_files
from torchlint.runtime import temporary_folders as folders
from torchlint.runtime.sandbox import overlay_mount
from torchlint.runtime.sandbox import overlayfs as sandbox
from torchlint.runtime.sandbox.overlayfs import OVERLAYFS, REDIRECT
from torchlint.runtime.sandbox.side_effects import collect

if TYPE_CHECKING:
    from collections.abc import Sequence

FILES = {"old.txt": "old", "data/a.txt": "a", "data/deep/b.txt": "b", "gone/x": "x", "swap": "s"}
ODD_NAMES = (
    b"a b",
    b"quote'\"",
    b"comma,colon:back\\slash",
    b"$(touch x)`;&|",
    b"new\nline\ttab",
    b"not\xfftext",
    "ünï".encode(),
    b"-dash",
    b"lowerdir=x",
)


@pytest.fixture
def overlayfs(tmp_path: Path) -> None:
    """Skips where there is none."""
    if sandbox.available(str(tmp_path)) != OVERLAYFS:
        pytest.skip("overlayfs is not to be had here")


def run(
    code: str, project: Path, folder: Path, *, cwd: Path | None = None, argv: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Run some Python under overlayfs, in the project if nothing else is said."""
    folder.mkdir(exist_ok=True)
    command = sandbox.wrap([sys.executable, "-c", code, *argv], str(project), str(folder))
    return subprocess.run(
        command,
        cwd=cwd or project,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=600,
        check=False,
    )


def effects(folder: Path, project: Path) -> set[tuple[str, str]]:
    return {(each.kind, each.what) for each in collect((str(folder),), str(project))}


def test_trying_leaves_nothing_and_is_done_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = write_files(tmp_path / "project", FILES)
    scratch = write_files(tmp_path / "scratch", {})
    before = tree(project)
    found = sandbox.available(str(project), str(scratch))
    assert found in {OVERLAYFS, REDIRECT}
    assert tree(project) == before
    assert not os.listdir(scratch)
    monkeypatch.setattr(subprocess, "run", None)
    assert sandbox.available(str(project), str(scratch)) == found


def test_elsewhere_than_on_linux_writes_are_redirected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert sandbox.available(str(tmp_path)) == REDIRECT


@pytest.mark.parametrize(
    "launcher",
    [
        "import sys; sys.exit(125)",
        "import os, sys; os.execv(sys.argv[6], sys.argv[6:])",
        "raise OSError",
    ],
    ids=["refused", "without a layer", "broken"],
)
def test_what_does_not_work_here_is_not_used(
    launcher: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = write_files(tmp_path, {"launcher.py": launcher, "project/x": "x"})
    monkeypatch.setattr(overlay_mount, "__file__", str(files / "launcher.py"))
    assert sandbox.available(str(files / "project"), str(tmp_path)) == REDIRECT
    assert os.listdir(files / "project") == ["x"]


def test_a_project_that_is_not_there_is_not_an_error(tmp_path: Path) -> None:
    assert sandbox.available(str(tmp_path / "none"), str(tmp_path)) == REDIRECT


@pytest.mark.usefixtures("overlayfs")
def test_writes_land_in_the_upper_folder_and_can_be_read_back(tmp_path: Path) -> None:
    project = write_files(tmp_path / "project", FILES)
    before = tree(project)
    code = """if True:
        import os, shutil
        open("new.txt", "w").write("new")
        open("old.txt", "a").write(" and more")
        os.makedirs("made/deep")
        shutil.rmtree("data")
        os.mkdir("data")
        os.remove("gone/x")
        os.remove("swap"); os.mkdir("swap")
        os.makedirs("__pycache__"); open("__pycache__/x.pyc", "w").close()
        print(open("old.txt").read(), os.listdir("data"), os.listdir("gone"))
    """
    done = run(code, project, tmp_path / "run")
    assert done.stdout == "old and more [] []\n", done.stderr
    assert tree(project) == before
    assert effects(tmp_path / "run", project) == {
        ("create", "new.txt"),
        ("write", "old.txt"),
        ("mkdir", "made"),
        ("mkdir", "made/deep"),
        ("delete", "data"),
        ("mkdir", "data"),
        ("delete", "gone/x"),
        ("delete", "swap"),
        ("mkdir", "swap"),
    }
    assert folders.remove(str(tmp_path / "run"))


@pytest.mark.usefixtures("overlayfs")
@pytest.mark.parametrize("name", ODD_NAMES)
def test_any_name_of_a_folder_will_do(name: bytes, tmp_path: Path) -> None:
    project = write_files(tmp_path / "in" / os.fsdecode(name), FILES)
    before = tree(project)
    code = "open('new', 'w').close(); import os; print(os.getcwd())"
    done = run(code, project, tmp_path / os.fsdecode(name))
    assert done.stdout == f"{project}\n", done.stderr
    assert tree(project) == before
    assert effects(tmp_path / os.fsdecode(name), project) == {("create", "new")}


@pytest.mark.usefixtures("overlayfs")
def test_the_command_keeps_its_process_user_and_arguments(tmp_path: Path) -> None:
    project = write_files(tmp_path / "project", FILES)
    code = """if True:
        import os, signal, sys
        print(os.getpid(), os.getsid(0), os.getuid(), os.getgid(), os.geteuid(), *sys.argv[1:])
        print(signal.getsignal(signal.SIGPIPE), sorted(os.listdir("/proc/self/fd"))[3:])
    """
    command = [sys.executable, "-c", code, "a b", "", "$HOME"]
    (tmp_path / "run").mkdir()
    wrapped = sandbox.wrap(command, str(project), str(tmp_path / "run"))
    with subprocess.Popen(wrapped, stdout=-1, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        first, second = process.stdout.read().splitlines()
    user, group = os.getuid(), os.getgid()
    expected = f"{process.pid} {process.pid} {user} {group} {os.geteuid()} a b  $HOME"
    assert first == expected
    plain = subprocess.run(command, capture_output=True, text=True, check=True)
    assert second == plain.stdout.splitlines()[1]


@pytest.mark.usefixtures("overlayfs")
@pytest.mark.parametrize("where", ["inside", "outside", "below"])
def test_the_command_starts_where_it_was_to_start(where: str, tmp_path: Path) -> None:
    project = write_files(tmp_path / "project", FILES)
    cwd = {"inside": project, "outside": tmp_path, "below": project / "data"}[where]
    code = (
        f"import os; print(os.getcwd()); open({str(project / 'new')!r}, 'w'); print(os.listdir())"
    )
    done = run(code, project, tmp_path / "run", cwd=cwd)
    assert done.stdout.splitlines()[0] == str(cwd)
    assert ("new" in done.stdout.splitlines()[1]) == (where == "inside")
    assert not (project / "new").exists()


@pytest.mark.usefixtures("overlayfs")
def test_programs_that_the_command_starts_are_under_the_layer_too(tmp_path: Path) -> None:
    project = write_files(tmp_path / "project", FILES)
    before = tree(project)
    code = "import os; os.system('rm -r data; echo more >> old.txt; mv swap swapped')"
    run(code, project, tmp_path / "run")
    assert tree(project) == before
    assert effects(tmp_path / "run", project) == {
        ("delete", "data"),
        ("write", "old.txt"),
        ("delete", "swap"),
        ("create", "swapped"),
    }


@pytest.mark.usefixtures("overlayfs")
def test_the_project_folder_looks_as_it_did(tmp_path: Path) -> None:
    project = write_files(tmp_path / "project", FILES)
    project.chmod(0o751)
    os.utime(project, (1, 2))
    code = "import os; s = os.stat('.'); print(oct(s.st_mode), s.st_mtime)"
    assert run(code, project, tmp_path / "run").stdout == "0o40751 2.0\n"


@pytest.mark.usefixtures("overlayfs")
def test_the_folders_of_runs_stay_real_inside_of_the_project(tmp_path: Path) -> None:
    project = write_files(tmp_path / "project", {**FILES, "work/run/": "", "work/other/": ""})
    code = "open('work/run/a', 'w'); open('work/other/b', 'w'); open('new', 'w')"
    done = run(code, project, project / "work/run")
    assert done.returncode == 0, done.stderr
    assert (project / "work/run/a").exists()
    assert (project / "work/other/b").exists()
    assert not (project / "new").exists()
    assert effects(project / "work/run", project) == {("create", "new")}


@pytest.mark.usefixtures("overlayfs")
def test_a_run_folder_right_inside_the_project_stays_real_alone(tmp_path: Path) -> None:
    project = write_files(tmp_path / "project", FILES)
    done = run("open('run/a', 'w'); open('new', 'w')", project, project / "run")
    assert done.returncode == 0, done.stderr
    assert (project / "run/a").exists()
    assert not (project / "new").exists()


@pytest.mark.usefixtures("overlayfs")
def test_a_project_with_something_mounted_inside_is_not_overlaid(tmp_path: Path) -> None:
    """It would vanish from sight, and with it, perhaps, the data."""
    project = write_files(tmp_path / "project", {**FILES, "in ner/x": "x"})
    (tmp_path / "inner run").mkdir()
    (tmp_path / "run").mkdir()
    command = [sys.executable, "-c", "open('ran', 'w')"]
    command = sandbox.wrap(command, str(project), str(tmp_path / "run"))
    command = sandbox.wrap(command, str(project / "in ner"), str(tmp_path / "inner run"))
    done = subprocess.run(
        command, cwd=project, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == overlay_mount.REFUSED
    assert f"{project / 'in ner'} is mounted inside the project" in done.stderr
    assert effects(tmp_path / "run", project) == set()


def test_a_command_that_cannot_be_shielded_does_not_run(tmp_path: Path) -> None:
    project = write_files(tmp_path / "project", FILES)
    (tmp_path / "run").mkdir()
    command = [sys.executable, "-c", "open('ran', 'w')"]
    wrapped = sandbox.wrap(command, str(project), str(tmp_path / "run"))
    folders.remove(str(tmp_path / "run" / "work"))
    done = subprocess.run(
        wrapped, cwd=project, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == overlay_mount.REFUSED
    assert done.stderr.startswith("torchlint: the project cannot be shielded by overlayfs: ")
    assert "Traceback" not in done.stderr
    assert not (project / "ran").exists()


@pytest.mark.usefixtures("overlayfs")
def test_a_layer_inside_of_a_layer_is_possible(tmp_path: Path) -> None:
    """As in a container, whose own files are on an overlayfs."""
    outer = write_files(tmp_path / "outer", {"project/x": "x"})
    code = "import sys; from torchlint.runtime.sandbox import overlayfs; print(overlayfs.available(*sys.argv[1:]))"
    root = str(Path(sandbox.__file__).parents[3])
    code = f"import sys; sys.path.insert(0, {root!r}); {code}"
    scratch = write_files(tmp_path / "scratch", {})
    done = run(code, outer, tmp_path / "run", argv=[str(outer / "project"), str(scratch)])
    assert done.stdout.strip() in {OVERLAYFS, REDIRECT}, done.stderr


@pytest.mark.usefixtures("overlayfs")
def test_a_network_of_its_own_is_a_loopback_with_every_port_free(tmp_path: Path) -> None:
    code = """if True:
        import socket
        with socket.create_server(("127.0.0.1", 8080)) as server:
            print(socket.create_connection(server.getsockname()).recv is not None)
        print([name for _, name in socket.if_nameindex() if name == "lo"])
        try:
            socket.create_connection(("192.0.2.1", 80))
        except OSError as error:
            print(error.strerror)
    """
    project = write_files(tmp_path / "project", {})
    (tmp_path / "run").mkdir()
    command = sandbox.wrap(
        [sys.executable, "-c", code], str(project), str(tmp_path / "run"), own_network=True
    )
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.stdout == "True\n['lo']\nNetwork is unreachable\n", done.stderr


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="there is no such folder")
@pytest.mark.usefixtures("overlayfs")
def test_shared_memory_is_the_run_s_own_and_shows_what_others_have_put_there(
    tmp_path: Path,
) -> None:
    code = """if True:
        import os, sys
        there = sys.argv[1]
        print(open(f"{there}/data/x").read(), open(f"{there}.bin").read())
        open(f"{there}-new", "w").write("new")
        print(os.path.exists(f"{there}-new"))
    """
    there = Path(f"/dev/shm/torchlint-test-{os.getpid()}")
    project = write_files(tmp_path / "project", {})
    beside = there.with_suffix(".bin")
    try:
        write_files(there, {"data/x": "x"})
        beside.write_text("b")
        done = run(code, project, tmp_path / "run", argv=[str(there)])
        assert done.stdout == "x b\nTrue\n", done.stderr
        assert not os.path.exists(f"{there}-new")
    finally:
        beside.unlink()
        assert folders.remove(str(there))
