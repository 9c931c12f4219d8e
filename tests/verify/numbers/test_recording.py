"""Runs that write down what they compute."""

from __future__ import annotations

from dataclasses import asdict
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.verify.numbers.records import recorded
from torchlint.experiment.errors import ExperimentError
from torchlint.experiment.subject import ORIGINAL
from torchlint.runtime.failures import Failed
from torchlint.runtime.probe.run_settings import RECORD, RunSettings
from torchlint.verify.numbers import recorder
from torchlint.verify.numbers.agreement import RunRequest
from torchlint.verify.numbers.recorder import record, record_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.scenes import Scene
    from torchlint.runtime.run import Job
    from torchlint.runtime.workspace import Workspace

MADE = f"made = {asdict(recorded())}"
RECORDS = f"""
{MADE}
link.send(type="record", **{{**made, "losses": [[settings["name"]]]}})
link.wait()
"""


def test_the_record_comes_as_it_is(scene: Scene) -> None:
    with scene.workspace() as workspace:
        found = record(scene.job(RECORDS, mode=RECORD), workspace, timeout_s=600)
    assert found == recorded(losses=[["original"]])


def recorder_of(workspace: Workspace) -> recorder.VariantRecorder:
    jobs: Any = SimpleNamespace(
        job=lambda *_, **__: SimpleNamespace(settings=RunSettings(main="x", project="p"))
    )
    plan: Any = SimpleNamespace(numeric_steps=3, numeric_first=500)
    anchor: Any = None
    return recorder.VariantRecorder(jobs, workspace, plan, anchor, (), at_once=1, timeout_s=1.0)


def test_a_script_that_ends_before_the_first_compared_step_says_so(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = recorded(steps=0)
    monkeypatch.setattr(recorder, "record_all", lambda jobs, *_, **__: [nothing] * len(jobs))
    with (
        scene.workspace() as workspace,
        pytest.raises(ExperimentError, match="takes no step 500; give a smaller --numbers-from"),
    ):
        recorder_of(workspace).run([RunRequest(ORIGINAL, level=0)])


def test_a_record_without_numbers_is_a_failure_of_the_run(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = recorded(losses=[["much"]])
    monkeypatch.setattr(recorder, "record_all", lambda jobs, *_, **__: [odd] * len(jobs))
    with scene.workspace() as workspace, pytest.raises(Failed) as raised:
        recorder_of(workspace).run([RunRequest(ORIGINAL, level=0)])
    assert (raised.value.status, raised.value.kind) == ("error", "protocol")


@pytest.mark.parametrize(("own", "shared"), [(None, "0"), ("7", "7")])
def test_strings_hash_alike_in_each_run(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, own: str | None, shared: str
) -> None:
    if own is None:
        monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    else:
        monkeypatch.setenv("PYTHONHASHSEED", own)
    body = f"""
    import os
    {MADE}
    link.send(type="record", **{{**made, "held": [os.environ["PYTHONHASHSEED"]]}})
    link.wait()
    """
    with scene.workspace() as workspace:
        found = record(scene.job(body, mode=RECORD), workspace, timeout_s=600)
    assert found.held == [shared]


def test_places_that_ran_in_workers_are_added(scene: Scene) -> None:
    body = f"""
    {MADE}
    with open(settings["scratch"] + "/exercised", "w") as stream:
        stream.write("b\\nc\\n")
    link.send(type="record", **{{**made, "exercised": ["a", "b"]}})
    link.wait()
    """
    with scene.workspace() as workspace:
        found = record(scene.job(body, mode=RECORD), workspace, timeout_s=600)
    assert found.exercised == ["a", "b", "c"]


def test_the_first_ranks_record_counts(scene: Scene) -> None:
    body = f"""
    import os, time
    {MADE}
    if os.environ["RANK"] == "0":
        while open(os.environ["FAKE_LOG"]).read().count("sent") == 0:
            time.sleep(0.01)
    link.send(type="record", **{{**made, "held": [os.environ["RANK"]]}})
    log("sent")
    link.wait()
    """
    with scene.workspace() as workspace:
        found = record(scene.job(body, nproc=2, mode=RECORD), workspace, timeout_s=600)
    assert found.held == ["0"]


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
    told = [each.name if isinstance(each, Failed) else each.losses for each in found]
    assert told == [[["a"]], "b", [["c"]], [["d"]]]


def test_some_run_side_by_side(scene: Scene) -> None:
    body = f"""
    import os, time
    {MADE}
    while open(os.environ["FAKE_LOG"]).read().count("start") < 2:
        time.sleep(0.01)
    link.send(type="record", **made)
    link.wait()
    """
    jobs = [scene.job(body, name) for name in "ab"]
    with scene.workspace() as workspace:
        found = record_all(jobs, workspace, timeout_s=600, at_once=2)
    assert found == [recorded()] * 2


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


def test_a_run_that_was_recorded_is_not_run_again(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parts of a change are compared with the same runs of the original as the whole."""
    sizes = []

    def record_all(jobs: Any, *_: Any, **__: Any) -> Any:
        sizes.append(len(jobs))
        return [recorded() for _ in jobs]

    monkeypatch.setattr(recorder, "record_all", record_all)
    one, again, shaken = (
        RunRequest(ORIGINAL, level=0),
        RunRequest(ORIGINAL, level=0, again=1),
        RunRequest(ORIGINAL, level=3, perturb=1),
    )
    with scene.workspace() as workspace:
        made = recorder_of(workspace)
        first = made.run([one, again])
        second = made.run([shaken, one])
    assert sum(sizes) == 3
    assert second[1] is first[0]
