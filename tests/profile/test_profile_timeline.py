"""A step's parts, in their order."""

from __future__ import annotations

import pytest

from torchlint.profile.evidence import Window
from torchlint.profile.step_timeline import Span, gaps, spans_of, typical
from torchlint.runtime.decoding import MalformedError
from torchlint.runtime.probe.instrument_messages import TimelinePart, TimelineSeen


def window(ends: list[float], *spans: TimelinePart) -> Window[TimelineSeen]:
    return Window(len(ends), 1.0, TimelineSeen(ends, [*spans]))


def test_spans_come_in_the_order_in_which_they_begin_the_outer_one_first() -> None:
    read = TimelinePart("read", "item", 0.2, 0.3, ("/x/train.py", 9))
    found = spans_of(window([1.0, 3.0], read, TimelinePart("forward", "", 0.2, 0.6)))
    assert [(each.kind, each.start, each.stop) for each in found] == [
        ("step", 0.0, 1.0),
        ("forward", 0.2, pytest.approx(0.6)),
        ("read", 0.2, pytest.approx(0.3)),
        ("step", 1.0, 3.0),
    ]
    assert (found[2].name, found[2].row) == ("item", 9)
    assert found[2].path.endswith("train.py")


@pytest.mark.parametrize(
    "wrong",
    [
        window([1.0, 1.0]),
        window([1.0], TimelinePart("odd", "", 0.0, 0.5)),
        window([1.0], TimelinePart("read", "", 0.5, 0.4)),
        window([1.0], TimelinePart("read", "", -0.5, 0.4)),
    ],
)
def test_what_cannot_be_is_refused(wrong: Window[TimelineSeen]) -> None:
    with pytest.raises(MalformedError):
        spans_of(wrong)


def test_the_typical_step_is_the_median_one_from_second_zero_on() -> None:
    spans = [
        *(Span("step", "", start, long) for start, long in ((0.0, 9.0), (9.0, 2.0), (11.0, 1.0))),
        Span("optimizer", "", 8.9, 0.11),  # ends just after the step has begun
        Span("forward", "", 9.5, 0.5),
        Span("backward", "", 10.5, 1.0),  # goes on in the next step
        Span("data", "", 11.5, 0.5),
    ]
    step, forward, backward = typical(sorted(spans, key=lambda each: each.start))
    assert (step.kind, step.start, step.seconds) == ("step", 0.0, 2.0)
    assert (forward.start, forward.seconds) == (0.5, 0.5)
    assert (backward.start, backward.seconds) == (1.5, 0.5)
    assert typical([]) == ()


def test_gaps_are_what_no_part_covers() -> None:
    outer, inner = Span("forward", "", 1.0, 3.0), Span("read", "", 1.5, 0.5)
    last = Span("optimizer", "", 5.0, 1.0)
    found = gaps([outer, inner, last], 0.0, 6.5)
    assert [(each.start, each.stop) for each in found] == [(0.0, 1.0), (4.0, 5.0), (6.0, 6.5)]
    assert {each.kind for each in found} == {"other"}
    assert gaps([Span("data", "", 0.0, 1.0)], 0.0, 1.0) == ()
