"""What a budget says of a profile, for people at a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.report.terminal.safe_text import plural, visible

if TYPE_CHECKING:
    from torchlint.profile.result import Profile
    from torchlint.report.terminal.safe_text import Paint


def render(result: Profile, paint: Paint) -> list[str]:
    """A line for each broken entry and one that says the whole; none without a budget."""
    found = result.budget
    if found is None:
        return []
    file = visible(found.file)
    lines = ["", *(f"{paint.red('budget:')} {visible(each.text)}" for each in found.broken)]
    if found.broken:
        return [*lines, f"{file} is broken in {plural(len(found.broken), 'place')}."]
    kept = plural(found.allowed, "finding")
    return [*lines, f"{file} is kept: {kept} allowed, nothing new, nothing stale."]
