"""The search, on programs that are not run: what they take is a table."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from torchlint.runtime.failures import Failed
from torchlint.tune.fate import Fate
from torchlint.tune.lab import Attempt, NoTimeError
from torchlint.tune.search import ChangeSearch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Program = tuple[str, ...]
_ALL = ("data", "forward", "backward", "optimizer", "other")


@dataclass
class Change:
    """What the search asks of a candidate."""

    id: str
    slot: str = ""
    speeds: tuple[str, ...] = _ALL
    compiles: bool = False
    samples: float = 1.0
    seldom: bool = False

    def __post_init__(self) -> None:
        self.slot = self.slot or self.id


@dataclass
class Machine:
    """A laboratory whose programs take what a function says, without noise.

    Args:
        takes: seconds of a step of a program, by what they go into.
        fails, heavy, wrong: programs with all of these candidates fail, take 100 MB more, or
            compute other numbers.
        unmade: programs with all of these cannot be made.
        most: programs that are measured; after that, there is no time.
        lucky: candidates that look 5 % faster than they are when they are measured first.
    """

    takes: Callable[[Program], dict[str, float]]
    fails: list[set[str]] = field(default_factory=list)
    heavy: list[set[str]] = field(default_factory=list)
    wrong: list[set[str]] = field(default_factory=list)
    unmade: list[set[str]] = field(default_factory=list)
    most: float = math.inf
    lucky: set[str] = field(default_factory=set)
    attempted: list[Program] = field(default_factory=list)
    measured: list[Program] = field(default_factory=list)
    waited: list[Sequence[Program]] = field(default_factory=list)
    left: float = 1.0

    def attempt(self, programs: Sequence[Program]) -> list[Attempt]:
        self.attempted += programs
        return [
            Attempt("it raised", {})
            if _has(self.fails, each)
            else Attempt("", self.takes(each), 200.0 if _has(self.heavy, each) else 100.0)
            for each in programs
        ]

    def measure(self, base: Program, others: Sequence[Program]) -> list[list[float] | None]:
        room = int(min(len(others), self.most - len(self.measured)))
        if not room:
            raise NoTimeError
        self.measured += others[:room]
        known = [self._logs(base, each) for each in others[:room]]
        return [*known, *[None] * (len(others) - room)]

    def _logs(self, base: Program, other: Program) -> list[float]:
        luck = 0.05 if self.lucky & set(other) else 0.0
        self.lucky -= set(other)
        return [math.log(self.whole(base) / self.whole(other)) + luck] * 2

    def unfit(self, program: Program) -> str:
        return "there is no place" if _has(self.unmade, program) else ""

    def affordable(self, programs: Sequence[Program], waiting: Sequence[Program]) -> int:
        self.waited += [waiting]
        return len(programs)

    def wrong_numbers(self, programs: Sequence[Program]) -> list[str]:
        return ["the loss is another" if _has(self.wrong, each) else "" for each in programs]

    def whole(self, program: Program) -> float:
        return sum(self.takes(program).values())


def _has(those: list[set[str]], program: Program) -> bool:
    return any(each <= set(program) for each in those)


def faster(**times: float) -> Callable[[Program], dict[str, float]]:
    """A step of 10 ms of forward pass, with which each candidate is so many times faster."""

    def takes(program: Program) -> dict[str, float]:
        return {"forward": 10.0 / math.prod(times.get(each, 1.0) for each in program)}

    return takes


def search(machine: Machine, *changes: Change, **more: Any) -> ChangeSearch:
    found = ChangeSearch(changes, machine, machine.takes(()), **more)  # type: ignore[arg-type]
    found.run()
    return found


def outcomes(found: ChangeSearch) -> dict[str, str]:
    return {each: tried.outcome.name for each, tried in found.tried.items()}


def test_what_helps_is_combined_and_what_does_not_is_named() -> None:
    machine = Machine(faster(a=2.0, b=1.5, c=1.005, d=0.8))
    found = search(machine, *map(Change, "abcd"))
    assert found.best == ("a", "b")
    assert outcomes(found) == {"a": "KEPT", "b": "KEPT", "c": "NO_GAIN", "d": "SLOWER"}
    assert found.tried["a"].adds == pytest.approx(math.log(2))


def test_of_values_that_exclude_each_other_the_best_is_kept() -> None:
    changes = [Change(name, slot="workers") for name in "abc"]
    found = search(Machine(faster(a=2.0, b=3.0, c=2.5)), *changes)
    assert found.best == ("b",)
    assert outcomes(found) == {"a": "REPLACED", "b": "KEPT", "c": "REPLACED"}


def test_a_change_of_what_is_learned_is_measured_and_left_to_the_user() -> None:
    found = search(Machine(faster(a=2.0, b=1.5)), Change("a", samples=2.0), Change("b"))
    assert found.best == ("b",)
    assert outcomes(found) == {"a": "YOURS", "b": "KEPT"}
    assert found.tried["a"].alone == pytest.approx(math.log(2))


def test_a_search_that_ended_is_not_late() -> None:
    found = search(Machine(faster(a=1.0)), Change("a"))
    assert found.stop() == ()
    assert not found.is_late


def test_what_the_step_does_not_wait_for_is_not_tried() -> None:
    machine = Machine(lambda program: {"data": 0.1, "forward": 5.0 if "a" in program else 10.0})
    found = search(machine, Change("a"), Change("b", speeds=("data",)))
    assert outcomes(found)["b"] == "NOT_LIMITING"
    assert not any("b" in each for each in machine.attempted)


def test_what_limits_only_then_is_tried_then() -> None:
    """A loader that is waited for once the forward pass is fast."""

    def takes(program: Program) -> dict[str, float]:
        return {
            "data": 0.0 if "b" in program else 0.2,
            "forward": 0.5 if "a" in program else 10.0,
        }

    found = search(Machine(takes), Change("a"), Change("b", speeds=("data",)))
    assert found.best == ("a", "b")


def test_the_most_promising_is_tried_first() -> None:
    machine = Machine(lambda _: {"data": 8.0, "forward": 2.0})
    search(machine, Change("a", speeds=("forward",)), Change("b", speeds=("data",)))
    assert machine.attempted == [("b",), ("a",)]


def test_what_seldom_helps_is_tried_after_what_often_does() -> None:
    machine = Machine(lambda _: {"data": 4.0, "forward": 6.0})
    rare = Change("a", seldom=True)
    search(machine, rare, Change("b", speeds=("data",)), Change("c", speeds=("forward",)))
    assert machine.attempted == [("c",), ("b",), ("a",)]


def test_a_program_that_fails_is_left_out() -> None:
    machine = Machine(faster(a=2.0, b=3.0), fails=[{"b"}])
    found = search(machine, Change("a"), Change("b"))
    assert found.best == ("a",)
    assert found.tried["b"].outcome is Fate.FAILED
    assert found.tried["b"].why == "it raised"


def test_what_fails_only_together_goes_without_the_weakest() -> None:
    machine = Machine(faster(a=2.0, b=1.5, c=1.3), fails=[{"a", "c"}])
    found = search(machine, *map(Change, "abc"))
    assert found.best == ("a", "b")
    assert outcomes(found)["c"] == "UNFIT"


def test_more_memory_than_allowed_is_rejected() -> None:
    machine = Machine(faster(a=2.0, b=3.0), heavy=[{"b"}])
    found = search(machine, Change("a"), Change("b"), memory_mb=150.0)
    assert found.best == ("a",)
    assert outcomes(found)["b"] == "MEMORY"
    assert search(Machine(machine.takes), Change("b")).best == ("b",)


def test_wrong_numbers_are_rejected_however_fast() -> None:
    machine = Machine(faster(a=2.0, b=3.0), wrong=[{"b"}])
    found = search(machine, Change("a"), Change("b"))
    assert found.best == ("a",)
    assert outcomes(found)["b"] == "NUMBERS"


def test_the_next_value_is_kept_where_the_best_has_wrong_numbers() -> None:
    machine = Machine(faster(a=2.0, b=3.0), wrong=[{"b"}])
    found = search(machine, Change("a", slot="one"), Change("b", slot="one"))
    assert found.best == ("a",)


def test_numbers_that_are_wrong_only_together_cost_the_weakest() -> None:
    machine = Machine(faster(a=2.0, b=1.5), wrong=[{"a", "b"}])
    found = search(machine, Change("a"), Change("b"))
    assert found.best == ("a",)
    assert "together" in found.tried["b"].why


def test_what_adds_nothing_to_the_others_is_left_out() -> None:
    """Two ways to the same: either alone is twice as fast, and so are both."""

    def takes(program: Program) -> dict[str, float]:
        return {"forward": 5.0 if {"a", "b"} & set(program) else 10.0}

    found = search(Machine(takes), Change("a"), Change("b"))
    assert len(found.best) == 1
    assert sorted(outcomes(found).values()) == ["KEPT", "REDUNDANT"]


def test_together_slower_than_the_best_alone_is_the_best_alone() -> None:
    def takes(program: Program) -> dict[str, float]:
        both = len(program) == 2
        return {"forward": 9.0 if both else 5.0 if "a" in program else 6.0 if program else 10.0}

    found = search(Machine(takes), Change("a"), Change("b"))
    assert found.best == ("a",)


def test_other_ways_to_compile_wait_for_the_first() -> None:
    ways = [Change(name, slot="compile", compiles=True) for name in "ab"]
    machine = Machine(faster(a=0.9, b=5.0))
    found = search(machine, *ways)
    assert not any("b" in each for each in machine.attempted)
    assert outcomes(found) == {"a": "SLOWER", "b": "FIRST_WAY"}
    found = search(Machine(faster(a=1.5, b=5.0)), *ways)
    assert found.best == ("b",)
    assert outcomes(found) == {"a": "REPLACED", "b": "KEPT"}


def test_what_saves_no_memory_any_more_lets_others_go() -> None:
    """`b` fits only beside `a`, which adds nothing to it."""

    class Small(Machine):
        def attempt(self, programs: Sequence[Program]) -> list[Attempt]:
            sizes = {("a", "b"): 100.0, ("b",): 200.0}
            return [Attempt("", self.takes(each), sizes.get(each, 90.0)) for each in programs]

    def takes(program: Program) -> dict[str, float]:
        times = {(): 10.0, ("a",): 8.0, ("a", "b"): 5.0, ("b",): 5.0}
        return {"forward": times[program]}

    changes = Change("a"), Change("b", compiles=True)
    found = search(Small(takes), *changes, memory_mb=150.0)
    assert found.best == ("a",)
    assert outcomes(found)["b"] == "MEMORY"
    assert search(Small(takes), *changes, memory_mb=250.0).best == ("b",)


def test_a_way_to_compile_for_which_no_time_is_left_is_named_so() -> None:
    ways = [Change(name, slot="compile", compiles=True) for name in "ab"]
    found = search(Machine(faster(a=1.5, b=5.0), most=1), *ways)
    assert outcomes(found) == {"a": "KEPT", "b": "NO_TIME"}


def test_what_compiles_is_tried_beside_what_was_kept_before() -> None:
    machine = Machine(faster(a=1.2, b=2.0))
    found = search(machine, Change("a", compiles=True), Change("b"))
    assert machine.attempted[:2] == [("b",), ("b",)]
    assert ("a",) not in machine.attempted
    assert found.best == ("a", "b")
    assert found.tried["b"].adds == pytest.approx(math.log(2))


def test_without_time_no_way_to_compile_is_known() -> None:
    ways = [Change(name, slot="compile", compiles=True) for name in "ab"]
    found = search(Machine(faster(c=2.0), most=1), *ways, Change("c"))
    assert outcomes(found) == {"a": "NO_TIME", "b": "NO_TIME", "c": "KEPT"}


def test_the_first_candidates_are_known_when_the_time_ends_with_the_next() -> None:
    found = search(Machine(faster(b=2.0, k=3.0), most=6), *map(Change, "abcdefghijk"))
    assert found.is_late
    assert found.best == ("b",)
    assert {each for each, fate in outcomes(found).items() if fate == "NO_TIME"} == set("ghijk")


def test_what_is_left_after_wrong_numbers_has_to_be_faster_than_before() -> None:
    """Together with `c`, `a` computes other numbers, and `b` alone gains nothing beside `c`."""

    def takes(program: Program) -> dict[str, float]:
        faster = {"c": 2.0, "a": 1.5}
        alone = 1.2 if program == ("b",) else 1.0
        return {"forward": 10.0 / alone / math.prod(faster.get(each, 1.0) for each in program)}

    machine = Machine(takes, wrong=[{"a", "c"}])
    found = search(machine, *map(Change, "abc"))
    assert found.best == ("c",)
    assert outcomes(found) == {"a": "NUMBERS", "b": "REDUNDANT", "c": "KEPT"}


def test_what_is_not_faster_after_all_is_not_kept() -> None:
    found = search(Machine(faster(a=2.0)), Change("a"))
    found.give_up("in more pairs")
    assert found.best == ()
    assert outcomes(found) == {"a": "NO_GAIN"}
    assert found.tried["a"].alone == pytest.approx(math.log(2))


def test_what_looks_a_little_faster_once_is_measured_again() -> None:
    machine = Machine(faster(a=0.985, b=1.5), lucky={"a"})
    found = search(machine, Change("a"), Change("b"))
    assert found.best == ("b",)
    assert outcomes(found)["a"] == "NO_GAIN"


def test_without_time_the_best_that_was_compared_is_kept() -> None:
    machine = Machine(faster(a=2.0, b=1.5, c=1.4), most=3)
    found = search(machine, *map(Change, "abc"))
    assert found.is_late
    assert found.best == ("a",)
    assert outcomes(found) == {"a": "KEPT", "b": "UNSETTLED", "c": "UNSETTLED"}


def test_what_was_measured_in_time_counts() -> None:
    machine = Machine(faster(a=2.0, b=1.5, c=1.4), most=1)
    found = search(machine, *map(Change, "abc"))
    assert found.is_late
    assert found.best == ("a",)
    assert outcomes(found) == {"a": "KEPT", "b": "NO_TIME", "c": "NO_TIME"}


def test_nothing_to_gain_is_nothing_kept() -> None:
    machine = Machine(faster())
    found = search(machine, *map(Change, "ab"))
    assert found.best == ()
    assert not found.is_late
    assert set(outcomes(found).values()) == {"NO_GAIN"}
    assert len(machine.measured) == 2


def test_what_cannot_be_made_beside_the_best_is_left_out_and_nothing_else() -> None:
    machine = Machine(faster(a=8.0, b=6.0, c=1.6), unmade=[{"a", "b"}])
    found = search(machine, *map(Change, "abc"))
    assert found.best == ("a", "c")
    assert found.tried["b"].outcome is Fate.UNFIT
    assert found.tried["b"].why == "there is no place"


def test_what_was_measured_and_not_compared_says_so() -> None:
    class Hurried(Machine):
        def wrong_numbers(self, programs: Sequence[Program]) -> list[str | None]:  # type: ignore[override]
            raise NoTimeError

    found = search(Hurried(faster(a=8.0, b=1.0)), *map(Change, "ab"))
    assert found.best == ()
    assert found.is_late
    assert found.tried["a"].outcome is Fate.UNSETTLED
    assert found.tried["a"].alone == pytest.approx(math.log(8))


def test_runs_that_disagree_are_told_from_no_gain() -> None:
    class Noisy(Machine):
        def _logs(self, base: Program, other: Program) -> list[float]:
            return [0.9, -0.1] if other == ("a",) else [0.0, 0.001]

    found = search(Noisy(faster()), *map(Change, "ab"))
    assert (found.tried["a"].outcome, found.tried["a"].why) == (Fate.NO_GAIN, "the runs disagree")
    assert (found.tried["b"].outcome, found.tried["b"].why) == (Fate.NO_GAIN, "")


def test_no_more_is_tried_at_once_than_there_is_time_for() -> None:
    class Slow(Machine):
        def affordable(self, programs: Sequence[Program], waiting: Sequence[Program]) -> int:
            return min(2, super().affordable(programs, waiting))

    machine = Slow(faster(a=2.0))
    search(machine, *map(Change, "abc"))
    assert machine.attempted[:2] == [("a",), ("b",)]
    assert machine.measured[:2] == [("a",), ("b",)]
    assert machine.attempted[2] == ("c",)
    assert machine.waited[1] == [("a",)]  # whose numbers are still to be compared


def test_what_is_right_is_kept_where_there_is_no_time_for_the_others() -> None:
    class Hurried(Machine):
        def wrong_numbers(self, programs: Sequence[Program]) -> list[str | None]:  # type: ignore[override]
            if ("b",) in programs and ("a",) not in programs:
                raise NoTimeError(30.0)
            return ["" if "b" not in each else None for each in programs]

    found = search(Hurried(faster(a=2.0, b=1.5, c=1.0)), *map(Change, "abc"))
    assert found.best == ("a",)
    assert found.tried["b"].outcome is Fate.UNSETTLED
    assert found.is_late


def test_what_had_no_time_at_first_is_compared_if_the_others_were_quick() -> None:
    class Careful(Machine):
        """Compares one at a time, since each might have taken all of the time."""

        def wrong_numbers(self, programs: Sequence[Program]) -> list[str | None]:  # type: ignore[override]
            return ["", *[None] * (len(programs) - 1)]

    found = search(Careful(faster(a=2.0, b=1.5, c=1.3)), *map(Change, "abc"))
    assert found.best == ("a", "b", "c")


def test_what_compiles_is_tried_alone_and_last() -> None:
    machine = Machine(faster(a=2.0, b=1.0, c=1.0))
    search(machine, Change("a", compiles=True), Change("b", compiles=True), Change("c"))
    assert [len(each) for each in machine.attempted[:3]] == [1, 1, 1]
    assert machine.measured[:3] == [("c",), ("a",), ("b",)]


def test_what_compiles_does_not_wait_for_a_second_look_at_the_others() -> None:
    def takes(program: Program) -> dict[str, float]:
        return {"forward": 4.0 if "a" in program else 10.0}

    changes = (Change("a"), Change("b"), Change("c", compiles=True))
    second = [("a", "b"), ("a", "c")]
    for left, tried in ((0.6, second), (0.4, [*reversed(second)])):
        machine = Machine(takes, left=left)
        search(machine, *changes)
        assert [each for each in machine.attempted if each in second] == tried


@pytest.mark.parametrize(
    "interruption", [KeyboardInterrupt(), Failed("crashed", "killed", name="original")], ids=repr
)
def test_after_an_interruption_no_figure_is_that_of_another_program(
    interruption: BaseException,
) -> None:
    """What each adds to a program whose numbers were not compared is not what it adds to the
    program that is kept."""

    class Interrupted(Machine):
        def wrong_numbers(self, programs: Sequence[Program]) -> list[str]:
            if ("a", "b") in programs:
                raise interruption
            return super().wrong_numbers(programs)

    machine = Interrupted(faster(a=2.0, b=1.5))
    found = ChangeSearch([Change("a"), Change("b")], machine, machine.takes(()))  # type: ignore[list-item, arg-type]
    with pytest.raises(type(interruption)):
        found.run()
    assert found.stop() == ("a",)
    assert found.tried["a"].alone == pytest.approx(math.log(2))
    assert found.tried["a"].adds is None
    assert found.tried["b"].outcome is Fate.UNSETTLED


def test_without_time_to_see_what_each_adds_the_program_that_was_measured_is_kept() -> None:
    """What compiles comes last, and is kept if its numbers can be compared."""
    machine = Machine(faster(a=1.5, b=1.4), most=2)
    found = search(machine, Change("a"), Change("b", compiles=True))
    assert found.best == ("a", "b")
    assert found.is_late
    assert [found.tried[each].adds for each in "ab"] == [None, None]
