"""What an existing profile says about the findings of a check. Nothing is run for it."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import click

from torchlint.cli.printing import print_lines
from torchlint.config.settings import ConfigError
from torchlint.experiment.figures import TIMES
from torchlint.explain.rule_answers import Reason
from torchlint.finding import Effect, Finding, Position, Tier
from torchlint.profile import earlier_profile
from torchlint.profile.earlier_profile import SeenLines
from torchlint.report.terminal.safe_text import visible
from torchlint.silence.tiers import Shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from torchlint.explain.rule_answers import Answer
    from torchlint.explain.why import Explanation
    from torchlint.profile.earlier_profile import EarlierProfile
    from torchlint.project.target import Target


def read_profile(path: str) -> EarlierProfile:
    """The profile that `torchlint profile --json` has written; says it if its files are not here.

    Raises:
        click.ClickException: there is none, or it cannot be used.
    """
    try:
        profile = earlier_profile.read(path)
    except ConfigError as error:
        raise click.ClickException(str(error)) from None
    files = dict.fromkeys(
        file for each in (*profile.findings, *profile.census) for _, file, _ in each.confirmed
    )
    if files and not any(map(os.path.isfile, files)):
        message = (
            f"warning: {path} matches nothing here: there is no {next(iter(files))} in this "
            "folder; run check in the folder where the profile was made."
        )
        print_lines([visible(message)], err=True)
    return profile


def with_ceilings(shown: Shown, seen: Seen, *, hints: bool) -> Shown:
    """The findings; the message of each that the profile has confirmed says what it costs at most,
    or, after a rehearsal, what was counted, and a hint that it has confirmed is a hint no longer.

    A rehearsal adds what it has seen where no rule found anything, and takes away what is said of a
    line that ran and does not do it. They are matched by file, code and row: if the file has
    changed since, a ceiling may be missing or be at a line that has taken the place of the old one,
    and a rehearsal says nothing of it. Names of files count from the working directory, as they did
    when the profile was made.

    Args:
        hints: whether to show the others; else they are counted.
    """
    findings = []
    hidden = Counter(dict(shown.hidden_hints))
    for finding in shown.findings:
        said = seen.of(finding)
        if said is not None:
            tier = Tier.DEFAULT if finding.tier is Tier.HINT else finding.tier
            # Alone in its group, or the text would fold it under another message.
            message = f"{finding.message} {said}"
            effect = seen.effect_of(finding)
            findings.append(finding._replace(message=message, group=None, tier=tier, effect=effect))
        elif seen.contradicts(finding):
            continue
        elif finding.tier is Tier.HINT and not hints:
            hidden[finding.path] += 1
        else:
            findings.append(finding)
    findings += seen.more()
    findings.sort(key=lambda each: each.sort_key)
    return Shown(tuple(findings), tuple(sorted(hidden.items())))


class Seen:
    """What a profile or a rehearsal says about findings of `check`; warns if a file has changed
    since it was rehearsed.

    Args:
        targets: what is checked; a rehearsal may add to it.
    """

    def __init__(self, profile: EarlierProfile, targets: Iterable[Target]) -> None:
        self._since = f" of {profile.date}" if profile.date else ""
        self._place = cache(os.path.realpath)
        self._rehearsal = SeenLines.of(profile)
        self._profile = profile
        self._targets: dict[str, Target] = {}
        if self._rehearsal is not None:
            self._warn(self._rehearsal.changed)
            self._targets = self._with_findings(targets)
        self._said: dict[tuple[str, str, int], str] = {}
        self._shares = shares = dict[tuple[str, str, int], float]()
        for each in profile.findings:
            for code, path, row in each.confirmed:
                key = (self._place(path), code, row)
                if each.share is not None:
                    shares[key] = max(shares.get(key, 0.0), each.share)
                    most = f"At most {TIMES}{1.0 / (1.0 - shares[key]):.2f}"
                    self._said[key] = f"{most} by a profile{self._since}."
                elif self._rehearsal is not None:
                    self._said[key] = f"A rehearsal{self._since} counted {each.fact}."

    def of(self, finding: Finding) -> str | None:
        """What was seen of a finding; None if that was nothing."""
        return None if finding.start.cell is not None else self._said.get(self._key(finding))

    def effect_of(self, finding: Finding) -> Effect:
        """What it costs by the share of a step that was measured, if one was."""
        share = self._shares.get(self._key(finding))
        return finding.effect if share is None else Effect.of_share(share)

    def contradicts(self, finding: Finding) -> bool:
        """Whether its line ran in a rehearsal, and does not do what it says."""
        seen = self._rehearsal
        if seen is None or finding.start.cell is not None:
            return False
        rows = finding.start.row, finding.end.row
        return seen.contradicts(finding.code, finding.path, *rows)

    def more(self) -> Iterator[Finding]:
        """What a rehearsal has seen in unchanged files where `check` has no finding."""
        seen = self._rehearsal
        if seen is None:
            return
        for each in self._profile.findings:
            target = self._targets.get(self._place(each.path)) if each.path else None
            if each.confirmed or target is None or not seen.is_unchanged(each.path):
                continue
            rules = each.rules  # about the same thing; if all are off, nobody wants to hear of it
            if not rules or any(target.selection.enabled(code, code) for code in rules):
                at = Position(each.row, 1)
                said = f"{each.fact[:1].upper()}{each.fact[1:]}; {each.action}."
                message = f"{said} A rehearsal{self._since} counted it."
                yield Finding(each.code, each.name, Tier.DEFAULT, message, target.path, at, at)

    def _key(self, finding: Finding) -> tuple[str, str, int]:
        return self._place(finding.path), finding.code, finding.start.row

    def _warn(self, changed: Sequence[str]) -> None:
        if changed:
            said = "has changed since the rehearsal, which says nothing of it any more"
            print_lines([visible(f"warning: {changed[0]} {said}; rehearse again.")], err=True)

    def _with_findings(self, targets: Iterable[Target]) -> dict[str, Target]:
        """The targets in which something was seen, by their real paths."""
        seen = {self._place(each.path) for each in self._profile.findings if each.path}
        real = ((self._place(each.path), each) for each in targets)
        return {path: each for path, each in real if path in seen}


def with_reasons(found: Explanation, profile: EarlierProfile, path: str, row: int) -> Explanation:
    """The answers of the rules for a line, with what a rehearsal counted there; those that it
    contradicts are no findings of `check --profile`, and say so."""
    seen = SeenLines.of(profile)
    if seen is None:
        return found
    since = f" of {profile.date}" if profile.date else ""
    here = os.path.realpath(path), row
    counted = {
        code: Reason(f"A rehearsal{since} counted {each.fact}.")
        for each in profile.findings
        for code, file, at in each.confirmed
        if (os.path.realpath(file), at) == here
    }
    contradicted = Reason(
        f"In a rehearsal{since} this line ran in a step, and the host waited for nothing here.",
        "With --profile, check leaves it out until the file changes.",
    )

    def answer(each: Answer) -> Answer:
        if each.reported is None:
            return each
        if each.code in counted:
            tier = Tier.DEFAULT if each.reported is Tier.HINT else each.reported
            return replace(each, reported=tier, reasons=(counted[each.code], *each.reasons))
        if seen.contradicts(each.code, path, row, row):
            return replace(each, reported=None, reasons=(contradicted, *each.reasons), near=True)
        return each

    return replace(found, answers=tuple(map(answer, found.answers)))
