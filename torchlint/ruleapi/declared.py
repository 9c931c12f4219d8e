"""Declared rules: a call or a setting, an argument, and its bad values.

`calls`, `method`, `passes`, `sets`, `assigns`, `exports`, `configures` and `first_step` declare
what to look for; `pass_argument` and `remove` are the usual fixes.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import libcst as cst

from torchlint.analysis import edits
from torchlint.analysis.frameworks import frameworks
from torchlint.analysis.literals import UNKNOWN, literal
from torchlint.analysis.names import dotted_text
from torchlint.because import Unlike, because
from torchlint.finding import Edit, Fix, Tier
from torchlint.ruleapi import outlines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from typing_extensions import TypedDict, Unpack

    from torchlint.analysis.literals import Literal
    from torchlint.analysis.module import Module
    from torchlint.ruleapi.contexts import Context
    from torchlint.ruleapi.outlines import Outline

    Predicate = Callable[["Match"], object]
    Version = tuple[int, int]

    class Options(TypedDict, total=False):
        """What every pattern takes as well: see `Pattern`."""

        tier: Tier
        message: Callable[[Match], str] | str
        change: Callable[[Match], Change | str] | str
        where: tuple[Predicate, ...]
        hint_if: tuple[Predicate, ...]
        else_hint: tuple[Context, ...]
        since: Version
        until: Version
        program_has: Mapping[str, str]
        program_lacks: Mapping[str, str]


_E = TypeVar("_E")
_NOT_PASSED: Final = Unlike("`{}` is not passed")
"""Why a call that does not even mention what the rule looks for is not a match."""
Change = tuple[str, Edit] | Fix
"""The message of a fix and its edit; or the fix, if it has several or is not as safe as others."""


class _Kind(NamedTuple):
    """How to find what has a pattern's names, and how to tell whether it is bad."""

    find: Callable[[Pattern, Module], Iterator[cst.CSTNode]]
    judge: Callable[[Pattern, Any, Module], Match | None]


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a call, and what makes it bad.

    Args:
        name: the keyword.
        position: the position at which it may be passed without the keyword, from 0.
        bad: the bad literal, or a tuple of several; other expressions are never reported.
        missing: a call without it is bad.
        required: the call fails without it, so that `remove` removes the whole call.
    """

    name: str
    position: int | None = None
    bad: object = ()
    missing: bool = False
    required: bool = False

    @property
    def values(self) -> tuple[object, ...]:
        """The bad literals."""
        return self.bad if isinstance(self.bad, tuple) else (self.bad,)


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a declared rule looks for; created by `calls`, `method`, `sets` and their like.

    Args:
        tier, message, change: those of its findings, if not those of the rule.
        where: conditions that must all hold. What one returns, if it is not just True, is found by
            its type in `Match.found`.
        hint_if: conditions that make the finding a hint.
        else_hint: contexts without which it is one, in addition to those of the rule.
        since: the first torch version in which a match is bad.
        until: the first torch version in which it is no longer bad.
        program_has, program_lacks: as those of a rule, for this pattern alone.
    """

    kind: _Kind
    names: tuple[str, ...] = ()
    arguments: tuple[Argument, ...] = ()
    bad: tuple[object, ...] = ()
    tier: Tier | None = None
    message: Callable[[Match], str] | str = ""
    change: Callable[[Match], Change | str] | str | None = None
    where: tuple[Predicate, ...] = ()
    hint_if: tuple[Predicate, ...] = ()
    since: Version | None = None
    until: Version | None = None
    else_hint: tuple[Context, ...] = ()
    program_has: Mapping[str, str] = field(default_factory=dict)
    program_lacks: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> tuple[str, ...]:
        """Regular expressions that all match the text of every file with this pattern."""
        if self.kind is _FIRST_STEP:
            return (frameworks.STEP_WORDS,)
        if self.kind is _FRAMEWORK:
            keywords = _any_word(frameworks.keywords(self.names[0])) + _ASSIGNED
            return (keywords, *_any_text(self.bad))
        if self.kind is _METHOD:
            patterns = [rf"\.(?:{'|'.join(map(re.escape, self.names))})\("]
        elif self.kind in (_SETTING, _ATTRIBUTE, _KEYWORD):
            patterns = [_any_word(name.rpartition(".")[2] for name in self.names) + _ASSIGNED]
        else:
            patterns = [_any_word(name.rpartition(".")[2] for name in self.names)]
        packages = {_package(name) for name in self.names}
        if self.kind in (_CALL, _SETTING) and "" not in packages:
            patterns.append(rf"{_any_word(packages)}|import \*")
        if self.kind in (_KEYWORD, _ENVIRONMENT):
            patterns += _any_text(self.bad)
        if self.arguments and all(
            each.position is None and not each.missing for each in self.arguments
        ):
            patterns.append(_any_word(each.name for each in self.arguments))
            patterns += _any_text(value for each in self.arguments for value in each.values)
        return tuple(patterns)

    @property
    def dotted(self) -> tuple[str, ...]:
        """The dotted names of the calls or settings that it finds."""
        return self.names if self.kind in (_CALL, _SETTING) else ()

    @property
    def is_about_program(self) -> bool:
        """Whether it finds the one place where a program is told about what it never does."""
        return self.kind is _FIRST_STEP

    def is_for(self, torch: Version) -> bool:
        """Whether it applies to projects whose oldest torch version is this one."""
        return (self.since is None or torch >= self.since) and (
            self.until is None or torch < self.until
        )

    def matches(self, module: Module) -> Iterator[Match]:
        """Every match of the pattern in a file."""
        if not self.is_for(module.torch):
            return
        for node in self.candidates(module):
            match = self.match(node, module)
            for condition in self.where:
                match = match and match.if_holds(condition(match))
            if match is not None:
                yield match

    def candidates(self, module: Module) -> Iterable[cst.CSTNode]:
        """The calls, assignments and arguments of a file that have the pattern's names."""
        return dict.fromkeys(self.kind.find(self, module))

    def match(self, node: cst.CSTNode, module: Module) -> Match | None:
        """The match that a candidate is, if its values are bad; `where` is not asked."""
        return self.kind.judge(self, node, module)

    def may_be_in(self, outline: Outline) -> bool:
        """Whether a file with this outline may have a match; `where` is not asked."""
        if self.kind is _FIRST_STEP:
            return True
        if self.kind in (_CALL, _METHOD):
            calls = outline.calls if self.kind is _CALL else outline.methods
            return any(map(self._may_be_bad, calls(*self.names)))
        if self.kind is _ENVIRONMENT:
            return any(each.value in self.names for each in outline.nodes(ast.Constant))
        if self.kind in (_SETTING, _ATTRIBUTE):
            values = outline.assigned(*(name.rpartition(".")[2] for name in self.names))
        elif self.kind is _FRAMEWORK:
            values = outline.passed(*frameworks.keywords(self.names[0]))
        else:
            values = outline.passed(*self.names)
        return any(not self.bad or _is_one_of(outlines.literal(each), self.bad) for each in values)

    def tier_of(self, match: Match, usual: Tier) -> Tier:
        """The tier of the finding for a match; `usual` is the tier of the rule."""
        if any(doubt(match) for doubt in self.hint_if):
            return Tier.HINT
        return self.tier or usual

    def _calls(self, module: Module) -> Iterator[cst.Call]:
        by_name = module.calls_by_name
        yield from (call for name in self.names for call in by_name.get(name, ()))

    def _methods(self, module: Module) -> Iterator[cst.Call]:
        by_method = module.calls_by_method
        yield from (call for name in self.names for call in by_method.get(name, ()))

    def _bad_call(self, call: cst.Call, module: Module) -> Match | None:
        if not self.arguments:
            return Match(call, module)
        if module.has_star_args(call) or module.has_star_kwargs(call):
            names = tuple(f"`{each.name}`" for each in self.arguments)
            return because(None, "`*` or `**` of this call may pass {}", names)
        judged = (_bad(each, call, module) for each in self.arguments)
        return next((match for match in judged if match is not None), None)

    def _keywords(self, module: Module) -> Iterator[cst.Arg]:
        for name in self.names:
            for word in module.spelled(name):
                argument = module.parent(word)
                if not isinstance(argument, cst.Arg) or argument.keyword is not word:
                    continue
                if isinstance(module.parent(argument), cst.Call):
                    yield argument

    def _bad_keyword(self, argument: cst.Arg, module: Module) -> Match | None:
        call = module.parent(argument)
        assert call is not None
        return Match(call, module, argument) if self._is_bad(argument.value) else None

    def _settings(self, module: Module) -> Iterator[cst.Assign]:
        last = {name.rpartition(".")[2] for name in self.names}
        for assign, target in _targets(module):
            named = dotted_text(target).rpartition(".")[2] in last
            if named and not set(self.names).isdisjoint(module.resolve(target)):
                yield assign

    def _attributes(self, module: Module) -> Iterator[cst.Assign]:
        for assign, target in _targets(module):
            if isinstance(target, cst.Attribute) and target.attr.value in self.names:
                yield assign

    def _bad_value(self, assign: cst.Assign, module: Module) -> Match | None:
        return Match(assign, module) if self._is_bad(assign.value) else None

    def _environment(self, module: Module) -> Iterator[cst.Assign | cst.Call]:
        for assign, target in _targets(module):
            if not isinstance(target, cst.Subscript):
                continue
            key = target.slice[0].slice
            named = isinstance(key, cst.Index) and literal(key.value) in self.names
            if named and "os.environ" in module.resolve(target.value):
                yield assign
        for name in ("os.environ.setdefault", "os.putenv"):
            for call in module.calls_by_name.get(name, ()):
                if literal(module.argument(call, "key", 0)) in self.names:
                    yield call

    def _bad_export(self, node: cst.Assign | cst.Call, module: Module) -> Match | None:
        value = node.value if isinstance(node, cst.Assign) else module.argument(node, "value", 1)
        return Match(node, module) if value is not None and self._is_bad(value) else None

    def _framework_settings(self, module: Module) -> Iterator[cst.Call]:
        for call in module.nodes(cst.Call):
            if module.setting(call, self.names[0]):
                yield call

    def _bad_setting(self, call: cst.Call, module: Module) -> Match | None:
        for argument in module.setting(call, self.names[0]):
            if self._is_bad(argument.value):
                return Match(call, module, argument)
        return None

    def _first_step(self, module: Module) -> Iterator[cst.CSTNode]:
        first = module.first_step
        if first is not None:
            yield first

    def _is_found(self, node: cst.CSTNode, module: Module) -> Match:
        return Match(node, module)

    def _may_be_bad(self, call: ast.Call) -> bool:
        if not self.arguments:
            return True
        if outlines.has_stars(call):
            return False
        passed = (
            (each, outlines.argument(call, each.name, each.position)) for each in self.arguments
        )
        return any(
            each.missing if value is None else _is_one_of(outlines.literal(value), each.values)
            for each, value in passed
        )

    def _is_bad(self, value: cst.BaseExpression) -> bool:
        known = literal(value)
        if not self.bad or _is_one_of(known, self.bad):
            return True
        if known is UNKNOWN:
            return because(False, "the file does not show which value {:code} has", value)
        return because(False, "the rule is not about the value {:code}", value)


_CALL: Final = _Kind(Pattern._calls, Pattern._bad_call)
_METHOD: Final = _Kind(Pattern._methods, Pattern._bad_call)
_KEYWORD: Final = _Kind(Pattern._keywords, Pattern._bad_keyword)
_SETTING: Final = _Kind(Pattern._settings, Pattern._bad_value)
_ATTRIBUTE: Final = _Kind(Pattern._attributes, Pattern._bad_value)
_ENVIRONMENT: Final = _Kind(Pattern._environment, Pattern._bad_export)
_FRAMEWORK: Final = _Kind(Pattern._framework_settings, Pattern._bad_setting)
_FIRST_STEP: Final = _Kind(Pattern._first_step, Pattern._is_found)


@dataclass(frozen=True, slots=True)
class Match:
    """A match of a pattern.

    Args:
        node: the call, the assignment, or what the pattern says that it finds.
        argument: the bad argument, if it is passed.
        required: the call fails without it.
        evidence: what the conditions of the pattern found, in their order.
    """

    node: cst.CSTNode
    module: Module
    argument: cst.Arg | None = None
    required: bool = False
    evidence: tuple[object, ...] = ()

    def found(self, kind: type[_E]) -> _E:
        """What a condition of the pattern found, by its type."""
        return next(each for each in self.evidence if isinstance(each, kind))

    def if_holds(self, answer: object) -> Match | None:
        """The match with what a condition found; None if the condition does not hold."""
        if not answer or answer is True:
            return self if answer else None
        return replace(self, evidence=(*self.evidence, answer))

    @property
    def call(self) -> cst.Call:
        assert isinstance(self.node, cst.Call)
        return self.node

    @property
    def receiver(self) -> cst.BaseExpression:
        """`x` of a match `x.method(…)`."""
        assert isinstance(self.call.func, cst.Attribute)
        return self.call.func.value


def _targets(module: Module) -> Iterator[tuple[cst.Assign, cst.BaseExpression]]:
    for assign in module.nodes(cst.Assign):
        yield from ((assign, each.target) for each in assign.targets)


_ASSIGNED: Final = r"[\s)]{0,40}="


def _package(name: str) -> str:
    """`utils` for `torch.utils.checkpoint.checkpoint`: a word that a file with this name of torch
    also has, however it imports it; an empty string if there is none."""
    parts = name.split(".")[:-1]
    if parts[:1] != ["torch"] or len(parts) < 2:
        return ""
    return parts[-2] if name.endswith(f"{parts[-1]}.{parts[-1]}") else parts[-1]


def _any_word(words: Iterable[str]) -> str:
    return rf"\b(?:{'|'.join(sorted(map(re.escape, words)))})\b"


def _any_text(values: Iterable[object]) -> Iterator[str]:
    """A pattern for string literals with one of these values, if all of them are strings."""
    texts = list(values)
    if texts and all(isinstance(text, str) for text in texts):
        yield rf"""['"](?:{"|".join(sorted({re.escape(str(text)) for text in texts}))})['"]"""


def _bad(argument: Argument, call: cst.Call, module: Module) -> Match | None:
    passed = module.argument_node(call, argument.name, argument.position)
    if passed is None:
        return (
            Match(call, module) if argument.missing else because(None, _NOT_PASSED, argument.name)
        )
    value = module.literal(passed.value)
    if _is_one_of(value, argument.values):
        return Match(call, module, passed, argument.required)
    if value is UNKNOWN:
        unknown = "`{}` is {:code} here, and the file does not show which value that is"
        return because(None, unknown, argument.name, passed.value)
    return because(None, "`{}` is {:code} here", argument.name, passed.value)


def _is_one_of(value: Literal, bad: tuple[object, ...]) -> bool:
    """Whether a literal is bad; `True` is not 1 here."""
    return any(type(value) is type(each) and value == each for each in bad)


def calls(*what: str | Argument, **options: Unpack[Options]) -> Pattern:
    """Calls of functions or classes by their dotted names, resolved through imports and aliases.

    Args:
        what: names as in the torch documentation, such as `torch.utils.data.DataLoader`, and
            arguments. With arguments, a call is bad if one of them is; calls with `*` or `**` are
            then not reported.
        options: see `Pattern`.
    """
    return Pattern(_CALL, *_split(what), **options)


def method(*what: str | Argument, **options: Unpack[Options]) -> Pattern:
    """Calls of a method by its name, on any object; choose objects with `where`. For the other
    arguments see `calls`."""
    return Pattern(_METHOD, *_split(what), **options)


def _split(what: tuple[str | Argument, ...]) -> tuple[tuple[str, ...], tuple[Argument, ...]]:
    names = tuple(each for each in what if isinstance(each, str))
    return names, tuple(each for each in what if isinstance(each, Argument))


def passes(keyword: str, *bad: object, **options: Unpack[Options]) -> Pattern:
    """A keyword with a bad literal in the call of whatever function, such as
    `padding="max_length"`."""
    return Pattern(_KEYWORD, (keyword,), (), bad, **options)


def sets(names: str | tuple[str, ...], *bad: object, **options: Unpack[Options]) -> Pattern:
    """Assignments of a bad literal, or of anything if there is none, to a setting such as
    `torch.backends.cudnn.enabled`, by its dotted names."""
    names = (names,) if isinstance(names, str) else names
    return Pattern(_SETTING, names, (), bad, **options)


def assigns(names: str | tuple[str, ...], *bad: object, **options: Unpack[Options]) -> Pattern:
    """The same for attributes of any object, by their plain names: `x.requires_grad = False`."""
    names = (names,) if isinstance(names, str) else names
    return Pattern(_ATTRIBUTE, names, (), bad, **options)


def exports(variable: str, *bad: object, **options: Unpack[Options]) -> Pattern:
    """Code that gives an environment variable a bad value:
    `os.environ["CUDA_LAUNCH_BLOCKING"] = "1"`."""
    return Pattern(_ENVIRONMENT, (variable,), (), bad, **options)


def configures(setting: str, *bad: object, **options: Unpack[Options]) -> Pattern:
    """Bad literals for a setting of any training framework, such as `"strategy"`. The adapters in
    `torchlint.analysis.frameworks` have the classes and keywords."""
    return Pattern(_FRAMEWORK, (setting,), (), bad, **options)


def first_step(**options: Unpack[Options]) -> Pattern:
    """The first training step of a file, for rules about what a program never does: the head of
    its first step loop, or the name of a function that takes a step."""
    return Pattern(_FIRST_STEP, **options)


# fixes -------------------------------------------------------------------------------------


def pass_argument(name: str, value: str) -> Callable[[Match], Change]:
    """Pass `name=value`, replacing the bad argument if there is one."""

    def change(match: Match) -> Change:
        text = f"{name}={value}"
        passed = match.argument
        if passed is None:
            edit = edits.add_argument(match.module, match.call, text)
        elif passed.keyword is None or passed.keyword.value == name:
            edit = edits.replace(match.module, passed.value, value)
        else:
            edit = edits.replace_argument(match.module, passed, text)
        return f"Pass `{text}`", edit

    return change


def remove(match: Match) -> Change | str:
    """Remove the bad argument, so that the default applies. Remove the whole statement if there is
    no argument or the call fails without it."""
    argument = match.argument
    if argument is not None and not match.required:
        if argument.keyword is None and argument is not match.call.args[-1]:
            return "other arguments follow it by their position"
        name = "the argument" if argument.keyword is None else f"`{argument.keyword.value}`"
        return f"Remove {name}", edits.remove_argument(match.module, match.call, argument)
    statement = match.module.small_statement(match.node)
    alone = isinstance(statement, cst.Expr) and statement.value is match.node
    if not alone and statement is not match.node:
        return "the call is part of a larger statement"
    assert isinstance(statement, (cst.Expr, cst.Assign))
    return "Remove the line", edits.delete_statement(match.module, statement)
