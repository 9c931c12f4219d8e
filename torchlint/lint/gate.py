"""Which files are worth parsing: words in the bytes, before anything is imported or parsed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlint.lint.rule import Rule

_MENTION = re.compile(rb"torch|lightning|accelerate")
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#;]*)|import[ \t]+([^\n#;]+))",
    re.MULTILINE,
)
_WORD = re.compile(rb"[.\w]+")


def mentions_torch(data: bytes) -> bool:
    """Whether any rule at all can have something to say about a file with these bytes."""
    return _MENTION.search(data) is not None


@dataclass(frozen=True, slots=True)
class Skim:
    """What a file shows without being parsed.

    `imports` are the dotted names it imports, with leading dots for relative ones; `clues` the
    names of the rules' clues that it contains.
    """

    codes: tuple[str, ...]
    clues: frozenset[str]
    imports: tuple[str, ...]


def skim(data: bytes, rules: Sequence[Rule], *, woken: bool = False) -> Skim:
    """The codes of the rules that want to see a file, and what else its bytes show.

    Args:
        woken: hot code of another file leads here, so that `Rule.wakes` counts too.
    """
    codes = []
    clues = set()
    for rule in rules:
        if _wanted(rule, data) or (woken and rule.wakes and _all_found(rule.wakes, data)):
            codes.append(rule.code)
        for name, pattern in rule.clues.items():
            if _compiled(pattern).search(data):
                clues.add(name)
    return Skim(tuple(codes), frozenset(clues), tuple(imports(data)))


def _wanted(rule: Rule, data: bytes) -> bool:
    if not rule.triggers or not _all_found(rule.triggers, data):
        return False
    return rule.candidate is None or rule.candidate(data)


def _all_found(patterns: tuple[str, ...], data: bytes) -> bool:
    return all(_compiled(pattern).search(data) for pattern in patterns)


@cache
def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode())


def imports(data: bytes) -> list[str]:
    """The dotted names that a file imports, read off its lines; strings may add a few."""
    found: dict[str, None] = {}
    for match in _IMPORT.finditer(data):
        source, names, plain = match.groups()
        if plain is not None:
            for part in plain.split(b","):
                word = _WORD.search(part)
                if word:
                    found[word.group().decode("utf-8", "replace")] = None
            continue
        base = source.decode("utf-8", "replace")
        found[base] = None
        joint = "" if base.endswith(".") else "."
        for part in names.strip(b"()").split(b","):
            word = _WORD.search(part)
            if word:
                found[f"{base}{joint}{word.group().decode('utf-8', 'replace')}"] = None
    return list(found)
