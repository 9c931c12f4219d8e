"""The script runs as `python` runs it: it sees the same names and the same paths."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.runtime.probe.conftest import RunProbe, RunServed, Write

SELF_PORTRAIT = """
    import json, sys
    names = ["__name__", "__file__", "__package__", "__doc__", "__cached__"]
    main = sys.modules["__main__"]
    print(json.dumps({
        "names": {name: globals().get(name, "absent") for name in names},
        "annotations": __annotations__,
        "spec": __spec__ and [__spec__.name, __spec__.origin, __spec__.parent],
        "loader": [type(__loader__).__name__, __loader__.name, __loader__.path],
        "builtins": __builtins__ is sys.modules["builtins"],
        "is main": vars(main) is globals(),
        "argv": sys.argv,
        "path": sys.path,
        "code": sys._getframe().f_code.co_filename,
        "future": sys._getframe().f_code.co_flags & 0x1000000,
    }))
"""


def python(arguments: Sequence[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        check=True,
        capture_output=True,
        text=True,
        timeout=600,
    )


def portrait(run_served: RunServed, main: str, **how: Any) -> Any:
    return json.loads(run_served(main, argv=["--x", "1"], **how).lines[-1])


def true_portrait(arguments: Sequence[str], cwd: Path) -> Any:
    return json.loads(python(["-B", *arguments, "--x", "1"], cwd).stdout.splitlines()[-1])


@pytest.mark.parametrize(
    "path", ["train.py", "real/train.py", "link/train.py", "linked.py", "./real/../train.py"]
)
def test_a_script_sees_what_python_shows_it(run_served: RunServed, write: Write, path: str) -> None:
    root = write({"train.py": SELF_PORTRAIT, "real/train.py": SELF_PORTRAIT})
    (root / "link").symlink_to(root / "real")
    (root / "linked.py").symlink_to(root / "real" / "train.py")
    assert portrait(run_served, path) == true_portrait([path], root)


@pytest.mark.parametrize("name", ["pkg", "pkg.train", "pkg.sub.train", "single"])
def test_a_module_sees_what_python_shows_it(run_served: RunServed, write: Write, name: str) -> None:
    root = write(
        {
            "pkg/__init__.py": "",
            "pkg/__main__.py": SELF_PORTRAIT,
            "pkg/train.py": SELF_PORTRAIT,
            "pkg/sub/train.py": SELF_PORTRAIT,
            "single.py": SELF_PORTRAIT,
        }
    )
    assert portrait(run_served, name, as_module=True) == true_portrait(["-m", name], root)


def test_a_package_sees_dash_m_in_its_arguments(run_served: RunServed, write: Write) -> None:
    write({"pkg/__init__.py": "import sys; print(sys.argv)", "pkg/__main__.py": ""})
    assert run_served("pkg", as_module=True, argv=["a"]).lines == ["['-m', 'a']"]


def test_the_probe_keeps_out_of_sight(run_probe: RunProbe, write: Write) -> None:
    root = write({"train.py": SELF_PORTRAIT, "link.py": "", "record.py": ""})
    told = json.loads(run_probe("train.py", argv=["--x", "1"]).lines[-1])
    assert told == true_portrait(["train.py"], root)


def test_modules_of_the_user_win_over_the_probes(run_probe: RunProbe, write: Write) -> None:
    write(
        {
            "train.py": "import link, record, overlay; print(link.mine, record.mine, overlay.mine)",
            "link.py": "mine = 1",
            "record.py": "mine = 2",
            "overlay.py": "mine = 3",
        }
    )
    assert run_probe("train.py").lines == ["1 2 3"]


def test_a_safe_path_stays_safe(run_probe: RunProbe, write: Write) -> None:
    if sys.version_info < (3, 11):
        pytest.skip("Python 3.11 brought PYTHONSAFEPATH")
    root = write({"train.py": "import sys; print(sys.path)"})
    out = run_probe("train.py", env={"PYTHONSAFEPATH": "1"})
    assert out.lines == python(["-P", "train.py"], root).stdout.splitlines()
