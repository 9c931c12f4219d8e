"""What was counted, per step, as lines, and against the limits of a card."""

from __future__ import annotations

import pytest

from torchlint.rehearse.bounds import LAUNCH_S, bounds
from torchlint.rehearse.counted import per_step, reads_of
from torchlint.runtime.probe.messages import CountedCall, Filled, Rehearsed, Stretch
from torchlint.runtime.probe.played.cards import CARDS

A100 = CARDS["a100"]
LINE = ("/x/train.py", 7)


def wait(kind: str = "item", **more: int) -> CountedCall:
    values = {"calls": 20, "steps": 10, "queued": 200, **more}
    return CountedCall("wait", kind, LINE, **values)  # type: ignore[arg-type]


def copy(kind: str, **more: object) -> CountedCall:
    values = {"calls": 10, "steps": 10, "size": 1000, **more}
    return CountedCall("copy", kind, LINE, **values)  # type: ignore[arg-type]


def test_waits_with_an_empty_queue_are_none() -> None:
    (read,) = reads_of(Rehearsed(10, calls=[wait(idle=5), wait("cpu", idle=20)])).reads
    assert (read.kind, read.calls, read.queued) == ("item", 15, 200)
    seen = per_step(Rehearsed(10, calls=[wait(idle=5, before=20)]), A100, 1)
    assert (seen.waits, seen.before_backward, seen.idle) == (1.5, 1.5, 0.5)
    (line,) = seen.lines
    assert (line.waits, line.idle) == (1.5, 0.5)


def test_a_wait_for_a_copy_belongs_to_the_copy() -> None:
    found = reads_of(Rehearsed(10, calls=[wait("copy, pageable"), copy("pageable")]))
    assert found.reads == []
    assert [each.kind for each in found.copies] == ["pageable"]


@pytest.mark.parametrize(
    "call",
    [
        copy("pinned, non-blocking"),
        copy("between devices"),
        copy("values"),
        copy("index"),
        copy("pageable", made=("/x/train.py", 3)),
    ],
)
def test_copies_that_are_no_batches(call: CountedCall) -> None:
    assert reads_of(Rehearsed(10, calls=[call])).copies == []


def test_what_a_step_asks_for() -> None:
    launches = CountedCall("launch", "", LINE, calls=50, size=10_000, small=10)
    flops = [
        CountedCall("flops", "bfloat16", None, calls=5, flops=each, backward=bool(at))
        for at, each in enumerate((1_000, 2_000))
    ]
    asynchronous = [copy("pinned, non-blocking"), copy("pageable, non-blocking")]
    calls = [launches, *flops, copy("blocking"), *asynchronous]
    memory = Filled(4096, 1024, 512, 1024, ("/x/net.py", 3))
    strip = [Stretch("launch", LINE, 5, 4096), Stretch("wait", None)]
    found = Rehearsed(10, 2, 60, calls, memory, {}, strip)
    seen = per_step(found, A100, 1)
    assert (seen.launches, seen.small, seen.traffic) == (5, 0.2, 1000)
    assert (seen.copies, seen.copied, seen.awaited_copies) == (3, 300, 1)
    assert seen.flops == {"bfloat16": 300}
    assert seen.memory["rest"] == 4096 - 1024 - 512 - 1024
    assert [(each.row, each.launches, each.copies) for each in seen.lines] == [(7, 5, 3)]
    assert [(each.what, each.row, each.calls) for each in seen.strip] == [
        ("launch", 7, 5),
        ("wait", 0, 1),
    ]
    assert seen.used


def test_a_script_without_launches_does_not_use_the_device() -> None:
    assert not per_step(Rehearsed(10), A100, 1).used


def test_bounds_are_the_counts_over_what_the_card_can() -> None:
    found = bounds(A100, {"bfloat16": 312e12, "float32": 19.5e12}, 2039e9, 1000)
    assert found == pytest.approx({"arithmetic": 2.0, "memory": 1.0, "launches": 1000 * LAUNCH_S})


def test_a_type_that_the_card_does_not_list_is_as_slow_as_float32() -> None:
    assert bounds(A100, {"float64": 19.5e12}, 0, 0)["arithmetic"] == pytest.approx(1.0)


@pytest.mark.parametrize("card", CARDS.values(), ids=CARDS)
def test_each_card_has_a_source_and_is_fastest_in_its_smallest_type(card: object) -> None:
    known = card.flops  # type: ignore[attr-defined]
    assert known["float16"] >= known["tf32"] >= known["float32"]
    assert card.source.startswith("https://")  # type: ignore[attr-defined]
