"""The public rule API: the metadata of a rule, and how it registers its checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import libcst as cst

from torchlint.analysis import edits
from torchlint.files.digests import blake2b
from torchlint.finding import Applicability, Finding, Fix, Related, Tier
from torchlint.reported import Reported, Waiting
from torchlint.ruleapi.contexts import HAS, LACKS, Context, placed
from torchlint.ruleapi.maker import maker
from torchlint.version import rule_url

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torchlint.analysis.module import Module
    from torchlint.analysis.training.syncs import Operand
    from torchlint.project.project import Project
    from torchlint.reported import Value
    from torchlint.ruleapi.declared import Change, Match, Pattern
    from torchlint.silence.suppression_comments import Comment
    from torchlint.silence.suppressions import Suppressions

NodeCheck = Callable[..., "Iterable[Reported]"]
Version = tuple[int, int]
_F = TypeVar("_F", bound=Callable[..., object])
_N = TypeVar("_N", bound=NamedTuple)
_Settle = Callable[[Finding, _N, "Project"], "Finding | None"]


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
        fix: what its fixes promise, or None if it has none; the safest first if that depends on
            the place.
        finds: what a declared rule reports: see `torchlint.ruleapi.declared`.
        unless: of a declared rule: conditions under which a match is not reported.
        message: of a declared rule: one sentence of fact and one of action, or a function that
            says it of a match.
        change: of a declared rule: the fix, or the reason why there is none.
        operand: of a declared rule about hot code: the tensor that a match reads; a match without
            one is not reported.
        contexts: where it may report; see `Context`.
        program_has: name → regular expression: it reports only in a program with a file that
            matches each of them.
        program_lacks: the same for what no file of the program may match.
        else_hint: contexts without which its findings are hints.
        since, until: the torch versions that it applies to, as (major, minor): it reports only if
            the project's oldest torch is at least `since` and below `until`.
        triggers: regular expressions over a file's text. A file is parsed for this rule only
            if all of them match, or one of a tuple that stands for several: give the words
            without which the rule cannot report. Those of
            `finds` are added. A rule about hot code gets every file with the words of a training
            step, and those files among the ones it calls that match.
        triggers_on_demand: the same for a file that hot code of another file may call. Without
            it, a rule about hot code uses `triggers` there, and other rules ignore such files.
        clues: name → regular expression that `Project.has_clue` searches for in files, parsed or
            not, when the rule settles.
        summarizes: its settler needs to know which functions call which, so files are summarized
            for it, as they are for rules about hot code.
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
    fix: Applicability | tuple[Applicability, ...] | None = None
    finds: tuple[Pattern, ...] = ()
    unless: tuple[Callable[[Match], bool], ...] = ()
    message: Callable[[Match], str] | str = ""
    change: Callable[[Match], Change | str] | str | None = None
    operand: Callable[[Match], Operand | None] | None = None
    contexts: tuple[Context, ...] = ()
    program_has: dict[str, str] = field(default_factory=dict)
    program_lacks: dict[str, str] = field(default_factory=dict)
    else_hint: tuple[Context, ...] = ()
    since: Version | None = None
    until: Version | None = None
    triggers: tuple[str | tuple[str, ...], ...] = ()
    triggers_on_demand: tuple[str, ...] = ()
    clues: dict[str, str] = field(default_factory=dict)
    summarizes: bool = False
    in_tests: bool = False
    needs_gpu: bool = False
    may_change: str = ""
    added: str = "0.1"
    page: str = ""
    checks: list[tuple[tuple[type[cst.CSTNode], ...], NodeCheck]] = field(default_factory=list)
    module_checks: list[NodeCheck] = field(default_factory=list)
    suppression_checks: list[NodeCheck] = field(default_factory=list)
    plugin: str = field(default="", init=False)
    """The name of the plugin that it is from; empty if torchlint brings it."""
    settler: Callable[[Finding, Mapping[str, Value], Project], Finding | None] | None = None
    candidate: Callable[[bytes], bool] | None = None
    enough: str = ""

    def __post_init__(self) -> None:
        home = maker(2)  # 1 is `__init__`
        self.name = self.name or home.name
        self.family = self.family or home.folder
        self.page = self.page or home.page
        self.gates = tuple(each.words for each in self.finds)
        """For each pattern, regular expressions that all match every file with a match."""
        texts = ((HAS, self.program_has), (LACKS, self.program_lacks))
        self.clues |= {
            f"{self.code} {name}": word for _, has in texts for name, word in has.items()
        }
        self.texts = tuple(
            verb.format(f"{self.code} {name}") for verb, has in texts for name in has
        )
        """What the text of the program must show, for `Waiting.contexts`."""
        tiers = {self.tier, *(each.tier or self.tier for each in self.finds)}
        self.only_pedantic = tiers == {Tier.PEDANTIC}
        """Whether it reports nothing but what `--pedantic` shows."""
        if self.finds:
            self.module_checks.append(self._report_matches)
        hints = [self.else_hint, *(each.else_hint for each in self.finds)]
        self.hints_at_cold_code = any(Context.HOT in each for each in hints)
        """Whether it also reports code that is not hot, as a hint."""
        self.summarizes = self.summarizes or self.hints_at_cold_code

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

    def narrow(self, candidate: _F, *, unless: str = "") -> _F:
        """Register `candidate(text: bytes)`: a last cheap check before a file is parsed, of files
        that the pattern `unless` does not match."""
        self.candidate = candidate  # type: ignore[assignment]
        self.enough = unless
        return candidate

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
        fix: Fix | None = None,
        withheld: str | None = None,
        related: tuple[Related, ...] = (),
        operand: Operand | None = None,
        else_hint: tuple[Context, ...] = (),
        needs: NamedTuple | None = None,
    ) -> Iterator[Finding | Waiting]:
        """A finding on `node`, if the rule's contexts hold there. Give a fix or the reason why it
        is withheld.

        Args:
            operand: of a rule about hot code: the tensor that is read.
            else_hint: contexts without which the finding is a hint, beside those of the rule.
            needs: the arguments of the rule's settler, a named tuple of plain values.
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
        if needs is None and not (place.waits or place.hints or self.texts):
            yield finding
            return
        values = {} if needs is None else needs._asdict()
        yield Waiting(finding, place.waits + self.texts, place.hints, place.hot, values)

    def _report_matches(self, module: Module) -> Iterator[Finding | Waiting]:
        for pattern in self.finds:
            for match in pattern.matches(module):
                if not any(excuse(match) for excuse in self.unless):
                    yield from self.report_match(match, pattern)

    def report_match(self, match: Match, pattern: Pattern) -> Iterable[Finding | Waiting]:
        """A finding on a match of a pattern for which no exception holds, if the contexts do."""
        operand = self.operand(match) if self.operand else None
        if self.operand and operand is None:
            return ()
        change = self.change(match) if callable(self.change) else self.change
        fix = None
        if isinstance(change, Fix):
            fix = change
        elif self.promises and isinstance(change, tuple):
            fix = Fix(self.promises[0], change[0], (change[1],))
        return self.report(
            match.module,
            match.node,
            self.message(match) if callable(self.message) else self.message,
            tier=pattern.tier_of(match, self.tier),
            fix=fix,
            withheld=change if isinstance(change, str) else None,
            operand=operand,
            else_hint=pattern.else_hint,
        )

    def finding(
        self,
        module: Module,
        node: cst.CSTNode,
        message: str,
        *,
        tier: Tier | None = None,
        fix: Fix | None = None,
        withheld: str | None = None,
        related: tuple[Related, ...] = (),
        group: str | None = None,
    ) -> Finding:
        """A finding on `node`. Give a fix or the reason why it is withheld."""
        start, end = module.span(node)
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
