"""A profile as SARIF, which GitHub code scanning takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.finding import Tier
from torchlint.profile.catalogue import all_kinds
from torchlint.report.formats import sarif
from torchlint.report.profile.profile_findings import as_findings, problems
from torchlint.version import kind_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.kind import Kind
    from torchlint.profile.result import Profile


def render(result: Profile, root: str) -> Iterator[str]:
    """The lines of the log; see `formats.sarif.render`."""
    kinds = {code: _help(kind) for code, kind in all_kinds().items()}
    return sarif.render(as_findings(result), problems(result), kinds, root)


def _help(kind: Kind) -> sarif.Help:
    heading, _, text = kind.page.strip().partition("\n")
    return sarif.Help(
        summary=kind.summary,
        page=f"# {kind.name} ({kind.code})\n\n{heading}\n\n{text.strip()}\n",
        family="profile",
        tier=Tier.HINT if kind.census else Tier.DEFAULT,
        url=kind_url(kind.name),
    )
