"""What holds of every instrument: it begins, and leaves no trace when it ends."""

from __future__ import annotations

import builtins
import gc
import json
import logging
import os
import pickle
import threading
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import distributed, nn
from torch.optim import optimizer as optim
from torch.utils import checkpoint
from torch.utils.data import DataLoader

from torchlint.runtime.probe import private
from torchlint.runtime.probe.batches import loader_iterators
from torchlint.runtime.probe.instrument_messages import INSTRUMENTS
from torchlint.runtime.probe.instruments import install_all, reads
from torchlint.runtime.probe.run_settings import RunSettings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from torchlint.runtime.probe.instruments.observer import Observer

ALTERING = ("replay", "stance", "uncheckpointed", "uncompiled")
ONLY_ASK = ("switches", "launch", "recompiles", "stance", "uncompiled", "growth")
"""They change nothing that others could see."""


def state() -> dict[str, Any]:
    """All that instruments may change in this process."""
    classes = (
        DataLoader, private.loader_iterator(), *loader_iterators.fetchers(), nn.Module, nn.Conv2d,
        nn.DataParallel, nn.parallel.DistributedDataParallel, torch.Tensor, distributed.ProcessGroup, distributed.Work, logging.Logger,
    )  # fmt: skip
    modules = (torch.autograd, checkpoint, builtins, gc, json, pickle, warnings)
    owners = (*classes, *modules)
    found = {f"{each}.{name}": it for each in owners for name, it in vars(each).items()}
    found |= {name: getattr(torch, name) for name in reads.FUNCTIONS}
    found |= {name: private.find(name) for name in reads.UNIQUE}
    found["hooks"] = (
        list(optim._global_optimizer_pre_hooks),
        list(nn.modules.module._global_forward_pre_hooks),
    )
    found["collector"] = list(gc.callbacks)
    found["threads"] = {each.name for each in threading.enumerate() if "torchlint" in each.name}
    found["mode"] = private.dispatch_mode()
    return found


@pytest.fixture
def group() -> Iterator[None]:
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


@pytest.fixture
def settings(tmp_path: Path) -> RunSettings:
    return RunSettings(main="train.py", project=str(tmp_path), device="cpu")


def made(name: str, settings: RunSettings) -> Observer:
    (watch,) = install_all(replace(settings, instruments=(name,))).values()
    return watch


def train(watch: Observer) -> None:
    net = nn.Sequential(nn.Conv2d(1, 1, 1), nn.Flatten(), nn.Linear(4, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for batch in DataLoader(torch.ones(3, 1, 2, 2)):  # type: ignore[arg-type]
        loss = net(batch).sum()
        loss.backward()
        optimizer.step()
        loss.item()
        watch.passed()


@pytest.mark.parametrize("name", [*INSTRUMENTS, *ALTERING])
def test_it_returns_its_message_and_everything_is_undone(
    group: None, settings: RunSettings, name: str
) -> None:
    before = state()
    watch = made(name, settings)
    watch.open()
    assert (state() != before) == (name not in ONLY_ASK)
    train(watch)
    assert watch.steps == 3
    seen = watch.close()
    assert type(seen) is INSTRUMENTS.get(name, type(None))
    assert state() == before


@pytest.mark.parametrize("name", ["input", "kernels", "memory", "reads"])
def test_a_process_that_trains_forked_from_one_that_does_begins_its_own_window(
    group: None, settings: RunSettings, name: str
) -> None:
    before = state()
    watch = made(name, settings)
    watch.open()
    train(watch)
    changes = len(watch._undo)
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            rests = not watch.watching
            watch.open()
            # Not around what the other window wraps, too.
            begins = watch.steps == 0 and len(watch._undo) == changes
            ends = type(watch.close()) is INSTRUMENTS[name] and state() == before
            os.write(send, repr((rests, begins, ends)).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(receive, 100) == b"(True, True, True)"
    os.close(receive)
    os.close(send)
    watch.close()
