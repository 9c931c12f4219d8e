"""What the parent makes of the reports of a window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from torchlint.profile.watch import watch
from torchlint.runtime import run as running
from torchlint.runtime.failures import Failed
from torchlint.runtime.probe.instrument_messages import ReadsSeen, ShapesSeen
from torchlint.runtime.probe.run_settings import WINDOW

if TYPE_CHECKING:
    from tests.scenes import Scene
    from torchlint.profile.evidence import Window


def look(scene: Scene, body: str, **more: Any) -> dict[str, Window[Any]]:
    job = scene.job(body, mode=WINDOW, instruments=("reads", "shapes"), **more)
    with scene.workspace() as workspace:
        return watch(job, workspace, timeout_s=600.0)


FOUND = {"reads": {"reads": []}, "shapes": {"benchmark": True}}
SEEN = f'link.send(type="window", steps=10, seconds=0.5, held_s=0.1, found={FOUND})\n'


def test_each_instrument_gets_its_part(scene: Scene) -> None:
    found = look(scene, SEEN + "link.wait()")
    assert sorted(found) == ["reads", "shapes"]
    assert found["reads"].step_s == pytest.approx(0.05)
    assert found["shapes"].held_s == 0.1
    assert (found["reads"].seen, found["shapes"].seen) == (ReadsSeen(), ShapesSeen(True))


def test_a_script_that_ends_in_its_window_has_told_enough(scene: Scene) -> None:
    assert look(scene, SEEN + "link.end()")["reads"].steps == 10


def test_the_slowest_rank_counts_and_the_others_are_next_to_it(scene: Scene) -> None:
    body = f"""
        import os
        seconds = 1.0 + int(os.environ["RANK"])
        link.send(type="window", steps=10, seconds=seconds, found={FOUND})
        link.wait()
        """
    slowest = look(scene, body, nproc=2)["reads"]
    assert slowest.seconds == 2.0
    assert [each.seconds for each in slowest.others] == [1.0]


def test_a_rank_that_does_not_step_is_not_waited_for_long(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_GRACE_S", 0.3)
    body = f"""
        import os
        if os.environ["RANK"] == "0":
            {SEEN.strip()}
        link.wait()
        """
    assert look(scene, body, nproc=2)["reads"].steps == 10


@pytest.mark.parametrize(
    "sent",
    [
        "steps=0, seconds=1.0, found={}",
        "steps=3, seconds=0.0, found={}",
        "steps=3, seconds=1.0, found={'reads': {}, 'shapes': {}}",
        "steps=3, seconds=1.0, found={'reads': None}",
        "steps=3, seconds=1.0, found={'reads': {'reads': [{'place': ['train.py']}]}}",
        "steps=3, seconds=float('nan'), found={}",
        "steps=10**400, seconds=1.0, found={}",
    ],
)
def test_a_report_that_makes_no_sense_is_a_failure(scene: Scene, sent: str) -> None:
    with pytest.raises(Failed, match="does not understand"):
        look(scene, f'link.send(type="window", {sent})\nlink.wait()')


def test_a_script_that_ends_before_its_window_says_so(scene: Scene) -> None:
    with pytest.raises(Failed) as raised:
        look(scene, "link.end()")
    assert raised.value.status == "finished"
