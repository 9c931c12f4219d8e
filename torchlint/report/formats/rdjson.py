"""Findings in the Reviewdog Diagnostic Format.

https://github.com/reviewdog/reviewdog/blob/master/proto/rdf/reviewdog.proto: columns count bytes of
UTF-8 from 1, and a range without columns means whole lines.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from torchlint import version
from torchlint.finding import Tier
from torchlint.report.formats.json import rows
from torchlint.report.formats.locations import line_of, well_formed, with_cell
from torchlint.report.formats.text import fix_tag
from torchlint.report.terminal.hunks import hunks
from torchlint.report.terminal.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torchlint.finding import Diagnostic, Finding, Position, Related
    from torchlint.report.formats.json import Json
    from torchlint.report.terminal.excerpt import Excerpts

_SEVERITIES: Final = {Tier.DEFAULT: "WARNING", Tier.PEDANTIC: "INFO", Tier.HINT: "INFO"}


def render(
    findings: Iterable[Finding], diagnostics: Iterable[Diagnostic], excerpts: Excerpts
) -> Iterator[str]:
    """The lines of one JSON object, in ASCII, with one finding or diagnostic each."""
    entries = [_finding(finding, excerpts) for finding in findings]
    entries += [{**_note(diagnostic), "severity": "ERROR"} for diagnostic in diagnostics]
    source = {"name": "torchlint", **({"url": version.SITE} if version.SITE else {})}
    yield f'{{"source": {json.dumps(source)}, "diagnostics": ['
    yield from rows(entries)
    yield "]}"


def _finding(finding: Finding, excerpts: Excerpts) -> Json:
    # Who applies a suggestion with a click in a review has to see what it promises.
    tag, url = fix_tag(finding), finding.url
    message = f"{visible(finding.message)}{' ' + tag if tag else ''}"
    entry: Json = {
        "message": with_cell(message, finding.start),
        "location": {
            "path": well_formed(finding.path),
            "range": {
                "start": _place(finding.path, finding.start, excerpts),
                "end": _place(finding.path, finding.end, excerpts),
            },
        },
        "severity": _SEVERITIES[finding.tier],
        "code": {"value": finding.code, **({} if url is None else {"url": url})},
    }
    suggestions = _suggestions(finding, excerpts)
    if suggestions:
        entry["suggestions"] = suggestions
    if finding.related:
        entry["related_locations"] = [_note(related) for related in finding.related]
    return entry


def _note(about: Diagnostic | Related) -> Json:
    """A message about a line, or about a whole file."""
    location: Json = {"path": well_formed(about.path)}
    if about.position is not None:
        location["range"] = {"start": {"line": line_of(about.position)}}
    return {"message": with_cell(visible(about.message), about.position), "location": location}


def _suggestions(finding: Finding, excerpts: Excerpts) -> list[Json]:
    """The fix as whole lines. None if it touches several places: each suggestion is accepted by
    itself, and a fix is made whole or not at all."""
    found = hunks(finding, excerpts)
    if len(found) != 1 or found[0].cell is not None:
        return []
    _, first, before, after = found[0]
    # A line that was inserted before one that stays: reviewers need not see that replaced.
    while len(before) > 1 and len(after) > 1 and before[-1] == after[-1]:
        before, after = before[:-1], after[:-1]
    text = "\n".join(after)
    if text != well_formed(text):
        return []
    last = first + len(before) - 1
    return [{"range": {"start": {"line": first}, "end": {"line": last}}, "text": text}]


def _place(path: str, position: Position, excerpts: Excerpts) -> Json:
    line = None if position.cell is not None else excerpts.line(path, position.row)
    if line is None:
        return {"line": line_of(position)}
    before = line[: position.column - 1]
    column = len(before.encode("utf-8", "replace")) + 1
    return {"line": position.row, "column": column}
