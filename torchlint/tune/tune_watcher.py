"""What follows the progress of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from torchlint.experiment.jobs import Watcher

if TYPE_CHECKING:
    from torchlint.tune.fate import TriedCandidate
    from torchlint.verify.result import Comparison


class TuneWatcher(Watcher, Protocol):
    """Is told each stage, what became of each candidate, and how fast all that is kept is."""

    def step(self, done: int, total: int) -> None: ...
    def tried(self, found: TriedCandidate) -> None: ...
    def so_far(self, found: Comparison) -> None: ...
