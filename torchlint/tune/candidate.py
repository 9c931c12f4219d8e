"""One thing that can be tried: a fix of `check`, or one way of an experiment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchlint.finding import Tier
from torchlint.ruleapi.experiment import STEPPING, Part

if TYPE_CHECKING:
    from torchlint.finding import Finding
    from torchlint.ruleapi.experiment import Experiment
    from torchlint.verify.compared.measured_fixes import MeasuredFix

_OF_DATA: Final[tuple[Part, ...]] = ("data", "other")


@dataclass(frozen=True, slots=True)
class Candidate:
    """What can be tried in one file.

    Args:
        fix: the edits, in the file as it is.
        slot: candidates with the same one exclude each other.
        speeds: the parts of a step that it can make shorter.
        experiment: the experiment that proposes it; None: it is a fix of a rule.
        option: the way, among those of the experiment.
        samples: see `Proposal.samples`.
    """

    fix: MeasuredFix
    slot: str
    speeds: tuple[Part, ...]
    experiment: Experiment | None = None
    option: str = ""
    samples: float = 1.0

    @property
    def id(self) -> str:
        return self.fix.id

    @property
    def name(self) -> str:
        """For a list: `TL203 item-in-step-loop`, `loader-workers`."""
        return self.fix.name if self.experiment else f"{self.fix.code} {self.fix.name}"

    @property
    def message(self) -> str:
        """What it does, as an order; of a fix, which may be "Remove the line", for which rule."""
        if self.experiment is not None:
            return self.fix.message
        return f"{self.fix.message} ({self.name})"

    @property
    def compiles(self) -> bool:
        """Whether it lets torch compile something, so that its first steps take long."""
        return self.experiment is not None and self.experiment.compiles

    @property
    def seldom(self) -> bool:
        """Whether it helps few scripts, or is never applied, so that others are tried first."""
        if self.experiment is None:
            return self.finding.tier is Tier.PEDANTIC
        return self.experiment.seldom or self.samples != 1

    @property
    def finding(self) -> Finding:
        """The first place that it changes."""
        return self.fix.findings[0]


def of_rule(fix: MeasuredFix, family: str) -> Candidate:
    """A fix of a rule; rules of the family `data` are about loading."""
    speeds: tuple[Part, ...] = _OF_DATA if family == "data" else STEPPING
    return Candidate(fix, fix.id, speeds)
