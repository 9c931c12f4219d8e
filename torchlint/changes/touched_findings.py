"""Which findings a change touches, so that a pull request shows only its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from torchlint.changes.changed_lines import ChangedLines
    from torchlint.finding import Finding


def files_of(findings: Iterable[Finding]) -> set[str]:
    """The files whose changes matter."""
    return {
        path
        for finding in findings
        for path in (finding.path, *(related.path for related in finding.related))
    }


def is_touched(finding: Finding, changed: Mapping[str, ChangedLines]) -> bool:
    """Whether a change touches the place of a finding, or a place that explains it.

    A loop explains a finding in a function that it calls. It may be an old loop with a new call,
    so a new line in it that names the function counts as well. What a fix would edit does not:
    fixes share lines, such as imports, which say nothing about when the code became slow.

    Args:
        changed: of each of `files_of` the finding.
    """
    if changed[finding.path].touch(finding.start, finding.end):
        return True
    function = finding.scope.rpartition(".")[2]
    named = re.compile(rf"\b{re.escape(function)}\b".encode()) if function else None
    for related in finding.related:
        lines, place = changed[related.path], related.position
        if lines.touch(place, place):
            return True
        if named is not None and any(named.search(line) for line in lines.below(place)):
            return True
    return False
