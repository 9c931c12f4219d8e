"""Experiments: changes that no linter may make, since only a measurement tells what they are worth.

An experiment is a module in the folder `experiments` of a family of rules. It says what it may
change in the numbers, and which part of a step it can make shorter, and it proposes edits, one
`Proposal` for each way to do it. `torchlint tune` measures them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from torchlint.ruleapi.maker import maker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from torchlint.analysis.module import Module
    from torchlint.finding import Edit

    Version = tuple[int, int]

Part = Literal["data", "forward", "backward", "optimizer", "other"]
"""Of a step, as `verify` and `profile` time it on the host."""
Device = Literal["cpu", "cuda"]

COMPUTING: Final[tuple[Part, ...]] = ("forward", "backward")
STEPPING: Final[tuple[Part, ...]] = ("data", "forward", "backward", "optimizer", "other")


class Bench(NamedTuple):
    """Where the script runs.

    Args:
        device: what it computes on.
        processors: for each process of the script.
        torch: the version that is installed.
    """

    device: Device
    processors: int
    torch: Version


@dataclass(frozen=True, slots=True)
class Proposal:
    """One way to change a file.

    Args:
        option: the way, among those of an experiment that exclude each other; empty if it is the
            only one.
        message: what the edits do, as an order: "Pass `num_workers=2`".
        edits: all that has to change in the file, that at the place to name first; None for one
            that is not possible there.
        samples: how many times as many samples a step then takes. Where that is not 1, time is
            compared per sample, and nothing is applied: the training becomes another one.
        may_change: what it may change in the numbers beside what its experiment declares.
    """

    option: str
    message: str
    edits: Sequence[Edit | None]
    samples: float = 1.0
    may_change: str = ""

    @property
    def is_possible(self) -> bool:
        return len(self.edits) > 0 and None not in self.edits


class Experiment:
    """What `torchlint tune` may try.

    Args:
        summary: what it does, in a few words, for a list: "worker processes load the batches".
        speeds: the parts of a step that it can make shorter. Where a step spends nearly no time on
            them, it is not tried.
        may_change: what it may change in the numbers; empty: nothing but rounding.
        devices: where it can pay.
        since: the first torch version that has it.
        covers: codes of rules whose fixes do a part of the same.
        compiles: it lets torch compile, so that its first steps take long.
        seldom: it helps few of the scripts in which it has a place, so that it is tried after what
            helps many.
        name: empty: that of its file, in kebab-case.

    Attributes:
        page: the docstring of its file.
        path: its file.
        plugin: the name of the plugin that it is from; empty if it is part of torchlint.
    """

    def __init__(
        self,
        summary: str,
        speeds: Sequence[Part],
        *,
        may_change: str = "",
        devices: Sequence[Device] = ("cpu", "cuda"),
        since: Version | None = None,
        covers: Sequence[str] = (),
        compiles: bool = False,
        seldom: bool = False,
        name: str = "",
    ) -> None:
        home = maker(1)
        self.name = name or home.name
        self.page, self.path = home.page, home.path
        self.plugin = ""
        self.summary = summary
        self.speeds = tuple(speeds)
        self.may_change = may_change
        self.devices = tuple(devices)
        self.since = since
        self.covers = tuple(covers)
        self.compiles = compiles
        self.seldom = seldom
        self._propose: Callable[[Module, Bench], Iterable[Proposal]] | None = None

    def proposes(
        self, propose: Callable[[Module, Bench], Iterable[Proposal]]
    ) -> Callable[[Module, Bench], Iterable[Proposal]]:
        """Register `propose(module, bench)`, a generator of proposals for one file."""
        self._propose = propose
        return propose

    def is_for(self, bench: Bench) -> bool:
        """Whether it can pay where the script runs."""
        known = self.since is None or bench.torch >= self.since
        return known and bench.device in self.devices

    def proposals(self, module: Module, bench: Bench) -> list[Proposal]:
        """What can be tried in a file; nothing where it cannot pay."""
        if self._propose is None or not self.is_for(bench):
            return []
        return [each for each in self._propose(module, bench) if each.is_possible]
