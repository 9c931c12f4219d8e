"""Why rules did or did not report a line: what decided, and what would change that."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Final

import libcst as cst

from torchlint.engine.check import read
from torchlint.engine.gate import wanted_by
from torchlint.engine.map_file import module_of
from torchlint.engine.map_project import Mapper
from torchlint.engine.project_findings import join
from torchlint.explain.decisions import Decision, watched
from torchlint.explain.words import Words
from torchlint.files.reading import SourceError
from torchlint.finding import Finding, Position, Tier
from torchlint.memory.store import Store
from torchlint.project.symbols import Key
from torchlint.reported import Waiting
from torchlint.ruleapi.contexts import HAS, LACKS, Context, holds_here, holds_in_project, settled
from torchlint.ruleapi.registry import all_rules
from torchlint.ruleapi.rule import Rule
from torchlint.source.deep_stack import with_deep_stack
from torchlint.suppressions.suppressions import Suppressions
from torchlint.suppressions.until import has_ended, silenced_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from torchlint.analysis.module import Module
    from torchlint.analysis.training.syncs import Operand
    from torchlint.finding import Diagnostic
    from torchlint.notebooks.cells import Borders
    from torchlint.project.project import Project
    from torchlint.project.target import Target
    from torchlint.reported import HotPlace, Reported
    from torchlint.workers.pool import Pool

_NEEDS: Final = {
    Context.HOT: "code that runs on each training step",
    Context.PER_BATCH: "code that runs for each batch or sample",
    Context.OUTSIDE_EVALUATION: "code that does not evaluate and is not under `torch.no_grad()`",
    Context.UNCONDITIONAL: "code that no condition decides about",
    Context.ENTRY: "a script that is run",
    Context.ACCELERATOR: "a program that uses an accelerator, such as by `.to(device)`",
    Context.TRAINS: "a program that trains a model",
}
_NOT_HERE: Final = {
    Context.ACCELERATOR: "a condition lets this run only where there is no accelerator",
}
_TEXTS: Final = {
    HAS.format(""): "no file of the program has what the rule looks for",
    LACKS.format(""): "a file of the program has what keeps the rule silent",
}
"""Reasons for what the text of a program must have or lack."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason: what was found, and what would make the rule report the line."""

    why: str
    change: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one rule makes of a line.

    Args:
        reported: the tier, if it is reported.
        reasons: why it is, or is not.
        near: it came close: it reported, or more than one of its conditions held.
    """

    code: str
    name: str
    reported: Tier | None
    reasons: tuple[Reason, ...]
    near: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """The rules that looked at a line, by code; the line itself; what could not be read."""

    line: str
    answers: tuple[Answer, ...]
    diagnostics: tuple[Diagnostic, ...]


def explain(
    target: Target,
    place: Position,
    rules: Sequence[Rule],
    targets: Sequence[Target],
    *,
    pool: Pool,
    progress: Callable[[int, int], None] | None = None,
) -> Explanation:
    """Why rules did or did not report a line.

    Args:
        target: the file with the line, with the rules that are on for it.
        place: the line, of a notebook by cell.
        rules: those to explain.
        targets: the files of the project, the one of `target` among them, with all rules on.

    Raises:
        SourceError: the file cannot be read or parsed, or has no such line.
    """
    files, diagnostics = read(targets)
    mapper = Mapper(files, pool=pool, progress=progress, store=Store())
    project, _ = join(mapper)
    data = target.read()
    brought = mapper.files[target.path].target.brought if target.path in mapper.files else ()

    def answers() -> tuple[str, tuple[Answer, ...]]:
        module = module_of(target._replace(brought=brought), data)
        try:
            borders = _borders(target, data)
            row = _row(module, place, borders)
            asker = _Asker(Words(module, borders), project, row, target)
            called = target.path in project.summaries
            wanted = set(wanted_by(data, rules, on_demand=called))
            found = [asker.answer(rule, wanted=rule.code in wanted) for rule in rules]
            return module.lines[row - 1].strip(), tuple(found)
        finally:
            module.release()

    line, found = with_deep_stack(answers)
    return Explanation(line, found, tuple(diagnostics))


def _borders(target: Target, data: bytes) -> Borders | None:
    if not target.is_notebook:
        return None
    from torchlint.notebooks.cells import Borders

    return Borders(data.decode("utf-8"))


def _row(module: Module, place: Position, borders: Borders | None) -> int:
    """The row of a line in the module.

    Raises:
        SourceError: the file has no such line.
    """
    rows = max(1, len(module.lines) - (not module.lines[-1]))
    if borders is None:
        if place.row <= rows:
            return place.row
        message = f"There is no line {place.row}; the file has {rows}."
        raise SourceError(module.path, message, kind="io")
    for row in range(1, rows + 1):
        located = borders.located(Position(row, 1))
        if (located.cell, located.row) == (place.cell, place.row):
            return row
    message = f"There is no line {place.row} in code cell {place.cell}."
    raise SourceError(module.path, message, kind="io")


class _Asker:
    """Asks rules about one line."""

    def __init__(self, words: Words, project: Project, row: int, target: Target) -> None:
        self._module = words.module
        self._project = project
        self._target = target
        self._words = words
        self._rows = _rows(words.module, row)

    def answer(self, rule: Rule, *, wanted: bool) -> Answer:
        """What a rule makes of the line."""
        if not self._target.selection.enabled(rule.code, rule.name):
            off = Reason("it is switched off for this file", "`torchlint config` shows where")
            return self._silent(rule, [off])
        if not rule.is_for(self._target.torch):
            version = ".".join(map(str, self._target.torch))
            return self._silent(rule, [Reason(f"it does not apply to torch {version}")])
        if self._module.test_like and not rule.in_tests:
            return self._silent(rule, [Reason("the file looks like a test")])
        if not wanted:
            why = "the file has none of the words without which the rule finds nothing"
            if rule.about_hot_code and self._module.path not in self._project.summaries:
                why = "nothing in the file shows training steps, and none was found that calls it"
            return self._silent(rule, [Reason(why)])
        best = max(self._answers(rule), key=_nearness, default=None)
        if best is not None:
            return best
        return self._silent(rule, [Reason("nothing on this line is what the rule looks for")])

    def _answers(self, rule: Rule) -> Iterator[Answer]:
        """What each check of the rule makes of each node on the line."""
        for types, check in rule.checks:
            for node in self._module.nodes(*types):
                if self._module.span(node)[0].row in self._rows:
                    yield from self._of(rule, partial(check, node, self._module))
        for check in rule.module_checks:
            yield from self._of(rule, partial(check, self._module), whole=True)
        for pattern in rule.finds:
            for match in pattern.matches(self._module):
                if self._module.span(match.node)[0].row in self._rows:
                    for excuse in rule.unless:
                        if excuse(match):
                            yield self._excused(rule, excuse)

    def _of(
        self, rule: Rule, run: Callable[[], Iterable[Reported] | None], *, whole: bool = False
    ) -> Iterator[Answer]:
        """What one check makes of the line.

        Args:
            whole: it looked at the whole file, so its conditions are not about this line.
        """
        file = _file_of(rule)
        reported, seen = watched(lambda: list(run() or ()), file)
        here = [each for each in reported if self._is_here(each)]
        for each in here:
            assert isinstance(each, (Finding, Waiting))
            yield self._settled(rule, each)
        for node, operand in () if here else seen.places:
            if self._module.span(node)[0].row in self._rows:
                yield self._silent(rule, self._local_reasons(rule, node, operand), near=True)
        if not here and not whole and not seen.places and seen.decision is not None:
            decision = seen.decision
            yield self._silent(rule, [_reason_of(decision)], near=decision.conditions > 1)

    def _is_here(self, reported: Reported) -> bool:
        finding = reported.finding if isinstance(reported, Waiting) else reported
        return isinstance(finding, Finding) and finding.start.row in self._rows

    # reasons -----------------------------------------------------------------------------

    def _local_reasons(
        self, rule: Rule, node: cst.CSTNode, operand: Operand | None
    ) -> list[Reason]:
        """The contexts that the file itself denies."""
        found = []
        for context in rule.contexts:
            if context is Context.HOT:
                silence = self._words.why_not_each_step(node)
                if silence is not None:
                    kind = "does not run on each step" if silence.kind == "guarded" else "evaluates"
                    change = "without that it would be reported if the rest holds"
                    found.append(Reason(f"this {kind}: {silence.why}", change))
            elif not holds_here(context, node, self._module):
                found.append(Reason(_NOT_HERE.get(context, f"the rule is about {_NEEDS[context]}")))
        return found or [Reason("its function evaluates, by its name or its first statements")]

    def _settled(self, rule: Rule, reported: Finding | Waiting) -> Answer:
        """What the project makes of something that the file reports."""
        waiting = reported if isinstance(reported, Waiting) else Waiting(reported)
        missing = [name for name in waiting.contexts if not self._holds(name, waiting)]
        if missing:
            reasons = [self._project_reason(name, waiting.place) for name in missing]
            return self._silent(rule, reasons, near=True)
        finding = settled(waiting, self._project)
        assert finding is not None
        if rule.settler is not None and isinstance(reported, Waiting):
            settle = partial(rule.settler, finding, waiting.needs, self._project)
            kept, seen = watched(settle, _file_of(rule))
            if kept is None:
                why = Reason("something in the rest of the program decides against it")
                reasons = [why if seen.decision is None else _reason_of(seen.decision)]
                return self._silent(rule, reasons, near=True)
            finding = kept
        return self._reported(rule, finding, waiting)

    def _reported(self, rule: Rule, finding: Finding, waiting: Waiting) -> Answer:
        suppressions = Suppressions(
            self._module, names={code: each.name for code, each in all_rules().items()}
        )
        day = suppressions.until(finding)
        if day is not None and not has_ended(day, date.today()):
            when = f" until {day}" if day else ""
            reason = Reason(f"a comment suppresses it{when}", "remove the comment")
            return self._silent(rule, [reason], near=True)
        reasons = [Reason(silenced_until(day))] if day else []
        place = waiting.place
        heat = None if place is None else self._project.hot(finding.path, place)
        if heat is not None and place is not None:
            where = f"{heat.path}:{heat.position.row}"
            through = ""
            if self._project.step_loop(finding.path, place.loops) is None:
                calls = "1 call" if heat.depth == 1 else f"{heat.depth} calls"
                through = f", through {calls}" if heat.depth else ""
            reasons.append(Reason(f"{heat.by.value}: {where}{through}"))
        reasons += [
            Reason(f"it would be more than a hint in {_NEEDS[Context(name)]}")
            for name in waiting.hints
            if not self._holds(name, waiting)
        ]
        if finding.tier is Tier.HINT:
            reasons.append(Reason("the cost is likely but not certain, so it needs `--hints`"))
        if finding.withheld:
            reasons.append(Reason(f"it has no fix: {finding.withheld}"))
        return Answer(rule.code, rule.name, finding.tier, tuple(reasons), near=True)

    def _holds(self, name: str, waiting: Waiting) -> bool:
        return holds_in_project(name, waiting, self._project)

    def _project_reason(self, name: str, place: HotPlace | None) -> Reason:
        if name == Context.HOT and place is not None:
            return self._not_hot(place)
        for verb, why in _TEXTS.items():
            if name.startswith(verb):
                return Reason(f"{why}: {name.removeprefix(verb).partition(' ')[2]}")
        by = self._project.kept_on_cpu(self._module.path) if name == Context.ACCELERATOR else None
        if by is not None:
            return Reason(f"{by} keeps its framework on the CPU", "with a GPU it may be reported")
        return Reason(f"nothing shows {_NEEDS[Context(name)]}")

    def _not_hot(self, place: HotPlace) -> Reason:
        """Why a place that its own file would allow is not hot."""
        project, path = self._project, self._module.path
        if project.is_refused(path, place):
            names = " and ".join(dict.fromkeys(f"`{name}`" for name, _ in place.demands))
            return Reason(f"no caller takes this branch: none passes what it asks of {names}")
        if project.heat(path, place.function) is not None and place.parameters:
            names = " and ".join(f"`{name}`" for name in place.parameters)
            return Reason(f"nothing shows that callers pass a device tensor for {names}")
        if place.rare:
            return Reason(f"`{place.function}` runs the loop around it only now and then")
        change = "check the folder with the training script; `torchlint hot` shows what it sees"
        around = self._around_training(place)
        if around:
            return Reason(f"the loop around it is not a training loop: {around}")
        if not place.function:
            return Reason("no loop around it trains", change)
        key = Key(path, place.function)
        callers = project.calls.callers({key}).get(key, [])
        if not callers:
            return Reason(f"no call of `{place.function}` was found", change)
        named = sorted({f"{each.path}: {each.name or 'top level'}" for each, _ in callers})
        more = f" and {len(named) - 3} more" if len(named) > 3 else ""
        said = "; ".join(named[:3])
        return Reason(f"no training step runs what calls `{place.function}` ({said}{more})", change)

    def _around_training(self, place: HotPlace) -> str:
        """The loop around a place, in words, if it runs around a training loop, as one over epochs
        does; else nothing."""
        loops = self._module.loops
        for inner in loops.step_loops:
            for outer in loops.loops_around(inner):
                if loops.index(outer) in place.loops:
                    return f"{self._words.quoted(outer)} runs around {self._words.quoted(inner)}"
        return ""

    def _excused(self, rule: Rule, excuse: Callable[..., bool]) -> Answer:
        text = " ".join((excuse.__doc__ or excuse.__name__).partition(". ")[0].split())
        return self._silent(rule, [Reason(f"an exception applies: {text.rstrip('.')}")], near=True)

    @staticmethod
    def _silent(rule: Rule, reasons: Iterable[Reason], *, near: bool = False) -> Answer:
        return Answer(rule.code, rule.name, None, tuple(reasons), near=near)


def _nearness(answer: Answer) -> tuple[bool, bool]:
    return answer.reported is not None, answer.near


def _reason_of(decision: Decision) -> Reason:
    """A condition of the rule, in words where it asked a function that explains itself."""
    answer = "yes" if decision.held else "no"
    why = f"the rule's condition `{decision.code}` was answered with {answer}"
    told = [each for each in decision.asked if each.says]
    if told:
        last = told[-1]
        why += f" (`{last.name}`: {last.says}; answer: {last.answer})"
    folder, _, name = decision.file.replace("\\", "/").rpartition("rules/")
    file = f"rules/{name}" if folder else os.path.basename(decision.file)
    return Reason(why, f"see line {decision.row} of {file}")


def _rows(module: Module, row: int) -> range:
    """The lines of the statement that a line is in; of a compound one, its header."""
    best = range(row, row + 1)
    for line in module.nodes(cst.SimpleStatementLine):
        start, end = module.span(line)
        if start.row <= row <= end.row:
            best = range(start.row, end.row + 1)
    return best


def _file_of(rule: Rule) -> str:
    """The file that the checks of a rule are in."""
    for check in (*(each for _, each in rule.checks), *rule.module_checks):
        if check.__module__ != Rule.__module__:
            return sys.modules[check.__module__].__file__ or ""
    return ""
