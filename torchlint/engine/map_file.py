"""MAP: one file's bytes to its imports, its findings, those that wait, its facts and summary."""

from __future__ import annotations

import gc
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from torchlint.analysis.module import Module
from torchlint.analysis.summary import summarize
from torchlint.debug import debugging
from torchlint.engine.gate import may_wake, wanted_by
from torchlint.files.reading import SourceError, decode
from torchlint.finding import Diagnostic, Fact, Finding, Waiting
from torchlint.project.imports import imported_names
from torchlint.project.map_result import MapResult
from torchlint.project.target import CHANGED, Depth, digest_of
from torchlint.ruleapi.registry import all_rules
from torchlint.source.deep_stack import with_deep_stack
from torchlint.source.parse import parse
from torchlint.source.syntax_errors import what_is_wrong
from torchlint.suppressions.suppressions import Suppressions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torchlint.finding import Said
    from torchlint.project.target import Target
    from torchlint.ruleapi.rule import NodeCheck, Rule

_T = TypeVar("_T")


def map_files(targets: list[Target], depth: Depth) -> list[tuple[bytes, MapResult]]:
    """Maps some files, on a stack that deep code cannot overflow; with a digest of what each
    contained."""
    collecting = gc.isenabled()
    gc.disable()  # a parsed file is a million objects without a cycle: `release` frees them
    try:
        return with_deep_stack(lambda: [_map_file(target, depth) for target in targets])
    finally:
        if collecting:
            gc.enable()


def _map_file(target: Target, depth: Depth) -> tuple[bytes, MapResult]:
    try:
        data = target.read()
    except SourceError as error:
        return CHANGED, MapResult(target.path, diagnostics=(error.diagnostic,))
    return digest_of(data), replace(
        _mapped(target, data, depth), imports=tuple(imported_names(data))
    )


def _mapped(target: Target, data: bytes, depth: Depth) -> MapResult:
    if depth is Depth.IMPORTS:
        return MapResult(target.path)
    wrong = what_is_wrong(target.path, data) if target.named else None
    if wrong is not None:
        return MapResult(target.path, diagnostics=(wrong,))
    woken = depth is Depth.WOKEN
    rules = _enabled(target)
    codes = wanted_by(data, rules.values(), woken=woken)
    if not codes and not woken:
        return MapResult(target.path)
    try:
        source = decode(target.path, data)
        module = Module(source, parse(source), target.torch)
    except SourceError as error:
        return MapResult(target.path, diagnostics=(error.diagnostic,))
    try:
        return _run(module, [rules[code] for code in codes], _Asked(target, data, woken))
    finally:
        module.release()


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of a file."""

    target: Target
    data: bytes
    woken: bool


def _enabled(target: Target) -> dict[str, Rule]:
    """The rules that are on for a file and its torch, by code."""
    enabled = target.selection.enabled
    return {
        code: rule
        for code, rule in all_rules().items()
        if enabled(code, rule.name) and rule.is_for(target.torch)
    }


def _run(module: Module, active: list[Rule], asked: _Asked) -> MapResult:
    said: list[Said] = []
    diagnostics: list[Diagnostic] = []
    for rule in active:
        if rule.off_in_tests and module.test_like:
            continue
        said += _all_said(rule, module, diagnostics)
    installed = all_rules()
    suppressions = Suppressions(
        module,
        about={code for code, rule in installed.items() if rule.about_comments},
        names={code: rule.name for code, rule in installed.items()},
    )
    findings = [item for item in said if isinstance(item, Finding)]
    findings = [item for item in findings if not suppressions.cover(item)]
    waiting = [item for item in said if isinstance(item, Waiting)]
    waiting = [item for item in waiting if not suppressions.cover(item.finding)]
    if suppressions.comments:
        suppressions.heard = _heard(active, module, asked, diagnostics)
        suppressions.reasons_required = asked.target.selection.require_reason
        findings += _about_comments(active, suppressions, diagnostics)
    summary = None
    if asked.woken or any(rule.summarizes or rule.about_hot_code for rule in active):
        summary = _guarded(lambda: [summarize(module)], "the project summary", module, diagnostics)
    return MapResult(
        path=module.path,
        findings=tuple(findings),
        waiting=tuple(waiting),
        facts=tuple(sorted((item for item in said if isinstance(item, Fact)), key=_order)),
        summary=summary[0] if summary else None,
        diagnostics=tuple(diagnostics),
    )


def _heard(
    active: list[Rule], module: Module, asked: _Asked, diagnostics: list[Diagnostic]
) -> frozenset[str]:
    """The codes of the rules that can have nothing more to say about a file.

    A rule that the file may still be woken for has not spoken yet, and where one crashed nobody
    knows what it would have said.
    """
    if diagnostics:
        return frozenset()
    rules = _enabled(asked.target)
    idle = [rules[code] for code in rules.keys() - {rule.code for rule in active}]
    asleep = may_wake(asked.data, idle)
    off = {code for code, rule in rules.items() if rule.off_in_tests and module.test_like}
    return frozenset(rules.keys() - asleep - off)


def _about_comments(
    active: list[Rule], suppressions: Suppressions, diagnostics: list[Diagnostic]
) -> list[Finding]:
    """What the rules about comments find, apart from what a comment silences."""
    said: list[Said] = []
    for rule in active:
        for check in rule.suppression_checks:
            ask = partial(_said, check, suppressions)
            said += _guarded(ask, rule.code, suppressions.module, diagnostics)
    findings = [item for item in said if isinstance(item, Finding)]
    return [item for item in findings if not suppressions.cover(item)]


def _order(fact: Fact) -> tuple[str, str]:
    """Facts are a set to those who ask for them; a file says them in the same order each time."""
    return fact.name, repr(fact.value)


def _all_said(rule: Rule, module: Module, diagnostics: list[Diagnostic]) -> list[Said]:
    found: list[Said] = []
    for types, check in rule.checks:
        for node in module.nodes(*types):
            found += _guarded(partial(_said, check, node, module), rule.code, module, diagnostics)
    for check in rule.module_checks:
        found += _guarded(partial(_said, check, module), rule.code, module, diagnostics)
    return found


def _said(check: NodeCheck, *about: object) -> list[Said]:
    """
    Raises:
        TypeError: a single finding, which is a tuple, or anything else that is no list of them.
    """
    said = list(check(*about) or ())
    if not all(isinstance(item, (Finding, Waiting, Fact)) for item in said):
        raise TypeError("a check gives findings, waiting ones and facts, and nothing else")
    return said


def _guarded(
    answer: Callable[[], Iterable[_T] | None],
    who: str,
    module: Module,
    diagnostics: list[Diagnostic],
) -> list[_T]:
    """What `answer` gives; a crash becomes a diagnostic that names who crashed."""
    try:
        return list(answer() or ())
    except Exception as error:
        if debugging():
            raise
        message = f"{who} crashed ({type(error).__name__}: {error}); its findings here are lost"
        if all(known.message != message for known in diagnostics):
            diagnostics.append(Diagnostic(module.path, message, kind="rule"))
        return []
