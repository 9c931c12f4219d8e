"""Sharing work among processes: every item is answered for, whoever dies."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from torchlint.workers import pool as workers
from torchlint.workers.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
MAIN = """\
import test_pool
test_pool.workers._WORTH_PROCESSES = 0
list(test_pool.Pool(2).map(test_pool.waiting, range(8), weigh=test_pool.one))
"""
Answers = dict[int, "tuple[int, int] | None"]


def square(items: list[int]) -> list[tuple[int, int]]:
    """Each item squared, and the process that did it."""
    return [(item * item, os.getpid()) for item in items]


def deaf_unless_deadly(items: list[int]) -> list[tuple[int, int]]:
    """Whether the process was started without an ear for Ctrl-C."""
    if any(item % 100 == 13 for item in items):
        os.kill(os.getpid(), signal.SIGKILL)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    return [(int(signal.SIGINT in blocked), os.getpid()) for _ in items]


def waiting(_items: list[int]) -> list[int]:
    """Never done; whoever reads the pipe sees the process begin, and end."""
    with open("pipe", "w") as pipe:
        print(os.getpid(), file=pipe, flush=True)
        threading.Event().wait()
    return []


def one(_item: int) -> int:
    return 1


@pytest.fixture(autouse=True)
def anything_is_worth_processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)  # Python 3.10 starts no process where modules are
    monkeypatch.setattr(workers, "_WORTH_PROCESSES", 0)


def mapped(
    items: list[int],
    jobs: int = 2,
    work: Callable[[list[int]], list[tuple[int, int]]] = square,
) -> Answers:
    answers = list(Pool(jobs).map(work, items, weigh=one))
    assert len(answers) == len(items)
    return dict(answers)


def processes(answers: Answers) -> set[int]:
    return {answer[1] for answer in answers.values() if answer is not None}


def test_every_item_is_answered_once_by_other_processes() -> None:
    answers = mapped(list(range(40)))
    assert {item: answer[0] for item, answer in answers.items() if answer} == {
        item: item * item for item in range(40)
    }
    assert os.getpid() not in processes(answers)


@cache
def struck() -> Answers:
    """Of 130 items two kill their process: those around them take a dozen processes."""
    return mapped(list(range(130)), work=deaf_unless_deadly)


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL")
def test_items_that_kill_their_process_are_left_out_and_the_others_are_not() -> None:
    assert {item for item, answer in struck().items() if answer is None} == {13, 113}


@pytest.mark.skipif(os.name == "nt", reason="no signal masks")
def test_processes_never_hear_an_interrupt_and_this_one_always_does() -> None:
    assert {answer[0] for answer in struck().values() if answer} == {1}
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_a_closed_pool_leaves_no_process_and_can_begin_again() -> None:
    pool = Pool(2)
    pool.close()
    for _ in range(2):
        answers = dict(pool.map(square, list(range(40)), weigh=one))
        pool.close()
        assert not any(map(psutil.pid_exists, processes(answers)))


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL")
def test_processes_end_if_this_one_is_killed() -> None:
    os.mkfifo("pipe")
    main = subprocess.Popen(
        [sys.executable, "-c", MAIN], env=os.environ | {"PYTHONPATH": str(HERE)}
    )
    with open("pipe") as pipe:
        begun = [pipe.readline(), pipe.readline()]
        main.kill()
        main.wait()
        ended, _, _ = select.select([pipe], [], [], 60)
        rest = pipe.read() if ended else None
    for line in begun:
        with suppress(ProcessLookupError):
            os.kill(int(line), signal.SIGKILL)

    assert rest == ""


@pytest.mark.parametrize(("count", "jobs"), [(40, 1), (1, 2), (0, 2)])
def test_one_job_or_one_item_needs_no_other_process(count: int, jobs: int) -> None:
    assert processes(mapped(list(range(count)), jobs)) <= {os.getpid()}


def test_little_work_needs_no_other_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_WORTH_PROCESSES", 1000)
    assert processes(mapped(list(range(40)))) == {os.getpid()}


def test_processes_that_are_there_get_little_work_too(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool(2)
    monkeypatch.setattr(workers, "_WORTH_WAKING", 10)
    for least, elsewhere in ((1000, False), (40, True), (1000, True)):
        monkeypatch.setattr(workers, "_WORTH_PROCESSES", least)
        found = processes(dict(pool.map(square, range(40), weigh=one)))
        assert (os.getpid() not in found) is elsewhere


def test_shares_are_of_about_equal_weight() -> None:
    shares = workers._shares([90, 10, 20, 30, 30], int, 2)
    assert sorted(sum(share) for share in shares) == [90, 90]
    assert len(workers._shares([1, 2], int, 8)) == 2


def test_shares_hold_no_more_than_a_process_should(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_LARGEST_SHARE", 10)
    seen: list[int] = []

    def work(items: list[int]) -> list[int]:
        seen.append(len(items))
        return items

    assert len(list(Pool().map(work, range(400), weigh=one))) == 400
    assert max(seen) <= 10
