"""Runs that write down what they compute."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from torchlint.experiment.errors import ExperimentError
from torchlint.experiment.subject import ORIGINAL
from torchlint.runtime.failures import Failed
from torchlint.runtime.probe.settings import RECORD
from torchlint.verify.numbers import recorder
from torchlint.verify.numbers.agreement import RunRequest
from torchlint.verify.numbers.recorder import record, record_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.scenes import Scene
    from torchlint.runtime.run import Job

RECORDS = 'link.send(type="record", losses=[1.0], of=settings["name"])\nlink.wait()'


def test_the_record_comes_as_it_is(scene: Scene) -> None:
    with scene.workspace() as workspace:
        found = record(scene.job(RECORDS, mode=RECORD), workspace, timeout_s=600)
    assert found == {"type": "record", "losses": [1.0], "of": "original", "exercised": []}


def test_a_script_that_ends_before_the_first_compared_step_says_so(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "record_all", lambda jobs, *_, **__: [{"steps": 0}] * len(jobs))
    jobs: Any = SimpleNamespace(job=lambda *_, **__: None)
    plan: Any = SimpleNamespace(numeric_steps=3, numeric_first=500)
    anchor: Any = None
    with scene.workspace() as workspace:
        made = recorder.Recorder(jobs, workspace, plan, anchor, (), at_once=1, timeout_s=1.0)
        with pytest.raises(
            ExperimentError, match="takes no step 500; give a smaller --numbers-from"
        ):
            made.run([RunRequest(ORIGINAL, level=0)])


@pytest.mark.parametrize(("own", "shared"), [(None, "0"), ("7", "7")])
def test_strings_hash_alike_in_each_run(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, own: str | None, shared: str
) -> None:
    if own is None:
        monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    else:
        monkeypatch.setenv("PYTHONHASHSEED", own)
    body = """
    import os
    link.send(type="record", seed=os.environ["PYTHONHASHSEED"])
    link.wait()
    """
    with scene.workspace() as workspace:
        found = record(scene.job(body, mode=RECORD), workspace, timeout_s=600)
    assert found["seed"] == shared


def test_places_that_ran_in_workers_are_added(scene: Scene) -> None:
    body = """
    with open(settings["scratch"] + "/exercised", "w") as stream:
        stream.write("b\\nc\\n")
    link.send(type="record", exercised=["a", "b"])
    link.wait()
    """
    with scene.workspace() as workspace:
        found = record(scene.job(body, mode=RECORD), workspace, timeout_s=600)
    assert found["exercised"] == ["a", "b", "c"]


def test_the_first_ranks_record_counts(scene: Scene) -> None:
    body = """
    import os, time
    if os.environ["RANK"] == "0":
        while open(os.environ["FAKE_LOG"]).read().count("sent") == 0:
            time.sleep(0.01)
    link.send(type="record", rank=os.environ["RANK"])
    log("sent")
    link.wait()
    """
    with scene.workspace() as workspace:
        found = record(scene.job(body, nproc=2, mode=RECORD), workspace, timeout_s=600)
    assert found["rank"] == "0"


@pytest.mark.parametrize(("body", "status"), [("link.end()", "finished"), ("1 / 0", "crashed")])
def test_no_record_is_a_failure(scene: Scene, body: str, status: str) -> None:
    with pytest.raises(Failed) as raised, scene.workspace() as workspace:
        record(scene.job(body, mode=RECORD), workspace, timeout_s=600)
    assert raised.value.status == status


@pytest.mark.parametrize("at_once", [1, 2, 9])
def test_records_come_in_the_order_of_their_jobs(scene: Scene, at_once: int) -> None:
    names = ["a", "b", "c", "d"]
    jobs = [scene.job("link.end()" if name == "b" else RECORDS, name) for name in names]
    with scene.workspace() as workspace:
        found = record_all(jobs, workspace, timeout_s=600, at_once=at_once)
    assert [each if isinstance(each, Failed) else each["of"] for each in found] == [
        "a",
        found[1],
        "c",
        "d",
    ]
    assert isinstance(found[1], Failed)
    assert found[1].name == "b"


def test_some_run_side_by_side(scene: Scene) -> None:
    body = """
    import os, time
    while open(os.environ["FAKE_LOG"]).read().count("start") < 2:
        time.sleep(0.01)
    link.send(type="record")
    link.wait()
    """
    jobs = [scene.job(body, name) for name in "ab"]
    with scene.workspace() as workspace:
        found = record_all(jobs, workspace, timeout_s=600, at_once=2)
    assert [each["type"] for each in found if isinstance(each, dict)] == ["record"] * 2


def test_ctrl_c_ends_them_all(scene: Scene) -> None:
    body = """
    import os, signal, time
    while open(os.environ["FAKE_LOG"]).read().count("start") < 2:
        time.sleep(0.01)
    if settings["name"] == "b":
        os.kill(os.getppid(), signal.SIGINT)
    link.wait()
    """
    jobs = [scene.job(body, name) for name in "abcd"]
    with pytest.raises(KeyboardInterrupt), scene.workspace() as workspace:
        record_all(jobs, workspace, timeout_s=1000, at_once=2)
    assert scene.left() == []


def test_an_end_in_the_middle_stops_those_that_run(scene: Scene) -> None:
    def jobs() -> Iterator[Job]:
        yield scene.job("link.wait()")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), scene.workspace() as workspace:
        record_all(jobs(), workspace, timeout_s=1000, at_once=2)
