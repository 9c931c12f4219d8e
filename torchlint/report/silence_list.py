"""What silences findings: a line for each, or JSON."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from torchlint.report.terminal.safe_text import plural, visible, visible_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchlint.report.terminal.safe_text import Paint
    from torchlint.silence.listed import Listed


def render(found: Sequence[Listed], paint: Paint) -> Iterator[str]:
    """`train.py:12: ignore[TL201], until 2027-01-31: the scheduler needs it`."""
    for each in found:
        place = "" if each.start is None else f":{each.start.line}"
        what = f"{each.kind}{_rules(each)}{_covers(each)}"
        reason = f": {visible(each.reason)}" if each.reason else ""
        notes = "".join(f", {note}" for note in _notes(each, paint))
        yield f"{visible_path(each.path)}{place}: {paint.bold(what)}{notes}{reason}"
    if found:
        yield ""
    yield _sentence(found)


def _rules(each: Listed) -> str:
    return f"[{', '.join(map(visible, each.rules))}]" if each.rules else ""


def _covers(each: Listed) -> str:
    count = f" ({plural(each.count, 'finding')})" if each.count else ""
    return f" {visible(each.covers)}{count}" if each.covers else ""


def _notes(each: Listed, paint: Paint) -> Iterator[str]:
    if each.owner:
        yield f"owner {visible(each.owner)}"
    if each.ended:
        yield paint.red(f"ended on {each.until}")
    elif each.until:
        yield f"until {each.until}"
    if each.invalid:
        yield paint.red("invalid")
    elif each.used is False:
        yield paint.red("unused")
    elif each.unused:
        yield paint.red(f"unused: {', '.join(map(visible, each.unused))}")


def _sentence(found: Sequence[Listed]) -> str:
    if not found:
        return "Nothing is silenced here."
    kinds = Counter(each.kind for each in found)
    entries, settings = kinds.pop("baseline", 0), kinds.pop("per-file-ignores", 0)
    comments = kinds.total()
    counted = [
        plural(comments, "comment") if comments else "",
        plural(settings, "setting") if settings else "",
        plural(entries, "baseline entry", "baseline entries") if entries else "",
    ]
    ended = sum(each.ended for each in found)
    invalid = sum(each.invalid for each in found)
    unused = sum(each.used is False and not each.invalid for each in found)
    states = [
        f"{ended} {'has' if ended == 1 else 'have'} ended" if ended else "",
        f"{invalid} {'is' if invalid == 1 else 'are'} invalid" if invalid else "",
        f"{unused} {'is' if unused == 1 else 'are'} unused" if unused else "",
    ]
    said = ", ".join(each for each in states if each)
    return f"{', '.join(each for each in counted if each)}{'; ' + said if said else ''}."


def as_json(found: Sequence[Listed]) -> str:
    """All of it, for programs."""
    import json

    listed = [
        {
            "kind": each.kind,
            "filename": each.path,
            "row": each.start and each.start.row,
            "cell": each.start and each.start.cell,
            "rules": list(each.rules),
            "covers": each.covers or None,
            "count": each.count or None,
            "reason": each.reason or None,
            "owner": each.owner or None,
            "until": each.until or None,
            "ended": each.ended,
            "invalid": each.invalid,
            "used": each.used,
            "unused_rules": list(each.unused),
        }
        for each in found
    ]
    return json.dumps({"version": 1, "suppressions": listed}, indent=2)
