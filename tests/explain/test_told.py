"""What is seen of a check while it runs: the sentences that it tells, and what it wants to report."""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import partial

import libcst as cst

from torchlint.because import because
from torchlint.explain.told import watched
from torchlint.finding import Tier
from torchlint.rule import Module, Rule


def judge(number: int) -> tuple[int, ...]:
    if number < 0:
        return ()
    if number % 2:
        return because((), "{} is odd", number)
    return because((number,), "{} is even", number)


def test_an_answer_is_returned_as_it_is() -> None:
    assert because(3, "a sentence", "a place") == 3


def test_the_last_sentence_is_the_one_that_decided() -> None:
    answer, seen = watched(lambda: [judge(2), judge(3)])
    assert answer == [(2,), ()]
    assert [each.sentence for each in seen.told] == ["{} is even", "{} is odd"]
    assert seen.last == ((), "{} is odd", (3,))


def test_a_check_that_tells_nothing_has_no_last_sentence() -> None:
    assert watched(partial(judge, -1))[1].last is None


def test_a_check_that_yields_is_watched_to_its_end() -> None:
    answer, seen = watched(lambda: [*map(judge, (1, 2))])
    assert answer == [(), (2,)]
    assert len(seen.told) == 2


def test_doubts_are_the_answers_that_make_a_hint() -> None:
    _, seen = watched(lambda: because(Tier.HINT, "nobody knows"))
    assert [each.sentence for each in seen.doubts] == ["nobody knows"]


def test_a_place_is_seen_once_whatever_its_contexts_say() -> None:
    rule = Rule(code="TL999", name="x", family="test", summary="")
    node = cst.Name("x")
    module = Module.__new__(Module)  # none: the reports fail, but are seen

    def run() -> None:
        for message in ("a", "b"):
            with suppress(AttributeError):
                list(rule.report(module, node, message))

    _, seen = watched(run)
    assert [each.node for each in seen.wanted] == [node]


def test_an_earlier_tracer_traces_again() -> None:
    before = sys.gettrace()
    watched(partial(judge, 3))
    assert sys.gettrace() is before
