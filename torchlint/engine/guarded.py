"""Runs the checks of rules on a file: what fails becomes a diagnostic, and the rest continues."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from torchlint.debug import debugging
from torchlint.finding import Diagnostic, Finding, Position
from torchlint.project.map_result import MapResult
from torchlint.reported import Fact, Waiting
from torchlint.ruleapi.plugins import PluginError, contained

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torchlint.analysis.module import Module
    from torchlint.reported import Reported
    from torchlint.ruleapi.rule_definition import Rule

_T = TypeVar("_T")


def guarded(
    answer: Callable[[], Iterable[_T] | None],
    asked: Rule | str,
    module: Module,
    diagnostics: list[Diagnostic],
) -> list[_T]:
    """The items that `answer` returns; an exception becomes a diagnostic that names who was asked.
    What a plugin prints becomes one too."""
    try:
        if isinstance(asked, str) or not asked.plugin:
            return list(answer() or ())
        reported, printed = contained(asked.label, lambda: list(answer() or ()))
    except PluginError as error:
        if debugging():
            raise
        note(f"{error}; its findings here are lost", module, diagnostics)
        return []
    except Exception as error:
        if debugging():
            raise
        who = asked if isinstance(asked, str) else asked.label
        message = f"{who} crashed ({type(error).__name__}: {error}); its findings here are lost"
        note(message, module, diagnostics)
        return []
    if printed:
        note(f"{asked.label} printed `{printed}`; a rule prints nothing", module, diagnostics)
    return reported


def note(message: str, module: Module, diagnostics: list[Diagnostic]) -> None:
    if all(known.message != message for known in diagnostics):
        diagnostics.append(Diagnostic(module.path, message, kind="rule"))


def sound(
    found: list[Reported], rule: Rule, module: Module, diagnostics: list[Diagnostic]
) -> list[Reported]:
    """What a plugin reports, without what is not as its type says, or not in this file."""
    from torchlint.memory.result_codec import decode_result, encode

    kept: list[Reported] = []
    last = module.position(len(module.text))
    for item in found:
        finding = item.finding if isinstance(item, Waiting) else item
        alone = MapResult(
            module.path,
            findings=(item,) if isinstance(item, Finding) else (),
            waiting=(item,) if isinstance(item, Waiting) else (),
            facts=(item,) if isinstance(item, Fact) else (),
        )
        encoded = _encoded(alone, encode)
        if (
            encoded is not None
            and decode_result(encoded) is not None
            and (isinstance(finding, Fact) or _is_here(finding, rule, module, last))
        ):
            kept.append(item)
        else:
            note(f"{rule.label} reports what is not a finding in this file", module, diagnostics)
    return kept


def _encoded(result: MapResult, encode: Callable[[object], bytes | None]) -> bytes | None:
    try:
        return encode(result)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None


def _is_here(finding: Finding, rule: Rule, module: Module, last: Position) -> bool:
    inside = Position(1, 1) <= finding.start <= finding.end <= last
    return inside and finding.path == module.path and finding.code == rule.code
