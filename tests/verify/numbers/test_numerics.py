"""The words for numbers: bitwise equal, equal to rounding, declared, different, not compared."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.verify.numbers.records import recorded
from torchlint.experiment.subject import ORIGINAL
from torchlint.runtime.decoding import MalformedError
from torchlint.runtime.probe.messages import History
from torchlint.verify.numbers.agreement import ALLOWANCE, DRAWS, RunRequest, compare
from torchlint.verify.numbers.traces import Trace
from torchlint.verify.result import Agreement, Numerics

if TYPE_CHECKING:
    from collections.abc import Sequence

EPS = 2.0**-23
STEPS = 12
BUCKETS = 8
Losses = list[list[float]]


def row(values: np.ndarray) -> list[Any]:
    """A tensor of eight numbers, as the probe sketches it."""
    digest = hash(values.tobytes()) >> 1
    return [digest, *(float(each).hex() for each in values), float((values**2).sum()).hex()]


def trace(
    losses: Losses,
    ways: dict[str, np.ndarray] | None = None,
    *,
    eps: float = EPS,
    **changes: Any,
) -> Trace:
    """A run with these losses.

    Args:
        ways: by parameter, what it was at the start and after each step (steps + 1, 8).
    """
    parameters = {
        name: History(BUCKETS, eps.hex(), row(way[0]), [row(each) for each in way[1:]])
        for name, way in (ways or {}).items()
    }
    values: dict[str, Any] = {
        "steps": len(losses),
        "losses": [[loss.hex() for loss in step] for step in losses],
        "loss_eps": eps.hex(),
        "at": list(range(len(losses))),
        "parameters": parameters,
    }
    return Trace.from_record(recorded(**{**values, **changes}))


class Program:
    """Something that learns: a loss that falls with the size of what it is given.

    Args:
        bad: what each step's gradient is multiplied by.
        noise: relative size of what its kernels leave in each gradient; drawn from `seed`.
        flip: the step at which a single value jumps in the run with this draw.
    """

    def __init__(self, bad: float = 1.0, noise: float = 0.0, seed: int = 1, **changes: Any) -> None:
        self.bad, self.noise, self.seed, self.changes = bad, noise, seed, changes
        self.flip: tuple[int | None, int] | None = changes.pop("flip", None)
        self.wild: float = changes.pop("wild", 0.0)

    def run(self, request: RunRequest) -> Trace:
        rng = np.random.default_rng([self.seed, request.again if self.wild else 0])
        signs = np.random.default_rng(request.perturb)
        weight = np.linspace(0.5, 2.0, BUCKETS)
        if request.perturb is not None:
            weight = weight * (1 + EPS * signs.choice([-1.0, 1.0], BUCKETS))
        losses, way = [], [weight]
        for step in range(STEPS):
            losses.append([float((weight**2).mean())])
            gradient = weight * self.bad * (1 + self.noise * rng.standard_normal(BUCKETS))
            gradient = gradient * (1 + self.wild * rng.standard_normal(BUCKETS))
            if self.flip is not None and self.flip == (request.perturb, step):
                gradient[0] += 1e-3
            weight = weight - 0.1 * gradient
            way.append(weight)
        return trace(losses, {"w": np.array(way)}, **self.changes)


class Runner:
    """Runs programs and remembers what was asked for."""

    def __init__(self, programs: dict[str, Program], seeded: dict[str, Program] | None = None):
        self.programs = programs
        self.seeded = {**programs, **(seeded or {})}
        self.asked: list[RunRequest] = []

    def __call__(self, requests: Sequence[RunRequest]) -> list[Trace]:
        self.asked += requests
        assert len(set(requests)) == len(requests)
        return [
            (self.programs if each.level else self.seeded)[each.variant].run(each)
            for each in requests
        ]


def judged(
    original: Program,
    changed: Program,
    declared: str = "",
    *,
    seeded: Program | None = None,
) -> Numerics:
    """What is said about one changed program."""
    runner = Runner({ORIGINAL: original, "changed": changed}, {"changed": seeded or changed})
    return dict(compare(runner, {"changed": declared}))["changed"]


def test_equal_bits_are_bitwise_equal_and_need_no_further_run() -> None:
    runner = Runner({ORIGINAL: Program(), "changed": Program()})
    found = dict(compare(runner, {"changed": None}))
    assert found["changed"].agreement is Agreement.BITWISE
    assert found["changed"].level == 0
    assert found["changed"].first_step is None
    assert found["changed"].largest == 0.0
    assert len(found["changed"].losses) == STEPS
    assert found[ORIGINAL].agreement is Agreement.BITWISE
    assert {request.level for request in runner.asked} == {0}
    assert len(runner.asked) == 3


def test_other_random_numbers_are_realigned_before_anything_is_said() -> None:
    found = judged(Program(), Program(), seeded=Program(bad=0.7))
    assert found.agreement is Agreement.BITWISE
    assert found.level == 3
    assert "realigning" in found.why


def test_what_rounding_makes_is_rounding() -> None:
    found = judged(Program(), Program(noise=EPS))
    assert found.agreement is Agreement.ROUNDING
    assert found.level == 0, "no random number had to be moved"
    assert found.first_step == 0
    assert 0 < found.largest < 1e-5
    assert found.envelope_ratio is not None
    assert 0 < found.envelope_ratio <= ALLOWANCE
    assert len(found.envelope) == STEPS
    assert all(
        low <= before <= high
        for (before, _), (low, high) in zip(found.losses, found.envelope, strict=True)
    )


def test_rounding_that_shows_only_after_realigning_says_so() -> None:
    found = judged(Program(), Program(noise=EPS), seeded=Program(bad=0.9))
    assert found.agreement is Agreement.ROUNDING
    assert found.level == 3


@pytest.mark.parametrize("bad", [1.001, 0.999, 1.00003])
def test_a_slightly_wrong_update_differs(bad: float) -> None:
    found = judged(Program(), Program(bad=bad, noise=EPS))
    assert found.agreement is Agreement.DIFFERS
    assert found.envelope_ratio is not None
    assert found.envelope_ratio > ALLOWANCE
    assert "step" in found.why


def test_a_number_that_falls_to_the_other_side_of_zero_in_one_run_is_not_a_difference() -> None:
    runner = Runner({ORIGINAL: Program(), "changed": Program(noise=EPS, flip=(None, 4))})
    found = dict(compare(runner, {"changed": ""}))["changed"]
    assert found.agreement is Agreement.ROUNDING
    asked = [request for request in runner.asked if request.variant == "changed"]
    assert len(asked) == 2 + DRAWS, "it was run again, shaken"


def test_a_change_that_does_the_same_in_every_run_is_a_difference() -> None:
    class Always(Program):
        def run(self, request: RunRequest) -> Trace:
            self.flip = (request.perturb, 4)
            return super().run(request)

    assert judged(Program(), Always(noise=EPS)).agreement is Agreement.DIFFERS


def test_only_what_strays_is_run_again() -> None:
    runner = Runner({ORIGINAL: Program(), "right": Program(noise=EPS), "wrong": Program(bad=1.1)})
    found = dict(compare(runner, {"right": "", "wrong": ""}))
    assert found["right"].agreement is Agreement.ROUNDING
    assert found["wrong"].agreement is Agreement.DIFFERS
    shaken = [each.variant for each in runner.asked if each.perturb is not None]
    assert shaken.count(ORIGINAL) == shaken.count("wrong") == DRAWS
    assert "right" not in shaken


def test_a_constant_loss_and_weights_that_never_move_have_no_envelope_and_no_excuse() -> None:
    still = [[1.0]] * STEPS

    class Still:
        def __init__(self, value: float) -> None:
            self.value = value

        def run(self, request: RunRequest) -> Trace:
            way = np.ones((STEPS + 1, BUCKETS))
            way[5:] *= self.value
            return trace(still, {"w": way})

    def word(value: float) -> Agreement:
        programs: Any = {ORIGINAL: Still(1.0), "changed": Still(value)}
        return dict(compare(Runner(programs), {"changed": ""}))["changed"].agreement

    assert word(1.0 + EPS) is Agreement.ROUNDING
    assert word(1.0 + 1e-4) is Agreement.DIFFERS


class Fixed:
    """The same trace whatever is asked, but for a last place where weights are shaken."""

    def __init__(self, losses: Losses, **changes: Any) -> None:
        self.losses, self.changes = losses, changes

    def run(self, request: RunRequest) -> Trace:
        last = 1 + EPS * (request.perturb or 0)
        losses = [[loss * last for loss in step] for step in self.losses]
        return trace(losses, **self.changes)


def fixed(before: Losses, after: Losses, declared: str = "", **changes: Any) -> Numerics:
    programs: Any = {ORIGINAL: Fixed(before), "changed": Fixed(after, **changes)}
    return dict(compare(Runner(programs), {"changed": declared}))["changed"]


FALLING: Losses = [[3.0 - 0.2 * step] for step in range(10)]


def test_a_run_of_fewer_steps_differs() -> None:
    found = fixed(FALLING, FALLING[:8])
    assert found.agreement is Agreement.DIFFERS
    assert found.why == "it takes 8 steps where the original takes 10"


def test_another_number_of_backward_passes_differs() -> None:
    found = fixed(FALLING, [*FALLING[:3], [2.4, 2.4], *FALLING[4:]])
    assert found.agreement is Agreement.DIFFERS
    assert found.why == "it takes gradients 2 times in step 3, the original 1 times"


NAN = math.nan


def test_losses_that_are_no_number_in_both_are_equal_and_that_is_said() -> None:
    broken = [*FALLING[:4], *[[NAN]] * 6]
    found = fixed(broken, broken)
    assert found.agreement is Agreement.BITWISE
    assert found.why == "the loss is not a number from step 4 on, in both"
    near = [[loss * (1 + EPS) for loss in step] for step in broken]
    found = fixed(broken, near)
    assert found.agreement is Agreement.ROUNDING
    assert "not a number" in found.why


@pytest.mark.parametrize("value", [NAN, math.inf])
def test_a_loss_that_is_not_a_number_in_one_of_them_differs(value: float) -> None:
    broken = [*FALLING[:4], *[[value]] * 6]
    for before, after in ((FALLING, broken), (broken, FALLING)):
        found = fixed(before, after)
        assert found.agreement is Agreement.DIFFERS
        assert found.first_step == 4


def test_two_batches_that_change_places_differ() -> None:
    wavy = [[2 + math.sin(3 * step)] for step in range(10)]
    swapped = [*wavy[:4], wavy[5], wavy[4], *wavy[6:]]
    assert fixed(wavy, swapped).agreement is Agreement.DIFFERS


WAVY: Losses = [[2 + math.sin(3 * step)] for step in range(10)]
MOVED: Losses = [[loss[0] + 0.3 * math.cos(step)] for step, loss in enumerate(WAVY)]


def test_other_random_numbers_that_were_declared_are_declared() -> None:
    found = fixed(WAVY, MOVED, "random numbers are drawn elsewhere")
    assert found.agreement is Agreement.DECLARED
    assert found.why == "random numbers are drawn elsewhere"
    assert fixed(WAVY, MOVED).agreement is Agreement.DIFFERS


def test_losses_of_another_size_are_not_what_other_random_numbers_make() -> None:
    tenfold = [[10 * loss[0]] for loss in WAVY]
    assert fixed(WAVY, tenfold, "random numbers").agreement is Agreement.DIFFERS
    lost = [*WAVY[:5], *[[NAN]] * 5]
    assert fixed(WAVY, lost, "random numbers").agreement is Agreement.DIFFERS
    assert fixed(lost, WAVY, "random numbers").agreement is Agreement.DIFFERS


def test_a_declared_change_of_the_update_leaves_the_first_loss_alone() -> None:
    later = [WAVY[0], *MOVED[1:]]
    declared = "some parameters are not decayed"
    assert fixed(WAVY, later, declared).agreement is Agreement.DECLARED
    assert fixed(WAVY, MOVED, declared).agreement is Agreement.DIFFERS


def test_a_program_that_does_not_repeat_itself_is_not_called_equal() -> None:
    wild = Program(wild=0.3)
    found = dict(
        compare(Runner({ORIGINAL: wild, "changed": Program(wild=0.3, seed=2)}), {"changed": ""})
    )
    assert found[ORIGINAL].agreement is Agreement.UNKNOWN
    assert found["changed"].agreement is Agreement.UNKNOWN
    assert found["changed"].why == "two runs of the original are as far apart"


def test_kernels_that_add_up_in_any_order_leave_rounding() -> None:
    wild = Program(wild=EPS)
    found = dict(
        compare(Runner({ORIGINAL: wild, "changed": Program(wild=EPS, seed=2)}), {"changed": ""})
    )
    assert found["changed"].agreement is Agreement.ROUNDING
    assert found["changed"].level == 3
    wrong = dict(
        compare(Runner({ORIGINAL: wild, "changed": Program(bad=1.001, wild=EPS)}), {"changed": ""})
    )
    assert wrong["changed"].agreement is Agreement.DIFFERS


def test_a_program_that_does_not_repeat_itself_still_shows_a_gross_difference() -> None:
    wild = Program(wild=0.01)
    found = dict(
        compare(Runner({ORIGINAL: wild, "changed": Program(bad=-1.0, wild=0.01)}), {"changed": ""})
    )
    assert found["changed"].agreement is Agreement.DIFFERS


def test_nothing_seen_is_nothing_said() -> None:
    found = fixed([[]] * 4, [[]] * 4)
    assert found.agreement is Agreement.UNKNOWN


def test_parameters_of_one_side_only_are_left_out_and_counted() -> None:
    way = np.ones((11, BUCKETS))

    def word(**ways: np.ndarray) -> Numerics:
        class Both:
            def __init__(self, names: dict[str, np.ndarray]) -> None:
                self.names = names

            def run(self, request: RunRequest) -> Trace:
                return trace(FALLING, self.names)

        programs: Any = {ORIGINAL: Both({"a": way, "b": way, "c": way}), "changed": Both(ways)}
        return dict(compare(Runner(programs), {"changed": ""}))["changed"]

    fewer = word(a=way)
    assert fewer.agreement is Agreement.BITWISE
    assert fewer.why == "checkpoints hold 2 parameters fewer"
    assert word(a=way, b=way, c=way, d=way).why == "checkpoints hold 1 parameter more"
    assert "only losses were compared" in word(d=way).why


def test_weights_that_are_drawn_from_elsewhere_differ_although_they_are_taken_over() -> None:
    own = {"w": [1000, (0.0).hex(), (0.05).hex()]}
    other = {"w": [1000, (0.001).hex(), (0.09).hex()]}

    def word(mine: Any, theirs: Any) -> Numerics:
        programs = {ORIGINAL: Program(own=mine), "changed": Program(own=theirs)}
        runner = Runner(programs, {"changed": Program(bad=0.5)})
        return dict(compare(runner, {"changed": ""}))["changed"]

    assert word(own, own).agreement is Agreement.BITWISE
    found = word(own, other)
    assert found.agreement is Agreement.DIFFERS
    assert found.why.startswith("w does not begin like the original's")


def test_a_switch_that_was_held_back_is_named() -> None:
    found = fixed(FALLING, FALLING, held=["torch.backends.cudnn.benchmark"])
    assert found.agreement is Agreement.BITWISE
    assert found.why == "compared with torch.backends.cudnn.benchmark held off"


class Idle:
    """Has a weight whose gradient is only what is left of a sum of such a size."""

    def __init__(self, size: float, seed: int) -> None:
        self.size, self.seed = size, seed

    def run(self, request: RunRequest) -> Trace:
        rng = np.random.default_rng([self.seed, request.perturb or 0])
        way = self.size * rng.standard_normal((STEPS + 1, BUCKETS)).cumsum(axis=0)
        way[0] = 0.0
        return trace([[1.0]] * STEPS, {"idle": way})


def test_a_parameter_that_moves_by_noise_alone_is_not_a_witness() -> None:
    programs: Any = {ORIGINAL: Idle(1e-9, 1), "changed": Idle(1e-7, 2)}
    found = dict(compare(Runner(programs), {"changed": ""}))["changed"]
    assert found.agreement is Agreement.ROUNDING


@pytest.mark.parametrize(
    "odd",
    [
        {"losses": [["much"]]},
        {"loss_eps": "0x1p99999"},
        {"outputs": [[[]]]},
        {"outputs": [[[3, 4, 5]]]},
        {"parameters": {"w": History(1, "0x0p+0", [1, "0x0p+0"], [])}},
        {"own": {"w": (1, "", "")}},
    ],
    ids=str,
)
def test_what_are_not_numbers_is_refused(odd: dict[str, Any]) -> None:
    with pytest.raises(MalformedError, match="record: "):
        Trace.from_record(recorded(**odd))
