"""Modules that get one slice of a tensor after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.runtime.probe.instruments.user_file import UserFile
from torchlint.runtime.probe.instruments import layers

if TYPE_CHECKING:
    from pathlib import Path

    from torchlint.runtime.probe.instrument_messages import SlicedCalls

TRAIN = """
import torch
from torch import nn

head, norm = nn.Linear(4, 4), nn.Sequential(nn.Flatten(0, 1), nn.BatchNorm1d(4))
lstm, gru = nn.LSTMCell(4, 4), nn.GRUCell(4, 4)
network, both = (nn.LSTM(4, 4, batch_first=True, bidirectional=each) for each in (False, True))
x = torch.randn(3, 10, 4)

class Forward(nn.Module):
    def __init__(self, forward):
        super().__init__()
        self.forward = forward

def heads():
    return [head(x[:, i]) for i in range(10)]  # head

def unbound():
    return [head(each) for each in x.unbind(1)]  # unbound

def backwards():
    return [head(x[:, i : i + 1]) for i in reversed(range(10))]  # backwards

inner = Forward(lambda seen: torch.stack([head(each) for each in seen.unbind(1)]))  # in forward

def twice_inside():
    head(x)
    inner(x)
    inner(x[:, :9])

def normed():
    return [norm(x[:, i : i + 1]) for i in range(10)]  # norm

def cells():
    state = None
    for i in range(10):
        state = lstm(x[:, i], state)  # lstm

def gated():
    state = torch.zeros(3, 4)
    for i in range(10):
        state = gru(x[:, i], hx=state)  # gru

def networks():
    state = None
    for i in range(10):
        _, state = network(x[:, i : i + 1], state)  # network

# None of these is one call in pieces.

def both_ways():
    state = None
    for i in range(10):
        _, state = both(x[:, i : i + 1], state)

def along_the_batch():
    seen, state = torch.zeros(10, 3, 4), None
    for i in range(10):
        _, state = network(seen[i : i + 1], state)

def few():
    return [head(x[:, i]) for i in range(7)]

def computed():
    return [head(x[:, i] * 2) for i in range(10)]

def fed_back():
    state = x[:, 0]
    for _ in range(10):
        state = head(state)

def written():
    seen = x.clone()
    for i in range(9):
        seen[:, i + 1] = head(seen[:, i])

def renewed():
    for i in range(10):
        seen = x.clone()
        head(seen[:, i])

def forgotten():
    with torch.no_grad():
        for i in range(10):
            head(x.clone()[:, i])  # may have the address of the last one

def chunks():
    return [head(each) for each in torch.zeros(64, 10, 4).split(4)]

def windows():
    return [head(x[:, i : i + 2]) for i in range(9)]

def the_same():
    return [head(x) for _ in range(10)]

def accumulated():
    for i in range(10):
        head(x[:, i]).sum().backward()

class Counts(nn.Module):
    count = 0
    def forward(self, x):
        self.count += 1
        return x * self.count

counts = Counts()

def with_state():
    return [counts(x[:, i]) for i in range(10)]

def told_the_time():
    timed = Forward(lambda x, i: x * i)
    return [timed(x[:, i], i) for i in range(10)]

def dropped_states():
    state = torch.zeros(3, 4)
    for i in range(10):
        state = nn.functional.dropout(gru(x[:, i], state))

def no_states():
    return [gru(x[:, i]) for i in range(10)]

def inference():
    with torch.inference_mode():
        return [head(each) for each in x.clone().unbind(1)]
"""


@pytest.fixture
def user(tmp_path: Path) -> UserFile:
    return UserFile(tmp_path, TRAIN)


def seen(user: UserFile, name: str, steps: int = 3) -> list[SlicedCalls]:
    return list(user.watched(layers, name, steps).sliced)


@pytest.mark.parametrize(
    ("name", "words"),
    [("heads", "# head"), ("unbound", "# unbound"), ("backwards", "# backwards")],
)
def test_one_slice_after_the_other(user: UserFile, name: str, words: str) -> None:
    (line,) = seen(user, name)
    assert (line.place, line.kind, line.shape) == (user.place(words), "Linear", (3, 10, 4))
    assert (line.calls, line.runs, line.outside) == (30, 3, True)
    assert (line.cell, line.norms) == (False, False)
    assert line.seconds > 0
    assert line.between_s > 0


def test_each_call_of_the_module_around_is_for_itself(user: UserFile) -> None:
    (line,) = seen(user, "twice_inside", 1)
    assert (line.place, line.calls, line.runs) == (user.place("# in forward"), 19, 2)
    assert not line.outside


def test_norms_of_batches_are_known(user: UserFile) -> None:
    (line,) = seen(user, "normed")
    assert line.norms
    user.module.norm.eval()
    (line,) = seen(user, "normed")
    assert not line.norms


@pytest.mark.parametrize(
    ("name", "kind"), [("cells", "LSTMCell"), ("gated", "GRUCell"), ("networks", "LSTM")]
)
def test_cells_that_get_their_last_state(user: UserFile, name: str, kind: str) -> None:
    (line,) = seen(user, name)
    assert (line.kind, line.cell, line.calls) == (kind, True, 30)


@pytest.mark.parametrize(
    "name",
    [
        "both_ways",
        "along_the_batch",
        "few",
        "computed",
        "fed_back",
        "written",
        "renewed",
        "forgotten",
        "chunks",
        "windows",
        "the_same",
        "accumulated",
        "with_state",
        "told_the_time",
        "dropped_states",
        "no_states",
        "inference",
    ],
)
def test_calls_that_one_call_cannot_replace(user: UserFile, name: str) -> None:
    assert seen(user, name) == []
