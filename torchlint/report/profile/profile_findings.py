"""The findings of a profile as those of `check`, for the formats that they share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from torchlint.finding import Diagnostic, Finding, Position, Tier
from torchlint.report.formats.locations import identity
from torchlint.report.profile import profile_words as words
from torchlint.report.terminal.excerpt import Excerpts

if TYPE_CHECKING:
    from torchlint.profile.result import Profile, RunFinding


def as_findings(result: Profile) -> list[Finding]:
    """The costly ones first. What costs nothing on this machine, or has no known cost, is a hint.

    Readers of these formats show nothing that has no place, so what has no line, such as a module
    without gradients, stands at the first line of the script; of a module given with `-m` that
    line is unknown, and it is left out.
    """
    excerpts = Excerpts({})
    script = _script(result)
    placed = (
        each if each.path else replace(each, path=script, row=1)
        for each in (*result.findings, *result.census)
        if each.path or script
    )
    return [_finding(each, excerpts) for each in placed]


def problems(result: Profile) -> list[Diagnostic]:
    """Why the profile ended early, if it did."""
    first, *_ = result.summary.splitlines() or [""]
    if not first:
        return []
    return [Diagnostic(_script(result) or ".", first)]


def _script(result: Profile) -> str:
    """Its path; empty if it was given as a module."""
    return "" if result.argv[:1] == ("-m",) else result.argv[0]


def _finding(each: RunFinding, excerpts: Excerpts) -> Finding:
    line = (excerpts.line(each.path, each.row) or "").rstrip()
    code = line.lstrip()
    return Finding(
        code=each.code,
        name=each.name,
        tier=Tier.HINT if each.share is None else Tier.DEFAULT,
        message=_message(each),
        path=each.path,
        start=Position(each.row, len(line) - len(code) + 1),
        end=Position(each.row, len(line) + 1),
        # The message has times in it, which are different in each run.
        fingerprint=identity(code or str(each.row))[:16],
    )


def _message(each: RunFinding) -> str:
    ceiling, rules = words.ceiling(each), words.confirmed(each)
    fact = f"{each.fact} ({ceiling})" if ceiling else each.fact
    sentences = [f"{fact}; {each.action}."]
    sentences += [f"{words.ON_A_GPU}."] if each.census else []
    sentences += [f"`check` reports {rules}."] if rules else []
    return " ".join(sentences)
