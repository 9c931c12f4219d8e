from __future__ import annotations

import io
import re
import threading
from dataclasses import replace

import pytest

from tests.report.verify.sample_results import comparison, declared
from torchlint.experiment.figures import TIMES
from torchlint.experiment.subject import AGAIN, CHANGED, ORIGINAL
from torchlint.report.verify.verification_progress import VerificationProgress
from torchlint.verify.result import Agreement, Numerics, Verdict
from torchlint.verify.time_budget import Layout, TimeNeeded

NEEDED = TimeNeeded(
    10.0, 10.0, 0.0, likely_equal=True, whole=18.75, first_round=18.75, round=18.75,
    looks=(4, 8, 16),
)  # fmt: skip
LAYOUT = Layout((ORIGINAL, AGAIN, CHANGED), declared(), NEEDED)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def an_ordinary_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")


def progress(stream: io.StringIO, clock: Clock) -> VerificationProgress:
    return VerificationProgress(
        stream, clock=clock, time_of_day=lambda seconds: f"now+{seconds:.0f}"
    )


def all_ended(before: set[threading.Thread]) -> bool:
    """Whether the threads that were added have ended; one that has been told to may take a while."""
    more = set(threading.enumerate()) - before
    for thread in more:
        thread.join(200)
    return not any(thread.is_alive() for thread in more)


def interrupted(shown: VerificationProgress, of: int | None) -> None:
    with shown:
        shown.stage("Measuring", of=of)
        raise KeyboardInterrupt


def plain(stream: io.StringIO) -> str:
    return re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", stream.getvalue())


# off a terminal ----------------------------------------------------------------------------


def test_off_a_terminal_each_stage_is_a_line_with_the_time() -> None:
    stream, clock = io.StringIO(), Clock()
    with progress(stream, clock) as shown:
        shown.stage("Looking at the program")
        clock.now += 12
        shown.plan(LAYOUT, 0.0123)
        shown.numbers("changed", Numerics(Agreement.BITWISE, steps=30))
        shown.stage("Measuring pairs", of=16)
        for done in range(5):
            shown.step(done, 4)
        clock.now += 100
        shown.step(4, 8)
    assert stream.getvalue().splitlines() == [
        "[   0 s] Looking at the program",
        "[  12 s] A step takes 12.3 ms.",
        "[  12 s] Plan: 4, 8, 16 pairs, 10 blocks of 5 steps, warm-up 10, margin 2%, alpha 0.05, "
        "seed 0, a step ends at AdamW.step (optimizer 1 of 1)",
        "[  12 s] 3 programs, about 1 min 25 s to the first verdict, at most about 5 min 20 s",
        "[  12 s] Numbers, changed: bitwise equal over 30 steps",
        "[  12 s] Measuring pairs",
        "[ 112 s] Measuring pairs: not settled after 4, going on to 8",
    ]


def test_off_a_terminal_a_long_stage_says_how_far_it_is() -> None:
    stream, clock = io.StringIO(), Clock()
    with progress(stream, clock) as shown:
        shown.stage("Reading")
        for done in range(1, 26):
            clock.now += 1
            shown.step(done, 25 if done < 9 else 30)
    assert stream.getvalue().splitlines() == [
        "[   0 s] Reading",
        "[  10 s] Reading: 10 of 30",
        "[  20 s] Reading: 20 of 30",
    ]


def test_verdicts_are_said_as_they_come() -> None:
    stream, clock = io.StringIO(), Clock()
    found = comparison(Verdict.CONFIRMED, ratio=2.0)
    assert found.estimate is not None
    pairs = replace(found.estimate, pairs=2)
    with progress(stream, clock) as shown:
        shown.so_far(replace(found, estimate=pairs))
        shown.judged(CHANGED, found)
        shown.judged("TL403:train.py", replace(found, verdict=Verdict.UNRESOLVED, why="noise"))
        shown.judged("TL403:train.py", replace(found, estimate=None))
    so_far, whole, fix = stream.getvalue().splitlines()
    assert so_far.startswith(f"[   0 s] So far, 2 pairs: {TIMES}2.0")
    assert so_far.endswith(" ms a step")
    assert "[" not in so_far.partition("]")[2]  # no interval before a look
    assert whole.startswith(f"[   0 s] Changed program: CONFIRMED {TIMES}2.0")
    assert fix.startswith(f"[   0 s] TL403 in train.py: UNRESOLVED {TIMES}2.0")
    assert fix.endswith(" (noise)")


def test_a_plan_says_when_the_total_comes_and_when_each_fix() -> None:
    stream, clock = io.StringIO(), Clock()
    needed = replace(NEEDED, first_round=40.0, round=40.0)
    with progress(stream, clock) as shown:
        shown.plan(replace(LAYOUT, needed=needed), 0.01)
        shown.plan(replace(LAYOUT, needed=needed, plan=declared(budget_s=120.0)), 0.01)
        shown.room(replace(LAYOUT, narrowed=True, enough_s=90.0))
    said = stream.getvalue()
    each = "about 1 min 25 s to the first verdict, 2 min 50 s to those on each fix"
    assert f"{each}, at most" in said
    assert f"{each} (the budget is probably too short for these), at most about 2 min, " in said
    assert said.endswith("not for each alone; --budget 2m would probably do.\n")


def test_a_plan_takes_no_longer_than_the_budget() -> None:
    stream, clock = io.StringIO(), Clock()
    with progress(stream, clock) as shown:
        clock.now += 12
        shown.plan(replace(LAYOUT, plan=declared(budget_s=252.0)), 0.0123)
        shown.plan(replace(LAYOUT, plan=declared(budget_s=72.0)), 0.0123)
    assert "first verdict, at most about 4 min, when the budget ends\n" in stream.getvalue()
    assert "1 min 25 s to the first verdict, and 1 min are left of the budget\n" in (
        stream.getvalue()
    )


@pytest.mark.parametrize("term", ["dumb", "unknown"])
def test_a_terminal_that_cannot_draw_gets_lines(term: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", term)
    stream = Terminal()
    with progress(stream, Clock()) as shown:
        shown.stage("Measuring", of=4)
        shown.step(1, 4)
    assert stream.getvalue() == "[   0 s] Measuring\n"


# on a terminal -----------------------------------------------------------------------------


def test_a_terminal_sees_what_is_measured_and_the_time_left() -> None:
    stream, clock = Terminal(), Clock()
    with progress(stream, clock) as shown:
        shown.stage("Measuring pairs", of=4)
        clock.now += 30
        shown.step(1, 4)
    assert re.search(
        r"Measuring pairs .*1 of 4  about 1 min 30 s left, until now\+90", plain(stream)
    )


def test_before_the_first_step_the_plan_says_how_long_it_takes() -> None:
    stream = Terminal()
    with progress(stream, Clock()) as shown:
        shown.plan(LAYOUT, 0.0123)
        shown.stage("Measuring pairs", of=4)
    assert "0 of 4  about 1 min 15 s left, until now+75" in plain(stream)


def test_while_steps_are_measured_nothing_is_drawn_and_no_thread_runs() -> None:
    stream = Terminal()
    threads = set(threading.enumerate())
    with progress(stream, Clock()) as shown:
        shown.stage("Measuring pairs", of=4)
        assert all_ended(threads)
        shown.step(1, 4)
        drawn = stream.getvalue()
        shown.step(1, 4)
        assert stream.getvalue() == drawn
        shown.step(2, 4)
        assert stream.getvalue() != drawn


def test_a_stage_that_begins_to_count_stops_ticking() -> None:
    stream = Terminal()
    threads = set(threading.enumerate())
    with progress(stream, Clock()) as shown:
        shown.stage("Comparing the numbers")
        assert len(set(threading.enumerate()) - threads) == 1
        shown.step(1, 3)
        assert all_ended(threads)
        assert "1 of 3" in plain(stream)


@pytest.mark.parametrize("of", [None, 4])
def test_ctrl_c_gives_the_terminal_back(of: int | None) -> None:
    stream = Terminal()
    threads = set(threading.enumerate())
    shown = progress(stream, Clock())
    with pytest.raises(KeyboardInterrupt):
        interrupted(shown, of)
    assert all_ended(threads)
    text = stream.getvalue()
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")
    assert text.endswith("\x1b[2K")
    shown.done()
    assert stream.getvalue() == text


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()], ids=["terminal", "file"])
def test_names_are_shown_as_they_are_and_steer_nothing(stream: io.StringIO) -> None:
    with progress(stream, Clock()) as shown:
        shown.stage("Running [bold]a\x1b[2J\nb.py", of=2)
    assert "Running [bold]a\\x1b[2J\\nb.py" in plain(stream)


def test_standard_output_stays_free(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(Terminal(), Clock()) as shown:
        shown.stage("Measuring", of=2)
        print("the program's own")  # noqa: T201
        shown.step(1, 2)
    assert capsys.readouterr() == ("the program's own\n", "")
