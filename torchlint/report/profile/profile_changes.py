"""What an earlier profile and a budget say of a profile, for people at a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import TIMES, before_and_after, percent
from torchlint.report.terminal.columns import wrapped
from torchlint.report.terminal.safe_text import plural, visible, visible_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlint.profile.result import Change, Compared, Profile
    from torchlint.report.terminal.safe_text import Paint

LINES: Final = 8
_NAMED: Final = 3
"""Findings of each sort."""


def render(result: Profile, paint: Paint, width: int) -> list[str]:
    """At most eight lines on what has changed, then one for each broken entry of the budget and
    one that says the whole; none where nothing was compared."""
    lines = [line for each in sentences(result) for line in _wrapped(visible(each), width)]
    return [*(["", *lines[: LINES - 1]] if lines else []), *_budget(result, paint)]


def _budget(result: Profile, paint: Paint) -> list[str]:
    found = result.budget
    if found is None:
        return []
    file = visible(found.file)
    lines = ["", *(f"{paint.red('budget:')} {visible(each.text)}" for each in found.broken)]
    if found.broken:
        return [*lines, f"{file} is broken in {plural(len(found.broken), 'place')}."]
    kept = plural(found.allowed, "finding")
    return [*lines, f"{file} is kept: {kept} allowed, nothing new, nothing stale."]


def sentences(result: Profile) -> list[str]:
    """What has changed, part by part; none if nothing was compared."""
    found = result.compared
    if found is None:
        return []
    said = [_step(result, found)]
    if found.elsewhere:
        differs = "; ".join(found.elsewhere)
        said.append(f"  not the same machine or torch: {differs}")
    said += _sort("gone", found.gone)
    said += _sort("new", found.new)
    said += _sort("changed", found.changed)
    if not (found.gone or found.new or found.changed):
        said.append("  the findings are the same")
    if found.only_once:
        codes = ", ".join(found.only_once)
        said.append(f"  watched in one of the two only, not compared: {codes}")
    return said


def _wrapped(sentence: str, width: int) -> list[str]:
    indent = " " * (len(sentence) - len(sentence.lstrip()))
    return [indent + line for line in wrapped(sentence, width - len(indent))]


def _step(result: Profile, found: Compared) -> str:
    since = f"since the profile of {found.date}" if found.date else "since the earlier profile"
    if found.ratio is None or result.timing is None or found.step_s is None:
        return f"{since}: one of the two has no time of a step"
    times = before_and_after((1e3 * found.step_s, 1e3 * result.timing.step_s))
    verdict = f"{TIMES}{found.ratio:.2f} as fast" if found.beyond_noise else "no more than noise"
    then, now = (f"± {percent(each)}" for each in (found.noise or 0.0, result.timing.noise))
    return f"{since}: {times} a step, {verdict} ({then} then, {now} now)"


def _sort(name: str, changes: Sequence[Change]) -> list[str]:
    if not changes:
        return []
    named = ", ".join(_change(each) for each in changes[:_NAMED])
    more = len(changes) - _NAMED
    return [f"  {name}: {named}{f' and {more} more' if more > 0 else ''}"]


def _change(each: Change) -> str:
    place = visible_path(f"{each.path}:{each.row}") if each.path else "-"
    shares = [share for share in (each.before, each.now) if share is not None]
    if not shares:
        return f"{place} {each.code}"
    ceilings = " to ".join(f"{TIMES}{1.0 / (1.0 - share):.2f}" for share in shares)
    return f"{place} {each.code} (at most {ceilings})"
