"""TR201: where the host reads, how often, and what it waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from torchlint.profile.kinds import host_read
from torchlint.runtime.decoding import MalformedError

if TYPE_CHECKING:
    from tests.profile.kinds.conftest import MakeEvidence


def read(row: int = 7, kind: str = "item", calls: int = 200, **more: Any) -> dict[str, Any]:
    """Of 2 reads a step, which wait 0.5 ms each, in a window of 100 steps of 10 ms."""
    counts = {"calls": calls, "seconds": calls * 0.0005, "steps": min(calls, 100)}
    place = {"place": ["/train.py", row], "kind": kind, "via": None}
    return {**place, **counts, "graph": 0, "backward": 0, **more}


def judged(evidence: MakeEvidence, *reads: Any, device: str = "cpu", **more: Any) -> Any:
    assert host_read.kind.judge is not None
    found = {"device": device, "reads": list(reads), "copies": []}
    return list(host_read.kind.judge(evidence({"reads": found}, device=device, **more)))


def test_on_a_cpu_reads_are_counted_and_cost_nothing(evidence: MakeEvidence) -> None:
    (found,) = judged(evidence, read(graph=100))
    assert found.place == ("/train.py", 7)
    assert found.fact == "2 reads a step (`item`)"
    assert found.action == "keep the value on the device, and read it every hundred steps"
    assert found.share is None
    assert {"TL201", "TL202", "TL204"} <= set(found.rules)
    assert found.values == {"kinds": {"item": 2.0}, "wait_ms": None, "with_gradient": 1.0}
    assert host_read.kind.census


def test_on_a_gpu_the_wait_is_the_ceiling(evidence: MakeEvidence) -> None:
    (found,) = judged(evidence, read(), device="cuda")
    assert found.fact == "2 reads a step (`item`), the host waits 1.0 ms"
    assert found.share == pytest.approx(0.1)
    (found,) = judged(evidence, read(), device="cuda", step_s={"reads": 0.02})
    assert found.share == pytest.approx(0.05)
    (found,) = judged(evidence, read(seconds=2.0), device="cuda")
    assert found.share == 0.99


def test_the_reads_of_a_line_are_one_finding(evidence: MakeEvidence) -> None:
    first, second = judged(evidence, read(9), read(calls=100, kind="bool"), read())
    assert (first.place[1], second.place[1]) == (7, 9)
    assert first.fact == "3 reads a step (`item`, `bool`)"
    assert first.values["kinds"] == {"bool": 1.0, "item": 2.0}


@pytest.mark.parametrize(
    ("calls", "words"),
    [
        (100, "1 read a step"),
        (99, "1 read a step"),
        (75, "75 reads in 100 steps"),
        (10, "1 read in 10 steps"),
    ],
)
def test_rare_reads_are_counted_in_steps(evidence: MakeEvidence, calls: int, words: str) -> None:
    (found,) = judged(evidence, read(calls=calls))
    assert found.fact == f"{words} (`item`)"


def test_what_is_read_now_and_then_is_no_finding(evidence: MakeEvidence) -> None:
    assert judged(evidence, read(calls=1)) == []
    # All at once, as at the end of an epoch.
    assert judged(evidence, read(calls=500, steps=1)) == []
    # Every fiftieth step.
    assert judged(evidence, read(calls=2)) == []
    assert len(judged(evidence, read(calls=3))) == 1


def test_a_read_without_a_line_of_the_users_is_no_finding(evidence: MakeEvidence) -> None:
    assert judged(evidence, read(place=None)) == []


def test_where_a_read_is_hidden_is_said(evidence: MakeEvidence) -> None:
    (found,) = judged(evidence, read(backward=200))
    assert found.fact == "2 reads a step (`item`) inside `backward`"
    (found,) = judged(evidence, read(via="torch.nn.utils.clip_grad.clip"))
    assert found.fact == "2 reads a step (`item`) in torch.nn.utils.clip_grad.clip"


@pytest.mark.parametrize(
    ("more", "action"),
    [
        ({"kind": "mask index"}, "keep the shape"),
        ({"kind": "bool"}, "decide on the device"),
        ({"via": "torch.amp.grad_scaler._maybe_opt_step"}, "bfloat16"),
    ],
)
def test_the_action_fits_the_read(
    evidence: MakeEvidence, more: dict[str, Any], action: str
) -> None:
    (found,) = judged(evidence, read(**more))
    assert found.action.startswith(action)


@pytest.mark.parametrize("more", [{"place": ["/train.py"]}, {"steps": "many"}, {"kind": None}])
def test_an_odd_message_is_refused(evidence: MakeEvidence, more: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        judged(evidence, read(**more))
