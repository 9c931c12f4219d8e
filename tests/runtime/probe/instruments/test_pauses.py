"""Pauses of the garbage collector, and lines that log or write."""

from __future__ import annotations

import gc
import logging
import os
import sys
import time
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
import torch

from tests.runtime.probe.instruments.user_file import UserFile
from torchlint.runtime.probe.instruments import pauses
from torchlint.runtime.probe.steps import line_sampler

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from torchlint.runtime.probe.instrument_messages import OwnTime, PausesSeen, Residue

TRAIN = """
import copy
import gc
import json
import logging
import pickle
import statistics
import time

import torch
from torch.utils.data import DataLoader

log = logging.Logger("users_train")

def logs():
    log.info("step")  # logs
    time.sleep(0.012)

def prints(stream):
    print("step", file=stream)  # prints

class SlowStream:
    def write(self, text):
        time.sleep(0.002)

def dumps():
    json.dumps({str(index): index for index in range(10)})  # json
    pickle.dumps([1, 2])  # pickle

def makes_cycles():
    for _ in range(200):
        one = []
        one.append(one)

def asks():
    gc.collect()  # asks

class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 3

    def __getitem__(self, index):
        log.info("reads")
        return json.dumps([index])

def loads():
    for _ in DataLoader(Data()):
        pass

def computes():
    time.sleep(0.002)

def draws():
    return sorted(range(20000), key=lambda each: -each)  # draws

def deviates():
    statistics.pstdev(range(4000))  # deviates

def scores(score):
    score()  # scores

class Sorted(torch.utils.data.Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return len(sorted(range(20000), key=str))  # sample

def loads_samples():
    for _ in DataLoader(Sorted()):
        pass

def loads_slowly():
    for _ in DataLoader(Sorted(), batch_sampler=[[0, 1]] * 200, num_workers=2):
        pass

layer = torch.nn.Linear(800, 800)

def trains():
    loss = layer(torch.ones(800, 800)).sum()
    loss.backward()  # backward
"""


class Slow(logging.Handler):
    """A library's, since this file is not the user's."""

    def emit(self, record: logging.LogRecord) -> None:
        time.sleep(0.004)


def checked(plain: Callable[[], None]) -> Callable[[], None]:
    def wrapper() -> None:
        plain()

    return wrapper


@checked
def score() -> None:
    """A library's function."""
    sum(range(40_000))


@pytest.fixture
def user(tmp_path: Path) -> UserFile:
    user = UserFile(tmp_path, TRAIN)
    user.module.log.addHandler(Slow())
    return user


def watched(user: UserFile, call: Any, count: int = 20) -> PausesSeen:
    return user.watched(pauses, call, count)


def by_what(found: PausesSeen) -> dict[str, Residue]:
    return {each.what: each for each in found.residue}


@pytest.mark.parametrize("timed", [True, False])
def test_the_share_of_a_line_that_logs_is_found_by_timing_and_by_looking(
    user: UserFile, monkeypatch: pytest.MonkeyPatch, timed: bool
) -> None:
    if not timed:
        monkeypatch.setattr(pauses, "_TIMED", ())
    begun = time.perf_counter()
    (line,) = watched(user, "logs").residue
    took = time.perf_counter() - begun
    assert (line.place, line.what) == (user.place("# logs"), "logging")
    assert 0.02 < line.seconds / took < 0.9
    assert line.calls == (20 if timed else 0)
    assert line.samples > 10


def test_lines_of_python_let_themselves_be_looked_at_sooner_than_python_would(
    user: UserFile,
) -> None:
    """In five milliseconds a short loop ends, and is counted for what lets go of Python next."""
    before = sys.getswitchinterval()
    intervals: list[float] = []
    user.module.notes = lambda: intervals.append(sys.getswitchinterval())
    watched(user, "notes", 1)
    assert intervals == [pytest.approx(0.0001)]
    assert sys.getswitchinterval() == before


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_thread_that_goes_on_while_its_frames_are_read_is_at_no_line(
    user: UserFile, monkeypatch: pytest.MonkeyPatch, goes_on: bool
) -> None:
    frames = line_sampler._FRAMES
    assert frames is not None
    looks = 0

    def look() -> dict[int, Any]:
        nonlocal looks
        looks += 1
        return {} if goes_on and looks % 2 == 0 else frames()

    monkeypatch.setattr(pauses, "_TIMED", ())
    monkeypatch.setattr(line_sampler, "_FRAMES", look)
    assert bool(watched(user, "logs").residue) == (not goes_on)
    assert looks >= 2


def most(user: UserFile, call: Any, part: str = "other") -> OwnTime:
    """The line with most of the time of a part; the thread that looks may have had no turn at
    first."""
    own: list[OwnTime] = []
    while not own:
        own = [each for each in watched(user, call).own if each.part == part]
    return max(own, key=lambda each: each.seconds)


def test_a_line_of_python_is_the_users_own(user: UserFile) -> None:
    line = most(user, "draws")
    assert (line.place, line.call) == (user.place("# draws"), "")
    assert line.function in ("draws", "<lambda>")
    assert line.samples > 0
    assert line.seconds > 0


def test_the_library_function_that_a_line_calls_is_named(user: UserFile) -> None:
    line = most(user, "deviates")
    assert (line.place, line.function) == (user.place("# deviates"), "deviates")
    assert line.call == "statistics.pstdev"
    assert line.first == line.place[1] - 1


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python does not tell where one is made")
def test_a_function_is_named_and_not_what_a_decorator_puts_around_it(user: UserFile) -> None:
    line = most(user, lambda: user.module.scores(score))
    assert line.call == f"{__name__}.score"


def test_the_lines_of_a_data_set_load(user: UserFile) -> None:
    assert most(user, "loads_samples", "loader").place == user.place("# sample")


def test_the_lines_of_the_first_worker_are_seen_in_its_own_process(
    user: UserFile, tmp_path: Path
) -> None:
    settings = replace(user.settings, scratch=str(tmp_path))
    watch = pauses.watch(settings)
    os.register_at_fork(after_in_child=watch.rest)
    watch.open()
    while not (found := watch.close()).worker:
        watch.open()
        user.module.loads_slowly()
    line = max(found.worker, key=lambda each: each.seconds)
    assert (line.place, line.part) == (user.place("# sample"), "loader")
    assert found.worker_s >= line.seconds > 0
    if sys.platform == "linux":
        threads = found.threads[0]
        assert (threads.dataset, threads.workers) == ("Sorted", 2)
        assert threads.threads >= 1
        assert threads.seconds > 0
        assert threads.ran_s > 0


def test_what_torch_computes_is_not_the_users_own(user: UserFile) -> None:
    found = watched(user, "trains", 100)
    assert user.place("# backward") not in [each.place for each in found.own]


def test_functions_without_a_frame_are_timed(user: UserFile) -> None:
    stream = user.module.SlowStream()
    line = by_what(watched(user, lambda: user.module.prints(stream)))["print"]
    assert line.place == user.place("# prints")
    assert line.calls == 20
    assert line.seconds >= 20 * 0.002
    found = by_what(watched(user, "dumps"))
    assert {name: each.place for name, each in found.items()} == {
        "json": user.place("# json"),
        "pickle": user.place("# pickle"),
    }
    assert [each.calls for each in found.values()] == [20, 20]


def test_what_a_data_set_does_is_input(user: UserFile) -> None:
    assert watched(user, "loads").residue == []


def test_what_computes_is_not_residue(user: UserFile) -> None:
    found = watched(user, "computes")
    assert (found.residue, found.asked) == ([], [])


def test_pauses_of_the_garbage_collector_are_timed(user: UserFile) -> None:
    before = gc.get_threshold()
    gc.set_threshold(100)
    try:
        found = watched(user, "makes_cycles")
    finally:
        gc.set_threshold(*before)
    assert found.collections >= 20
    assert 0 <= found.full_collections < found.collections
    assert 0 < found.gc_seconds < 60
    assert found.asked == []


def test_the_garbage_of_a_compiler_is_part_of_compiling(user: UserFile) -> None:
    compiler = ModuleType("torch._dynamo.of_this_test")
    exec("def compile(call):\n    call()\n", vars(compiler))
    before = gc.get_threshold()
    gc.set_threshold(100)
    try:
        found = watched(user, lambda: compiler.compile(user.module.makes_cycles))
    finally:
        gc.set_threshold(*before)
    assert found.collections <= 2  # what the loop around it has made


def test_collections_that_the_user_asks_for_have_a_line(user: UserFile) -> None:
    gc.disable()
    try:
        found = watched(user, "asks", count=3)
    finally:
        gc.enable()
    (asked,) = found.asked
    assert asked.place == user.place("# asks")
    assert asked.calls == 3
    assert asked.seconds > 0
    assert (found.collections, found.gc_seconds) == (0, 0)


@pytest.mark.parametrize(
    ("module", "kind"),
    [
        ("logging.handlers", "logging"),
        ("torch.utils.tensorboard.writer", "tensorboard"),
        ("torch.serialization", "torch.save"),
        ("PIL.Image", "PIL"),
        ("torch.nn.modules.linear", ""),
        ("torch.optim.adam", ""),
        ("torch.utils.data.dataloader", ""),
        ("torch.functional", None),
        ("jsonschema", None),
    ],
)
def test_what_a_module_does(module: str, kind: str | None) -> None:
    assert line_sampler._kind_of(module) == kind


def test_a_logged_line_names_the_same_caller(
    user: UserFile, caplog: pytest.LogCaptureFixture
) -> None:
    user.module.log.addHandler(caplog.handler)
    watched(user, "logs", count=1)
    user.module.log.removeHandler(caplog.handler)
    (record,) = caplog.records
    assert (record.pathname, record.lineno) == user.place("# logs")


def test_optimizers_are_training(user: UserFile) -> None:
    weight = torch.nn.Parameter(torch.ones(10))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    weight.grad = torch.ones(10)
    assert watched(user, optimizer.step).residue == []
