"""Plain words that a regular expression cannot match without: `in` is far quicker than `re`."""

from __future__ import annotations

from typing import Final

_SHORTEST: Final = 3
_QUANTIFIERS: Final = "*?{"
Needles = frozenset[str]


def needles(pattern: str) -> list[Needles]:
    """Sets of words: of each, at least one is part of every match of `pattern`. The one with the
    longest words is the first.

    The reading is cautious: what it does not understand it treats as matching anything.
    """
    if "(?i" in pattern or "(?x" in pattern:
        return []
    parts = branches(pattern)
    if len(parts) == 1:
        return sorted(_of_branch(pattern), key=_shortest, reverse=True)
    words: set[str] = set()
    for part in parts:
        best = max(_of_branch(part), key=_shortest, default=None)
        if best is None:
            return []
        words |= best
    return [frozenset(words)]


def branches(pattern: str) -> list[str]:
    """The alternatives at the top level of a pattern."""
    parts, start, index = [], 0, 0
    while index < len(pattern):
        if pattern[index] == "|":
            parts.append(pattern[start:index])
            start = index + 1
        index = _after_atom(pattern, index)
    parts.append(pattern[start:])
    return parts


def _after_atom(pattern: str, index: int) -> int:
    """Where the atom at `index` ends: an escape, a set, a group or a character."""
    char = pattern[index]
    if char == "\\":
        return index + 2
    if char == "[":
        end = index + 2 if pattern[index + 1 : index + 2] != "^" else index + 3
        while end < len(pattern) and pattern[end] != "]":
            end += 2 if pattern[end] == "\\" else 1
        return end + 1
    if char == "(":
        end = index + 1
        while end < len(pattern) and pattern[end] != ")":
            end = _after_atom(pattern, end)
        return end + 1
    return index + 1


def _of_branch(branch: str) -> list[Needles]:
    """What each match of a sequence of atoms needs, without words that are in most files."""
    candidates: list[Needles] = []
    run = ""
    index = 0
    while index < len(branch):
        end = _after_atom(branch, index)
        atom = branch[index:end]
        optional = branch[end : end + 1] != "" and branch[end] in _QUANTIFIERS
        literal = _literal(atom)
        if literal is not None and not optional:
            run += literal
        else:
            candidates.append(frozenset({run}))
            run = ""
            if atom.startswith("(") and not optional:
                candidates += _of_group(atom)
        if branch[end : end + 1] in ("+", "*", "?", "{") and branch[end : end + 1]:
            candidates.append(frozenset({run}))
            run = ""
            closing = branch.find("}", end) if branch[end] == "{" else end
            end = closing + 1
            if branch[end : end + 1] == "?":
                end += 1
        index = end
    candidates.append(frozenset({run}))
    return [words for words in candidates if _shortest(words) >= _SHORTEST]


def _shortest(words: Needles) -> int:
    return min(map(len, words))


def _literal(atom: str) -> str | None:
    """The character that an atom matches, if it matches exactly one."""
    if atom.startswith("\\"):
        return atom[1] if len(atom) == 2 and not atom[1].isalnum() else None
    return atom if len(atom) == 1 and atom not in ".^$" else None


def _of_group(atom: str) -> list[Needles]:
    body = atom[1:-1]
    if not body.startswith("?"):
        return needles(body)
    if body.startswith(("?=", "?!", "?<=", "?<!")):
        return []
    if body.startswith("?P<"):
        return needles(body.partition(">")[2])
    flags, colon, rest = body.partition(":")
    return needles(rest) if (colon and flags[1:].isalpha()) or flags == "?" else []
