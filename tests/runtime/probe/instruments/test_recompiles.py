"""What is compiled in a window is counted, with its function and the guard that failed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.runtime.probe.instruments.user_file import UserFile
from torchlint.runtime.probe.instrument_messages import CompiledFunction, RecompilesSeen
from torchlint.runtime.probe.instruments import recompiles

ROOT = Path(__file__).resolve().parents[4]
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

TRAIN = """
import torch

def scale(x, n):  # compiled
    return x * n

taken = 0
scaled = torch.compile(scale, backend="eager", dynamic=False)

def step(every=1):
    global taken
    taken += 1
    scaled(torch.ones(3), taken // every)
"""


def watched(user: UserFile, steps: int, **how: int) -> RecompilesSeen:
    return user.watched(recompiles, lambda: user.module.step(**how), steps)


def test_a_new_graph_at_each_step(tmp_path: Path) -> None:
    user = UserFile(tmp_path, TRAIN)
    user.module.step()
    found = watched(user, 4)
    assert (found.frames, found.in_steps, found.last) == (4, 4, 3)
    assert found.seconds > 0
    assert found.functions == [CompiledFunction(user.place("# compiled"), "scale", 4)]
    assert found.guards[0] == ("n == 1", 1)
    assert found.given_up == []


def test_compiled_code_that_serves(tmp_path: Path) -> None:
    user = UserFile(tmp_path, TRAIN)
    user.module.step(every=100)
    found = watched(user, 4, every=100)
    assert (found.frames, found.in_steps, found.last) == (0, 0, None)
    assert (found.seconds, found.functions, found.guards) == (0, [], [])


def test_a_function_that_dynamo_gave_up(tmp_path: Path) -> None:
    user = UserFile(tmp_path, TRAIN)
    for _ in range(12):
        user.module.step()
    found = watched(user, 3)
    assert found.frames == 0
    assert found.given_up == [user.place("return x * n")]


def test_graph_breaks_are_told_by_reason(tmp_path: Path) -> None:
    user = UserFile(
        tmp_path,
        """
        import torch

        @torch.compile(backend="eager")
        def function(x):
            y = x * 2
            torch._dynamo.graph_break()
            return y + 1

        def step():
            function(torch.ones(3))
        """,
    )
    ((reason, count),) = watched(user, 2).breaks
    assert "graph_break" in reason
    assert "\n" not in reason
    assert count == 1


def test_dynamos_reset_is_not_a_step_back(tmp_path: Path) -> None:
    user = UserFile(tmp_path, TRAIN)
    for _ in range(3):
        user.module.step()

    def step() -> None:
        torch._dynamo.utils.counters.clear()
        user.module.step()

    found = user.watched(recompiles, step, 1)
    assert (found.frames, found.in_steps) == (1, 1)
    assert [each.frames for each in found.functions] == [1]


def test_a_librarys_function_has_no_line_of_the_users(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    user = UserFile(tmp_path / "project", TRAIN)
    library = compile("def shift(x): return x + 1", str(tmp_path / "library.py"), "exec")
    exec(library, vars(user.module))
    shift = torch.compile(user.module.shift, backend="eager")

    def step() -> None:
        user.module.step()
        shift(torch.ones(3))

    found = user.watched(recompiles, step, 1)
    places = {each.name: each.place for each in found.functions}
    assert places == {"scale": user.place("# compiled"), "shift": None}


def test_dynamo_is_not_imported(tmp_path: Path) -> None:
    text = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from torchlint.runtime.probe.instruments import recompiles, shapes
from torchlint.runtime.probe.run_settings import RunSettings
for module in (recompiles, shapes):
    instrument = module.watch(RunSettings(main="train.py", project={str(tmp_path)!r}))
    before = "torch._dynamo" in sys.modules
    instrument.open()
    instrument.passed()
    found = instrument.close()
    assert ("torch._dynamo" in sys.modules) == before, module
    print(found)
"""
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{RecompilesSeen()}\n")
