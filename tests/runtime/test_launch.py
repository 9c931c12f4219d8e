"""Starting a run, and what it says when it does not work."""

from __future__ import annotations

import os
import platform
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from torchlint.runtime import run as run_module
from torchlint.runtime.failures import Failed, OutOfTime
from torchlint.runtime.probe.run_settings import VARIABLE, read
from torchlint.runtime.run import Run
from torchlint.runtime.run_variables import malloc_settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.scenes import Scene
    from torchlint.runtime.run import Job

TELL = """
import os, sys
link.send(type="told", cwd=os.getcwd(), pid=os.getpid(), sid=os.getsid(0), argv=sys.argv,
          environ=dict(os.environ), stdin=sys.stdin.read(), rank=int(os.environ.get("RANK", 0)))
link.wait()
"""


def tell(scene: Scene, job: Job) -> Mapping[str, object]:
    """What the script of the job says first."""
    with scene.workspace() as workspace, Run(job, workspace) as child:
        child.greet(20)
        child.start()
        while (found := child.receive(20, "tell"))[1].kind == "hello":
            pass
        return found[1].values


def run(scene: Scene, job: Job, timeout_s: float) -> None:
    with scene.workspace() as workspace, Run(job, workspace) as child:
        child.greet(timeout_s)
        child.start()
        while True:
            child.receive(timeout_s, "say something")


def failure(scene: Scene, job: Job, timeout_s: float = 20.0) -> Failed:
    """Why the job fails before it says anything that matters."""
    with pytest.raises(Failed) as raised:
        run(scene, job, timeout_s)
    return raised.value


def test_a_run_starts_in_the_folder_of_the_user(scene: Scene) -> None:
    told = tell(scene, scene.job(TELL))
    assert told["cwd"] == os.path.realpath(scene.folder)
    assert told["sid"] == told["pid"] != os.getsid(0)


def test_a_run_does_not_read_what_the_user_types(scene: Scene) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"typed")
    before = os.dup(0)
    os.dup2(reader, 0)
    try:
        assert tell(scene, scene.job(TELL))["stdin"] == ""
    finally:
        os.dup2(before, 0)
        for descriptor in (reader, writer, before):
            os.close(descriptor)


def test_every_run_reads_its_input_from_the_beginning(scene: Scene, tmp_path: Path) -> None:
    (tmp_path / "input").write_text("yes\n")
    job = replace(scene.job(TELL), stdin=str(tmp_path / "input"))
    assert [tell(scene, job)["stdin"], tell(scene, job)["stdin"]] == ["yes\n", "yes\n"]


def test_a_run_ends_at_the_deadline_of_its_workspace(scene: Scene) -> None:
    with scene.workspace() as workspace:
        workspace.deadline = time.monotonic() - 1
        with Run(scene.job("link.wait()"), workspace) as child, pytest.raises(OutOfTime):
            child.greet(1000)


def test_a_run_gets_this_environment_and_the_jobs(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINE", "1")
    monkeypatch.setenv("BOTH", "1")
    job = scene.job(TELL, threads=3)
    job = replace(job, environment={**job.environment, "BOTH": "2"})
    environ = tell(scene, job)["environ"]
    assert (environ["MINE"], environ["BOTH"]) == ("1", "2")
    assert environ["PYTHONDONTWRITEBYTECODE"] == "1"
    assert environ["OMP_NUM_THREADS"] == environ["MKL_NUM_THREADS"] == "3"


def test_what_is_compiled_is_kept_where_the_user_keeps_it(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("getpass.getuser", lambda: "me")
    temporary = str(scene.temporary)
    assert tell(scene, scene.job(TELL))["environ"]["TORCHINDUCTOR_CACHE_DIR"].startswith(temporary)
    (tmp_path / "torchinductor_me").mkdir()
    environ = tell(scene, scene.job(TELL))["environ"]
    assert environ["TORCHINDUCTOR_CACHE_DIR"] == str(tmp_path / "torchinductor_me")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", "mine")
    assert tell(scene, scene.job(TELL))["environ"]["TORCHINDUCTOR_CACHE_DIR"] == "mine"


def test_threads_and_devices_are_left_alone_unless_asked_for(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    environ = tell(scene, scene.job(TELL))["environ"]
    assert (environ["OMP_NUM_THREADS"], environ["CUDA_VISIBLE_DEVICES"]) == ("7", "1")


def test_a_cpu_run_sees_no_gpu(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    environ = tell(scene, scene.job(TELL, device="cpu"))["environ"]
    assert environ["CUDA_VISIBLE_DEVICES"] == ""


def test_the_settings_name_the_socket_and_the_folder(scene: Scene) -> None:
    with scene.workspace() as workspace, Run(scene.job(TELL), workspace) as child:
        child.greet(20)
        child.start()
        _, told = child.receive(20, "tell")
        settings = read(told.values["environ"][VARIABLE])
    assert settings.scratch == child.folder
    assert os.path.dirname(settings.socket) == workspace.root
    assert len(os.fsencode(settings.socket)) < 104


def test_the_script_waits_for_its_start(scene: Scene) -> None:
    with scene.workspace() as workspace, Run(scene.job(TELL), workspace) as child:
        child.greet(20)
        assert child.poll(0.2) is None
        child.start()
        assert child.receive(20, "tell")[1].kind == "told"


def test_torchrun_starts_every_rank(scene: Scene) -> None:
    with scene.workspace() as workspace, Run(scene.job(TELL, nproc=3), workspace) as child:
        child.greet(20)
        assert sorted((peer.rank, peer.hello.world) for peer in child.peers) == [
            (0, 3),
            (1, 3),
            (2, 3),
        ]
        child.start()
        ranks = {child.receive(20, "tell")[1].values["rank"] for _ in range(3)}
    assert ranks == {0, 1, 2}


def test_torchrun_is_not_taken_from_the_users_folder(scene: Scene) -> None:
    (scene.folder / "torch.py").write_text("raise SystemExit('the wrong one')")
    (scene.folder / "subprocess.py").write_text("raise SystemExit('the wrong one')")
    assert tell(scene, scene.job(TELL, nproc=2))["rank"] in {0, 1}


def test_an_overlayfs_run_is_wrapped(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrap(command: list[str], project: str, folder: str, *, own_network: bool) -> list[str]:
        assert not own_network
        return ["env", f"PROJECT={project}", f"FOLDER={folder}", *command]

    monkeypatch.setattr(run_module, "wrap", wrap)
    environ = tell(scene, scene.job(TELL, sandbox="overlayfs"))["environ"]
    assert environ["PROJECT"] == str(scene.folder)
    assert os.path.dirname(environ["FOLDER"]).startswith(str(scene.temporary))


# failures -----------------------------------------------------------------------------------

RAISED = """
link.end("error", 1, 4, {"type": "ValueError", "text": "no such.\\nthing", "oom": False,
                         "traceback": "Traceback\\n  line", "path": "train.py", "row": 9})
"""


def test_an_exception_is_told_in_one_sentence(scene: Scene) -> None:
    failed = failure(scene, scene.job(RAISED, "only fused"))
    assert str(failed) == failed.message == "The script raised ValueError: no such."
    assert (failed.status, failed.kind, failed.steps) == ("error", "ValueError", 4)
    assert (failed.name, failed.place) == ("only fused", ("train.py", 9))
    assert failed.tail == "Traceback\n  line"
    assert not failed.oom


def test_an_exception_without_words(scene: Scene) -> None:
    body = 'link.end("error", 1, 0, {"type": "MemoryError", "text": "", "oom": True})'
    failed = failure(scene, scene.job(body))
    assert failed.message == "The script raised MemoryError."
    assert failed.oom
    assert failed.place is None


def test_an_exit_code_is_an_error(scene: Scene) -> None:
    body = """
    import sys
    print("usage: train.py DATA", file=sys.stderr, flush=True)
    link.end("exit", 2)
    """
    failed = failure(scene, scene.job(body))
    assert (failed.status, failed.kind) == ("error", "exit code 2")
    assert failed.message == "The script exited with code 2."
    assert failed.tail == "usage: train.py DATA"


@pytest.mark.parametrize("body", ['link.end("exit", 0)', "link.end()"])
def test_an_end_is_an_end(scene: Scene, body: str) -> None:
    failed = failure(scene, scene.job(body))
    assert (failed.status, failed.steps) == ("finished", 3)


def test_a_hard_exit_is_a_crash(scene: Scene) -> None:
    body = """
    import os, sys
    print("gave up", file=sys.stderr, flush=True)
    os._exit(3)
    """
    failed = failure(scene, scene.job(body))
    assert (failed.status, failed.kind, failed.tail) == ("crashed", "exit code 3", "gave up")
    assert failed.message == "The process died with exit code 3."


def test_a_hard_exit_without_a_complaint_is_an_end(scene: Scene) -> None:
    failed = failure(scene, scene.job("import os; os._exit(0)"))
    assert (failed.status, failed.message) == ("finished", "The script ended through os._exit.")


@pytest.mark.parametrize(
    ("name", "oom"), [("SIGSEGV", False), ("SIGABRT", False), ("SIGTERM", False), ("SIGKILL", True)]
)
def test_a_signal_is_named(scene: Scene, name: str, oom: bool) -> None:
    body = f"""
    import os, resource, signal
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.kill(os.getpid(), signal.{name})
    link.wait()
    """
    failed = failure(scene, scene.job(body))
    assert (failed.status, failed.kind, failed.oom) == ("crashed", name, oom)
    assert failed.message == f"The process was ended by {name}."


def test_a_fault_in_native_code_shows_where(scene: Scene) -> None:
    body = """
    import ctypes, resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ctypes.string_at(0)
    """
    failed = failure(scene, scene.job(body))
    assert failed.kind == "SIGSEGV"
    assert "string_at" in failed.tail


def test_a_crash_is_seen_though_a_fork_holds_the_connection(scene: Scene) -> None:
    body = """
    import os, time
    if os.fork() == 0:
        note()
        while True:
            time.sleep(100)
    os._exit(3)
    """
    assert failure(scene, scene.job(body)).kind == "exit code 3"


def test_a_crash_before_the_start_is_told(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.probe.write_text("import sys; sys.exit('cannot import')")
    failed = failure(scene, scene.job(""))
    assert (failed.status, failed.tail) == ("crashed", "cannot import")


def test_a_rank_that_crashes_ends_the_run(scene: Scene) -> None:
    body = """
    import os, sys
    if os.environ["RANK"] == "1":
        print("rank 1 gave up", file=sys.stderr, flush=True)
        os._exit(3)
    link.wait()
    """
    failed = failure(scene, scene.job(body, nproc=2))
    assert (failed.status, failed.tail) == ("crashed", "rank 1 gave up")


def test_torchrun_says_how_its_rank_ended(scene: Scene) -> None:
    body = """
    import os, sys
    print("  exitcode  : -11 (pid: 7)", file=sys.stderr, flush=True)
    os._exit(1)
    """
    assert failure(scene, scene.job(body)).kind == "exit code 1"
    failed = failure(scene, scene.job(body, nproc=2))
    assert (failed.status, failed.kind) == ("crashed", "SIGSEGV")


def test_a_rank_that_ends_is_not_the_end(scene: Scene) -> None:
    body = """
    import os
    if os.environ["RANK"] == "1":
        link.end()
    assert link.receive()["type"] == "turn"
    link.end(steps=9)
    """
    with scene.workspace() as workspace, Run(scene.job(body, nproc=2), workspace) as child:
        child.greet(20)
        child.start()
        while child.receive(20, "end")[1].kind != "ended":
            pass
        for peer in child.peers:
            child.send(peer, "turn", settle=0, steps=1)
        with pytest.raises(Failed) as raised:
            child.receive(20, "end")
    assert (raised.value.status, raised.value.steps) == ("finished", 9)


def test_an_exception_in_one_rank_is_the_end(scene: Scene) -> None:
    body = """
    import os
    if os.environ["RANK"] == "1":
        link.end("error", 1, 2, {"type": "ValueError", "text": "x", "oom": False})
    link.wait()
    """
    assert failure(scene, scene.job(body, nproc=2), 5.0).kind == "ValueError"


def test_silence_is_a_failure(scene: Scene) -> None:
    failed = failure(scene, scene.job("link.wait()"), timeout_s=0.5)
    assert (failed.status, failed.name) == ("timeout", "original")
    assert failed.message == "The run did not say something: it sent nothing for 0.5 s."


def test_a_run_that_compiles_may_be_silent(scene: Scene) -> None:
    body = """
    link.send(type="compiling", begun=True)
    link.receive()
    link.send(type="compiling", begun=False)
    link.wait()
    """
    with scene.workspace() as workspace, Run(scene.job(body), workspace) as child:
        child.greet(20)
        child.start()
        peer, _ = child.receive(20, "compile")
        workspace.deadline = time.monotonic() + 0.3
        with pytest.raises(OutOfTime, match=r"torch\.compile was still compiling"):
            child.receive(0.01, "take enough steps")
        workspace.deadline = time.monotonic() + 0.3
        with pytest.raises(OutOfTime, match=r"torch\.compile was still compiling"):
            list(child.reports("survey", 0.01, "take enough steps"))
        workspace.deadline = None
        with pytest.raises(Failed, match=r"sent nothing for 0\.05 s"):
            list(child.reports("survey", 20, "take enough steps", compiling_s=0.05))
        child.send(peer, "turn")
        assert child.receive(20, "end")[1].kind == "compiling"
        with pytest.raises(Failed) as raised:
            child.receive(0.01, "take enough steps")
    assert raised.value.status == "timeout"


def test_silence_before_the_start_is_a_failure(scene: Scene) -> None:
    scene.probe.write_text(scene.probe.read_text().replace('Link("main")', "1\nwhile True: pass"))
    assert failure(scene, scene.job(""), 0.5).message == (
        "The run did not start: it sent nothing for 0.5 s."
    )


def test_a_script_that_closes_the_connection_is_a_failure(scene: Scene) -> None:
    scene.monkeypatch.setattr(run_module, "_LAST_BREATH_S", 0.2)
    body = """
    import os, time
    os.closerange(3, 100)
    while True:
        time.sleep(100)
    """
    failed = failure(scene, scene.job(body))
    assert failed.status == "crashed"
    assert "broke the connection" in failed.message


@pytest.mark.parametrize("words", [b"hello?\\n", b'{"type": "ended", "code": "0"}\\n'])
def test_what_is_not_understood_is_a_failure(scene: Scene, words: bytes) -> None:
    failed = failure(scene, scene.job(f"link.raw({words!r})\nlink.wait()".replace("\\\\n", "\\n")))
    assert (failed.status, failed.kind) == ("error", "protocol")


def test_a_folder_that_is_gone_is_a_failure(scene: Scene) -> None:
    failed = failure(scene, replace(scene.job(""), cwd=str(scene.folder / "gone")))
    assert failed.status == "error"
    assert failed.message.startswith("The run could not be started: ")
    assert "gone" in failed.message


def test_the_tail_is_short_and_harmless(scene: Scene) -> None:
    body = r"""
    import sys
    for number in range(20_000):
        print("\x1b[31m\rline", number, file=sys.stderr)
    sys.stderr.flush()
    link.end("exit", 1)
    """
    tail = failure(scene, scene.job(body)).tail
    assert tail.splitlines()[-1] == "line 19999"
    assert len(tail.splitlines()) == 20
    assert "\x1b" not in tail


def test_a_workspace_that_stops_ends_the_wait(scene: Scene) -> None:
    with scene.workspace() as workspace, Run(scene.job("link.wait()"), workspace) as child:
        child.greet(20)
        workspace.stop()
        with pytest.raises(Failed, match="was stopped"):
            child.receive(1000, "say something")


# malloc -------------------------------------------------------------------------------------


@pytest.fixture
def glibc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "libc_ver", lambda: ("glibc", "2.36"))
    for name in list(os.environ):
        if name.startswith("MALLOC_"):
            monkeypatch.delenv(name)


def test_glibc_keeps_its_memory(glibc: None) -> None:
    assert malloc_settings() == {
        "MALLOC_MMAP_THRESHOLD_": "4294967296",
        "MALLOC_TRIM_THRESHOLD_": "17179869184",
        "MALLOC_TOP_PAD_": "268435456",
    }


def test_what_the_user_has_set_stays(glibc: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALLOC_TOP_PAD_", "1")
    assert "MALLOC_TOP_PAD_" not in malloc_settings()


@pytest.mark.parametrize(("system", "libc"), [("linux", ""), ("darwin", "")])
def test_other_allocators_are_left_alone(
    glibc: None, monkeypatch: pytest.MonkeyPatch, system: str, libc: str
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "libc_ver", lambda: (libc, ""))
    assert malloc_settings() == {}
