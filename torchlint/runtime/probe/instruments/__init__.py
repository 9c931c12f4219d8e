"""What can be seen in a window of steps: one file for each kind of thing.

An instrument is a module with a subclass of `Observer`, which `watch` names. Between `begin` and
`end` it may cost something. Outside it must cost nothing that counts, since it may share a run with
others.

Some change what a step does instead, to show how long it would take otherwise: a batch that costs
nothing, a step without checkpoints. Where blocks of steps are timed alternately, such an instrument
begins after the warm-up and stays.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchlint.runtime.probe.instruments.observer import Observer
    from torchlint.runtime.probe.run_settings import RunSettings


def install_all(settings: RunSettings) -> dict[str, Observer]:
    """The instruments that the settings name; they prepare themselves."""
    observers: dict[str, Observer] = {}
    for name in settings.instruments:
        observers[name] = import_module(f"{__name__}.{name}").watch(settings)
        os.register_at_fork(after_in_child=observers[name].rest)
    return observers
