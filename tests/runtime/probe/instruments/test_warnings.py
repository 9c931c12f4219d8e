"""What torch warns of."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING

import pytest
import torch
from torch import distributed

from tests.runtime.probe.instruments.user_file import UserFile
from torchlint.runtime.probe.instruments import warnings as instrument

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from torchlint.runtime.probe.instrument_messages import TorchWarning

SLOW = "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please convert."
TRAIN = """
import warnings
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)

    def forward(self, x, uses):
        return self.one(x) if uses == "one" else self.two(self.one(x))

def wrapped(options):
    return torch.nn.parallel.DistributedDataParallel(Net(), **options)  # wrapped

def prepare():
    make([])  # prepared

def step():
    make([])  # step

def loop(steps, passed):
    for _ in range(steps):
        make([])  # loop
        passed()

def say(words):
    warnings.warn(words, stacklevel=1)  # says
"""


@pytest.fixture
def user(tmp_path: Path) -> UserFile:
    user, told = UserFile(tmp_path, TRAIN), []

    def make(_: object) -> None:
        """As torch does: once in a process."""
        if not told:
            told.append(True)
            warnings.warn(SLOW, stacklevel=2)

    user.module.make = make
    return user


@pytest.fixture(autouse=True)
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What is shown as outside of tests, where nothing else traces lines."""
    tracer, said = sys.gettrace(), []
    sys.settrace(None)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        monkeypatch.setattr(warnings, "showwarning", lambda message, *_: said.append(str(message)))
        yield said
    sys.settrace(tracer)


def heard(user: UserFile, prepare: str, step: str, steps: int = 8) -> list[TorchWarning]:
    """After a first step that is no part of the window."""
    watch = instrument.watch(user.settings)
    getattr(user.module, prepare)()
    watch.open()
    for _ in range(steps):
        getattr(user.module, step)()
        watch.passed()
    return list(watch.close().heard)


def test_a_warning_is_heard_before_the_window_and_its_line_seen_in_it(
    user: UserFile, shown: list[str]
) -> None:
    (found,) = heard(user, "step", "step")
    assert (found.name, found.place) == ("list-of-arrays", user.place("# step"))
    assert (found.count, found.watched, found.ran) == (1, 5, 5)
    assert shown == [SLOW]
    assert sys.gettrace() is None


def test_a_line_that_only_prepares_does_not_run_in_the_steps(user: UserFile) -> None:
    (found,) = heard(user, "prepare", "step")
    assert found.place == user.place("# prepared")
    assert (found.watched, found.ran) == (5, 0)


def test_a_loop_that_runs_already_is_looked_at(user: UserFile) -> None:
    watch = instrument.watch(user.settings)

    def passed() -> None:
        if watch.watching:
            watch.passed()
        else:
            watch.open()

    user.module.loop(4, passed)
    (found,) = watch.close().heard
    assert (found.place, found.watched, found.ran) == (user.place("# loop"), 3, 3)


def test_other_warnings_are_not_kept(user: UserFile) -> None:
    watch = instrument.watch(user.settings)
    user.module.say("the lr_scheduler is called before the optimizer")
    assert watch.close().heard == []


def test_a_debugger_keeps_its_trace(user: UserFile) -> None:
    def trace(*_: object) -> None:
        """Looks at nothing."""

    watch = instrument.watch(user.settings)
    user.module.step()
    sys.settrace(trace)
    watch.open()
    assert sys.gettrace() is trace
    sys.settrace(None)
    (found,) = watch.close().heard
    assert found.watched == 0


@pytest.mark.parametrize(
    ("options", "uses", "names"),
    [
        ({"find_unused_parameters": True}, "both", ["unused-parameters"]),
        ({"find_unused_parameters": True}, "one", []),
        ({"find_unused_parameters": True}, "later", []),
        ({}, "both", []),
    ],
)
def test_ddp_is_asked_for_unused_parameters(
    user: UserFile, options: dict[str, bool], uses: str, names: list[str]
) -> None:
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        watch = instrument.watch(user.settings)
        model = user.module.wrapped(options)
        model(torch.ones(1, 2), "both").sum().backward()
        watch.open()
        for step in range(4):
            seldom = "both" if step < 2 else "one"
            model(torch.ones(1, 2), seldom if uses == "later" else uses).sum().backward()
            watch.passed()
        heard = watch.close().heard
    finally:
        distributed.destroy_process_group()
    assert [each.name for each in heard] == names
    assert [each.place for each in heard] == [user.place("# wrapped")] * len(names)


def test_a_worker_of_a_loader_says_nothing(user: UserFile) -> None:
    watch = instrument.watch(user.settings)
    watch.rest()
    user.module.step()
    assert watch.close().heard == []


def test_everything_is_undone(user: UserFile) -> None:
    before = warnings._showwarnmsg  # type: ignore[attr-defined]
    heard(user, "step", "step")
    assert warnings._showwarnmsg is before  # type: ignore[attr-defined]
