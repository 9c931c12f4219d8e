"""What can be seen in a window of steps: one file for each kind of thing.

An instrument is a module with `install(settings)`, called before the script runs, which returns an
object with these methods (`Instrument`):

- `begin()`: the window begins, on the thread that takes the steps;
- `step()`: a step of the window has ended;
- `end()`: the window has ended: undo what was done, and return what was seen, as plain values that
  JSON can hold. Places in the user's code are `[path, row]`, as `Places.here()` gives them.

Some change what a step does instead, to show how long it would take otherwise: a batch that costs
nothing, a step without checkpoints. Where blocks of steps are timed in turns, such a one begins
after the warm-up and stays. It may have

- `alters`: whether it could change what it is for, on this version of torch;
- `beside_s`: seconds that went into its own work so far, on the thread that takes the steps.

Between `begin` and `end` an instrument may cost something. Outside it must cost nothing that
counts, since it may share a run with others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from torchlint.runtime.probe.settings import Settings


class Instrument(Protocol):
    """What `install(settings)` of a module in this folder returns."""

    def begin(self) -> None: ...
    def step(self) -> None: ...
    def end(self) -> dict[str, object]: ...


def install_all(settings: Settings) -> dict[str, Instrument]:
    """The instruments that the settings name."""
    return {
        name: import_module(f"{__name__}.{name}").install(settings) for name in settings.instruments
    }
