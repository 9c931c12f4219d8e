"""What is seen of a check while it runs: its last condition, and what that asked."""

from __future__ import annotations

from functools import partial

from torchlint.explain.decisions import watched


def is_even(number: int) -> bool:
    """Whether a number is even. That of zero is."""
    return number % 2 == 0


def judge(numbers: list[int]) -> list[int]:
    if not numbers:
        return []
    if any(is_even(each) for each in numbers) and (len(numbers) > 1 or numbers[0] > 10):
        return numbers
    return []


def lazily(numbers: list[int]) -> object:
    for each in numbers:
        if is_even(each):
            continue
        yield each


def test_the_last_condition_decides() -> None:
    answer, seen = watched(partial(judge, []), __file__)
    assert answer == []
    assert seen.decision is not None
    assert (seen.decision.code, seen.decision.held) == ("not numbers", True)
    assert seen.decision.conditions == 1


def test_a_condition_of_several_lines_is_one() -> None:
    _, seen = watched(partial(judge, [12, 4]), __file__)
    assert seen.decision is not None
    assert seen.decision.code.startswith("any((is_even(each)")
    assert (seen.decision.held, seen.decision.conditions) == (True, 2)


def test_what_a_condition_asked_explains_itself() -> None:
    _, seen = watched(partial(judge, [3]), __file__)
    assert seen.decision is not None
    assert seen.decision.held is False
    (asked,) = seen.decision.asked
    assert (asked.name, asked.says, asked.answer) == (
        "is_even",
        "Whether a number is even",
        "no",
    )


def test_a_check_that_yields_is_followed_to_its_end() -> None:
    answer, seen = watched(lambda: list(lazily([1, 2])), __file__)  # type: ignore[call-overload]
    assert answer == [1]
    assert seen.decision is not None
    assert (seen.decision.code, seen.decision.held) == ("is_even(each)", True)


def test_a_check_of_another_file_is_not_followed() -> None:
    _, seen = watched(partial(judge, [3]), "elsewhere.py")
    assert seen.decision is None


def test_who_traced_before_traces_again() -> None:
    import sys

    before = sys.gettrace()
    watched(partial(judge, [3]), __file__)
    assert sys.gettrace() is before
