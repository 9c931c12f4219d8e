"""The public rule API: what a rule is, and how it registers for the nodes it looks at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import libcst as cst

from torchlint.files.digests import blake2b
from torchlint.finding import Applicability, Edit, Finding, Fix, Related, Tier, rule_url

if TYPE_CHECKING:
    from torchlint.analysis.module import Module
    from torchlint.project.project import Project
    from torchlint.suppressions.comments import Comment
    from torchlint.suppressions.suppressions import Suppressions

Value = str | int | bool | None | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Waiting:
    """A finding that holds only if the project says so; `Rule.settle` decides.

    `needs` is plain data, since it travels between processes and into the cache.
    """

    finding: Finding
    needs: dict[str, Value]


@dataclass(frozen=True, slots=True)
class Fact:
    """Something one file tells the project, such as "cudnn.benchmark is set here"."""

    name: str
    path: str
    value: Value = None


Said = Finding | Waiting | Fact
NodeCheck = Callable[..., "Iterable[Said]"]
_F = TypeVar("_F", bound=Callable[..., object])


@dataclass(eq=False)
class Rule:
    """A rule: its metadata, and the functions that detect and settle.

    Args:
        code: `TL` and three digits; the first digit is the family.
        name: kebab-case, states the bad pattern.
        family: the folder it lives in.
        tier: the tier of its usual finding; single findings may be lower.
        fix: the strongest applicability that its fixes have, or None.
        triggers: regular expressions over a file's text. A file is parsed for this rule only
            if each of them matches: give the words without which the rule cannot speak.
        wakes: like `triggers`, but matched against a file that the rule needs only when hot
            code of another file calls into it.
        clues: name → regular expression that `Project.has_clue` looks for in files, parsed or
            not, when the rule settles.
        joins: its waiting findings ask who calls whom, so files are summarized for it.
        off_in_tests: silent in test-like paths.
        needs_gpu: what its fix saves shows only where a GPU computes.
        may_change: what its fix may change in the numbers that are computed, in words.
        since: first torchlint version with this rule.
    """

    code: str
    name: str
    family: str
    summary: str
    tier: Tier = Tier.DEFAULT
    fix: Applicability | None = None
    triggers: tuple[str, ...] = ()
    wakes: tuple[str, ...] = ()
    clues: dict[str, str] = field(default_factory=dict)
    joins: bool = False
    off_in_tests: bool = False
    needs_gpu: bool = False
    may_change: str = ""
    since: str = "0.1"
    page: str = ""
    checks: list[tuple[tuple[type[cst.CSTNode], ...], NodeCheck]] = field(default_factory=list)
    module_checks: list[NodeCheck] = field(default_factory=list)
    suppression_checks: list[NodeCheck] = field(default_factory=list)
    settler: Callable[[Waiting, Project], Finding | None] | None = None
    candidate: Callable[[bytes], bool] | None = None

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
        all other rules have said what there is to silence."""
        self.suppression_checks.append(check)  # type: ignore[arg-type]
        return check

    def settle(self, settler: _F) -> _F:
        """Register `settle(waiting, project)`, which answers each `Waiting` of this rule.

        It decides by what the files say, never by rows or columns, which an edit moves.
        """
        self.settler = settler  # type: ignore[assignment]
        return settler

    def narrow(self, candidate: _F) -> _F:
        """Register `candidate(text: bytes)`: a last cheap look before a file is parsed."""
        self.candidate = candidate  # type: ignore[assignment]
        return candidate

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


__all__ = [
    "Applicability",
    "Edit",
    "Fact",
    "Finding",
    "Fix",
    "Related",
    "Rule",
    "Said",
    "Tier",
    "Waiting",
    "without_fix",
]
