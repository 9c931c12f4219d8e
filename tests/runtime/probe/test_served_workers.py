"""Processes that the script starts run what the overlay serves, however they are started."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.runtime.probe.conftest import RunServed, Write


def tree(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def python(arguments: list[str], cwd: Path) -> list[str]:
    """What plain Python prints."""
    done = subprocess.run(
        [sys.executable, "-B", *arguments],
        cwd=cwd,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=600,
    )
    return done.stdout.splitlines()


METHODS = ("fork", "spawn", "forkserver")

TRAIN = """
    import multiprocessing, os, sys
    {imports}

    WHO = "disk"
    SEEN = os.path.basename(sys.argv[0]), vars(sys.modules[__name__]) is globals()

    class Item:
        def __init__(self, text):
            self.text = text

    def work(item):
        return Item(" ".join((
            item.text, WHO, data.who(), __name__, os.path.basename(__file__), str(sys.argv[1:]),
            str(Item is sys.modules["__main__"].Item), os.environ.get("SET", ""),
            str(SEEN), str(__spec__ and __spec__.name), sys.modules["__main__"].Item.__module__,
        )))

    if __name__ == "__main__":
        os.environ["SET"] = "by the script"
        for method in {methods}:
            with multiprocessing.get_context(method).Pool(1) as pool:
                answer = pool.map(work, [Item("item")])[0]
            assert type(answer) is Item
            print(method, answer.text)
"""


@pytest.mark.parametrize("changed", [False, True], ids=["plain", "overlay"])
@pytest.mark.parametrize("as_module", [False, True], ids=["script", "module"])
def test_workers_of_every_start_method_run_what_python_would(
    run_served: RunServed, write: Write, as_module: bool, changed: bool
) -> None:
    text = TRAIN.format(
        imports="from app import data" if as_module else "import data", methods=METHODS
    )
    files = {"app/train.py": text, "app/data.py": "def who():\n    return 'disk'\n"}
    served = {name: text.replace("disk", "served") for name, text in files.items()}
    # What plain Python makes of the files that the overlay replaces.
    root = write(served if changed else files)
    main = ["-m", "app.train"] if as_module else ["app/train.py"]
    truth = python([*main, "--epochs", "1"], root)
    before = tree(write(files))
    out = run_served(
        main[-1],
        as_module=as_module,
        argv=["--epochs", "1"],
        overlay=served if changed else {},
    )
    assert out.lines == truth
    assert [line.split()[0] for line in out.lines] == list(METHODS)
    assert tree(root) == before


def test_workers_say_what_they_served(run_served: RunServed, write: Write) -> None:
    root = write(
        {
            "train.py": """
                import multiprocessing
                def work(_):
                    import data
                    return data.WHO
                if __name__ == "__main__":
                    with multiprocessing.get_context("spawn").Pool(1) as pool:
                        print(pool.map(work, [0]))
            """,
            "data.py": "",
        }
    )
    out = run_served("train.py", overlay={"data.py": "WHO = 1"})
    assert out.lines == ["[1]"]
    assert out.served == [str(root / "data.py")]


def test_a_package_that_is_run_is_not_run_again_by_its_workers(
    run_served: RunServed, write: Write
) -> None:
    write(
        {
            "app/__init__.py": "",
            "app/__main__.py": """
                from app import work
                if __name__ == "__main__":
                    import multiprocessing
                    for method in ("spawn", "forkserver"):
                        with multiprocessing.get_context(method).Pool(1) as pool:
                            print(pool.map(work.who, [0]))
                else:
                    print("a worker runs main")
            """,
            "app/work.py": "def who(_): return 'disk'",
        }
    )
    out = run_served("app", as_module=True, overlay={"app/work.py": "def who(_): return 'served'"})
    assert out.lines == ["['served']", "['served']"]


def test_a_worker_of_a_worker_is_served_too(run_served: RunServed, write: Write) -> None:
    write(
        {
            "train.py": """
                import multiprocessing as mp
                WHO = "disk"
                def inner(queue): queue.put(WHO)
                def outer(queue):
                    child = mp.get_context("forkserver").Process(target=inner, args=(queue,))
                    child.start(); child.join()
                if __name__ == "__main__":
                    queue = mp.get_context("spawn").Queue()
                    child = mp.get_context("spawn").Process(target=outer, args=(queue,))
                    child.start()
                    print(queue.get())
                    child.join()
            """
        }
    )
    text = (write({}) / "train.py").read_text()
    out = run_served("train.py", overlay={"train.py": text.replace("disk", "served")})
    assert out.lines == ["served"]


def test_modules_that_a_fork_server_preloads_are_served(
    run_served: RunServed, write: Write
) -> None:
    write(
        {
            "train.py": """
                import multiprocessing as mp, sys
                def work(_):
                    return before, sys.modules["data"].WHO
                before = "data" in sys.modules
                if __name__ == "__main__":
                    context = mp.get_context("forkserver")
                    context.set_forkserver_preload(["__main__", "data"])
                    with context.Pool(1) as pool:
                        print(pool.map(work, [0]))
            """,
            "data.py": "WHO = 'disk'",
        }
    )
    out = run_served("train.py", overlay={"data.py": "WHO = 'served'"})
    assert out.lines[0].endswith("'served')]")


@pytest.mark.parametrize("as_module", [False, True], ids=["script", "module"])
def test_a_fork_server_that_preloads_the_main_module_runs_it_once(
    run_served: RunServed, write: Write, as_module: bool
) -> None:
    text = """
        import multiprocessing as mp, os, sys
        from multiprocessing import spawn
        if __name__ == "__mp_main__":
            print("main runs in", mp.current_process().name, flush=True)
        def work(_): return "disk", __name__, sys.modules["__main__"].work is work
        def preloading(name, prepare=spawn.get_preparation_data):
            data = prepare(name)  # as CPython does since gh-126631
            if path := data.get("init_main_from_path"):
                data["main_path"] = path
            return data
        if __name__ == "__main__":
            spawn.get_preparation_data = preloading
            context = mp.get_context("forkserver")
            for name in ("first", "second"):
                child = context.Process(target=print, args=(name,), name=name)
                child.start()
                child.join()
            with context.Pool(1) as pool:
                print(pool.map(work, [0]))
    """
    served = text.replace("disk", "served")
    root = write({"train.py": served})
    main = ["-m", "train"] if as_module else ["train.py"]
    truth = python(main, root)
    write({"train.py": text})
    out = run_served(main[-1], as_module=as_module, overlay={"train.py": served})
    assert out.lines == truth
    assert ("main runs in MainProcess" in out.lines) is not as_module


def test_a_main_module_that_hides_its_file_is_not_run_by_workers(
    run_served: RunServed, write: Write
) -> None:
    write(
        {
            "train.py": """
                import multiprocessing, work
                del __file__
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    print(pool.map(work.who, [0]))
            """,
            "work.py": "def who(_): return 'disk'",
        }
    )
    out = run_served("train.py", overlay={"work.py": "def who(_): return 'served'"})
    assert out.lines == ["['served']"]


def test_the_missing_guard_is_reported_as_python_does(run_served: RunServed, write: Write) -> None:
    write(
        {
            "train.py": """
                import multiprocessing, os
                def work(): pass
                child = multiprocessing.get_context("spawn").Process(target=work)
                child.start(); child.join()
                raise SystemExit(child.exitcode)
            """
        }
    )
    out = run_served("train.py")
    assert out.code == 1
    assert "before the\n        current process has finished its bootstrapping phase" in out.stderr
