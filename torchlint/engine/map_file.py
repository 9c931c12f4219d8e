"""The map step: from the bytes of one file to its findings, facts, imports and summary."""

from __future__ import annotations

import gc
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from torchlint.analysis.module import Module
from torchlint.analysis.summary import summarize
from torchlint.engine.gate import CandidateError, wanted_by, wanted_on_demand
from torchlint.engine.guarded import guarded, sound
from torchlint.files.reading import SourceError, decode
from torchlint.finding import Diagnostic, Finding, Tier
from torchlint.project.imports import imported_names
from torchlint.project.map_result import Depth, MapResult
from torchlint.project.sys_path import sys_path_roots
from torchlint.project.target import CHANGED, digest_of
from torchlint.reported import Fact, Waiting
from torchlint.ruleapi.registry import all_rules
from torchlint.silence.suppressions import Suppressions
from torchlint.source.deep_stack import with_deep_stack
from torchlint.source.parse import parse
from torchlint.source.syntax_errors import what_is_wrong
from torchlint.workers import bounded
from torchlint.workers.endable import LONGEST_S, begin_item, end_items

if TYPE_CHECKING:
    from torchlint.config.settings import Selection
    from torchlint.project.target import Target
    from torchlint.reported import Reported
    from torchlint.ruleapi.rule_definition import NodeCheck, Rule


def map_files(targets: list[Target], depth: Depth) -> list[tuple[bytes, MapResult]]:
    """Map files, on a stack that deeply nested code cannot overflow. Each result comes with a
    digest of the content."""
    sleeps = bool(_plugins())
    collecting = gc.isenabled()
    gc.disable()  # a parsed file has a million objects in no cycle; `release` frees them
    try:
        return with_deep_stack(
            lambda: [_map_file(target, depth, sleeps=sleeps) for target in targets]
        )
    finally:
        end_items()
        if collecting:
            gc.enable()


def _map_file(target: Target, depth: Depth, *, sleeps: bool) -> tuple[bytes, MapResult]:
    begin_item(sleeps=sleeps)
    try:
        with bounded.item():
            return _read_and_mapped(target, depth)
    except bounded.Excess:
        return CHANGED, died(target.path)


def _plugins() -> list[str]:
    return sorted({f"`{rule.plugin}`" for rule in all_rules().values() if rule.plugin})


def died(path: str) -> MapResult:
    """What is reported about a file whose check was ended."""
    plugins = _plugins()
    do = f"Exclude it, or do without the plugin {' or '.join(plugins)}" if plugins else "Exclude it"
    message = (
        f"Checking this file takes more than {LONGEST_S} seconds of processor time, "
        f"{'or waits, ' if plugins else ''}or too much memory; it was skipped. {do}."
    )
    return MapResult(path, diagnostics=(Diagnostic(path, message, kind="worker"),))


def _read_and_mapped(target: Target, depth: Depth) -> tuple[bytes, MapResult]:
    try:
        data = target.read()
    except SourceError as error:
        return CHANGED, MapResult(target.path, diagnostics=(error.diagnostic,))
    return digest_of(data), replace(
        _mapped(target, data, depth),
        imports=tuple(imported_names(data)),
        roots=sys_path_roots(data),
    )


def module_of(target: Target, data: bytes) -> Module:
    """A file, parsed; `release` it when it is done with.

    Args:
        data: what `target.read` returned.

    Raises:
        SourceError: it cannot be parsed.
    """
    source = decode(target.path, data)
    return Module(source, parse(source), target.torch, dict(target.brought))


def _mapped(target: Target, data: bytes, depth: Depth) -> MapResult:
    if depth is Depth.IMPORTS:
        return MapResult(target.path)
    on_demand = depth is Depth.ON_DEMAND
    rules = _enabled(target)
    failed: list[Diagnostic] = []
    codes = _wanted_by(target, data, rules, failed, on_demand=on_demand)
    if not codes and not on_demand:
        wrong = what_is_wrong(target.path, data) if target.named else None
        return MapResult(target.path, diagnostics=(*failed, *([wrong] if wrong else ())))
    try:
        module = module_of(target, data)
    except SourceError as error:
        return MapResult(target.path, diagnostics=(*failed, error.diagnostic))
    try:
        active = [rules[code] for code in codes]
        return _run(module, active, _Request(target, data, on_demand), failed)
    finally:
        module.release()


def _wanted_by(
    target: Target,
    data: bytes,
    rules: dict[str, Rule],
    failed: list[Diagnostic],
    *,
    on_demand: bool,
) -> list[str]:
    """The codes of the rules that want a file; those of plugins that cannot tell are taken out."""
    path, asked = target.path, partial(_asks_for, target.selection)
    while True:
        try:
            return wanted_by(data, rules.values(), path=path, on_demand=on_demand, asked=asked)
        except CandidateError as error:
            del rules[error.code]
            failed.append(Diagnostic(path, str(error), kind="rule"))


def _asks_for(selection: Selection, rule: Rule, tier: Tier) -> bool:
    return selection.asks_for(tier, rule.code, rule.name)


@dataclass(frozen=True, slots=True)
class _Request:
    """What to do with one file."""

    target: Target
    data: bytes
    on_demand: bool


def _enabled(target: Target) -> dict[str, Rule]:
    """The rules that are on for a file and its torch version, and may be shown, by code."""
    selection = target.selection
    return {
        code: rule
        for code, rule in all_rules().items()
        if selection.enabled(code, rule.name)
        and rule.is_for(target.torch)
        and (rule.tiers != {Tier.PEDANTIC} or selection.asks_for(Tier.PEDANTIC, code, rule.name))
    }


def _run(
    module: Module, active: list[Rule], request: _Request, diagnostics: list[Diagnostic]
) -> MapResult:
    left, suppressions = _unsuppressed(module, active, request, diagnostics)
    findings = [item for item in left if isinstance(item, Finding)]
    if suppressions.comments:
        findings += _about_comments(active, suppressions, diagnostics)
    summary = None
    if request.on_demand or any(rule.summarizes or rule.about_hot_code for rule in active):
        summary = guarded(lambda: [summarize(module)], "the project summary", module, diagnostics)
    return MapResult(
        path=module.path,
        findings=tuple(findings),
        waiting=tuple(item for item in left if isinstance(item, Waiting)),
        facts=tuple(sorted((item for item in left if isinstance(item, Fact)), key=_order)),
        summary=summary[0] if summary else None,
        diagnostics=tuple(diagnostics),
    )


def comments_of(module: Module) -> Suppressions:
    """The suppression comments of a file; they have seen no finding yet."""
    installed = all_rules()
    about = {code for code, rule in installed.items() if rule.about_comments}
    return Suppressions(module, about, {code: rule.name for code, rule in installed.items()})


def suppressions_in(
    module: Module, target: Target, data: bytes, *, on_demand: bool
) -> Suppressions:
    """The suppression comments of a file, as the rules about comments see them."""
    failed: list[Diagnostic] = []
    rules = _enabled(target)
    codes = _wanted_by(target, data, rules, failed, on_demand=on_demand)
    request = _Request(target, data, on_demand)
    return _unsuppressed(module, [rules[code] for code in codes], request, failed)[1]


def _unsuppressed(
    module: Module, active: list[Rule], request: _Request, diagnostics: list[Diagnostic]
) -> tuple[list[Reported], Suppressions]:
    """What the rules report and no comment suppresses, and the comments, which have seen it."""
    reported: list[Reported] = []
    for rule in active:
        if not module.test_like or rule.in_tests:
            reported += _reported_by(rule, module, diagnostics)
    suppressions = comments_of(module)
    left: list[Reported] = []
    for item in reported:
        if isinstance(item, Waiting):
            left += (item._replace(finding=each) for each in suppressions.left([item.finding]))
        else:
            left += [item] if isinstance(item, Fact) else suppressions.left([item])
    if suppressions.comments:
        suppressions.finished = _finished(active, module, request, diagnostics)
        suppressions.reasons_required = request.target.selection.require_reason
    return left, suppressions


def _finished(
    active: list[Rule], module: Module, request: _Request, diagnostics: list[Diagnostic]
) -> frozenset[str]:
    """The codes of the rules that can report nothing more in a file.

    A rule that may want the file on demand has not finished; if a rule crashed, none has, since
    what it would have reported is unknown.
    """
    if diagnostics:
        return frozenset()
    rules = _enabled(request.target)
    inactive = [rules[code] for code in rules.keys() - {rule.code for rule in active}]
    pending = wanted_on_demand(request.data, inactive)
    off = {code for code, rule in rules.items() if module.test_like and not rule.in_tests}
    return frozenset(rules.keys() - pending - off)


def _about_comments(
    active: list[Rule], suppressions: Suppressions, diagnostics: list[Diagnostic]
) -> list[Finding]:
    """The findings of the rules about comments that no comment suppresses."""
    reported: list[Reported] = []
    for rule in active:
        for check in rule.suppression_checks:
            run = partial(_results_of, check, suppressions)
            reported += guarded(run, rule, suppressions.module, diagnostics)
    return suppressions.left(item for item in reported if isinstance(item, Finding))


def _order(fact: Fact) -> tuple[str, str]:
    """A stable order for facts, so that the result of a file is the same in each run."""
    return fact.name, repr(fact.value)


def _reported_by(rule: Rule, module: Module, diagnostics: list[Diagnostic]) -> list[Reported]:
    reported: list[Reported] = []
    for types, check in rule.checks:
        for node in module.nodes(*types):
            reported += guarded(
                partial(_results_of, check, node, module), rule, module, diagnostics
            )
    for check in rule.module_checks:
        reported += guarded(partial(_results_of, check, module), rule, module, diagnostics)
    if rule.plugin:
        return sound(reported, rule, module, diagnostics)
    return reported


def _results_of(check: NodeCheck, *about: object) -> list[Reported]:
    """
    Raises:
        TypeError: the check returned anything but findings, waiting findings and facts.
    """
    reported = list(check(*about) or ())
    if not all(isinstance(item, (Finding, Waiting, Fact)) for item in reported):
        raise TypeError("a check must return only Finding, Waiting and Fact objects")
    return reported
