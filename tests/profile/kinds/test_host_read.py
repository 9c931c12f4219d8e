"""TR201: where the host reads, how often, and what it waits."""

from __future__ import annotations

from typing import Any

import pytest

from tests.profile.kinds.conftest import evidence, findings
from torchlint.profile.kinds import host_read
from torchlint.runtime.probe.instrument_messages import HostCall, ReadsSeen


def read(row: int = 7, kind: str = "item", calls: int = 200, **more: Any) -> HostCall:
    """Of 2 reads a step, which wait 0.5 ms each, in a window of 100 steps of 10 ms."""
    counts = {"calls": calls, "seconds": calls * 0.0005, "steps": min(calls, 100)}
    return HostCall(**{"place": ("/train.py", row), "kind": kind, **counts, **more})


def judged(*reads: HostCall, **more: Any) -> Any:
    return findings(host_read.kind, evidence(ReadsSeen([*reads]), **more))


def test_on_a_cpu_reads_are_counted_and_cost_nothing() -> None:
    (found,) = judged(read(graph=100))
    assert found.place == ("/train.py", 7)
    assert found.fact == "2 reads a step (`item`)"
    assert found.action == "keep the value on the device, and read it every hundred steps"
    assert found.share is None
    assert {"TL201", "TL202", "TL204"} <= set(found.rules)
    assert found.values == {"kinds": {"item": 2.0}, "wait_ms": None, "with_gradient": 1.0}
    assert host_read.kind.census


def test_on_a_gpu_the_wait_is_the_ceiling() -> None:
    (found,) = judged(read(), device="cuda")
    assert found.fact == "2 reads a step (`item`), the host waits 1.0 ms"
    assert found.share == pytest.approx(0.1)
    (found,) = judged(read(), device="cuda", step_s=0.02)
    assert found.share == pytest.approx(0.05)
    (found,) = judged(read(seconds=2.0), device="cuda")
    assert found.share == 0.99


def test_the_reads_of_a_line_are_one_finding() -> None:
    first, second = judged(read(9), read(calls=100, kind="bool"), read())
    assert (first.place[1], second.place[1]) == (7, 9)
    assert first.fact == "3 reads a step (`item`, `bool`)"
    assert first.values["kinds"] == {"bool": 1.0, "item": 2.0}


@pytest.mark.parametrize(
    ("calls", "words"),
    [
        (100, "1 read a step"),
        (99, "1 read a step"),
        (75, "75 reads in 100 steps"),
        (40, "40 reads in 100 steps"),
        (10, "1 read in 10 steps"),
    ],
)
def test_rare_reads_are_counted_in_steps(calls: int, words: str) -> None:
    (found,) = judged(read(calls=calls))
    assert found.fact == f"{words} (`item`)"


def test_what_is_read_now_and_then_is_not_a_finding() -> None:
    assert judged(read(calls=1)) == []
    # All at once, as at the end of an epoch.
    assert judged(read(calls=500, steps=1)) == []
    # Every fiftieth step.
    assert judged(read(calls=2)) == []
    assert len(judged(read(calls=3))) == 1


def test_a_read_without_a_line_of_the_users_is_not_a_finding() -> None:
    assert judged(read(place=None)) == []


def test_where_a_read_is_hidden_is_said() -> None:
    (found,) = judged(read(backward=200))
    assert found.fact == "2 reads a step (`item`) inside `backward`"
    (found,) = judged(read(via="torch.nn.utils.clip_grad.clip"))
    assert found.fact == "2 reads a step (`item`) in torch.nn.utils.clip_grad.clip"
    (found,) = judged(read(via="b.g"), read(via="a.f"), read(via="c.h"), read())
    assert found.fact == "8 reads a step (`item`) in a.f, b.g and 1 more"


def test_what_only_waits_is_not_called_a_read() -> None:
    (found,) = judged(read(kind="synchronize"))
    assert found.fact == "2 waits a step (`synchronize`)"
    (found,) = judged(read(kind="synchronize"), read())
    assert found.fact == "4 reads a step (`item`, `synchronize`)"


@pytest.mark.parametrize(
    ("more", "action"),
    [
        ({"kind": "mask index"}, "keep the shape"),
        ({"kind": "bool"}, "decide on the device"),
        ({"via": "torch.amp.grad_scaler._maybe_opt_step"}, "bfloat16"),
    ],
)
def test_the_action_fits_the_read(more: dict[str, Any], action: str) -> None:
    (found,) = judged(read(**more))
    assert found.action.startswith(action)
