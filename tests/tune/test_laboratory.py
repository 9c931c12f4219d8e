"""What the laboratory makes of runs: which pairs, which numbers are right."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from torchlint.runtime.failures import Failed
from torchlint.tune.laboratory import Laboratory, variant
from torchlint.verify.result import Agreement, Numerics

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

Program = tuple[str, ...]
DECLARED = {"rounds": "losses are rounded", "draws": "random numbers are others", "exact": ""}


class Bench:
    """Candidates that declare what their names say."""

    def may_change(self, ids: Collection[str]) -> str:
        return "; ".join(filter(None, (DECLARED[each] for each in ids)))

    def samples(self, ids: Collection[str]) -> float:
        return math.prod(2.0 if each == "doubled" else 1.0 for each in ids)


def laboratory(*, room: int = 4, tolerance: float = 0.05) -> Laboratory:
    nothing: Any = SimpleNamespace(original=None, seed=0, tolerance=tolerance)
    bench: Any = Bench()
    return Laboratory(
        nothing, bench, nothing, nothing, nothing, nothing,
        until=None, room=room, at_once=1, patience_s=1.0,
    )  # fmt: skip


def blocks(*seconds: float) -> tuple[Any, ...]:
    return tuple(SimpleNamespace(seconds=each) for each in seconds)


def numerics(agreement: Agreement, moved: float = 0.0, ratio: float | None = 50.0) -> Numerics:
    losses = ((1.0, 1.0 + moved),) * 4
    return Numerics(agreement, "they differ", losses=losses, envelope_ratio=ratio)


@pytest.mark.parametrize(
    ("program", "found", "right"),
    [
        (("exact",), numerics(Agreement.ROUNDING), True),
        (("exact",), numerics(Agreement.DIFFERS, 0.001), False),
        (("rounds",), numerics(Agreement.DIFFERS, 0.01), True),
        (("rounds",), numerics(Agreement.DIFFERS, 0.2), False),
        (("rounds",), numerics(Agreement.DECLARED, 0.2), False),
        (("rounds",), numerics(Agreement.DIFFERS, 0.01, None), False),
        (("rounds", "draws"), numerics(Agreement.DECLARED, 0.01), True),
        (("rounds", "draws"), numerics(Agreement.DECLARED, 0.2), False),
        (("draws",), numerics(Agreement.DECLARED, 0.2), True),
        (("draws",), numerics(Agreement.DIFFERS, 0.01), False),
    ],
)
def test_numbers_may_differ_as_each_change_declares(
    program: Program, found: Numerics, right: bool
) -> None:
    lab = laboratory()
    lab.numerics[program] = found
    (wrong,) = lab.wrong_numbers([program])
    assert (not wrong) is right


def test_what_fails_next_to_others_is_measured_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    lab, asked = laboratory(), []

    def rotate(programs: Sequence[Program]) -> dict[str, Any]:
        asked.append(lab._apart)
        if not lab._apart:
            raise Failed("crashed", "memory ran out", name=variant(("b",)).name)
        return {variant(each).name: blocks(1.0 if each else 2.0) for each in programs}

    monkeypatch.setattr(lab, "_rotate", rotate)
    assert lab._pair((), [("a",), ("b",)], 0.0) == {
        ("a",): pytest.approx(math.log(2)),
        ("b",): pytest.approx(math.log(2)),
    }
    assert asked == [False, True]
    lab._pair((), [("a",)], 0.0)
    assert asked == [False, True, True]


def test_without_room_for_two_nothing_runs_side_by_side() -> None:
    assert laboratory(room=1)._apart
    assert not laboratory(room=2)._apart


def test_time_is_compared_per_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = laboratory()
    times = {(): 1.0, ("doubled",): 1.6}
    monkeypatch.setattr(
        lab, "_rotate", lambda them: {variant(each).name: blocks(times[each]) for each in them}
    )
    assert lab._pair((), [("doubled",)], 0.0) == {("doubled",): pytest.approx(math.log(2 / 1.6))}
