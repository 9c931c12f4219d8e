"""Puts the played device in place of the real one, before the script begins."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from torchlint.runtime.probe import private
from torchlint.runtime.probe.played import (
    checkpoints,
    composites,
    cuda,
    factories,
    grouping,
    moves,
    parallel,
    played_operations,
    precision,
    tensors,
)
from torchlint.runtime.probe.played.cards import CARDS
from torchlint.runtime.probe.played.ledger import Ledger
from torchlint.runtime.probe.played.state import PLAYED, rank_device

if TYPE_CHECKING:
    from torchlint.runtime.probe.run_settings import RunSettings


def play(settings: RunSettings) -> Ledger:
    """From now on this process has the card that the settings name."""
    assert settings.played is not None
    PLAYED.card = CARDS[settings.played.card]
    PLAYED.devices = max(settings.played.devices, rank_device() + 1)
    PLAYED.ledger = Ledger(settings)
    private.load_compiler()

    tensors.install()
    factories.install()
    composites.install()
    cuda.install()
    precision.install()
    checkpoints.install()
    grouping.install()
    parallel.install()
    moves.watch_backward()
    PLAYED.on = True
    os.register_at_fork(after_in_child=PLAYED.rest)
    played_operations.in_new_threads()
    played_operations.enter()
    return PLAYED.ledger
