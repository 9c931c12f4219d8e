"""What a rank sends and waits for, seen in a process group of one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import distributed

from tests.runtime.probe.instruments.user_file import UserFile
from torchlint.runtime.probe import private
from torchlint.runtime.probe.instruments import exchanges

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TRAIN = """
import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

class Net(nn.Linear):
    pass

model = DistributedDataParallel(Net(2, 2))
other = DistributedDataParallel(nn.Linear(2, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
(model(torch.ones(1, 2)) + other(torch.ones(1, 2))).sum().backward()
optimizer.zero_grad()

def backward():
    model(torch.ones(1, 2)).sum().backward()  # model

def accumulate(sync=True):
    backward()
    backward()
    optimizer.step()
    optimizer.zero_grad()

def both():
    model(torch.ones(1, 2))
    other(torch.ones(1, 2)).sum().backward()  # other

def kept():
    backward()
    optimizer.step()

def zeroed():
    backward()
    optimizer.zero_grad(set_to_none=False)

def quiet():
    with model.no_sync():
        backward()
    backward()
    optimizer.step()
    optimizer.zero_grad()

class Buffered(nn.Linear):
    def __init__(self):
        super().__init__(2, 2)
        self.register_buffer("table", torch.ones(4))

buffered = DistributedDataParallel(Buffered())

def sends():
    buffered(torch.ones(1, 2)).sum().backward()  # sends

def adds():
    sends()
    buffered.module.table.add_(1)

def renews():
    sends()
    buffered.module.table = buffered.module.table + 1

def send():
    distributed.all_reduce(torch.ones(1))  # at once
    work = distributed.all_reduce(torch.ones(1), async_op=True)  # starts
    work.wait()  # waits
"""


@pytest.fixture(autouse=True)
def group() -> Iterator[None]:
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    yield
    if distributed.is_initialized():
        distributed.destroy_process_group()


@pytest.fixture
def user(tmp_path: Path) -> UserFile:
    return UserFile(tmp_path, TRAIN)


def watched(user: UserFile, name: str, steps: int = 3) -> Any:
    """What the instrument saw in some calls of the user's function."""
    return user.watched(exchanges, name, steps)


def test_gradients_that_are_only_added_to_are_exchanged_for_nothing(user: UserFile) -> None:
    (line,) = watched(user, "accumulate").exchanges
    assert (line.place, line.model) == (user.place("# model"), "Net")
    assert (line.calls, line.again) == (6, 3)
    assert line.again_seconds > 0


@pytest.mark.parametrize("name", ["kept", "zeroed"])
def test_gradients_that_an_optimizer_took_or_that_are_zeros_are_not(
    user: UserFile, name: str
) -> None:
    (line,) = watched(user, name).exchanges
    assert (line.calls, line.again) == (3, 0)


def test_what_is_not_exchanged_is_not_counted(user: UserFile) -> None:
    (line,) = watched(user, "quiet").exchanges
    assert (line.calls, line.again) == (3, 0)


def test_a_model_whose_gradients_do_not_change_exchanged_none(user: UserFile) -> None:
    lines = watched(user, "both").exchanges
    assert [each.place for each in lines] == [user.place("# other")]


def test_a_step_is_blocked_by_what_the_backward_pass_does_not_hide(
    user: UserFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = private.last_exchange
    monkeypatch.setattr(private, "last_exchange", lambda model: (plain(model)[0], 0.5, 0.25))
    # The time of the last one is never known.
    assert watched(user, "kept").blocked == pytest.approx([0.25, 0.25, None])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says it")
def test_each_step_says_how_long_it_ran_and_had_no_processor(user: UserFile) -> None:
    found = watched(user, "kept")
    steps = [*zip(found.took, found.ran, found.held, found.blocked, strict=True)]
    assert steps
    assert all(0 < ran < took + 1e-3 and held >= 0 for took, ran, held, _ in steps)


def test_collectives_are_timed_at_the_line_that_waits(user: UserFile) -> None:
    found = watched(user, "send")
    lines = {each.place: each for each in found.collectives}
    at_once, starts, waits = (
        lines[user.place(words)] for words in ("# at once", "# starts", "# waits")
    )
    assert (at_once.what, at_once.calls) == ("all_reduce", 3)
    assert (starts.what, starts.calls) == ("all_reduce", 3)
    assert (waits.what, waits.calls) == ("", 0)
    assert waits.seconds > 0
    assert sum(found.blocked) == pytest.approx(sum(each.seconds for each in lines.values()))
    assert (found.gloo, found.between_two) == (True, 0)


def test_everything_is_undone(user: UserFile) -> None:
    def state() -> list[object]:
        return [
            distributed.ProcessGroup.allreduce,
            distributed.Work.wait,
            distributed._broadcast_coalesced,
            torch.autograd.backward,
        ]

    before = state()
    watched(user, "accumulate")
    assert state() == before
    user.module.send()


def test_a_process_without_a_group_says_so(user: UserFile) -> None:
    distributed.destroy_process_group()
    found = watched(user, "zeroed")
    assert (found.gloo, found.exchanges) == (False, [])


def test_an_error_of_the_user_stays_his(user: UserFile) -> None:
    instrument = exchanges.watch(user.settings)
    instrument.open()
    try:
        with pytest.raises(RuntimeError, match="does not require grad"):
            torch.ones(1).backward()
        user.module.accumulate()
    finally:
        (line,) = instrument.close().exchanges
    assert line.calls == 2


@pytest.mark.parametrize(("name", "changed"), [("sends", False), ("adds", True), ("renews", True)])
def test_buffers_are_timed_where_the_model_is_called(
    user: UserFile, name: str, changed: bool
) -> None:
    (sent,) = watched(user, name).buffers
    assert sent.place == user.place("# sends")
    assert (sent.models, sent.calls, sent.size, sent.changed) == (1, 3, 3 * 16, changed)
    assert sent.seconds > 0
