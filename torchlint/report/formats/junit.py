"""Findings as JUnit XML, the form in which CI services read the results of tests.

It follows the schema of Jenkins' xUnit plugin. GitLab and Jenkins know a test by its class and
name, so neither holds a line, which would make a new test of it with every edit above.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from torchlint.finding import Tier
from torchlint.report.formats.locations import with_cell
from torchlint.report.formats.text import fix_tag
from torchlint.report.markup import markup
from torchlint.report.terminal.safe_text import visible_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from torchlint.finding import Diagnostic, Finding, Position


class _Case(NamedTuple):
    """A test case; `outcome` is the element that says how it went: skipped, failure or error."""

    file: str
    name: str
    outcome: str
    kind: str
    message: str
    text: list[str]


def render(findings: Sequence[Finding], diagnostics: Sequence[Diagnostic]) -> Iterator[str]:
    """The lines of the document, in ASCII: a failure per problem, a skipped case per hint, an
    error per diagnostic, and one case that passes where there is none of these."""
    cases = [_finding(finding) for finding in findings]
    cases += [_diagnostic(diagnostic) for diagnostic in diagnostics]
    outcomes = Counter(case.outcome for case in cases)
    totals: dict[str, str | int] = {"name": "torchlint", "tests": len(cases) or 1}
    totals |= {"failures": outcomes["failure"], "errors": outcomes["error"]}
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f"<testsuites{_attributes(totals)}>"
    yield f"  <testsuite{_attributes({**totals, 'skipped': outcomes['skipped'], 'time': 0})}>"
    seen: dict[tuple[str, str], int] = {}
    for case in cases:
        yield from _lines(case, seen)
    if not cases:
        yield '    <testcase name="No problems found" classname="torchlint" time="0"/>'
    yield "  </testsuite>"
    yield "</testsuites>"


def _finding(finding: Finding) -> _Case:
    tag = fix_tag(finding)
    message = finding.message
    if finding.start.cell is None:
        message = f"{finding.start}: {message}"
    lines = [f"{_place(finding.path, finding.start)}: {finding.message}"]
    lines += [
        f"see {_place(related.path, related.position)}: {related.message}"
        for related in finding.related
    ]
    if finding.fix is None and finding.withheld:
        lines.append(f"no fix: {finding.withheld}")
    lines.append(
        f"{finding.code} {finding.name}{' ' + tag if tag else ''}: {finding.url or finding.help}"
    )
    return _Case(
        file=finding.path,
        name=f"{finding.code} {finding.name}{' in ' + finding.scope if finding.scope else ''}",
        outcome="skipped" if finding.tier is Tier.HINT else "failure",
        kind=finding.code,
        message=with_cell(message, finding.start),
        text=lines,
    )


def _diagnostic(diagnostic: Diagnostic) -> _Case:
    place = _place(diagnostic.path, diagnostic.position)
    return _Case(
        file=diagnostic.path,
        name=diagnostic.kind,
        outcome="error",
        kind=diagnostic.kind,
        message=diagnostic.message,
        text=[f"{place}: {diagnostic.message}"],
    )


def _lines(case: _Case, seen: dict[tuple[str, str], int]) -> Iterator[str]:
    # Without its suffix, since Jenkins takes the part before the last dot for a package.
    file = visible_path(os.path.splitext(case.file)[0].replace(os.sep, "/"))
    count = seen[file, case.name] = seen.get((file, case.name), 0) + 1
    name = f"{case.name} ({count})" if count > 1 else case.name
    outcome = {"type": case.kind, "message": case.message}
    yield f"    <testcase{_attributes({'name': name, 'classname': file, 'time': 0})}>"
    text = "\n".join(map(markup, case.text))
    yield f"      <{case.outcome}{_attributes(outcome)}>{text}</{case.outcome}>"
    yield "    </testcase>"


def _attributes(values: Mapping[str, str | int]) -> str:
    return "".join(f' {key}="{markup(str(value))}"' for key, value in values.items())


def _place(path: str, position: Position | None) -> str:
    return visible_path(path) if position is None else f"{visible_path(path)}:{position}"
