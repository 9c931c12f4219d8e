"""Declared rules: a call or a setting, an argument, and its bad values.

`calls`, `method`, `sets` and `configures` declare what to look for; `pass_argument` and `remove`
are the usual fixes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis import edits
from torchlint.analysis.frameworks import frameworks
from torchlint.finding import Edit, Tier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from torchlint.analysis.literals import Literal
    from torchlint.analysis.module import Module

    Predicate = Callable[["Match"], bool]
    Version = tuple[int, int]


Change = tuple[str, Edit]
"""The message of a fix and its edit."""


class _Kind(Enum):
    CALL = "call"
    METHOD = "method"
    SETTING = "setting"
    FRAMEWORK = "framework"


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
    """What a declared rule looks for; created by `calls`, `method`, `sets` and `configures`."""

    kind: _Kind
    names: tuple[str, ...]
    arguments: tuple[Argument, ...] = ()
    bad: tuple[object, ...] = ()
    tier: Tier | None = None
    hint_if: tuple[Predicate, ...] = ()
    until: Version | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """Regular expressions that all match the text of every file with this pattern."""
        if self.kind is _Kind.FRAMEWORK:
            return (_any_word(frameworks.keywords(self.names[0])), *_any_text(self.bad))
        found = [_any_word(name.rpartition(".")[2] for name in self.names)]
        if self.kind is _Kind.METHOD:
            found = [rf"\.(?:{'|'.join(map(re.escape, self.names))})\("]
        if self.arguments and all(
            each.position is None and not each.missing for each in self.arguments
        ):
            found.append(_any_word(each.name for each in self.arguments))
            found += _any_text(value for each in self.arguments for value in each.values)
        return tuple(found)

    def matches(self, module: Module) -> Iterator[Match]:
        """Every match of the pattern in a file."""
        if self.until is not None and module.torch >= self.until:
            return
        if self.kind is _Kind.SETTING:
            yield from self._settings(module)
        elif self.kind is _Kind.FRAMEWORK:
            yield from self._framework_settings(module)
        else:
            yield from self._calls(module)

    def tier_of(self, match: Match, usual: Tier) -> Tier:
        """The tier of the finding for a match; `usual` is the tier of the rule."""
        if any(doubt(match) for doubt in self.hint_if):
            return Tier.HINT
        return self.tier or usual

    def _calls(self, module: Module) -> Iterator[Match]:
        index = module.calls_by_name if self.kind is _Kind.CALL else module.calls_by_method
        calls = {id(call): call for name in self.names for call in index.get(name, ())}
        for call in calls.values():
            if not self.arguments:
                yield Match(call, module)
            elif not module.has_star_args(call) and not module.has_star_kwargs(call):
                judged = (_bad(each, call, module) for each in self.arguments)
                bad = next((match for match in judged if match is not None), None)
                if bad is not None:
                    yield bad

    def _settings(self, module: Module) -> Iterator[Match]:
        for assign in module.nodes(cst.Assign):
            targets = {name for each in assign.targets for name in module.resolve(each.target)}
            if not targets.isdisjoint(self.names) and _is_one_of(
                module.literal(assign.value), self.bad
            ):
                yield Match(assign, module)

    def _framework_settings(self, module: Module) -> Iterator[Match]:
        (setting,) = self.names
        for call in module.nodes(cst.Call):
            for argument in module.setting(call, setting):
                if _is_one_of(module.literal(argument.value), self.bad):
                    yield Match(call, module, argument)
                    break


@dataclass(frozen=True, slots=True)
class Match:
    """A match of a pattern.

    Args:
        node: the call or the assignment.
        argument: the bad argument, if it is passed.
        required: the call fails without it.
    """

    node: cst.Call | cst.Assign
    module: Module
    argument: cst.Arg | None = None
    required: bool = False

    @property
    def call(self) -> cst.Call:
        assert isinstance(self.node, cst.Call)
        return self.node


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
        return Match(call, module) if argument.missing else None
    bad = _is_one_of(module.literal(passed.value), argument.values)
    return Match(call, module, passed, argument.required) if bad else None


def _is_one_of(value: Literal, bad: tuple[object, ...]) -> bool:
    """Whether a literal is bad; `True` is not 1 here."""
    return any(type(value) is type(each) and value == each for each in bad)


def calls(
    *what: str | Argument,
    tier: Tier | None = None,
    hint_if: tuple[Predicate, ...] = (),
    until: Version | None = None,
) -> Pattern:
    """Calls of functions or classes by their dotted names, resolved through imports and aliases.

    Args:
        what: names as in the torch documentation, such as `torch.utils.data.DataLoader`, and
            arguments. With arguments, a call is bad if one of them is; calls with `*` or `**` are
            then not reported.
        tier: the tier of its findings, if not that of the rule.
        hint_if: conditions that make the finding a hint.
        until: the first torch version in which the call is no longer bad.
    """
    names, arguments = _split(what)
    return Pattern(_Kind.CALL, names, arguments, (), tier, hint_if, until)


def method(
    *what: str | Argument,
    hint_if: tuple[Predicate, ...] = (),
    until: Version | None = None,
) -> Pattern:
    """Calls of a method by its name, on any object; exclude objects with the rule's `unless`. For
    the other arguments see `calls`."""
    names, arguments = _split(what)
    return Pattern(_Kind.METHOD, names, arguments, hint_if=hint_if, until=until)


def _split(what: tuple[str | Argument, ...]) -> tuple[tuple[str, ...], tuple[Argument, ...]]:
    names = tuple(each for each in what if isinstance(each, str))
    return names, tuple(each for each in what if isinstance(each, Argument))


def sets(name: str, *bad: object, tier: Tier | None = None) -> Pattern:
    """Assignments of a bad literal to a setting, such as `torch.backends.cudnn.enabled = False`."""
    return Pattern(_Kind.SETTING, (name,), (), bad, tier)


def configures(setting: str, *bad: object) -> Pattern:
    """Bad literals for a setting of any training framework, such as `"strategy"`. The adapters in
    `torchlint.analysis.frameworks` have the classes and keywords."""
    return Pattern(_Kind.FRAMEWORK, (setting,), bad=bad)


# fixes -------------------------------------------------------------------------------------


def pass_argument(name: str, value: str) -> Callable[[Match], Change]:
    """Pass `name=value`, replacing the bad argument if there is one."""

    def change(match: Match) -> Change:
        text = f"{name}={value}"
        if match.argument is None:
            edit = edits.add_argument(match.module, match.call, text)
        elif match.argument.keyword is None:
            edit = edits.replace(match.module, match.argument.value, value)
        else:
            edit = edits.replace(match.module, match.argument, text)
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
