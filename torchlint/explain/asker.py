"""Asks rules about one line: what they look at there, and what decided."""

from __future__ import annotations

import sys
from collections import defaultdict
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

import libcst as cst

from torchlint.analysis.training.runs import framework_starts
from torchlint.because import Unlike
from torchlint.debug import debugging
from torchlint.engine.map_file import comments_of, suppressions_in
from torchlint.explain.namesakes import why_another
from torchlint.explain.rule_answers import Answer, Reason, silent
from torchlint.explain.silences import NEEDS, why_context_denies, why_not_each_step
from torchlint.explain.told import watched
from torchlint.finding import Applicability, Finding, Tier
from torchlint.reported import Fact, Waiting
from torchlint.ruleapi.contexts import Context, holds_here, holds_in_project, settled
from torchlint.ruleapi.outlines import outline_of
from torchlint.ruleapi.plugins import contained, one_line
from torchlint.silence.until import has_ended, silenced_until, today

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from torchlint.analysis.module import Module
    from torchlint.explain.joined import Joined
    from torchlint.explain.sentences import Sentences
    from torchlint.explain.told import ToldAnswer
    from torchlint.project.project import Project
    from torchlint.project.target import Target
    from torchlint.reported import Reported
    from torchlint.ruleapi.declared import Pattern
    from torchlint.ruleapi.rule_definition import NodeCheck, Rule, Version
    from torchlint.silence.suppressions import Suppressions

_IF_NOT: Final = "without that it would be reported, if the rest holds"
_MOST_REASONS: Final = 4
_MOST_ROWS: Final = 5
_LAST: Final = sys.maxsize


class RuleLook(NamedTuple):
    """What a rule makes of something that it looks at, which begins in a row of the module."""

    row: int
    answer: Answer


class _Step(NamedTuple):
    """The number of the condition at which a pattern stopped, and what it makes of a candidate."""

    number: int
    answer: Answer


class Asker:
    """Asks rules about a file."""

    def __init__(
        self, target: Target, project: Project, sentences: Sentences, joined: Joined
    ) -> None:
        self._target = target
        self._project = project
        self._sentences = sentences
        self._joined = joined
        self._words = sentences.words
        self._module: Module = sentences.words.module

    def answer(self, rule: Rule, rows: range, *, wanted: bool, alone: bool) -> Answer:
        """What a rule makes of a line.

        Args:
            rows: those of the statement that the line is in.
            wanted: the text of the file has the words that the rule needs.
            alone: no other rule is asked, so that it is worth telling which lines it looks at.
        """

        def ask() -> Answer:
            return self._answer(rule, rows, wanted=wanted, alone=alone)

        try:
            return contained(rule.label, ask)[0] if rule.plugin else ask()
        except Exception as error:
            if debugging():
                raise
            said = one_line(f"{type(error).__name__}: {error}")
            return silent(rule, Reason(f"{rule.label} crashed on this file ({said})"))

    def _answer(self, rule: Rule, rows: range, *, wanted: bool, alone: bool) -> Answer:
        off = self._off(rule)
        if off is not None:
            return silent(rule, off)
        if not wanted:
            another = why_another(rule, rows, self._words)
            why = Reason(another) if another else self._unwanted(rule)
            return silent(rule, why, near=bool(another))
        answers = [look.answer for look in self._looks(rule, rows) if look.row in rows]
        reported = next((each for each in answers if each.reported is not None), None)
        if reported is not None:
            return reported
        near = [each for each in answers if each.near]
        reasons = dict.fromkeys(reason for each in near or answers for reason in each.reasons)
        another = "" if reasons else why_another(rule, rows, self._words)
        if another:
            return silent(rule, Reason(another), near=True)
        if not reasons:
            reasons = dict.fromkeys([self._nothing(rule, alone=alone)])
        return silent(rule, *list(reasons)[:_MOST_REASONS], near=bool(near))

    # what it does not look at ------------------------------------------------------------

    def _off(self, rule: Rule) -> Reason | None:
        """Why the rule is not run on the file, whatever is in it."""
        if not self._target.selection.enabled(rule.code, rule.name):
            return Reason("it is switched off for this file", "`torchlint config` shows where")
        if not rule.is_for(self._target.torch):
            return Reason(_other_version(rule, self._target.torch))
        if self._module.test_like and not rule.in_tests:
            return Reason("the file looks like a test, by its path or its imports")
        return None

    def _unwanted(self, rule: Rule) -> Reason:
        """Why the text of the file shows that the rule finds nothing in it."""
        if rule.about_hot_code and self._module.path not in self._project.summaries:
            return Reason(
                "nothing in the file shows training steps, and none was found that calls it"
            )
        for look in self._looks_at_text(rule):
            _, seen = watched(look)
            if seen.last is not None:
                return Reason(self._sentences.of(seen.last))
        if rule.speaks_once and rule.finds and not self._module.loops.training_functions:
            return Reason(self._no_step())
        return Reason(f"no word in the file suggests what the rule looks for: {rule.summary}")

    def _looks_at_text(self, rule: Rule) -> Iterator[Callable[[], bool]]:
        """What the rule asks of a text before it is parsed."""
        text = self._module.text.encode("utf-8")
        if rule.gate.check is not None:
            yield partial(rule.gate.check, text)
        if rule.gate.outline is not None and (outline := outline_of(self._module.path, text)):
            yield partial(rule.gate.outline, outline)

    def _nothing(self, rule: Rule, *, alone: bool) -> Reason:
        """That nothing in the line is what the rule looks for, and where such things are."""
        why = f"nothing on this line is what the rule looks for: {rule.summary}"
        if not alone:
            return Reason(why)
        everywhere = range(1, self._module.text.count("\n") + 2)
        rows = sorted({each.row for each in self._looks(rule, everywhere) if each.answer.near})
        if not rows:
            return Reason(why, self._none(rule))
        named = [self._sentences.row(row) for row in rows[:_MOST_ROWS]]
        if rule.speaks_once:
            return Reason(why, f"it reports once, for the whole program: ask about {named[0]}")
        left = len(rows) - len(named)
        named += [f"{left} more"] if left else []
        said = ", ".join(named[:-1]) + (f" and {named[-1]}" if named[1:] else named[0])
        return Reason(why, f"in this file it looks at {said}")

    def _none(self, rule: Rule) -> str:
        """What to say about a rule that looks at nothing in the whole file."""
        for check in _checks_of_files(rule):
            _, seen = watched(lambda check=check: list(check(self._module) or ()))  # type: ignore[misc]
            if seen.last is not None:
                return self._sentences.of(seen.last)
        if rule.speaks_once:
            return self._no_step()
        return "nothing in this file is"

    def _no_step(self) -> str:
        """Why a rule that reports at the first training step finds none in the file."""
        module = self._module
        hooks = (each for each in module.nodes(cst.FunctionDef) if module.loops.is_step_hook(each))
        by = next(chain(framework_starts(module), hooks), None)
        once = "it reports once, at the first training step"
        if by is not None:
            at = self._words.quoted(by)
            return f"{once} that a program writes out; here a framework takes them, {at}"
        return f"{once}; this file has no loop or function that takes a whole one"

    # what it looks at --------------------------------------------------------------------

    def _looks(self, rule: Rule, rows: range) -> Iterator[RuleLook]:
        """What each check of the rule makes of what begins in these rows."""
        if rule.about_comments:
            yield from self._commented(rule, rows)
        for types, check in rule.checks:
            for node in self._module.nodes(*types):
                row = self._module.span(node)[0].row
                if row in rows:
                    run = partial(check, node, self._module)
                    yield from (RuleLook(row, each) for each in self._checked(rule, run))
        for check in _checks_of_files(rule):
            yield from self._wholly_checked(rule, partial(check, self._module))
        steps_by_node: dict[cst.CSTNode, list[_Step]] = defaultdict(list)
        for pattern in rule.finds:
            for node in pattern.candidates(self._module):
                if self._module.span(node)[0].row in rows:
                    steps_by_node[node] += self._matched(rule, pattern, node)
        for node, steps in steps_by_node.items():
            row = self._module.span(node)[0].row
            furthest = max((each.number for each in steps), default=0)
            yield from (RuleLook(row, each.answer) for each in steps if each.number == furthest)

    def _commented(self, rule: Rule, rows: range) -> Iterator[RuleLook]:
        """What a rule about suppression comments makes of those in these rows."""
        suppressions, every = self._judged, self._judged.comments
        for comment in every:
            if comment.row in rows:
                suppressions.comments = [comment]
                for check in rule.suppression_checks:
                    run = partial(check, suppressions)
                    yield from (RuleLook(comment.row, each) for each in self._checked(rule, run))
        suppressions.comments = every

    @cached_property
    def _judged(self) -> Suppressions:
        """The suppression comments, and what the rules report in the file."""
        called = self._module.path in self._project.summaries
        data = self._module.text.encode("utf-8", "surrogatepass")
        return suppressions_in(self._module, self._target, data, on_demand=called)

    def _checked(
        self,
        rule: Rule,
        run: Callable[[], Iterable[Reported] | None],
        doubts: Iterable[ToldAnswer] = (),
    ) -> Iterator[Answer]:
        """What a check of one node makes of it.

        Args:
            doubts: why it is a hint, in addition to what the check says about that.
        """
        reported, seen = watched(lambda: list(run() or ()))
        findings = [each for each in reported if not isinstance(each, Fact)]
        hints = [Reason(self._sentences.of(each)) for each in (*doubts, *seen.doubts)]
        for wanted in seen.wanted:
            if not findings:
                yield silent(rule, *self._denied(rule.contexts, wanted.node), near=True)
            hints += self._denied((*rule.else_hint, *wanted.else_hint), wanted.node)
        yield from (self._settled(rule, each, hints) for each in findings)
        if not findings and not seen.wanted and seen.last is not None:
            yield self._told(rule, seen.last)

    def _wholly_checked(
        self, rule: Rule, run: Callable[[], Iterable[Reported] | None]
    ) -> Iterator[RuleLook]:
        """What a check of the whole file makes of each place that it wants to report."""
        reported, seen = watched(lambda: list(run() or ()))
        rows = set()
        for each in reported:
            if not isinstance(each, Fact):
                finding = each.finding if isinstance(each, Waiting) else each
                rows.add(finding.start.row)
                yield RuleLook(finding.start.row, self._settled(rule, each, []))
        for wanted in seen.wanted:
            row = self._module.span(wanted.node)[0].row
            if row not in rows:
                yield RuleLook(
                    row, silent(rule, *self._denied(rule.contexts, wanted.node), near=True)
                )

    def _matched(self, rule: Rule, pattern: Pattern, node: cst.CSTNode) -> Iterator[_Step]:
        """What a pattern of a declared rule makes of a candidate, and how far it came: where
        several patterns have looked at one, the one that came furthest knows most of it."""
        module = self._module
        if not pattern.is_for(module.torch):
            why = Reason(_other_version(pattern, module.torch))
            yield _Step(0, silent(rule, why, near=True))
            return
        match, seen = watched(partial(pattern.match, node, module))
        if match is None:
            if seen.last is not None:
                yield _Step(1, self._told(rule, seen.last))
            return
        conditions = [(each, False) for each in pattern.where]
        conditions += [(each, True) for each in rule.unless]
        for number, (asked, denies) in enumerate(conditions, 2):
            holds, seen = watched(partial(asked, match))
            if bool(holds) is denies:
                if seen.last is not None:
                    yield _Step(number, self._told(rule, seen.last))
                return
            match = match if denies else match.if_holds(holds)
            assert match is not None
        doubted = (watched(partial(doubt, match)) for doubt in pattern.hint_if)
        doubts = [seen.last for doubts, seen in doubted if doubts and seen.last is not None]
        report = partial(rule.report_match, match, pattern)
        for answer in self._checked(rule, report, doubts):
            yield _Step(_LAST, answer)

    # reasons -----------------------------------------------------------------------------

    def _told(self, rule: Rule, told: ToldAnswer) -> Answer:
        near = not isinstance(told.sentence, Unlike)
        return silent(rule, Reason(self._sentences.of(told)), near=near)

    def _denied(self, contexts: Iterable[Context], node: cst.CSTNode) -> list[Reason]:
        """The contexts that its file denies to a place."""
        denials = []
        for context in contexts:
            if context is Context.HOT:
                why = why_not_each_step(node, self._words)
                if why:
                    denials.append(Reason(why, _IF_NOT))
            elif not holds_here(context, node, self._module):
                denials.append(Reason(why_context_denies(context, node, self._words)))
        return denials

    def _settled(self, rule: Rule, reported: Finding | Waiting, hints: list[Reason]) -> Answer:
        """What the project makes of something that the file reports.

        Args:
            hints: why it is a hint as far as the file decides that.
        """
        waiting = reported if isinstance(reported, Waiting) else Waiting(reported)
        missing = [name for name in waiting.contexts if not self._holds(name, waiting)]
        if missing:
            reasons = (self._joined.missing(name, waiting.place) for name in missing)
            return silent(rule, *reasons, near=True)
        finding = settled(waiting, self._project)
        assert finding is not None
        hints = list(hints)
        if rule.settler is not None and isinstance(reported, Waiting):
            settle = partial(rule.settler, finding, waiting.needs, self._project)
            kept, seen = watched(settle)
            if kept is None:
                why = "something in the rest of the program decides against it"
                told = why if seen.last is None else self._sentences.of(seen.last)
                return silent(rule, Reason(told), near=True)
            if kept.tier is Tier.HINT and finding.tier is not Tier.HINT and seen.last is not None:
                hints.append(Reason(self._sentences.of(seen.last)))
            finding = kept
        return self._reported(rule, finding, waiting, hints)

    def _reported(
        self, rule: Rule, finding: Finding, waiting: Waiting, hints: list[Reason]
    ) -> Answer:
        day = self._suppressions.until(finding)
        if day is not None and not has_ended(day, today()):
            when = f" until {day}" if day else ""
            reason = Reason(f"a comment suppresses it{when}", "remove the comment")
            return silent(rule, reason, near=True)
        reasons = [Reason(silenced_until(day))] if day else []
        runs = None if waiting.place is None else self._joined.runs(waiting.place)
        reasons += [] if runs is None else [runs]
        if finding.tier is Tier.HINT:
            reasons += self._why_hint(rule, waiting, hints)
        if finding.withheld:
            reasons.append(Reason(f"it has no fix: {finding.withheld}"))
        unsafe = finding.fix is not None and finding.fix.applicability is Applicability.UNSAFE
        if unsafe and rule.may_change:
            reasons.append(Reason(f"its fix is unsafe: {rule.may_change}"))
        return Answer(rule.code, rule.name, finding.tier, tuple(reasons), near=True)

    @cached_property
    def _suppressions(self) -> Suppressions:
        return comments_of(self._module)

    def _why_hint(self, rule: Rule, waiting: Waiting, hints: list[Reason]) -> Iterator[Reason]:
        for each in hints:
            yield Reason(f"it is a hint: {each.why}", each.change)
        for name in waiting.hints:
            if not self._holds(name, waiting):
                yield Reason(f"it would be more than a hint in {NEEDS[Context(name)]}")
        if rule.tier is Tier.HINT and not hints:
            yield Reason("the rule only gives hints: what it finds may cost little")
        yield Reason("hints are shown with `--hints`")

    def _holds(self, name: str, waiting: Waiting) -> bool:
        return holds_in_project(name, waiting, self._project)


def _checks_of_files(rule: Rule) -> list[NodeCheck]:
    """The checks of a rule that look at a whole file."""
    declared = rule._report_matches
    return [each for each in rule.module_checks if each != declared]


def _other_version(dated: Rule | Pattern, torch: Version) -> str:
    """Why a rule or a pattern is not about projects whose oldest torch version is this one."""
    oldest = f"the project supports torch {_dotted(torch)}"
    if dated.since is not None and torch < dated.since:
        return f"it applies from torch {_dotted(dated.since)} on, and {oldest}"
    assert dated.until is not None
    return f"it applies before torch {_dotted(dated.until)}, and {oldest} or newer"


def _dotted(version: Version) -> str:
    return ".".join(map(str, version))
