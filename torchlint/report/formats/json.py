"""Findings for programs: a JSON list with 1-based rows and columns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torchlint.finding import Finding, Fix, Position

Json = dict[str, object]


def render(findings: Iterable[Finding]) -> Iterator[str]:
    """The lines of the list, in ASCII, one finding each."""
    yield "["
    yield from rows(_finding(finding) for finding in findings)
    yield "]"


def rows(entries: Iterable[object]) -> Iterator[str]:
    """The lines between the brackets of a list: one entry each, in ASCII."""
    texts = [json.dumps(entry) for entry in entries]
    for left, text in enumerate(texts, start=1 - len(texts)):
        yield f"  {text}{',' if left else ''}"


def _finding(finding: Finding) -> Json:
    return {
        "code": finding.code,
        "name": finding.name,
        "tier": finding.tier.value,
        "severity": finding.tier.value,
        "effect": finding.effect.value,
        "message": finding.message,
        "filename": finding.path,
        "location": _place(finding.start),
        "end_location": _place(finding.end),
        "fix": None if finding.fix is None else _fix(finding.fix),
        "withheld": finding.withheld,
        "related": [
            {
                "filename": related.path,
                "location": _place(related.position),
                "message": related.message,
            }
            for related in finding.related
        ],
        "scope": finding.scope,
        "fingerprint": finding.fingerprint,
        "url": finding.url,
        "help": finding.help,
    }


def _fix(fix: Fix) -> Json:
    return {
        "applicability": fix.applicability.value,
        "message": fix.message,
        "edits": [
            {
                "location": _place(edit.start),
                "end_location": _place(edit.end),
                "content": edit.content,
            }
            for edit in fix.edits
        ],
    }


def _place(position: Position) -> Json:
    place: Json = {"row": position.row, "column": position.column}
    return place if position.cell is None else {"cell": position.cell, **place}
