"""The findings of a profile as those of `check`, for the formats that they share: SARIF, which
GitHub code scanning takes, and workflow commands, which GitHub shows in a pull request."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from torchlint.finding import Diagnostic, Finding, Position, Tier
from torchlint.profile.catalogue import all_kinds
from torchlint.report.formats import github, sarif
from torchlint.report.formats.locations import identity
from torchlint.report.profile import profile_words as words
from torchlint.report.terminal.excerpt import Excerpts
from torchlint.version import kind_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.kind import FindingKind
    from torchlint.profile.profile_result import Budgeted, Profile, RunFinding


def as_sarif(result: Profile, root: str) -> Iterator[str]:
    """The lines of the log; see `formats.sarif.render`."""
    kinds = {code: _help(kind) for code, kind in all_kinds().items()}
    return sarif.render(as_findings(result), _problems(result), kinds, root)


def as_commands(result: Profile) -> Iterator[str]:
    """One command for each finding, then one for each way in which a budget is
    broken, and for what ended the profile early; at last one on what has changed."""
    budget = result.budget
    problems = [] if budget is None else _broken(budget)
    yield from github.render(as_findings(result), [*problems, *_problems(result)])
    changes = words.changes(result)
    if changes:
        command = "rehearse" if result.is_rehearsal else "profile"
        yield github.notice(f"torchlint {command}", "\n".join(changes))


def as_findings(result: Profile) -> list[Finding]:
    """The costly ones first. What is only counted on this machine, or has no known cost, is a hint.

    Readers of these formats show nothing that has no place, so what has no line, such as a module
    without gradients, is put at the first line of the script; of a module given with `-m` that
    line is unknown, and it is left out.
    """
    excerpts = Excerpts({})
    script = _script(result)
    placed = (
        each if each.path else replace(each, path=script, row=1)
        for each in (*result.findings, *result.census)
        if each.path or script
    )
    # Counts are exact, so what has no cost in them is no guess either.
    return [_finding(each, excerpts, counted=result.is_rehearsal) for each in placed]


def _broken(budget: Budgeted) -> list[Diagnostic]:
    return [
        Diagnostic(each.path or budget.file, each.text, Position(each.row, 1) if each.row else None)
        for each in budget.broken
    ]


def _script(result: Profile) -> str:
    """Its path; empty if it was given as a module."""
    return "" if result.argv[:1] == ("-m",) else result.argv[0]


def _problems(result: Profile) -> list[Diagnostic]:
    """Why the profile ended early, if it did."""
    first, *_ = result.summary.splitlines() or [""]
    return [Diagnostic(_script(result) or ".", first)] if first else []


def _finding(each: RunFinding, excerpts: Excerpts, *, counted: bool) -> Finding:
    line = (excerpts.line(each.path, each.row) or "").rstrip()
    code = line.lstrip()
    ceiling, rules = words.ceiling(each), words.confirmed(each)
    sentences = [f"{each.fact}{f' ({ceiling})' if ceiling else ''}; {each.action}."]
    sentences += [f"{words.ON_A_GPU}."] if each.census else []
    sentences += [f"`check` reports {rules}."] if rules else []
    return Finding(
        code=each.code,
        name=each.name,
        tier=Tier.HINT if each.share is None and not counted else Tier.DEFAULT,
        message=" ".join(sentences),
        path=each.path,
        start=Position(each.row, len(line) - len(code) + 1),
        end=Position(each.row, len(line) + 1),
        # The message has times in it, which are different in each run.
        fingerprint=identity(code or str(each.row))[:16],
    )


def _help(kind: FindingKind) -> sarif.Help:
    heading, _, text = kind.page.strip().partition("\n")
    return sarif.Help(
        summary=kind.summary,
        page=f"# {kind.name} ({kind.code})\n\n{heading}\n\n{text.strip()}\n",
        family="profile",
        tier=Tier.HINT if kind.census else Tier.DEFAULT,
        url=kind_url(kind.name),
    )
