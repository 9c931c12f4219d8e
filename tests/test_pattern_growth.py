"""No pattern that runs over somebody's text may take quadratic time on any text.

Python's `re` tries a pattern at every place and, where it fails, every way to share the text
among the repeats. So a repeat without a bound costs the square of the text if what precedes it in
the pattern can occur inside of what it repeats: `opt\\w*\\.step` on "optoptopt…" starts again at
each "opt" and runs to the end each time. The same goes for two such repeats one behind the other.
This reads the parsed patterns, so it needs no clock.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import string
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

import pytest

import torchlint
from torchlint.files.words import UNCOMMENTED
from torchlint.ruleapi.registry import all_rules

if TYPE_CHECKING:
    from collections.abc import Iterator

try:
    from re import _constants as op  # type: ignore[attr-defined]
    from re import _parser as parser
except ImportError:  # Python 3.10
    import sre_constants as op
    import sre_parse as parser

_MOST = 400
"""Characters that a pattern may look at from each place of a text."""
_SIGNS = frozenset(map(chr, range(128))) | {"é"}
_WORD = frozenset(sign for sign in _SIGNS if sign.isalnum() or sign == "_")
_CATEGORIES = {
    op.CATEGORY_WORD: _WORD,
    op.CATEGORY_NOT_WORD: _SIGNS - _WORD,
    op.CATEGORY_SPACE: frozenset(string.whitespace),
    op.CATEGORY_NOT_SPACE: _SIGNS - frozenset(string.whitespace),
    op.CATEGORY_DIGIT: frozenset(string.digits),
    op.CATEGORY_NOT_DIGIT: _SIGNS - frozenset(string.digits),
}
_MATCHED_IN_ONE_PLACE = {
    "torchlint.rules.model.conv_bias_before_norm.biased_layers_in_text._AFTER": "after each name of a layer",
    "torchlint.rules.model.conv_bias_before_norm.biased_layers_in_text._TOKEN": "it sees 4,000 bytes",
    "torchlint.rules.model.conv_bias_before_norm.biased_layers_in_text._WORD_BEFORE": "it sees 240 bytes",
    "torchlint.notebooks.magics._assigned": "at the start of each line",
    "torchlint.notebooks.magics._question": "against each line as a whole",
    "torchlint.config.torch_bounds._clause": "at the start of each clause",
    "torchlint.files.words._GUARDED": "at the start of a pattern of a rule",
    "torchlint.silence.suppression_comments._UNTIL": "behind the words of a comment",
    "torchlint.analysis.edits._CONTINUED": "where a statement ends",
    "torchlint.analysis.places._LINE": "where an edit begins",
    "torchlint.analysis.places._REST": "where an edit ends",
}
_LINEAR_ALL_THE_SAME = {
    "torchlint.source.nesting._TOKEN": "every branch can end where its text ends",
    "torchlint.source.nesting._STRING_OR_COMMENT": "every branch can end where its text ends",
    "torchlint.source.parse._BEFORE_INDENTATION": "it starts once per line",
    "TL301 convolutions": "it starts once per line, and looks from a bracket to the next one",
    "TL301 many sizes": "it starts once per line and sees 40 lines",
    "TL308 0": "it starts at each forward and ends where the next function begins",
    "TL304 writes to a Conv's bias": "it starts once per line and sees nine lines",
    "TL304 writes to a Linear's bias": "it starts once per line and sees nine lines",
    "TL304 writes to the bias of a class name": "it starts once per line and sees nine lines",
}


@dataclass(frozen=True)
class _Part:
    """One sign, a repeat, or a place between signs; `most` is 1 for a sign and 0 for a place."""

    signs: frozenset[str]
    most: float = 1
    repeat: bool = False
    between: bool = False
    """A word boundary: in what repeats word signs alone there is none."""

    def fits(self, signs: frozenset[str]) -> bool:
        if self.between and signs <= self.signs:
            return False
        return self.repeat or bool(self.signs & signs)


_ANYWHERE = _Part(_SIGNS, most=0)
_BOUNDARY = _Part(_WORD, most=0, between=True)
_Way = list[_Part]


@dataclass
class _Reader:
    """The ways through a parsed pattern, with those into its lookaheads as ways of their own."""

    aside: list[_Way] = field(default_factory=list)

    def ways(self, parts: Any, flags: int, before: _Way) -> list[_Way]:
        found: list[_Way] = [[]]
        for code, argument in parts:
            found = [
                way + more
                for way in found
                for more in self._steps(code, argument, flags, before + way)
            ]
        return found

    def _steps(self, code: Any, argument: Any, flags: int, before: _Way) -> list[_Way]:
        signs = _signs(code, argument, flags)
        if signs is not None:
            return [[_Part(signs)]]
        if code is op.SUBPATTERN:
            return self.ways(argument[3], (flags | argument[1]) & ~argument[2], before)
        if code is op.BRANCH:
            return [way for each in argument[1] for way in self.ways(each, flags, before)]
        if code in (op.MAX_REPEAT, op.MIN_REPEAT):
            return self._repeated(*argument, flags, before)
        if code in (op.ASSERT, op.ASSERT_NOT) and argument[0] > 0:
            self.aside += [
                before + way + [_ANYWHERE] for way in self.ways(argument[1], flags, before)
            ]
        if code is op.AT and argument is op.AT_BOUNDARY:
            return [[_BOUNDARY]]
        if code is op.AT and argument is op.AT_BEGINNING_STRING:
            return [[_Part(frozenset(), most=0)]]
        if code is op.AT and argument is op.AT_BEGINNING:
            return [[_Part(frozenset("\n" if flags & re.MULTILINE else ""), most=0)]]
        return [[_ANYWHERE]]

    def _repeated(self, least: int, most: Any, body: Any, flags: int, before: _Way) -> list[_Way]:
        most = inf if most is op.MAXREPEAT else most
        inner = self.ways(body, flags, before)
        found: list[_Way] = [] if least else [[]]
        for way in inner:
            if most == 1:
                found.append(way)
                continue
            signs = frozenset().union(*(part.signs for part in way if part.most))
            found.append(way[: bool(least)] * (len(way) == 1) + [_Part(signs, most, repeat=True)])
            if any(part.repeat for part in way):
                found += [way, way + way]
        return found


def _signs(code: Any, argument: Any, flags: int) -> frozenset[str] | None:
    """The signs that one step of a pattern takes; None if it is more than that."""
    if code is op.LITERAL:
        signs = frozenset(chr(argument))
    elif code is op.NOT_LITERAL:
        signs = _SIGNS - {chr(argument)}
    elif code is op.ANY:
        signs = _SIGNS if flags & re.DOTALL else _SIGNS - {"\n"}
    elif code is op.IN:
        signs = frozenset().union(*map(_listed, argument))
        signs = _SIGNS - signs if argument[0][0] is op.NEGATE else signs
    else:
        return None
    if flags & re.IGNORECASE:
        return frozenset(each for each in _SIGNS if {each.lower(), each.upper()} & signs)
    return signs


def _listed(item: tuple[Any, Any]) -> frozenset[str]:
    code, argument = item
    if code is op.NEGATE:
        return frozenset()
    if code is op.RANGE:
        return frozenset(sign for sign in _SIGNS if argument[0] <= ord(sign) <= argument[1])
    return _CATEGORIES[argument] if code is op.CATEGORY else frozenset(chr(argument))


def _cost(pattern: str, flags: int = 0, *, everywhere: bool = True) -> float:
    """The most characters that one place of a text makes the pattern look at; infinite if that
    grows with the text. Two repeats that can share the same text multiply.

    Args:
        everywhere: it is tried at each place of the text, not in one alone.
    """
    tree = parser.parse(pattern, flags)
    reader = _Reader()
    ways = reader.ways(tree, tree.state.flags, [])
    return max(_cost_of(way, everywhere=everywhere) for way in ways + reader.aside)


def _cost_of(way: _Way, *, everywhere: bool) -> float:
    while way and way[-1].repeat:  # what can end anywhere is never tried again
        way = way[:-1]
    chains: dict[int, tuple[float, ...]] = {}
    for at, part in enumerate(way):
        if not part.repeat:
            continue
        chains[at] = (part.most,)
        if everywhere and all(each.fits(part.signs) for each in way[:at]):
            chains[at] = (inf, part.most) if part.most == inf else (part.most,)
        for earlier in [each for each in chains if each < at]:
            common = part.signs & way[earlier].signs
            if common and all(each.fits(common) for each in way[earlier + 1 : at]):
                chains[at] = max(chains[at], (*chains[earlier], part.most), key=_worst)
    return max((_worst(chain) for chain in chains.values()), default=1)


def _worst(chain: tuple[float, ...]) -> float:
    """One unbounded repeat passes over the text once; a second one does so at each place."""
    if chain.count(inf) > 1:
        return inf
    product = 1.0
    for most in chain:
        product *= 1 if most == inf else most
    return product


def _patterns() -> Iterator[tuple[str, str, int]]:
    for info in pkgutil.walk_packages(torchlint.__path__, "torchlint."):
        if not info.name.startswith(
            ("torchlint.verify", "torchlint.runtime", "torchlint.__main__")
        ):
            yield from _compiled_in(info.name)
    for rule in all_rules().values():
        patterns = (
            *(
                word
                for each in rule.gate.words
                for word in ((each,) if isinstance(each, str) else each)
            ),
            *rule.gate.on_demand,
            *(word for words in rule.pattern_words for word in words),
        )
        for number, text in enumerate(patterns):
            yield f"{rule.code} {number}", text.removeprefix(UNCOMMENTED), 0
        for name, text in rule.clues.items():
            yield f"{rule.code} {name}", text.removeprefix(UNCOMMENTED), 0
    rules = importlib.import_module("torchlint.rules")
    for info in pkgutil.walk_packages(rules.__path__, "torchlint.rules."):
        yield from _compiled_in(info.name)


def _compiled_in(module: str) -> Iterator[tuple[str, str, int]]:
    for name, value in vars(importlib.import_module(module)).items():
        if getattr(value, "__module__", None) == module and hasattr(value, "cache_info"):
            value = _made_by(value)
        if isinstance(value, re.Pattern):
            text = value.pattern
            flags = value.flags & (re.I | re.M | re.S | re.X)
            yield f"{module}.{name}", text if isinstance(text, str) else text.decode(), flags


def _made_by(function: Any) -> object:
    """What a cached function without parameters gives, if that is a pattern."""
    gives_pattern = "re.Pattern" in str(function.__annotations__.get("return"))
    return function() if gives_pattern and not function.__wrapped__.__code__.co_argcount else None


@pytest.mark.parametrize(
    ("pattern", "costs"),
    [
        (r"opt\w*\.step", inf),
        (r"\bopt\b\w*", 1),
        (r"\(\s*x", 1),
        (r"(?m)^\s*import", inf),
        (r"(?m)^[ \t]*import", 1),
        (r"\([^)]*\)", inf),
        (r"\([^)(]*\)", 1),
        (r"x[ ]*[ \t]*y", inf),
        (r"x(?:[ ]+)+y", inf),
        (r"x(?=.*y)z", inf),
        (r"opt\w{0,80}x", 80),
        (r"a.{0,40}b.{0,40}c", 1600),
    ],
)
def test_the_cost_of_a_pattern_is_read_off_it(pattern: str, costs: float) -> None:
    assert _cost(pattern) == costs


def test_no_pattern_takes_quadratic_time() -> None:
    costly = {
        name: (text, cost)
        for name, text, flags in dict.fromkeys(_patterns())
        if name not in _LINEAR_ALL_THE_SAME
        if (cost := _cost(text, flags, everywhere=name not in _MATCHED_IN_ONE_PLACE)) > _MOST
    }

    assert costly == {}


def test_every_exception_is_there() -> None:
    names = {name for name, _, _ in _patterns()}

    assert names >= _MATCHED_IN_ONE_PLACE.keys() | _LINEAR_ALL_THE_SAME.keys()
