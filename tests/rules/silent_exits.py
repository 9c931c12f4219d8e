"""Where the functions of a rule fall silent without telling why, as `because` does."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torchlint.because import because
from torchlint.reported import Fact
from torchlint.ruleapi.rule_definition import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType

    from torchlint.analysis.module import Module

_BECAUSE = because.__code__
_REPORT = Rule.report.__code__
_KINDS = frozenset({"is_method"})
"""What tells two patterns of a rule apart: where one is none, the other has the sentence."""


def silent_exits(rule: Rule, module: Module) -> Iterator[str]:
    """The place of each exit of a check, of a `where` and an `unless` through which
    the rule falls silent on something in the file and tells no reason, or an older one.

    A check need not tell why a node is nothing that it looks for: its first `return` is free.
    """
    for types, check in rule.checks:
        for node in module.nodes(*types):
            ran = _run(check, node, module)
            if not any(not isinstance(each, Fact) for each in ran.result) and not ran.wanted:
                yield from ran.exits(first_is_free=True)
    for pattern in rule.finds if rule.finds else ():
        if not pattern.is_for(module.torch):
            continue
        for node in pattern.candidates(module):
            match = pattern.match(node, module)
            asked = [(each, False) for each in pattern.where]
            asked += [(each, True) for each in rule.unless]
            for predicate, denies in asked if match is not None else ():
                ran = _run(predicate, match)
                if bool(ran.result) is denies:
                    if predicate.__name__ not in _KINDS:
                        yield from ran.exits(first_is_free=False)
                    break
                match = match if denies else match.if_holds(ran.result)
            else:
                for doubt in pattern.hint_if if match is not None else ():
                    ran = _run(doubt, match)
                    if ran.result:
                        yield from ran.exits(first_is_free=False)


@dataclass
class _Ran:
    """The lines that a function ran, and those that it was in when something was told."""

    code: CodeType
    result: Any = None
    lines: list[int] = field(default_factory=list)
    told: int = 0
    """The number of lines up to the last sentence; 0 if there was none."""
    wanted: bool = False

    def exits(self, *, first_is_free: bool) -> Iterator[str]:
        function = _functions(self.code.co_filename).get(self.code.co_firstlineno)
        name = Path(self.code.co_filename).name
        place = f"{name}:{self.lines[-1]} {self.code.co_name}"
        if function is None:
            if not self.told:
                yield f"{place}: no sentence"
            return
        if not self.told:
            if not (first_is_free and self._is_first(function)):
                yield f"{place}: no sentence"
            return
        after = self.lines[self.told - 1 :]
        tests = {
            each.lineno
            for each in ast.walk(function)
            if isinstance(each, ast.If)
            and any(each.test.lineno <= row <= (each.test.end_lineno or row) for row in after)
        }
        if len(tests) > 1:
            yield f"{place}: conditions in {sorted(tests)} were asked after the last sentence"

    def _is_first(self, function: ast.AST) -> bool:
        """Whether the function ended at its first `return`, or went through no loop."""
        returns = [each for each in ast.walk(function) if isinstance(each, ast.Return)]
        first = min(returns, key=lambda each: each.lineno, default=None)
        last = self.lines[-1]
        if first is not None and first.lineno <= last <= (first.end_lineno or last):
            return True
        loops = [each for each in ast.walk(function) if isinstance(each, ast.For)]
        bodies = [range(each.body[0].lineno, each.end_lineno or 0) for each in loops]
        return bool(loops) and not any(row in body for row in self.lines for body in bodies)


def _run(function: Callable[..., Any], *about: object) -> _Ran:
    code = getattr(function, "__code__", None)
    assert code is not None, function
    ran = _Ran(code)

    def line(frame: FrameType, event: str, _value: Any) -> Any:
        if event == "line":
            ran.lines.append(frame.f_lineno)
        return line

    def called(frame: FrameType, _event: str, _value: Any) -> Any:
        if frame.f_code is code:
            return line
        if frame.f_code is _BECAUSE:
            ran.told = max(1, len(ran.lines))
        elif frame.f_code is _REPORT:
            ran.wanted = True
        return None

    def whole() -> object:
        found = function(*about)
        return list(found) if hasattr(found, "__next__") else found

    before = sys.gettrace()
    sys.settrace(called)
    try:
        ran.result = whole()
    finally:
        sys.settrace(before)
    if ran.result is None and about and len(about) == 2:
        ran.result = ()
    return ran


@lru_cache(maxsize=64)
def _functions(path: str) -> dict[int, ast.AST]:
    """The functions of a file by the line of their `def`, or of their first decorator."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    return {
        min([each.lineno, *(item.lineno for item in each.decorator_list)]): each
        for each in ast.walk(tree)
        if isinstance(each, ast.FunctionDef)
    }
