"""How a script's end is told: its status, its last words, and what outlives its main module."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from torchlint.runtime.probe.script.script_error import describe

if TYPE_CHECKING:
    from pathlib import Path

    from tests.runtime.probe.conftest import RunProbe, RunServed, Write
    from tests.warm_start import Start


@pytest.fixture
def start_python(warm_start: Start) -> Start:
    """An end does not depend on the beginning."""
    return warm_start


def python(path: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, path], cwd=cwd, check=False, capture_output=True, text=True, timeout=600
    )


@pytest.mark.parametrize(
    ("text", "status", "code"),
    [
        ("pass", "finished", 0),
        ("raise SystemExit", "exit", 0),
        ("raise SystemExit(3)", "exit", 3),
        ("raise SystemExit('no data')", "exit", 1),
        ("raise ValueError('bad')", "error", 1),
        ("raise KeyboardInterrupt", "error", 1),
    ],
)
def test_an_end_is_reported(
    run_served: RunServed, run_probe: RunProbe, write: Write, text: str, status: str, code: int
) -> None:
    root = write({"train.py": text})
    ended = run_probe("train.py", fresh=status == "finished").ended
    assert (ended["status"], ended["code"], ended["steps"]) == (status, code, 0)
    assert (ended["error"] is not None) == (status == "error")
    assert run_served("train.py").stderr == python("train.py", root).stderr


def test_a_traceback_has_the_frames_of_the_script_alone(
    run_served: RunServed, run_probe: RunProbe, write: Write
) -> None:
    root = write(
        {
            "train.py": """
                import data
                def load():
                    try:
                        data.read({})
                    except KeyError as error:
                        raise RuntimeError("no data") from error
                load()
            """,
            "data.py": "def read(files):\n    return files['train']\n",
        }
    )
    words = python("train.py", root).stderr
    assert run_served("train.py").stderr == words
    out = run_probe("train.py", fresh=True)
    assert out.stderr == words
    assert out.ended["error"] == {
        "type": "RuntimeError",
        "text": "no data",
        "traceback": words,
        "oom": False,
        "path": str(root / "train.py"),
        "row": 7,
    }


def test_a_script_that_does_not_parse_names_its_line(run_probe: RunProbe, write: Write) -> None:
    root = write({"train.py": "x = 1\nif x:\n"})
    out = run_probe("train.py")
    assert out.ended["error"]["type"] == "IndentationError"
    assert (out.ended["error"]["path"], out.ended["error"]["row"]) == (str(root / "train.py"), 2)
    assert out.stderr.splitlines()[-1] == python("train.py", root).stderr.splitlines()[-1]


def test_an_error_in_a_library_is_placed_in_the_project(run_probe: RunProbe, write: Write) -> None:
    root = write({"train.py": "import json\n\njson.loads('{')\n"})
    error = run_probe("train.py").ended["error"]
    assert (error["type"], error["path"], error["row"]) == (
        "JSONDecodeError",
        str(root / "train.py"),
        3,
    )


@pytest.mark.parametrize(
    ("raised", "oom"),
    [
        ("MemoryError()", True),
        ("torch.OutOfMemoryError('CUDA out of memory. Tried to allocate 2 GiB')", True),
        ("RuntimeError('CUDA error: out of memory')", True),
        ('RuntimeError("DefaultCPUAllocator: can\'t allocate memory: you tried")', True),
        ("RuntimeError('CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling')", True),
        ("ValueError('ran out of memory cells to train')", False),
        ("RuntimeError('shapes do not match')", False),
    ],
)
def test_running_out_of_memory_is_told_apart(raised: str, oom: bool) -> None:
    torch = pytest.importorskip("torch")
    error = eval(raised, {"torch": torch})
    assert describe(error, "/").oom is oom


def test_an_error_that_cannot_say_what_it_is_still_ends_the_run(
    run_probe: RunProbe, write: Write
) -> None:
    write(
        {
            "train.py": """
                class Mute(Exception):
                    def __str__(self): raise ValueError
                raise Mute
            """
        }
    )
    assert run_probe("train.py").ended["error"]["type"] == "Mute"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("how", ["sys.{}.close()", "sys.{} = None", "del sys.{}"])
def test_an_end_without_a_voice_is_reported(
    run_probe: RunProbe, write: Write, how: str, stream: str
) -> None:
    write({"train.py": f"import sys\n{how.format(stream)}\n1 / 0"})
    assert run_probe("train.py").ended["error"]["type"] == "ZeroDivisionError"


def test_a_module_that_is_not_there_is_an_error(run_probe: RunProbe, write: Write) -> None:
    write({"pkg/__init__.py": ""})
    for name in ("pkg.missing", "pkg", "missing", "missing.too"):
        error = run_probe(name, as_module=True).ended["error"]
        assert error["type"] == "ModuleNotFoundError"


# What outlives the main module -------------------------------------------------------------


def test_the_end_waits_for_a_thread(run_probe: RunProbe, write: Write) -> None:
    write(
        {
            "train.py": """
                import threading
                def train(main):
                    main.join()
                    print("trained")
                threading.Thread(target=train, args=(threading.current_thread(),)).start()
            """
        }
    )
    assert run_probe("train.py").lines == ["trained"]


def test_a_pool_of_threads_left_open_does_not_hang(run_probe: RunProbe, write: Write) -> None:
    write(
        {
            "train.py": """
                from concurrent.futures import ThreadPoolExecutor
                pool = ThreadPoolExecutor()
                print(pool.submit(int, "3").result())
            """
        }
    )
    assert run_probe("train.py").lines == ["3"]


def test_the_end_waits_for_a_process(run_probe: RunProbe, write: Write) -> None:
    write(
        {
            "train.py": """
                import multiprocessing, time
                def train():
                    time.sleep(0.5)
                    print("trained", flush=True)
                multiprocessing.get_context("fork").Process(target=train).start()
            """
        }
    )
    assert run_probe("train.py").lines == ["trained"]


def test_the_end_does_not_wait_for_a_daemon(run_probe: RunProbe, write: Write) -> None:
    write(
        {
            "train.py": """
                import multiprocessing, threading, time
                fork = multiprocessing.get_context("fork")
                for kind in (fork.Process, threading.Thread):
                    kind(target=time.sleep, args=(1000,), daemon=True).start()
            """
        }
    )
    assert run_probe("train.py").ended["status"] == "finished"


def test_a_copy_that_the_script_forks_ends_by_itself(run_probe: RunProbe, write: Write) -> None:
    write(
        {
            "train.py": """
                import os, sys
                pid = os.fork()
                if pid == 0:
                    sys.exit(7)
                print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            """
        }
    )
    out = run_probe("train.py")
    assert out.lines == ["7"]
    assert len(out.of("ended")) == 1


def test_nothing_registered_for_the_exit_runs(run_probe: RunProbe, write: Write) -> None:
    root = write(
        {"train.py": "import atexit; atexit.register(lambda: open('left', 'w'))\nprint('ok')"}
    )
    assert run_probe("train.py").lines == ["ok"]
    assert not (root / "left").exists()
