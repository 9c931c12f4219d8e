"""A profile as workflow commands, which GitHub shows as annotations in a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.finding import Diagnostic, Position
from torchlint.report.formats import github
from torchlint.report.profile import profile_changes as compared
from torchlint.report.profile.profile_findings import as_findings, problems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.result import Budgeted, Profile


def render(result: Profile) -> Iterator[str]:
    """One command for each finding, then one for each way in which a budget is
    broken, and for what ended the profile early; at last one on what has changed."""
    broken = [] if result.budget is None else _broken(result.budget)
    yield from github.render(as_findings(result), [*broken, *problems(result)])
    changes = compared.sentences(result)
    if changes:
        yield github.notice("torchlint profile", "\n".join(changes))


def _broken(budget: Budgeted) -> list[Diagnostic]:
    return [
        Diagnostic(each.path or budget.file, each.text, Position(each.row, 1) if each.row else None)
        for each in budget.broken
    ]
