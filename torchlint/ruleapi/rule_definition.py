"""The public rule API: the metadata of a rule, and how it registers its checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import libcst as cst

from torchlint.analysis import edits
from torchlint.analysis.training.syncs import Operand
from torchlint.files.digests import blake2b
from torchlint.finding import Applicability, Effect, Finding, Fix, Related, Tier
from torchlint.reported import Reported, Waiting
from torchlint.ruleapi.contexts import HAS, LACKS, Context, placed
from torchlint.ruleapi.maker import maker
from torchlint.ruleapi.together import joined
from torchlint.version import rule_url

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torchlint.analysis.module import Module
    from torchlint.project.project import Project
    from torchlint.reported import Value
    from torchlint.ruleapi.declared import Change, Match, Pattern
    from torchlint.ruleapi.outlines import Outline
    from torchlint.silence.suppression_comments import Comment
    from torchlint.silence.suppressions import Suppressions

NodeCheck = Callable[..., "Iterable[Reported]"]
Version = tuple[int, int]
_F = TypeVar("_F", bound=Callable[..., object])
_N = TypeVar("_N", bound=NamedTuple)
_Settle = Callable[[Finding, _N, "Project"], "Finding | None"]


@dataclass(frozen=True, slots=True)
class Triggers:
    """What must be true of a file's text, so that it is parsed for a rule. A rule about hot code
    gets every file with the words of a training step, and of the files that those call the ones
    with these words.

    Args:
        words: regular expressions without which the rule cannot report; all of them must match, or
            one of a tuple, which counts as one of them. Those of `Rule.finds` are added.
        on_demand: the same for a file that hot code of another file may call. Without it, a rule
            about hot code uses `words` there, and other rules ignore such files.
        check: a cheap look at the bytes of a file.
        unless: no such look is needed where this matches.
        outline: a last look at the outline of a file, before LibCST parses it. Neither look may say
            no where the rule reports.
        summarizes: the settler of the rule needs to know which functions call which, so files are
            summarized for it, as they are for rules about hot code.
    """

    words: tuple[str | tuple[str, ...], ...] = ()
    on_demand: tuple[str, ...] = ()
    check: Callable[[bytes], bool] | None = None
    unless: str = ""
    outline: Callable[[Outline], bool] | None = None
    summarizes: bool = False


@dataclass(eq=False, kw_only=True)
class Rule:
    """A rule: its metadata and its checks. Its page is the docstring of the file that makes it.

    A declared rule has patterns in `finds`, and `message`, `contexts` and `change`. Other rules
    register check functions, which call `report`, so that contexts apply to them as well.

    Args:
        code: `TL` and three digits; the first digit is the family.
        summary: what it reports, in lists of rules.
        name: names the bad pattern, in kebab-case; that of the file if it is not given.
        family: a group of rules; the folder of the file if it is not given.
        tier: the usual tier of its findings; a single finding may be lower.
        effect: what its findings usually cost.
        fix: what its fixes promise, or None if it has none; the safest first if that depends on
            the place.
        finds: what a declared rule reports: see `torchlint.ruleapi.declared`.
        unless: of a declared rule: conditions under which a match is not reported.
        message: of a declared rule: one sentence of fact and one of action, or a function that
            says it of a match.
        change: of a declared rule: the fix, or the reason why there is none.
        contexts: where it may report; see `Context`.
        program_has: name → regular expression: it reports only in a program with a file that
            matches each of them.
        program_lacks: the same for what no file of the program may match.
        else_hint: contexts without which its findings are hints.
        related: of a declared rule: other places that explain a match.
        together: of a declared rule: its findings of one file that hold under the same conditions
            are one, with the other places as related ones, which say this.
        since, until: the torch versions that it applies to, as (major, minor): it reports only if
            the project's oldest torch is at least `since` and below `until`.
        triggers: what must be true of a file's text, so that it is parsed for this rule: regular
            expressions that all match, or `Triggers`.
        clues: name → regular expression that `Project.has_clue` searches for in files, parsed or
            not, when the rule settles.
        in_tests: reports in test-like paths too.
        needs_gpu: the effect of its fix can be measured only on a GPU.
        may_change: how its fix may change the computed numbers, in words.
        added: the first torchlint version with this rule.
    """

    code: str
    summary: str
    name: str = ""
    family: str = ""
    tier: Tier = Tier.DEFAULT
    effect: Effect = Effect.SMALL
    fix: Applicability | tuple[Applicability, ...] | None = None
    finds: tuple[Pattern, ...] = ()
    unless: tuple[Callable[[Match], object], ...] = ()
    message: Callable[[Match], str] | str = ""
    change: Callable[[Match], Change | str] | str | None = None
    contexts: tuple[Context, ...] = ()
    else_hint: tuple[Context, ...] = ()
    related: Callable[[Match], tuple[Related, ...]] | None = None
    together: str = ""
    program_has: Mapping[str, str] = field(default_factory=dict)
    program_lacks: Mapping[str, str] = field(default_factory=dict)
    since: Version | None = None
    until: Version | None = None
    triggers: tuple[str | tuple[str, ...], ...] | Triggers = ()
    clues: dict[str, str] = field(default_factory=dict)
    in_tests: bool = False
    needs_gpu: bool = False
    may_change: str = ""
    added: str = "0.1"
    page: str = ""

    def __post_init__(self) -> None:
        home = maker(2)  # 1 is `__init__`
        self.name = self.name or home.name
        self.family = self.family or home.folder
        self.page, self.path = self.page or home.page, home.path
        """The docstring of the file that makes it, and where that file is."""
        self.plugin = ""
        """The name of the plugin that it is from; empty if it is part of torchlint."""
        given = self.triggers
        self.gate = given if isinstance(given, Triggers) else Triggers(given)
        self.pattern_words = tuple(each.words for each in self.finds)
        """For each pattern, regular expressions that all match every file with a match."""
        asking: list[Rule | Pattern] = [self, *self.finds]
        for each in asking:
            words = {**each.program_has, **each.program_lacks}
            self.clues |= {f"{self.code} {name}": word for name, word in words.items()}
        self.tiers = frozenset({self.tier, *(each.tier or self.tier for each in self.finds)})
        """The usual tiers of its findings; a single finding may be lower."""
        self.checks: list[tuple[tuple[type[cst.CSTNode], ...], NodeCheck]] = []
        self.module_checks: list[NodeCheck] = [self._report_matches] if self.finds else []
        self.suppression_checks: list[NodeCheck] = []
        self.settler: Callable[[Finding, Mapping[str, Value], Project], Finding | None] | None
        self.settler = None
        hints = [self.else_hint, *(each.else_hint for each in self.finds)]
        self.hints_at_cold_code = any(Context.HOT in each for each in hints)
        """Whether it also reports code that is not hot, as a hint."""
        hints_alone = Context.HOT in self.else_hint and bool(self.gate.on_demand)
        self.cold_tiers = frozenset({Tier.HINT}) if hints_alone else self.tiers
        """The tiers of its findings in files that show no steps and that no hot code calls."""
        self.summarizes = self.gate.summarizes or self.hints_at_cold_code

    def texts(self, pattern: Pattern | None = None) -> tuple[str, ...]:
        """What the text of the program must show, for `Waiting.contexts`: for the rule, and for a
        pattern of it."""
        asking = (self,) if pattern is None else (self, pattern)
        named = [(HAS, name) for each in asking for name in each.program_has]
        named += [(LACKS, name) for each in asking for name in each.program_lacks]
        return tuple(verb.format(f"{self.code} {name}") for verb, name in named)

    # checks ------------------------------------------------------------------------------

    def on(self, *types: type[cst.CSTNode]) -> Callable[[_F], _F]:
        """Register `check(node, module)` for each node of these exact types."""

        def register(check: _F) -> _F:
            self.checks.append((types, check))  # type: ignore[arg-type]
            return check

        return register

    def on_module(self, check: _F) -> _F:
        """Register `check(module)`, run once per file after the walk."""
        self.module_checks.append(check)  # type: ignore[arg-type]
        return check

    def on_suppressions(self, check: _F) -> _F:
        """Register `check(suppressions)`, run once per file with suppression comments, after all
        other rules have reported."""
        self.suppression_checks.append(check)  # type: ignore[arg-type]
        return check

    def settle(self, needs: Callable[..., _N]) -> Callable[[_Settle[_N]], _Settle[_N]]:
        """Register `settle(finding, needs, project)` for findings reported with `needs`. It returns
        the finding, possibly changed, or None.

        It must not depend on rows or columns, which edits change.
        """

        def register(settle: _Settle[_N]) -> _Settle[_N]:
            self.settler = lambda finding, values, project: settle(
                finding, needs(**values), project
            )
            return settle

        return register

    @property
    def is_declared(self) -> bool:
        """Whether all that it reports are matches of its patterns."""
        return bool(self.finds) and not self.checks and len(self.module_checks) == 1

    @property
    def speaks_once(self) -> bool:
        """Whether it is about a program and not about a line, so that it reports a single place."""
        return not (self.checks or self.about_comments) and all(
            each.is_about_program for each in self.finds
        )

    @property
    def label(self) -> str:
        """Its code, with the plugin that it is from: `HOUSE1 of the plugin `house``."""
        return f"{self.code} of the plugin `{self.plugin}`" if self.plugin else self.code

    @property
    def about_hot_code(self) -> bool:
        return Context.HOT in self.contexts

    @property
    def promises(self) -> tuple[Applicability, ...]:
        """What its fixes promise, the safest first."""
        if self.fix is None:
            return ()
        return self.fix if isinstance(self.fix, tuple) else (self.fix,)

    def is_for(self, torch: Version) -> bool:
        """Whether it applies to projects whose oldest torch version is this one."""
        return (self.since is None or torch >= self.since) and (
            self.until is None or torch < self.until
        )

    # reporting ---------------------------------------------------------------------------

    def report(
        self,
        module: Module,
        node: cst.CSTNode,
        message: str,
        *,
        tier: Tier | None = None,
        fix: Change | str | None = None,
        withheld: str | None = None,
        related: tuple[Related, ...] = (),
        operand: Operand | None = None,
        else_hint: tuple[Context, ...] = (),
        needs: NamedTuple | None = None,
        texts: tuple[str, ...] | None = None,
    ) -> Iterator[Finding | Waiting]:
        """A finding on `node`, if the rule's contexts hold there.

        Args:
            fix: the fix, or the reason why there is none; `withheld` says that too.
            operand: of a rule about hot code: the tensor that is read.
            else_hint: contexts without which the finding is a hint, in addition to those of the
                rule.
            needs: the arguments of the rule's settler, a named tuple of plain values.
            texts: what the text of the program must show, if not what the rule asks for.
        """
        place = placed(node, module, self.contexts, self.else_hint + else_hint, operand)
        if place is None:
            return
        if not place.certain and (tier or self.tier) is not Tier.PEDANTIC:
            tier = Tier.HINT
        finding = self.finding(
            module,
            node,
            message,
            tier=tier,
            fix=fix,
            withheld=withheld,
            related=related,
            group=place.group,
        )
        texts = self.texts() if texts is None else texts
        if needs is None and not (place.waits or place.hints or texts):
            yield finding
            return
        values = {} if needs is None else needs._asdict()
        yield Waiting(finding, place.waits + texts, place.hints, place.hot, values)

    def _report_matches(self, module: Module) -> Iterator[Finding | Waiting]:
        reported = (
            each
            for pattern in self.finds
            for match in pattern.matches(module)
            if not any(excuse(match) for excuse in self.unless)
            for each in self.report_match(match, pattern)
        )
        yield from joined(reported, self.together) if self.together else reported

    def report_match(self, match: Match, pattern: Pattern) -> Iterator[Finding | Waiting]:
        """A finding on a match of a pattern for which no exception holds, if the contexts do."""
        operands = (each for each in match.evidence if isinstance(each, Operand))
        message = pattern.message or self.message
        change = self.change if pattern.change is None else pattern.change
        return self.report(
            match.module,
            match.node,
            message(match) if callable(message) else message,
            tier=pattern.tier_of(match, self.tier),
            fix=change(match) if callable(change) else change,
            related=() if self.related is None else self.related(match),
            operand=next(operands, None),
            else_hint=pattern.else_hint,
            texts=self.texts(pattern),
        )

    def finding(
        self,
        module: Module,
        node: cst.CSTNode,
        message: str,
        *,
        tier: Tier | None = None,
        fix: Change | str | None = None,
        withheld: str | None = None,
        related: tuple[Related, ...] = (),
        group: str | None = None,
    ) -> Finding:
        """A finding on `node`, whatever the contexts."""
        start, end = module.span(node)
        if isinstance(fix, str):
            fix, withheld = None, fix
        elif fix is not None and not isinstance(fix, Fix):
            fix = Fix(self.promises[0], fix[0], (fix[1],)) if self.promises else None
        if fix is not None and (reason := edits.why_not(module, fix)) is not None:
            fix, withheld = None, reason
        return Finding(
            code=self.code,
            name=self.name,
            tier=tier or self.tier,
            message=message,
            path=module.path,
            start=start,
            end=end,
            fix=fix,
            withheld=withheld,
            related=related,
            group=group,
            scope=_scope(module, node),
            fingerprint=_fingerprint(module, node),
            effect=self.effect,
        )

    def comment_finding(
        self,
        suppressions: Suppressions,
        comment: Comment,
        message: str,
        *,
        fix: Fix | None = None,
        withheld: str | None = None,
    ) -> Finding:
        """A finding on a suppression comment."""
        module = suppressions.module
        return Finding(
            code=self.code,
            name=self.name,
            tier=self.tier,
            message=message,
            path=module.path,
            start=module.position(comment.start),
            end=module.position(comment.end),
            fix=fix,
            withheld=withheld,
            scope=suppressions.scope(comment),
            effect=self.effect,
            fingerprint=_digest("".join(module.text[comment.start : comment.end].split())),
        )

    @property
    def about_comments(self) -> bool:
        """Whether it checks suppression comments instead of code."""
        return bool(self.suppression_checks)

    @property
    def url(self) -> str | None:
        """Its documentation page, if there is a site."""
        return rule_url(self.code, self.name)


_LAYOUT = re.compile(r"#[^\r\n]*|\s+")
_LAST_COMMA = re.compile(r",(?=[)\]}])")


def _scope(module: Module, node: cst.CSTNode) -> str:
    function, class_ = module.function(node), module.class_(node)
    inner = max((each for each in (function, class_) if each), key=module.order, default=None)
    return module.qualified_name(inner)


def _fingerprint(module: Module, node: cst.CSTNode) -> str:
    """A hash of the code without what a formatter changes: comments, whitespace, commas before a
    closing bracket, and which quotes. For a compound statement, only the header counts."""
    start, end = module.offsets(node)
    body = getattr(node, "body", None)
    if isinstance(body, cst.BaseSuite) and body.body:
        end = module.offsets(body.body[0])[0]
    essence = _LAST_COMMA.sub("", _LAYOUT.sub("", module.text[start:end]))
    return _digest(essence.replace("'", '"'))


def _digest(essence: str) -> str:
    return blake2b(essence.encode("utf-8", "replace"), digest_size=8).hexdigest()


def without_fix(finding: Finding, reason: str) -> Finding:
    """The same finding without its fix, with the reason."""
    return finding._replace(fix=None, withheld=reason)
