"""The public rule API: what a rule is, and how it registers for the nodes it looks at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import libcst as cst

from torchlint.files.digests import blake2b
from torchlint.finding import (
    Applicability,
    Finding,
    Fix,
    Related,
    Said,
    Tier,
    Waiting,
    rule_url,
)
from torchlint.ruleapi.contexts import Context, placed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torchlint.analysis.module import Module
    from torchlint.analysis.training.syncs import Operand
    from torchlint.finding import Value
    from torchlint.project.project import Project
    from torchlint.ruleapi.declared import Change, Match, Pattern
    from torchlint.suppressions.comments import Comment
    from torchlint.suppressions.suppressions import Suppressions

NodeCheck = Callable[..., "Iterable[Said]"]
Version = tuple[int, int]
_F = TypeVar("_F", bound=Callable[..., object])
_N = TypeVar("_N", bound=NamedTuple)
_Settle = Callable[[Finding, _N, "Project"], "Finding | None"]


@dataclass(eq=False)
class Rule:
    """A rule: its metadata, and what it looks for.

    A declared rule names patterns in `finds` and has `message`, `contexts` and `change`. Others
    register functions, which report through `report`, so that contexts hold for them as well.

    Args:
        code: `TL` and three digits; the first digit is the family.
        name: kebab-case, states the bad pattern.
        family: the folder it lives in.
        summary: what it reports, for lists of rules.
        tier: the tier of its usual finding; single findings may be lower.
        fix: the strongest applicability that its fixes have, or None.
        finds: what a declared rule reports: see `torchlint.ruleapi.declared`.
        unless: of a declared rule: reasons to say nothing about a match.
        message: of a declared rule: one sentence of fact and one of action.
        change: the fix of a declared rule, or why it has none.
        contexts: where it may report; see `Context`.
        else_hint: contexts without which its findings are hints.
        since, until: the torch versions that it is for, as (major, minor): reports only where the
            project's oldest torch is at least `since` and below `until`.
        triggers: regular expressions over a file's text. A file is parsed for this rule only
            if each of them matches: give the words without which the rule cannot report. Those of
            `finds` are known. A rule about hot code sees every file that has the words of a
            training step, and of the files that such code calls those that match.
        wakes: the same for a file that hot code of another file calls, where a rule wants other
            words there.
        clues: name → regular expression that `Project.has_clue` looks for in files, parsed or
            not, when the rule settles.
        summarizes: its settler asks who calls whom, so files are summarized for it; so they are
            for rules about hot code.
        off_in_tests: reports nothing in test-like paths.
        needs_gpu: what its fix saves shows only where a GPU computes.
        may_change: what its fix may change in the numbers that are computed, in words.
        added: the first torchlint version with this rule.
    """

    code: str
    name: str
    family: str
    summary: str
    tier: Tier = Tier.DEFAULT
    fix: Applicability | None = None
    finds: tuple[Pattern, ...] = ()
    unless: tuple[Callable[[Match], bool], ...] = ()
    message: str = ""
    change: Callable[[Match], Change | str] | str | None = None
    contexts: tuple[Context, ...] = ()
    else_hint: tuple[Context, ...] = ()
    since: Version | None = None
    until: Version | None = None
    triggers: tuple[str, ...] = ()
    wakes: tuple[str, ...] = ()
    clues: dict[str, str] = field(default_factory=dict)
    summarizes: bool = False
    off_in_tests: bool = False
    needs_gpu: bool = False
    may_change: str = ""
    added: str = "0.1"
    page: str = ""
    checks: list[tuple[tuple[type[cst.CSTNode], ...], NodeCheck]] = field(default_factory=list)
    module_checks: list[NodeCheck] = field(default_factory=list)
    suppression_checks: list[NodeCheck] = field(default_factory=list)
    settler: Callable[[Finding, Mapping[str, Value], Project], Finding | None] | None = None
    candidate: Callable[[bytes], bool] | None = None

    def __post_init__(self) -> None:
        self.gates = tuple(each.words for each in self.finds)
        """For each pattern, the regular expressions that all match a file in which it is found."""
        if self.finds:
            self.module_checks.append(self._report_matches)

    # what it looks for -------------------------------------------------------------------

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
        """Register `check(suppressions)`, run once per file that has suppression comments, after
        all other rules have reported what there is to suppress."""
        self.suppression_checks.append(check)  # type: ignore[arg-type]
        return check

    def settle(self, needs: Callable[..., _N]) -> Callable[[_Settle[_N]], _Settle[_N]]:
        """Register `settle(finding, needs, project)` for findings that `report` was given needs
        for; it returns the finding, changed perhaps, or None.

        It decides by what the files say, never by rows or columns, which an edit moves.
        """

        def register(settle: _Settle[_N]) -> _Settle[_N]:
            self.settler = lambda finding, values, project: settle(
                finding, needs(**values), project
            )
            return settle

        return register

    def narrow(self, candidate: _F) -> _F:
        """Register `candidate(text: bytes)`: a last cheap look before a file is parsed."""
        self.candidate = candidate  # type: ignore[assignment]
        return candidate

    @property
    def about_hot_code(self) -> bool:
        return Context.HOT in self.contexts

    def is_for(self, torch: Version) -> bool:
        """Whether it is for projects whose oldest torch is this one."""
        return (self.since is None or torch >= self.since) and (
            self.until is None or torch < self.until
        )

    # what it says ------------------------------------------------------------------------

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
        needs: NamedTuple | None = None,
    ) -> Iterator[Finding | Waiting]:
        """A finding on `node`, if the rule's contexts hold there. Give a fix, or say why it is
        withheld.

        Args:
            operand: of a rule about hot code: what is known of the tensor that is read.
            needs: what the rule's settler goes by, a named tuple of plain values.
        """
        place = placed(node, module, self.contexts, self.else_hint, operand)
        if place is None:
            return
        if not place.certain:
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
        if needs is None and not place.waits and not place.hints:
            yield finding
            return
        values = {} if needs is None else needs._asdict()
        yield Waiting(finding, place.waits, place.hints, place.hot, values)

    def _report_matches(self, module: Module) -> Iterator[Finding | Waiting]:
        for pattern in self.finds:
            for match in pattern.matches(module):
                if any(excuse(match) for excuse in self.unless):
                    continue
                change = self.change(match) if callable(self.change) else self.change
                fix = None
                if self.fix is not None and isinstance(change, tuple):
                    fix = Fix(self.fix, change[0], (change[1],))
                yield from self.report(
                    module,
                    match.node,
                    self.message,
                    tier=pattern.tier_of(match, self.tier),
                    fix=fix,
                    withheld=change if isinstance(change, str) else None,
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
        """A finding on `node`. Give a fix, or say why it is withheld."""
        start, end = module.span(node)
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
        """Whether it judges suppression comments, and not code."""
        return bool(self.suppression_checks)

    @property
    def url(self) -> str:
        """Its page."""
        return rule_url(self.name)


_LAYOUT = re.compile(r"#[^\r\n]*|\s+")
_LAST_COMMA = re.compile(r",(?=[)\]}])")


def _scope(module: Module, node: cst.CSTNode) -> str:
    function, class_ = module.function(node), module.class_(node)
    inner = max((each for each in (function, class_) if each), key=module.order, default=None)
    return module.qualified_name(inner)


def _fingerprint(module: Module, node: cst.CSTNode) -> str:
    """Of the code without what a formatter changes: comments, blanks and commas before a closing
    bracket. Of a compound statement, the header alone counts."""
    start, end = module.offsets(node)
    body = getattr(node, "body", None)
    if isinstance(body, cst.BaseSuite) and body.body:
        end = module.offsets(body.body[0])[0]
    return _digest(_LAST_COMMA.sub("", _LAYOUT.sub("", module.text[start:end])))


def _digest(essence: str) -> str:
    return blake2b(essence.encode("utf-8", "replace"), digest_size=8).hexdigest()


def without_fix(finding: Finding, reason: str) -> Finding:
    """The same finding with its fix taken away and the reason given."""
    return finding._replace(fix=None, withheld=reason)
