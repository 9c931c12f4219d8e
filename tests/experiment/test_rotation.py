"""Variants that take turns."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from torchlint.experiment import rotation
from torchlint.experiment.rotation import Block, Round, rotate
from torchlint.runtime.failures import Failed
from torchlint.runtime.processes.process_tree import ProcessTree
from torchlint.runtime.run import Run

if TYPE_CHECKING:
    from tests.scenes import Scene, WaitsUntil
    from torchlint.runtime.run import Job

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")

PLAN = {"warmup": 7, "settle": 1, "steps": 5, "blocks": 3, "seed": 0, "timeout_s": 20.0}


def turn_round(scene: Scene, jobs: dict[str, Job], **more: Any) -> Round:
    with scene.workspace() as workspace:
        return rotate(jobs, workspace, **{**PLAN, **more})


def both(scene: Scene, first: str, second: str, **more: Any) -> dict[str, Job]:
    return {"a": scene.job(first, "a", **more), "b": scene.job(second, "b", **more)}


def failure(scene: Scene, jobs: dict[str, Job], **more: Any) -> Failed:
    with pytest.raises(Failed) as raised:
        turn_round(scene, jobs, **more)
    return raised.value


def test_every_variant_gives_as_many_blocks(scene: Scene, turns: str) -> None:
    done = turn_round(scene, both(scene, turns, turns))
    assert {name: len(blocks) for name, blocks in done.blocks.items()} == {"a": 3, "b": 3}
    assert not done.finished
    assert done.blocks["a"][0] == Block(5, 0.5, 0.25, None, 10.0, None)


def test_each_run_warms_up_and_then_takes_its_turns(scene: Scene, turns: str) -> None:
    turn_round(scene, both(scene, turns, turns))
    told = [what for variant, what in scene.logged() if variant == "a"]
    warmup = {"type": "turn", "settle": 7, "steps": 0}
    assert told == ["start", warmup, *[{"type": "turn", "settle": 1, "steps": 5}] * 3]


def test_the_order_is_drawn_again_in_every_round(scene: Scene, turns: str) -> None:
    def order(seed: int) -> list[tuple[str, ...]]:
        (scene.notes / "log").unlink(missing_ok=True)
        turn_round(scene, {n: scene.job(turns, n) for n in "abc"}, blocks=6, seed=seed)
        taken = [variant for variant, what in scene.logged() if what != "start"]
        return [tuple(taken[i : i + 3]) for i in range(0, len(taken), 3)]

    drawn = order(1)
    assert all(sorted(each) == ["a", "b", "c"] for each in drawn)
    assert len(set(drawn)) > 1
    assert order(1) == drawn
    assert order(2) != drawn


def test_a_run_that_waits_for_a_lock_of_a_stopped_one_is_not_waited_for(
    scene: Scene, turns: str
) -> None:
    lock = f"""
import fcntl
lock = open({str(scene.notes / "lock")!r}, "a")
fcntl.flock(lock, fcntl.LOCK_EX)
{turns}"""
    failed = failure(scene, both(scene, lock, lock), timeout_s=10_000)
    assert "a lock that another run holds" in failed.message


WATCHES = """
import os, time
reader, writer = os.pipe()
if os.fork() == 0:
    note()
    os.write(writer, b"x")
    while True:
        time.sleep(100)
os.read(reader, 1)

def state(pid):
    with open(f"/proc/{pid}/stat") as stream:
        return stream.read().rpartition(")")[2].split()[0]

def is_mine(pid):
    with open(f"/proc/{pid}/environ") as stream:
        return "TORCHLINT_RUN=" + os.environ["TORCHLINT_RUN"] in stream.read().split("\\0")

turn = link.ready()
while True:
    pids = open(os.environ["FAKE_PIDS"]).read().split()
    own = {pid for pid in pids if is_mine(pid)}
    until = time.monotonic() + 200
    while {state(pid) for pid in pids if pid not in own} != {"T"} and time.monotonic() < until:
        pass
    others = {state(pid) for pid in pids if pid not in own}
    log([turn["steps"], sorted(others), "T" in {state(pid) for pid in own}, len(pids)])
    turn = link.block(turn)
"""


@linux
@pytest.mark.parametrize("nproc", [1, 2])
def test_the_others_are_stopped_with_all_that_belongs_to_them(scene: Scene, nproc: int) -> None:
    jobs = {name: scene.job(WATCHES, name, nproc) for name in "ab"}
    turn_round(scene, jobs)
    seen = [what for _, what in scene.logged() if what != "start"]
    assert len(seen) == 8 * nproc
    assert seen == [[steps, ["T"], False, 4 * nproc] for steps, *_ in seen]


def test_runs_can_be_warmed_up_alone(scene: Scene, turns: str) -> None:
    jobs = both(scene, turns, turns)
    turn_round(scene, jobs, blocks=1, serial_warmup=True)
    begun = [(variant, what == "start") for variant, what in scene.logged()]
    first, second = begun[0][0], begun[2][0]
    assert begun[:4] == [(first, True), (first, False), (second, True), (second, False)]


# ends ---------------------------------------------------------------------------------------

ENDS_AFTER = """
turn = link.ready()
for number in range({turns}):
    turn = link.block(turn, wall=1.0 + number)
link.end()
"""


@pytest.mark.parametrize(("turns_taken", "left"), [(3, 2), (2, 1), (1, 0), (0, 0)])
def test_a_script_that_ends_early_leaves_whole_rounds(
    scene: Scene, turns: str, turns_taken: int, left: int
) -> None:
    jobs = both(scene, turns, ENDS_AFTER.format(turns=turns_taken))
    done = turn_round(scene, jobs, blocks=5)
    assert done.finished
    assert [len(done.blocks[name]) for name in "ab"] == [left, left]
    assert [block.wall for block in done.blocks["b"]] == [2.0 + each for each in range(left)]


def test_a_script_that_ends_after_the_last_round_has_not_finished(scene: Scene, turns: str) -> None:
    done = turn_round(scene, both(scene, turns, ENDS_AFTER.format(turns=4)), blocks=3)
    assert not done.finished
    assert len(done.blocks["b"]) == 3


def test_a_script_that_ends_before_its_first_step_is_a_failure(scene: Scene, turns: str) -> None:
    failed = failure(scene, both(scene, turns, "link.end()"))
    assert (failed.status, failed.name) == ("finished", "b")


# failures -----------------------------------------------------------------------------------

FAILURES = {
    "exception": (
        'link.end("error", 1, 2, {"type": "ValueError", "text": "x", "oom": False})',
        "error",
    ),
    "exit code": ("import os; os._exit(3)", "crashed"),
    "signal": (
        "import resource, os\n"
        "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
        "os.kill(os.getpid(), 11)\n"
        "link.wait()",
        "crashed",
    ),
    "silence": ("link.wait()", "timeout"),
}
MOMENTS = {
    "before the first step": "",
    "in the warm-up": "turn = link.ready()\n",
    "in a turn": "turn = link.ready()\nturn = link.block(turn)\n",
}


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("what", FAILURES)
def test_a_failure_names_its_variant(scene: Scene, turns: str, what: str, moment: str) -> None:
    body, status = FAILURES[what]
    patience = 1.0 if status == "timeout" else 20.0
    failed = failure(scene, both(scene, turns, MOMENTS[moment] + body), timeout_s=patience)
    assert (failed.status, failed.name) == (status, "b")


@pytest.mark.parametrize(
    "values",
    [
        "steps=0",
        "steps=-1",
        "wall=0.0",
        "wall=-1.0",
        "gpu=0.0",
        "wall='1'",
        "wall=float('nan')",
        "steps=1.5",
        "memory_mb=None",
        "throttled=1",
        "compiled=None",
    ],
)
def test_a_block_that_cannot_be_is_a_failure(scene: Scene, turns: str, values: str) -> None:
    body = f"turn = link.block(link.ready())\nlink.block(turn, {values})"
    failed = failure(scene, both(scene, turns, body))
    assert (failed.status, failed.kind, failed.name) == ("error", "protocol", "b")


# ranks --------------------------------------------------------------------------------------

RANK = """
import os
rank = int(os.environ["RANK"])
turn = link.ready()
while True:
    turn = link.block(turn, wall=[1.0, 2.0][rank], memory_mb=[9.0, 8.0][rank],
                      throttled=[True, False][rank], compiled=[True, False][rank])
"""
SPAWNS = """
import os
def train(rank):
    note()
    link = Link()
    turn = link.ready()
    while True:
        log(rank)
        turn = link.block(turn, wall=1.0 + rank)
for rank in range(2):
    if os.fork() == 0:
        train(rank)
os.wait()
"""


def test_the_slowest_rank_counts(scene: Scene) -> None:
    jobs = {"a": scene.job(RANK, "a", nproc=2)}
    assert turn_round(scene, jobs, blocks=2).blocks == {
        "a": (Block(5, 2.0, 0.25, None, 9.0, True, True, ranks=((0, 0.2), (1, 0.4))),) * 2
    }


def test_children_of_the_script_are_its_ranks(scene: Scene) -> None:
    jobs = {"a": scene.job(SPAWNS, "a"), "b": scene.job(SPAWNS, "b")}
    done = turn_round(scene, jobs, ranks=2)
    assert [block.wall for block in done.blocks["b"]] == [2.0] * 3
    ranks = [what for variant, what in scene.logged() if variant == "a" and what != "start"]
    assert sorted(ranks) == [0] * 4 + [1] * 4


def test_a_rank_that_never_steps_is_waited_for_in_vain(scene: Scene) -> None:
    failed = failure(scene, {"a": scene.job(SPAWNS, "a")}, ranks=3, timeout_s=1.0)
    assert failed.status == "timeout"
    assert "its first step" in failed.message


def test_a_rank_that_steps_late_joins_in(scene: Scene) -> None:
    body = """
    import os
    turn = link.ready()
    late = Link()
    more = late.ready()
    while True:
        link.block(turn, wait=False)
        more = late.block(more, wall=3.0)
        turn = link.receive()
    """
    done = turn_round(scene, {"a": scene.job(body, "a")}, blocks=2)
    assert [block.wall for block in done.blocks["a"]] == [3.0, 3.0]


LEAVES = """
import os
if os.fork() == 0:
    note()
    link = Link()
    turn = link.ready()
    for _ in range(2):
        turn = link.block(turn)
    os._exit(0)
os.wait()
{then}
"""


def test_a_rank_that_leaves_ends_the_measurement(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rotation, "_GRACE_S", 0.3)
    done = turn_round(scene, {"a": scene.job(LEAVES.format(then="link.wait()"), "a")}, ranks=1)
    assert done.finished
    assert len(done.blocks["a"]) == 1


def test_the_script_may_still_say_why_a_rank_left(scene: Scene) -> None:
    raises = 'link.end("error", 1, 2, {"type": "ProcessExitedException", "text": ""})'
    failed = failure(scene, {"a": scene.job(LEAVES.format(then=raises), "a")}, ranks=1)
    assert failed.kind == "ProcessExitedException"


# whatever happens ---------------------------------------------------------------------------

LEAVES_TRACES = """
import os, signal, time
def linger() -> None:
    note()
    while True:
        time.sleep(100)
if os.fork() == 0:  # a daemon
    os.setsid()
    if os.fork() == 0:
        linger()
    os._exit(0)
os.wait()
if os.fork() == 0:
    linger()
if (pid := os.fork()) == 0:
    note()
    os.kill(os.getpid(), signal.SIGSTOP)
    linger()
os.waitpid(pid, os.WUNTRACED)
turn = link.ready()
while True:
    log(turn)
    turn = link.block(turn)
"""


@linux
@pytest.mark.parametrize("moment", range(9))
def test_ctrl_c_leaves_nothing(scene: Scene, monkeypatch: pytest.MonkeyPatch, moment: int) -> None:
    """The moments are those in which something is waited for."""
    calls = iter(range(100))
    poll = Run.poll

    def interrupted(child: Run, wait_s: float) -> object:
        if next(calls) == moment:
            raise KeyboardInterrupt
        return poll(child, wait_s)

    monkeypatch.setattr(Run, "poll", interrupted)
    jobs = both(scene, LEAVES_TRACES, LEAVES_TRACES)
    with pytest.raises(KeyboardInterrupt):
        turn_round(scene, jobs)
    assert next(calls) == moment + 1


@linux
@pytest.mark.parametrize("name", ["freeze", "thaw", "kill_once"])
def test_ctrl_c_leaves_nothing_while_processes_are_signalled(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, turns: str, name: str
) -> None:
    whole = getattr(ProcessTree, name)
    raised = []

    def interrupted(tree: ProcessTree) -> object:
        if not raised:
            raised.append(True)
            raise KeyboardInterrupt
        return whole(tree)

    monkeypatch.setattr(ProcessTree, name, interrupted)
    with pytest.raises(KeyboardInterrupt):
        turn_round(scene, both(scene, LEAVES_TRACES, LEAVES_TRACES))


DRIVER = """
import pickle, sys
from torchlint.runtime import run
from torchlint.runtime.workspace import Workspace
from torchlint.experiment.rotation import rotate

probe, parent, jobs = sys.argv[1:]
run.PROBE = probe
with open(jobs, "rb") as stream:
    jobs = pickle.load(stream)

thaw = run.Run.thaw
def begin_turn(self):
    print(flush=True)
    thaw(self)
run.Run.thaw = begin_turn

with Workspace(parent) as workspace:
    rotate(jobs, workspace, warmup=1, settle=1, steps=1, blocks=10**9, seed=0, timeout_s=600)
"""


def drive(scene: Scene, jobs: dict[str, Job]) -> subprocess.Popen[bytes]:
    """Another process that rotates the jobs for ever; it has taken some turns."""
    path = scene.folder / "jobs"
    path.write_bytes(pickle.dumps(jobs))
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, scene.probe, scene.temporary, path],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert driver.stdout is not None
    for _ in range(5):
        assert driver.stdout.readline()
    return driver


@linux
@pytest.mark.parametrize(
    ("name", "times", "code"),
    [
        ("SIGINT", 1, -signal.SIGINT),
        ("SIGINT", 2, -signal.SIGINT),
        ("SIGTERM", 1, 128 + signal.SIGTERM),
        ("SIGHUP", 1, 128 + signal.SIGHUP),
    ],
)
def test_a_signal_leaves_nothing(scene: Scene, name: str, times: int, code: int) -> None:
    with drive(scene, both(scene, LEAVES_TRACES, LEAVES_TRACES)) as driver:
        for _ in range(times):
            driver.send_signal(getattr(signal, name))
        driver.communicate()
    assert driver.returncode == code
    assert scene.left() == []


@linux
@pytest.mark.parametrize("nproc", [1, 2])
def test_a_parent_that_is_killed_leaves_nothing(
    scene: Scene, waits_until: WaitsUntil, nproc: int
) -> None:
    jobs = {name: scene.job(LEAVES_TRACES, name, nproc) for name in "ab"}
    with drive(scene, jobs) as driver:
        driver.kill()
        driver.communicate()
    assert waits_until(lambda: not scene.left()), scene.left()


# blocks -------------------------------------------------------------------------------------


def test_the_gpu_has_the_last_word_on_a_step() -> None:
    block = Block(steps=4, wall=2.0, cpu=1.0, gpu=None, memory_mb=0.0, throttled=None)
    assert block.seconds == 0.5
    assert Block(4, 2.0, 1.0, 1.0, 0.0, None).seconds == 0.25
