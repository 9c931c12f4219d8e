"""Rules that are declared: a call or a setting, the argument, the values that are bad.

`calls`, `method` and `sets` say what to look for; `pass_argument` and `remove` are the usual fixes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis import edits
from torchlint.analysis.literals import UNKNOWN
from torchlint.finding import Edit, Tier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torchlint.analysis.module import Module

    Predicate = Callable[["Match"], bool]
    Version = tuple[int, int]


Change = tuple[str, Edit]
"""What a fix does, in words, and its edit."""


class _Kind(Enum):
    CALL = "call"
    METHOD = "method"
    SETTING = "setting"


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a call, and what makes it bad.

    Args:
        name: its keyword.
        position: where it may be passed without the keyword, from 0.
        bad: the literal that is bad, or a tuple of several; what is no literal is never judged.
        missing: it is bad not to pass it.
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
    """What a declared rule looks for; made by `calls`, `method` and `sets`."""

    kind: _Kind
    names: tuple[str, ...]
    arguments: tuple[Argument, ...] = ()
    bad: tuple[object, ...] = ()
    tier: Tier | None = None
    hint_if: tuple[Predicate, ...] = ()
    until: Version | None = None
    change: Callable[[Match], Change | str] | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """Regular expressions that all match the text of every file with this pattern."""
        last = (re.escape(name.rpartition(".")[2]) for name in self.names)
        found = [rf"\b(?:{'|'.join(last)})\b"]
        if self.arguments and all(
            each.position is None and not each.missing for each in self.arguments
        ):
            found.append(rf"\b(?:{'|'.join(each.name for each in self.arguments)})\b")
            texts = {value for each in self.arguments for value in each.values}
            if texts and all(isinstance(text, str) for text in texts):
                found.append(rf"""['"](?:{"|".join(sorted(map(str, texts)))})['"]""")
        return tuple(found)

    def matches(self, module: Module) -> Iterator[Match]:
        """Where the pattern is found."""
        if self.until is not None and module.torch >= self.until:
            return
        yield from self._settings(module) if self.kind is _Kind.SETTING else self._calls(module)

    def tier_of(self, match: Match, usual: Tier) -> Tier:
        """The tier of a finding there; `usual` is that of the rule."""
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
            if not targets.isdisjoint(self.names) and module.literal(assign.value) in self.bad:
                yield Match(assign, module)


@dataclass(frozen=True, slots=True)
class Match:
    """A place where a pattern was found.

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


def _bad(argument: Argument, call: cst.Call, module: Module) -> Match | None:
    passed = module.argument_node(call, argument.name, argument.position)
    if passed is None:
        return Match(call, module) if argument.missing else None
    value = module.literal(passed.value)
    bad = value is not UNKNOWN and any(
        type(value) is type(each) and value == each for each in argument.values
    )
    return Match(call, module, passed, argument.required) if bad else None


def calls(
    *what: str | Argument,
    tier: Tier | None = None,
    hint_if: tuple[Predicate, ...] = (),
    until: Version | None = None,
    change: Callable[[Match], Change | str] | None = None,
) -> Pattern:
    """Calls of functions or classes by their dotted names, seen through imports and aliases.

    Args:
        what: names as the documentation of torch spells them, such as
            `torch.utils.data.DataLoader`, and arguments: the call is bad if one of these is, and a
            call with `*` or `**` is then not judged.
        tier: of its findings, if not that of the rule.
        hint_if: reasons to make it a hint.
        until: the first torch in which it is no longer bad.
        change: its fix, if not that of the rule.
    """
    names, arguments = _split(what)
    return Pattern(_Kind.CALL, names, arguments, (), tier, hint_if, until, change)


def method(*what: str | Argument, until: Version | None = None) -> Pattern:
    """Calls of a method by its plain name, whatever the object is; the rule's `unless` says which
    objects it is not about. For the other arguments see `calls`."""
    names, arguments = _split(what)
    return Pattern(_Kind.METHOD, names, arguments, until=until)


def _split(what: tuple[str | Argument, ...]) -> tuple[tuple[str, ...], tuple[Argument, ...]]:
    names = tuple(each for each in what if isinstance(each, str))
    return names, tuple(each for each in what if isinstance(each, Argument))


def sets(name: str, *bad: object, tier: Tier | None = None) -> Pattern:
    """Assignments of a bad literal to a setting, such as `torch.backends.cudnn.enabled = False`."""
    return Pattern(_Kind.SETTING, (name,), (), bad, tier)


# usual reasons to say nothing ----------------------------------------------------------------


def is_conditional(match: Match) -> bool:
    """Whether a condition in the code decides if the match runs, or an error does."""
    module = match.module
    for above in module.ancestors(match.node):
        if isinstance(above, cst.ExceptHandler):
            return True
        if isinstance(above, (cst.If, cst.IfExp)) and above is not module.main_guard:
            return True
    return False


# fixes -------------------------------------------------------------------------------------


def pass_argument(name: str, value: str) -> Callable[[Match], Change]:
    """Pass `name=value`, in place of the bad argument if there is one."""

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
    """Remove the bad argument, so that the default holds; without one, or if the call fails without
    it, the whole statement."""
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
