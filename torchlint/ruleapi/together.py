"""Several places of one file as one finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.finding import Applicability, Finding, Fix, Related
from torchlint.reported import Waiting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def joined(reported: Iterable[Finding | Waiting], message: str) -> Iterator[Finding | Waiting]:
    """One finding for those of a file that hold under the same conditions, in source order: at the
    first place, with the others as related ones. Its fix is that of all places.

    Args:
        message: what a related place says.
    """
    alike: dict[object, list[Finding | Waiting]] = {}
    for each in sorted(reported, key=lambda each: _finding(each).start[:2]):
        alike.setdefault(_conditions(each), []).append(each)
    for first, *others in alike.values():
        yield _with(first, [_finding(each) for each in others], message) if others else first


def _finding(reported: Finding | Waiting) -> Finding:
    return reported.finding if isinstance(reported, Waiting) else reported


def _conditions(reported: Finding | Waiting) -> object:
    finding = _finding(reported)
    own = finding.tier, finding.group, finding.fix is None
    if not isinstance(reported, Waiting):
        return own
    return own, reported.contexts, reported.hints, reported.place, tuple(reported.needs.items())


def _with(first: Finding | Waiting, others: list[Finding], message: str) -> Finding | Waiting:
    finding = _finding(first)
    rows = {finding.start.row}
    related = list(finding.related)
    for each in others:
        if each.start.row not in rows:
            related.append(Related(each.path, each.start, message))
        rows.add(each.start.row)
        related += (place for place in each.related if place not in related)
    finding = finding._replace(related=tuple(related), fix=_fix_of_all([finding, *others]))
    return first._replace(finding=finding) if isinstance(first, Waiting) else finding


def _fix_of_all(findings: list[Finding]) -> Fix | None:
    fixes = [each.fix for each in findings if each.fix is not None]
    if not fixes:
        return None
    order = list(Applicability)
    least = max((fix.applicability for fix in fixes), key=order.index)
    edits = dict.fromkeys(edit for fix in fixes for edit in fix.edits)
    return Fix(least, fixes[0].message, tuple(edits))
