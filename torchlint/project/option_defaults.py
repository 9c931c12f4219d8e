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
_DEFAULT = r"(?:default\s?=)?"
_SETTINGS = (
    r"(?m:^)[ \t]*(?:import|from)\s(?:hydra|omegaconf|yaml|ruamel|jsonargparse|gin|toml|tomllib)\b|"
    r"\bLightningCLI\("
)
"""A program that reads such files may take the values of its fields from there."""
_TARGET = r"(?m:^)[ \t]*(?:[\w.]{1,60}\.)?"


def is_zero_by_default(
    name: str, paths: Collection[str], search: WordSearch, *, fallback: bool
) -> bool:
    """Whether files say that an option is 0 unless it is given, and none says anything else.

    Args:
        name: the option, an identifier.
        fallback: it is 0 where no file says so.
    """
    flag, field, other = _patterns(name)

    def found(pattern: str) -> bool:
        return any(search.matches(path, pattern) for path in paths)

    if not found(flag) and (found(_SETTINGS) or not (fallback or found(field))):
        return False
    return not found(other)


@cache
def _patterns(name: str) -> tuple[str, str, str]:
    """What sets an option of the command line to 0, what sets a field or a parameter to 0, and what
    sets them to anything else."""
    escaped = re.escape(name)
    dashed = escaped.replace("_", "[-_]")
    key = rf"[\"']{escaped}[\"']"
    option = rf"[\"']--?{dashed}[\"'](?:(?!add_argument|option\()[^\0]){{0,250}}?\bdefault\s?="
    declared = rf"\b{escaped}\s?:\s?[\w.\[\]| ]{{1,40}}="
    absl = rf"DEFINE_integer\(\s{{0,40}}{key},"
    places = ((option, ""), (absl, _DEFAULT), (declared, _MAKERS), (rf"{key}\s?:", ""))
    flag, absl, *fields = (rf"{place}\s{{0,40}}{maker}{_ZERO}" for place, maker in places)
    fields += (
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
        rf"\b{escaped}\s?=\s?[1-9]",
    )
    return f"{flag}|{absl}", "|".join(fields), "|".join(other)
