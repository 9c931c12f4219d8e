"""What the laboratory makes of runs: which pairs, which numbers are right."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from torchlint.experiment.subject import ORIGINAL
from torchlint.runtime.failures import Failed
from torchlint.tune import laboratory as laboratory_module
from torchlint.tune.lab import NoTimeError
from torchlint.tune.laboratory import Laboratory, variant
from torchlint.verify.numbers.agreement import RunRequest
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


@dataclass(frozen=True)
class Seen:
    """What a program does, as far as its pairs depend on it."""

    warm: int
    steps: int = 50
    ahead: int = 0
    finished: bool = False
    device: str = "cpu"
    processes: int = 1
    stream_workers: int = 0
    anchor: str = "optimizer.step"
    memory_mb: float = 1.0
    gpu_mb: float | None = None
    times: tuple[float, ...] = ()


@dataclass(frozen=True)
class Planned:
    warmup: int
    settle: int
    steps: int
    blocks: int


def laboratory(
    original: Seen | None = None, *, room: int = 4, tolerance: float = 0.05
) -> Laboratory:
    nothing: Any = SimpleNamespace(
        original=original, seed=0, tolerance=tolerance, anchor="optimizer.step"
    )
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
    lab.pace_s = 1.0
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
    lab.pace_s = 1.0
    assert lab._pair((), [("doubled",)], 0.0) == {("doubled",): pytest.approx(math.log(2 / 1.6))}


def test_programs_that_were_not_attempted_run_as_the_nearest_that_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is left of a program that was attempted is measured without an attempt of its own."""
    seen: Any = {(): Seen(1), ("a",): Seen(2), ("a", "b", "c"): Seen(9)}
    lab = laboratory(seen[()])

    def job(*_: object, **__: object) -> None:
        return None

    def declare(_: object, steady: Seen, __: object) -> Planned:
        return Planned(steady.warm, settle=0, steps=1, blocks=1)

    def rotate(jobs: Collection[str], *_: object, warmup: int, **__: object) -> Any:
        return SimpleNamespace(blocks=dict.fromkeys(jobs, (warmup,)))

    monkeypatch.setattr(lab, "_jobs", SimpleNamespace(job=job))
    monkeypatch.setattr(laboratory_module, "declare", declare)
    monkeypatch.setattr(laboratory_module, "rotate", rotate)
    lab.surveys = seen
    warmups: list[Any] = [
        {*lab._rotate(programs).values()}
        for programs in ([("a", "b"), ("b",)], [("d",), ("a",)], [("d",)])
    ]
    assert warmups == [{(9,)}, {(2,)}, {(1,)}]


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    """Scripts that end after 60 steps; one whose batches are four times as large, after 15. A block
    is planned with 40 steps."""
    lab = laboratory(Seen(1))

    def job(which: Any, *_: object, **__: object) -> int:
        return 15 if "larger" in which.fixes else 60

    def rotate(jobs: dict[str, int], *_: object, warmup: int, steps: int, **more: Any) -> Any:
        done = {name: (many - warmup) // (steps + more["settle"]) for name, many in jobs.items()}
        least = min(*done.values(), more["blocks"])
        return SimpleNamespace(blocks=dict.fromkeys(jobs, (steps,) * least))

    def declare(*_: object) -> Planned:
        return Planned(warmup=20, settle=1, steps=40, blocks=6)

    monkeypatch.setattr(lab, "_jobs", SimpleNamespace(job=job))
    monkeypatch.setattr(laboratory_module, "declare", declare)
    monkeypatch.setattr(laboratory_module, "rotate", rotate)
    return lab


def rotated(lab: Laboratory, name: str) -> set[Any]:
    """The blocks of a program beside the original, and those of the original."""
    return {*lab._rotate([(), (name,)]).values()}


def test_blocks_are_shorter_where_a_script_ends_before_its_first(short: Laboratory) -> None:
    assert rotated(short, "a") == {(20, 20)}
    assert rotated(short, "larger") == {(5, 5)}


def test_one_after_the_other_as_many_blocks_are_measured_of_each(short: Laboratory) -> None:
    short._apart = True
    assert rotated(short, "larger") == {(5, 5)}


def test_programs_with_other_batches_are_measured_apart(
    pressed: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pressed, "_compiles", lambda *_: False)
    programs: list[Program] = [("doubled",), ("exact",), ("rounds",)]
    assert [*pressed._groups((), programs, 0.0)] == [programs[1:], programs[:1]]


@pytest.mark.parametrize(
    ("before", "now", "works"), [(0, 1, True), (1, 2, False), (2, 4, True), (0, 0, True)]
)
def test_no_more_workers_read_a_stream_that_one_has_read(
    before: int, now: int, works: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: Any = Seen(1, stream_workers=now)
    lab = laboratory()
    monkeypatch.setattr(
        lab, "_look", SimpleNamespace(original=Seen(1, stream_workers=before), anchor=seen.anchor)
    )
    monkeypatch.setattr(laboratory_module, "declare", lambda *_: None)
    monkeypatch.setattr(laboratory_module, "parts_of", lambda _: {})
    failed = lab._told(("workers",), seen).failed
    assert failed == ("" if works else "each worker may give all samples of the iterable dataset")


@pytest.fixture
def pressed(monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    """At the time 0, where an attempt takes 4 s, a program of a pair 3 s, and a run whose numbers
    are recorded 1 s."""
    lab = laboratory()
    monkeypatch.setattr(laboratory_module.time, "monotonic", lambda: 0.0)
    monkeypatch.setattr(lab, "_attempt_s", lambda: 4.0)
    monkeypatch.setattr(lab, "_records_s", float)
    monkeypatch.setattr(lab, "_first_s", lambda _: 0.0)
    lab.pace_s = 3.0
    return lab


def test_no_more_is_tried_than_can_be_measured_and_compared(pressed: Laboratory) -> None:
    each, base, numbers = 4 + 2 * 3, 2 * 3, 2 + 1
    programs = [("exact",)] * 6
    pressed.until = base + numbers + 4 * each + each - 1.0
    assert pressed.affordable(programs, []) == 4
    pressed.until = 1000.0
    assert pressed.affordable(programs, []) == 6
    pressed.until = base + numbers + each - 1.0
    with pytest.raises(NoTimeError) as late:
        pressed.affordable(programs, [])
    assert late.value.seconds == base + numbers + each


def test_what_may_change_takes_longer_to_compare(pressed: Laboratory) -> None:
    seeded, realigned, strays = 2 + 1, 1 + 4 + 1, 3
    assert pressed._numbers_s([("exact",)]) == seeded
    assert pressed._numbers_s([("rounds",)]) == seeded + realigned + strays
    pressed._levels = {0, 3}
    assert pressed._numbers_s([("rounds",), ("exact",)]) == 2 + 1 + 3
    pressed.numerics[("rounds",)] = numerics(Agreement.ROUNDING)
    assert pressed._numbers_s([("rounds",)]) == 0


def test_numbers_that_were_compared_stay_where_the_others_have_no_time(
    pressed: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compare(run: Any, declared: Any) -> Any:
        run([RunRequest(ORIGINAL, 0), *(RunRequest(each, 0) for each in declared)])
        yield variant(("exact",)).name, numerics(Agreement.BITWISE)
        shaken = [RunRequest(ORIGINAL, 3, perturb=draw) for draw in (1, 2, 3)]
        run([*shaken, *(RunRequest(each, 3) for each in declared)])
        raise AssertionError

    pressed._recorder = SimpleNamespace(  # type: ignore[assignment]
        run=lambda requests: [None] * len(requests), know=lambda _: None
    )
    pressed._watcher = SimpleNamespace(stage=lambda *_, **__: None)  # type: ignore[assignment]
    monkeypatch.setattr(laboratory_module, "compare", compare)
    monkeypatch.setattr(pressed, "_numbers_s", lambda _: 0.0)
    pressed.until = 3.5
    assert pressed.wrong_numbers([("exact",), ("rounds",)]) == ["", None]
    with pytest.raises(NoTimeError):
        pressed.wrong_numbers([("rounds",)])


def test_the_numbers_of_the_first_are_compared_where_not_all_fit(
    pressed: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[Program] = []

    def compare(programs: Sequence[Program]) -> None:
        compared.extend(programs)
        pressed.numerics |= dict.fromkeys(programs, numerics(Agreement.BITWISE))

    monkeypatch.setattr(pressed, "_compare", compare)
    pressed._watcher = SimpleNamespace(stage=lambda *_, **__: None)  # type: ignore[assignment]
    pressed.until = 2 + 1 + 6 + 3 + 1.5
    assert pressed.wrong_numbers([("exact",), ("rounds",), ("draws",)]) == ["", "", None]
    assert compared == [("exact",), ("rounds",)]


def test_fewer_take_turns_where_time_is_short(
    pressed: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pressed, "_compiles", lambda *_: False)
    pressed.until = 7 + 2 * 3 * 3.0
    programs: list[Program] = [("exact",), ("rounds",), ("draws",)]
    assert [*pressed._groups((), programs, 7.0)] == [programs[:2], programs[2:]]
