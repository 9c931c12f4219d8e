"""What the text of a program says about the default of an option: of a command line, a dataclass, a
parameter or a dict of settings."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from torchlint.project.word_search import WordSearch

_MAKERS = r"(?:(?:\w{1,40}\.)?(?:field|Field|Option|Argument)\(\s{0,40}(?:default\s?=\s?)?)?"
_ZERO = r"0\s{0,40}(?:[,)#\n}]|\Z)"
_CHOOSES = r"(?:\bor\b|\bif\b|cpu_count|max\((?!\s?0\b))"
_TARGET = r"(?m:^)[ \t]*(?:[\w.]{1,60}\.)?"


def is_zero_by_default(
    name: str, paths: Collection[str], search: WordSearch, *, fallback: bool, passed: bool
) -> bool:
    """Whether files say that an option is 0 unless it is given, and none says anything else.

    Args:
        name: the option, an identifier.
        fallback: it is 0 where no file says so.
        passed: it may be the keyword of a call, too.
    """
    zero, other, given = _patterns(name)
    if not fallback and not any(search.matches(path, zero) for path in paths):
        return False
    refused = f"{other}|{given}" if passed else other
    return not any(search.matches(path, refused) for path in paths)


@cache
def _patterns(name: str) -> tuple[str, str, str]:
    """What sets an option to 0, what sets it to anything else, and what passes a number for it."""
    escaped = re.escape(name)
    flag = escaped.replace("_", "[-_]")
    key = rf"[\"']{escaped}[\"']"
    option = rf"[\"']--?{flag}[\"'](?:(?!add_argument|option\()[^\0]){{0,250}}?\bdefault\s?="
    declared = rf"\b{escaped}\s?:\s?[\w.\[\]| ]{{1,40}}="
    absl = rf"DEFINE_integer\(\s{{0,40}}{key},"
    places = ((option, ""), (declared, _MAKERS), (rf"{key}\s?:", ""), (absl, r"(?:default\s?=)?"))
    zero = (
        *(rf"{place}\s{{0,40}}{maker}{_ZERO}" for place, maker in places),
        rf"{_TARGET}{escaped}\s?=\s?0[ \t]*(?:#|(?m:$))",
        rf"\bdef \w{{1,60}}\([^()]{{0,250}}\b{escaped}\s?=\s?{_ZERO}",
    )
    unlike = r"(?!=)(?!\s?0[ \t]*(?:#|(?m:$)))"
    same = rf"(?![^\n]{{0,200}}\b{escaped}\b)"
    other = (
        *(rf"{place}(?!\s{{0,40}}{maker}{_ZERO})" for place, maker in places if place[-1] != ":"),
        rf"{key}\s?:(?!\s{{0,40}}{_ZERO})\s{{0,40}}[\d(]",
        rf"{_TARGET}{escaped}\s?={unlike}{same}[^\n]{{1,200}}(?<![,(\[])(?m:$)",
        rf"{_TARGET}{escaped}\s?=(?!=)[^\n]{{0,200}}{_CHOOSES}",
    )
    return "|".join(zero), "|".join(other), rf"\b{escaped}\s?=\s?[1-9]"
