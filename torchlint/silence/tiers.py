"""Which findings are shown: problems that no comment silences today; hints and pedantic findings on
request."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from torchlint.config.settings import Selection
from torchlint.finding import Finding, Tier

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.project.target import Target


class Wanted:
    """The tiers that the user asked for."""

    def __init__(self, *, hints: bool = False, pedantic: bool = False) -> None:
        self.hints = hints
        self.pedantic = pedantic

    def asked_of(self, targets: tuple[Target, ...]) -> tuple[Target, ...]:
        """The targets, which then know what is not asked for, so that no file is parsed for that
        alone; the same tuple if they know it already."""
        selections = {
            each: each._replace(hints=self.hints, pedantic=self.pedantic)
            for each in {target.selection for target in targets}
        }
        if all(old == new for old, new in selections.items()):
            return targets
        return tuple(each._replace(selection=selections[each.selection]) for each in targets)

    def shows(self, tier: Tier, code: str, name: str, selection: Selection) -> bool:
        """Whether a finding of this tier and this rule is shown. A pedantic one is also shown if
        its rule is selected by name."""
        if tier is Tier.HINT:
            return self.hints
        if tier is Tier.PEDANTIC:
            return self.pedantic or selection.names_exactly(code, name)
        return True


class Shown:
    """The findings to show, and the number of hidden hints per file."""

    def __init__(
        self, findings: tuple[Finding, ...], hidden_hints: tuple[tuple[str, int], ...] = ()
    ) -> None:
        self.findings = findings
        self.hidden_hints = hidden_hints

    @property
    def problems(self) -> int:
        """How many findings make `check` exit with 1."""
        return sum(finding.tier is not Tier.HINT for finding in self.findings)


def choose(findings: Iterable[Finding], targets: Iterable[Target], wanted: Wanted) -> Shown:
    """Split findings into those to show, in their order, and hints to count; without those that a
    comment silences today."""
    findings = list(findings)
    if any(finding.until for finding in findings):
        from torchlint.silence.until import not_silenced

        findings = list(not_silenced(findings))
    selections = {target.path: target.selection for target in targets}
    everything = Selection()
    shown: list[Finding] = []
    hidden: Counter[str] = Counter()
    for finding in findings:
        selection = selections.get(finding.path, everything)
        if wanted.shows(finding.tier, finding.code, finding.name, selection):
            shown.append(finding)
        elif finding.tier is Tier.HINT:
            hidden[finding.path] += 1
    return Shown(tuple(shown), tuple(sorted(hidden.items())))
