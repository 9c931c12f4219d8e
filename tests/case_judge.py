"""Checks a case, fixes it, and says where that is not what the case expects."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.notebook_files import code_of, notebook
from torchlint.config.settings import Selection
from torchlint.engine.check import check
from torchlint.engine.gate import wanted_by
from torchlint.files.lines import LineIndex
from torchlint.finding import Applicability
from torchlint.fixes.fixer import fix_targets
from torchlint.notebooks.notebook_module import in_cells
from torchlint.project.target import Target
from torchlint.ruleapi.registry import all_rules
from torchlint.silence.tiers import Wanted

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from tests.case_files import Case, Expected
    from torchlint.finding import Finding, Position
    from torchlint.ruleapi.rule_definition import Rule

EVERYTHING = Wanted(hints=True, pedantic=True)
NOTEBOOK = ".ipynb"


def problems_of(case: Case, rule: Rule) -> list[str]:
    """What a case expects in vain and what it does not expect, each with its file and line."""
    targets = _targets(case, rule)
    report = check(targets)
    findings = [in_cells(each, report.borders) for each in report.findings]
    read = [each.path for each in targets if wanted_by(each.data or b"", [rule])]
    problems = [
        *(f"{case.where}: {path} is parsed" for path in read if "unread" in case.options),
        *(f"{case.where}: {each.path}: {each.message}" for each in report.diagnostics),
        *_misjudged(case, findings),
    ]
    # What goes wrong with a fix often follows from a finding that should not be there.
    return problems or list(_misfixed(case, targets, findings))


def _targets(case: Case, rule: Rule) -> list[Target]:
    selection = Selection(
        select=tuple(case.options.get("select", rule.code).split()),
        require_reason="require-reason" in case.options,
    )
    major, _, minor = case.options.get("torch", "2.13").partition(".")
    return [
        Target(path, selection, (int(major), int(minor)), _bytes_of(path, text))
        for path, text in case.texts().items()
    ]


def _bytes_of(path: str, text: str) -> bytes:
    return notebook(text) if path.endswith(NOTEBOOK) else text.encode()


# findings ----------------------------------------------------------------------------------


def _misjudged(case: Case, findings: list[Finding]) -> Iterator[str]:
    """Findings without a comment, comments without a finding, and details that differ."""
    rest = list(findings)
    groups: dict[str, str | None] = {}
    for path, lines in case.files.items():
        for row, line in enumerate(lines, start=1):
            for expected in line.expected:
                here = [each for each in rest if (each.path, each.start.row) == (path, row)]
                same = [each for each in here if (each.code, each.tier.value) == expected[:2]]
                if not same:
                    found = ", ".join(f"{each.code} {each.tier.value}" for each in here)
                    said = f"{expected.code} {expected.tier}"
                    yield f"{line.where}: expected {said}, found {found or 'nothing'}"
                    continue
                rest.remove(same[0])
                for problem in _details(expected, same[0], case.texts()):
                    yield f"{line.where}: {problem}"
                if "group" in expected.details:
                    group = groups.setdefault(expected.details["group"], same[0].group)
                    if group is None or group != same[0].group:
                        yield f"{line.where}: group {same[0].group}, not {group}"
    for each in rest:
        where = case.files[each.path][each.start.row - 1].where
        yield f"{where}: not expected: {each.code} {each.tier.value}: {each.message}"
    if len(set(groups.values())) < len(groups):
        yield f"{case.where}: groups with different words are one"


def _details(expected: Expected, finding: Finding, texts: dict[str, str]) -> Iterator[str]:
    """What a finding lacks of what its comment says beside the tier."""
    fix, details = finding.fix, expected.details
    applicability = None if fix is None else fix.applicability.value
    if expected.applicability not in (None, applicability):
        reason = f": {finding.withheld}" if finding.withheld else ""
        yield f"the fix is not {expected.applicability} but {applicability}{reason}"
    if "no fix" in details and fix is not None:
        yield f"there is a fix: {fix.message}"
    promises = all_rules()[finding.code].promises
    if fix is not None and fix.applicability not in promises:
        yield f"the rule does not say that it has a {fix.applicability.words}"
    if fix is None and not finding.withheld and promises:
        yield "nothing says why there is no fix"
    said = {
        "no fix": finding.withheld or "",
        "says": finding.message,
        "fix says": fix.message if fix else "",
        "marks": _text_from(texts[finding.path], finding.start, finding.end),
        "see": "".join(_text_from(texts[at.path], at.position) for at in finding.related[:1]),
    }
    for key, words in said.items():
        wanted = details.get(key, "")
        starts = words.startswith(wanted) and bool(words) == bool(wanted)
        fits = {"marks": words == wanted, "see": starts}
        parts = re.search(".*".join(map(re.escape, wanted.split(" … "))), words)
        if key in details and not fits.get(key, parts):
            yield f"{key}: `{words}`, not `{wanted}`"


def _text_from(text: str, start: Position, end: Position | None = None) -> str:
    index = LineIndex(text)
    return text[index.offset(start) : None if end is None else index.offset(end)]


# fixes -------------------------------------------------------------------------------------


def _misfixed(case: Case, targets: list[Target], findings: list[Finding]) -> Iterator[str]:
    """How the fixed files differ from what the case says, or from what any fix leaves."""
    kinds = {each.fix.applicability for each in findings if each.fix}
    kinds.discard(Applicability.SUGGEST)
    before, fixed = case.texts(), case.fixed()
    if not kinds:
        if fixed is not None:
            yield f"{case.where}: there is nothing to fix"
        return
    after = {**before, **(yield from _fix(case, targets, unsafe=True))}
    if fixed is not None and after != fixed:
        yield f"{case.where}: the fix makes\n{_shown(after)}not\n{_shown(fixed)}"
    if len(kinds) == 1:
        expected = after if kinds == {Applicability.SAFE} else before
        if expected != {**before, **(yield from _fix(case, targets, unsafe=False))}:
            yield f"{case.where}: `fix` without `--unsafe` does not make the safe fixes alone"
    fixable = sum(each.fix is not None and each.fix.applicability in kinds for each in findings)
    again = [each._replace(data=_bytes_of(each.path, after[each.path])) for each in targets]
    if (yield from _fix(case, again, unsafe=True)):
        yield f"{case.where}: fixing again changes the files once more"
    if len(check(again).findings) != len(findings) - fixable:
        yield f"{case.where}: fixing leaves or adds a finding"


def _fix(
    case: Case, targets: list[Target], *, unsafe: bool
) -> Generator[str, None, dict[str, str]]:
    """The files that a fix changes; yields what went wrong, such as a result that cannot be
    parsed."""
    report = fix_targets(targets, unsafe=unsafe, wanted=EVERYTHING)
    for each in report.diagnostics:
        yield f"{case.where}: {each.path}: {each.message}"
    if sum(len(file.applied) for file in report.files) > case.expects():
        yield f"{case.where}: a fix needs another one after it"
    return {
        file.path: code_of(file.after) if file.path.endswith(NOTEBOOK) else file.after.decode()
        for file in report.files
    }


def _shown(files: dict[str, str]) -> str:
    return "".join(f"# {path}\n{text}" for path, text in files.items())
