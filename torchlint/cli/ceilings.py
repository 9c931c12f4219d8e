"""What an existing profile says about the findings of a check. Nothing is run for it."""

from __future__ import annotations

import os
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

import click

from torchlint.cli.printing import print_lines
from torchlint.config.settings import ConfigError
from torchlint.experiment.figures import TIMES
from torchlint.finding import Tier
from torchlint.profile import earlier_profile
from torchlint.report.terminal.safe_text import visible
from torchlint.silence.tiers import Shown

if TYPE_CHECKING:
    from torchlint.profile.earlier_profile import EarlierProfile


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


def with_ceilings(shown: Shown, profile: EarlierProfile, *, hints: bool) -> Shown:
    """The findings; the message of each that the profile has confirmed says what it costs at most,
    and a hint that it has confirmed is a hint no longer.

    They are matched only by file, code and row: if the file has changed since, a ceiling may be
    missing or be at a line that has taken the place of the old one. Names of files count from the
    working directory, as they did when the profile was made.

    Args:
        hints: whether to show the others; else they are counted.
    """
    most: dict[tuple[str, str, int], float] = {}
    place = cache(os.path.realpath)
    for each in profile.findings:
        for code, path, row in each.confirmed if each.share is not None else ():
            key = (place(path), code, row)
            most[key] = max(most.get(key, 0.0), each.share or 0.0)
    since = f"a profile of {profile.date}" if profile.date else "a profile"
    findings = []
    hidden = Counter(dict(shown.hidden_hints))
    for finding in shown.findings:
        share = most.get((place(finding.path), finding.code, finding.start.row))
        if share is not None and finding.start.cell is None:
            said = f"{finding.message} At most {TIMES}{1.0 / (1.0 - share):.2f} by {since}."
            tier = Tier.DEFAULT if finding.tier is Tier.HINT else finding.tier
            # Alone in its group, or the text would fold it under another message.
            findings.append(finding._replace(message=said, group=None, tier=tier))
        elif finding.tier is Tier.HINT and not hints:
            hidden[finding.path] += 1
        else:
            findings.append(finding)
    return Shown(tuple(findings), tuple(sorted(hidden.items())))
