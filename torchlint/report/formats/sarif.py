"""Findings as SARIF 2.1.0, within what GitHub code scanning takes.

The standard: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html. What GitHub reads,
and how much of it: https://docs.github.com/en/code-security/reference/code-scanning.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

from torchlint import version
from torchlint.finding import Applicability, Tier
from torchlint.report.formats.json import rows
from torchlint.report.formats.locations import (
    from_root,
    identities,
    line_of,
    well_formed,
    with_cell,
)
from torchlint.report.terminal.safe_text import plural, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from torchlint.finding import Diagnostic, Finding, Fix, Position, Related
    from torchlint.report.formats.json import Json
    from torchlint.ruleapi.rule_definition import Rule

MOST_RESULTS: Final = 25_000
"""GitHub refuses a run with more; it keeps the 5,000 most severe."""
MOST_RELATED: Final = 100
"""GitHub shows no more locations of a result."""
_LEVELS: Final = {Tier.DEFAULT: "warning", Tier.PEDANTIC: "note", Tier.HINT: "note"}
_SEVERITIES: Final = {"warning": "warning", "note": "recommendation"}
_PROMISES: Final = {
    Applicability.SAFE: "",
    Applicability.UNSAFE: ": it may change results, memory or checkpoints",
    Applicability.SUGGEST: ": finish it by hand",
}
_ROOT: Final = "%SRCROOT%"
_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


class Help(NamedTuple):
    """What viewers show of a rule. `page` is Markdown, `tier` that of most of its findings."""

    summary: str
    page: str
    family: str
    tier: Tier
    url: str | None


def render(
    findings: Sequence[Finding],
    diagnostics: Sequence[Diagnostic],
    rules: Mapping[str, Rule | Help],
    root: str,
) -> Iterator[str]:
    """The lines of the log, in ASCII, one rule, result or notification each.

    Args:
        rules: by code; those that findings are of are described.
        root: the folder that paths are made relative to, which is `%SRCROOT%` in the log.
    """
    kept = _most_severe(findings)
    codes = sorted({finding.code for finding in kept})
    names = {finding.code: finding.name for finding in kept}
    where = {_ROOT: {"description": {"text": "The root of the repository."}}}
    notes = [_notification(diagnostic, root) for diagnostic in diagnostics]
    if len(kept) < len(findings):
        notes.append(_omitted(len(findings) - len(kept)))
    succeeded = json.dumps(not diagnostics)
    yield f'{{"$schema": "{_SCHEMA}", "version": "2.1.0", "runs": [{{'
    yield f'"tool": {{"driver": {json.dumps(_driver())[:-1]}, "rules": ['
    yield from rows(_rule(rules.get(code), code, names[code]) for code in codes)
    yield f']}}}}, "columnKind": "unicodeCodePoints", "originalUriBaseIds": {json.dumps(where)},'
    yield f'"invocations": [{{"executionSuccessful": {succeeded}, "toolExecutionNotifications": ['
    yield from rows(notes)
    yield ']}], "results": ['
    yield from rows(
        _result(finding, codes.index(finding.code), identity, root)
        for finding, identity in zip(kept, identities(kept, root), strict=True)
    )
    yield "]}]}"


def _most_severe(findings: Sequence[Finding]) -> Sequence[Finding]:
    if len(findings) <= MOST_RESULTS:
        return findings
    order = list(_LEVELS)
    return sorted(findings, key=lambda finding: order.index(finding.tier))[:MOST_RESULTS]


def _driver() -> Json:
    home = {"informationUri": version.SITE} if version.SITE else {}
    return {"name": "torchlint", "version": version.__version__, **home}


def _rule(rule: Rule | Help | None, code: str, name: str) -> Json:
    if rule is None:
        # The rule's plugin is no longer installed; the finding comes from the cache.
        text = {"text": f"{code} {name}"}
        described = {"shortDescription": text, "fullDescription": text, "help": text}
        return {"id": code, "name": name, **described}
    help_text = rule if isinstance(rule, Help) else _help(rule)
    level = _LEVELS[help_text.tier]
    summary = {"text": visible(help_text.summary)[:1024] or name}
    return {
        "id": code,
        "name": name,
        **({} if help_text.url is None else {"helpUri": help_text.url}),
        "shortDescription": summary,
        "fullDescription": summary,
        "help": {"text": help_text.page, "markdown": help_text.page},
        "defaultConfiguration": {"level": level},
        "properties": {
            "tags": ["performance", help_text.family],
            "problem.severity": _SEVERITIES[level],
        },
    }


def _help(rule: Rule) -> Help:
    from torchlint.report.rules import page

    return Help(rule.summary, page(rule), rule.family, rule.tier, rule.url)


def _result(finding: Finding, rule: int, identity: str, root: str) -> Json:
    related = finding.related[:MOST_RELATED]
    location = _location(finding.path, finding.start, finding.end, root)
    if finding.scope:
        scope = visible(finding.scope)
        location["logicalLocations"] = [
            {"name": scope.rpartition(".")[2], "fullyQualifiedName": scope}
        ]
    message = with_cell(_plain(finding.message), finding.start)
    links = [
        f"See [{_linked(each.message)}]({number})." for number, each in enumerate(related, start=1)
    ]
    result: Json = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": _LEVELS[finding.tier],
        "message": {"text": " ".join([message, *links])},
        "locations": [location],
        "partialFingerprints": {"torchlintIdentity/v1": identity},
    }
    if related:
        result["relatedLocations"] = [
            _related(each, number, root) for number, each in enumerate(related, start=1)
        ]
    fix = None if finding.fix is None else _fix(finding.fix, finding.path, root)
    return result if fix is None else {**result, "fixes": [fix]}


def _related(related: Related, number: int, root: str) -> Json:
    location = _location(related.path, related.position, None, root)
    text = with_cell(_plain(related.message), related.position)
    return {"id": number, **location, "message": {"text": text}}


def _fix(fix: Fix, path: str, root: str) -> Json | None:
    """None if the places are in a notebook, or the text is not Unicode."""
    if not fix.edits or any(
        edit.start.cell is not None or edit.content != well_formed(edit.content)
        for edit in fix.edits
    ):
        return None
    replacements = [
        {
            "deletedRegion": _region(edit.start, edit.end),
            "insertedContent": {"text": edit.content},
        }
        for edit in fix.edits
    ]
    change = {"artifactLocation": _artifact(path, root), "replacements": replacements}
    message = f"{_plain(fix.message)} ({fix.applicability.words}{_PROMISES[fix.applicability]})"
    return {"description": {"text": message}, "artifactChanges": [change]}


def _notification(diagnostic: Diagnostic, root: str) -> Json:
    message = with_cell(_plain(diagnostic.message), diagnostic.position)
    location = _location(diagnostic.path, diagnostic.position, None, root)
    return {"level": "error", "message": {"text": message}, "locations": [location]}


def _omitted(count: int) -> Json:
    results = plural(count, "result")
    text = f"{results} omitted, since GitHub takes at most {MOST_RESULTS}; check fewer files."
    return {"level": "warning", "message": {"text": text}}


def _location(path: str, start: Position | None, end: Position | None, root: str) -> Json:
    physical: Json = {"artifactLocation": _artifact(path, root)}
    if start is not None:
        physical["region"] = _region(start, end)
    return {"physicalLocation": physical}


def _artifact(path: str, root: str) -> Json:
    relative = from_root(path, root)
    try:
        data = relative.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = relative.encode("utf-8", "surrogatepass")
    if relative.startswith("/") or relative[1:3] == ":/":
        return {"uri": f"file:///{quote(data.lstrip(b'/'), safe='/:')}"}
    return {"uri": quote(data), "uriBaseId": _ROOT}


def _region(start: Position, end: Position | None) -> Json:
    if start.cell is not None:
        return {"startLine": line_of(start)}
    region: Json = {"startLine": start.row, "startColumn": start.column}
    return region if end is None else {**region, "endLine": end.row, "endColumn": end.column}


def _plain(text: str) -> str:
    """Text in which nothing is a link (`[…](…)`) or a placeholder (`{0}`)."""
    return re.sub(r"\{(\d+)\}", r"{{\1}}", visible(text).replace("](", "\\]("))


def _linked(text: str) -> str:
    escaped = re.sub(r"([\\\[\]])", r"\\\1", visible(text))
    return re.sub(r"\{(\d+)\}", r"{{\1}}", escaped)
