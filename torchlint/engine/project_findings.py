"""The findings of a project: map its files, load those that hot code calls, settle what waits."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from torchlint.debug import debugging
from torchlint.finding import Diagnostic, Finding
from torchlint.project.calls import Calls
from torchlint.project.map_result import Depth
from torchlint.project.project import Project
from torchlint.project.symbols import Index
from torchlint.ruleapi.contexts import settled
from torchlint.ruleapi.plugins import PluginError, contained
from torchlint.ruleapi.registry import all_rules

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.engine.map_project import Mapper
    from torchlint.reported import Waiting

_MOST_ROUNDS: Final = 10
_SAME: Final = r"(?![ \t]*(?:def|class) )"
_READ: Final = (
    rf"(?m:^[ \t]*def forward\b(?:{_SAME}.*\n)*?{_SAME}.*\.(?:item|cpu|tolist)\(\)"
    r"|^class \w{0,60}(?:Loss|Criterion)\w{0,20}\b)"
)
"""The `forward` of a module that reads from the device, and losses."""
_WAITS: Final = (
    rf"{_READ}|\.(?:item|tolist|cpu|any|all|nonzero|masked_select|equal|inverse|unique"
    r"|repeat_interleave|bincount|argwhere|randperm|randint)\(|return_tensors="
    r"|\barange\((?![^\n]{0,80}device)"
    r"|linear_sum_assignment\(|\w\[~?[\w.]*mask\w*\]|: {0,2}[\w.]{1,40}\.max\(\)"
    r"|\w\[[^\[\]:,\n\"']{1,60} (?:[<>]=?|[!=]=) [^\[\]:,\n\"']{1,60}\]"
)
"""What may wait for the device. Where hints are asked for, files of a program that trains are read
if they have it, since few show how a training step reaches them."""


@dataclass(slots=True)
class ProjectFindings:
    """What was found in a project, or in a part of one.

    Args:
        settled: for each file what became of its findings that waited, None for one that does not
            hold.
        loaded: the files that were loaded because hot code calls into them.
        steps: whether a training step was seen.
    """

    loaded: set[str]
    steps: bool
    findings: list[Finding] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    settled: dict[str, list[Finding | None]] = field(default_factory=dict)


def findings_of(mapper: Mapper) -> ProjectFindings:
    """Map the files, load those that hot code calls, join them, and settle the findings that
    wait."""
    project, loaded = join(mapper)
    findings = ProjectFindings(loaded, project.shows_steps)
    for path, result in mapper.results.items():
        findings.diagnostics += result.diagnostics
        settled = [_settle(waiting, project, findings.diagnostics) for waiting in result.waiting]
        findings.findings += result.findings
        findings.findings += (finding for finding in settled if finding is not None)
        findings.settled[path] = settled
    return findings


def join(mapper: Mapper, known: frozenset[str] | None = None) -> tuple[Project, set[str]]:
    """The joined project, and the files that were loaded on demand for it.

    Args:
        known: the files to load, if an earlier join of the same files has shown which.
    """
    mapper.follow_stars()  # so that it is noted what the results depend on
    mapper.map([known for known in mapper.files.values() if known.relevant], Depth.RULES)
    index = Index(mapper.locator, mapper.word_search.mentions)
    calls = Calls(index)

    def joined(paths: Iterable[str]) -> Project:
        results = mapper.results
        calls.add({path: each for path in paths if (each := results[path].summary) is not None})
        facts = (fact for path in sorted(mapper.facts) for fact in mapper.facts[path])
        clues = {name: clue for rule in all_rules().values() for name, clue in rule.clues.items()}
        return Project(index, calls, facts, mapper.imports, mapper.word_search, clues)

    if known is not None:
        mapper.map([mapper.project[path] for path in sorted(known)], Depth.ON_DEMAND)
        return joined(mapper.results), set(known)
    project = joined(mapper.results)
    loaded: set[str] = set()
    if not any(result.waiting or result.summary for result in mapper.results.values()):
        return project, loaded
    searched: dict[str, set[str]] = defaultdict(set)
    for _ in range(_MOST_ROUNDS):
        wanted = _files_to_load(project, mapper, searched) - loaded
        if not wanted:
            break
        loaded |= wanted
        mapper.map([mapper.project[path] for path in sorted(wanted)], Depth.ON_DEMAND)
        project = joined(wanted)
    return project, loaded


def _files_to_load(project: Project, mapper: Mapper, searched: dict[str, set[str]]) -> set[str]:
    """Unparsed files that hot code calls into, or that may call training code.

    Args:
        searched: the names of training code, by file, that earlier rounds searched for; updated.
    """
    project.warm_up()
    paths = set(project.index.missing)
    words: dict[str, set[str]] = defaultdict(set)
    for path, names in project.training_code().items():
        new = names - searched[path]
        searched[path] |= new
        for caller in project.importers(path) if new else ():
            words[caller] |= new
    paths |= {
        caller
        for caller in words.keys() - paths - set(project.summaries)
        if any(mapper.word_search.mentions(caller, word) for word in (*words[caller], "import *"))
    }
    paths |= {
        path
        for path in project.training_programs
        if mapper.word_search.matches(path, _WAITS if _hints_at(path, mapper) else _READ)
    }
    return {path for path in paths if path in mapper.project} - set(project.summaries)


def _hints_at(path: str, mapper: Mapper) -> bool:
    """Whether hints about a file are asked for."""
    return path in mapper.project and mapper.project[path].target.selection.hints


def _settle(waiting: Waiting, project: Project, diagnostics: list[Diagnostic]) -> Finding | None:
    rule = all_rules()[waiting.finding.code]
    path = waiting.finding.path
    try:
        finding = settled(waiting, project)
        if finding is None or rule.settler is None:
            return finding
        settle = partial(rule.settler, finding, waiting.needs, project)
        if not rule.plugin:
            return settle()
        kept, printed = contained(rule.label, settle)
        if printed:
            message = f"{rule.label} printed `{printed}`; a rule prints nothing"
            diagnostics.append(Diagnostic(path, message, kind="rule"))
        return kept
    except PluginError as error:
        if debugging():
            raise
        diagnostics.append(Diagnostic(path, f"{error} while joining files", kind="rule"))
        return None
    except Exception as error:
        if debugging():
            raise
        message = f"{rule.code} crashed while joining files ({type(error).__name__}: {error})"
        diagnostics.append(Diagnostic(path, message, kind="rule"))
        return None
