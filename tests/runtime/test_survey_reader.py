"""What a survey's processes say, put together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from torchlint.runtime import run as running
from torchlint.runtime.failures import Failed
from torchlint.runtime.probe.messages import Lanes
from torchlint.runtime.probe.run_settings import SURVEY, Anchor
from torchlint.runtime.survey_reader import Survey, survey

if TYPE_CHECKING:
    from tests.scenes import Scene

PRESENT = "link.survey()\nlink.wait()"


def look(scene: Scene, body: str, nproc: int = 1, timeout_s: float = 20.0) -> Survey:
    job = scene.job(body, nproc=nproc, mode=SURVEY, anchor=None)
    with scene.workspace() as workspace:
        return survey(job, workspace, timeout_s=timeout_s)


def failure(scene: Scene, body: str, **more: Any) -> Failed:
    with pytest.raises(Failed) as raised:
        look(scene, body, **more)
    return raised.value


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who may still speak gets little time."""
    monkeypatch.setattr(running, "_GRACE_S", 0.3)


def test_everything_that_was_seen_is_told(scene: Scene) -> None:
    seen = look(
        scene,
        """
        link.survey(anchor={"kind": "backward", "index": 2}, words="backward", steps=30,
                    step_s=0.25, times=[1, 0.25], warm=4, counts={"optimizer": [1, 2], "loader": 5},
                    lanes={"data": [0.5], "other": [0.1, 0.2]}, exercised=["F1:0"],
                    served=["/b.py", "/a.py"], files=["/c.py", "/a.py"], compiled=True,
                    memory_mb=12.5, device="cuda", ahead=4, stream_workers=2,
                    gpu_name="H200", gpu_mb=700.5, gpu_free_mb=9000.0,
                    exercise_known=False)
        link.wait()
        """,
    )
    assert seen == Survey(
        anchor=Anchor("backward", 2),
        words="backward",
        steps=30,
        step_s=0.25,
        times=(1.0, 0.25),
        warm=4,
        finished=False,
        counts={"optimizer": (1, 2), "loader": 5},
        lanes=Lanes(data=(0.5,), other=(0.1, 0.2)),
        exercised=frozenset({"F1:0"}),
        exercise_known=False,
        served=("/a.py", "/b.py"),
        files=("/a.py", "/c.py"),
        compiled=True,
        memory_mb=12.5,
        device="cuda",
        gpu_name="H200",
        gpu_mb=700.5,
        gpu_free_mb=9000.0,
        processes=1,
        ahead=4,
        stream_workers=2,
        start_s=seen.start_s,
    )


def test_places_that_ran_in_a_loaders_worker_count(scene: Scene) -> None:
    body = """
    import os
    with open(os.path.join(settings["scratch"], "exercised"), "w") as stream:
        stream.write("F2:0\\nF1:0\\n")
    link.survey(exercised=["F1:0"])
    link.wait()
    """
    assert look(scene, body).exercised == {"F1:0", "F2:0"}


RANKS = """
import os, time
rank = int(os.environ["RANK"])
link.survey(steps=[4, 3][rank], step_s=[0.5, 0.75][rank], times=[float(rank)], warm=[2, 1][rank],
            exercised=["F%d:0" % rank], served=["/%d.py" % rank], memory_mb=[1.0, 2.0][rank],
            gpu_mb=[5.0, 6.0][rank], gpu_free_mb=[8.0, 7.0][rank],
            exercise_known=rank == 1, compiled=rank == 1)
link.wait()
"""


def test_ranks_are_put_together(scene: Scene) -> None:
    seen = look(scene, RANKS, nproc=2)
    assert (seen.processes, seen.steps, seen.step_s, seen.warm) == (2, 3, 0.75, 2)
    assert (seen.times, seen.memory_mb, seen.compiled) == ((0.0,), 2.0, True)
    assert (seen.exercised, seen.exercise_known) == ({"F0:0", "F1:0"}, False)
    assert seen.served == ("/0.py", "/1.py")
    assert (seen.gpu_mb, seen.gpu_free_mb) == (6.0, 7.0)


CHILDREN = """
import os
for rank in range(2):
    if os.fork() == 0:
        note()
        link = Link(rank=rank, world=2)
        link.survey(times=[float(rank)])
        link.wait()
os.wait()
"""


def test_a_script_that_leaves_the_steps_to_its_children_need_not_speak(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_GRACE_S", 1000.0)
    seen = look(scene, CHILDREN)
    assert (seen.processes, seen.times) == (2, (0.0,))


def test_children_that_know_nothing_of_one_another_are_counted(
    scene: Scene, impatient: None
) -> None:
    body = """
    first, second = Link(), Link()
    first.survey()
    second.survey()
    link.wait()
    """
    assert look(scene, body).processes == 2


def test_a_rank_that_does_not_step_is_not_waited_for_long(scene: Scene, impatient: None) -> None:
    body = """
    import os
    if os.environ["RANK"] == "0":
        link.survey()
    link.wait()
    """
    assert look(scene, body, nproc=2).processes == 1


WORKS_ASIDE = """
import os
reader, writer = os.pipe()
if os.fork() == 0:
    note()
    link = Link()
    link.survey(anchor={"kind": "forward", "index": 0}, words="Model.forward")
    os.write(writer, b"x")
    link.wait()
os.read(reader, 1)
link.survey(words="SGD.step")
link.wait()
"""


def test_a_child_that_only_runs_the_model_is_not_a_rank(scene: Scene) -> None:
    seen = look(scene, WORKS_ASIDE)
    assert (seen.words, seen.processes) == ("SGD.step", 1)


def test_nothing_seen_is_told_too(scene: Scene) -> None:
    seen = look(scene, "link.survey(anchor=None, words='', steps=0, finished=True)\nlink.end()")
    assert (seen.anchor, seen.steps, seen.processes) == (None, 0, 1)


# ends ---------------------------------------------------------------------------------------


def test_a_script_that_ends_early_has_been_seen(scene: Scene) -> None:
    seen = look(scene, "link.survey(finished=True, steps=2)\nlink.end()")
    assert (seen.finished, seen.steps) == (True, 2)


def test_a_script_that_fails_after_its_last_step_has_failed(scene: Scene) -> None:
    error = '{"type": "ValueError", "text": "x", "oom": False}'
    failed = failure(scene, f'link.survey(finished=True)\nlink.end("error", 1, 2, {error})')
    assert failed.kind == "ValueError"


def test_children_that_end_early_have_been_seen(scene: Scene, impatient: None) -> None:
    body = CHILDREN.replace("times", "finished=True, times").replace("link.wait()", "os._exit(0)")
    seen = look(scene, body + "os.wait()\nlink.wait()")
    assert (seen.finished, seen.processes) == (True, 2)


def test_a_script_without_a_word_has_ended(scene: Scene) -> None:
    assert failure(scene, "link.end()").status == "finished"


def test_silence_is_a_failure(scene: Scene) -> None:
    failed = failure(scene, "link.wait()", timeout_s=0.5)
    assert failed.status == "timeout"
    assert "take enough steps" in failed.message


@pytest.mark.parametrize(
    "values",
    [
        "anchor={'kind': 'magic'}",
        "steps=None",
        "step_s=float('inf')",
        "counts={'optimizer': 'x'}",
    ],
)
def test_a_survey_that_cannot_be_is_a_failure(scene: Scene, values: str) -> None:
    failed = failure(scene, f"link.survey({values})\nlink.wait()")
    assert (failed.status, failed.kind) == ("error", "protocol")
