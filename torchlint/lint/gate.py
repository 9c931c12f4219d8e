"""Which files are worth parsing: words in the bytes, before anything is imported or parsed."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from torchlint.lint.needles import needles

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlint.lint.rule import Rule

_MENTION = re.compile(rb"torch|lightning|accelerate")
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#;]*)|import[ \t]+([^\n#;]+))",
    re.MULTILINE,
)
ACCELERATED = (
    r"\.cuda\(|'cuda|\"cuda|torch\.cuda\.[A-Z]|Accelerator\(|Fabric\(|accelerator\s*=\s*['\"]gpu|"
    r"\bgpus\s*=|\.to\((?:self\.|args\.|cfg\.|config\.)?device"
)
UNCOMMENTED = r"(?m)^[^#\n]*"
"""A pattern that starts so is looked for without it, and its line then searched for a `#`."""
_WORD = re.compile(rb"[.\w]+")


def mentions_torch(data: bytes) -> bool:
    """Whether any rule at all can have something to say about a file with these bytes."""
    return _MENTION.search(data) is not None


def wanted_by(data: bytes, rules: Iterable[Rule], *, woken: bool = False) -> list[str]:
    """The codes of the rules that want to see a file with these bytes.

    Args:
        woken: hot code of another file leads here, so that `Rule.wakes` counts too.
    """
    return [
        rule.code
        for rule in rules
        if _wanted(rule, data) or (woken and rule.wakes and _all_found(rule.wakes, data))
    ]


def _wanted(rule: Rule, data: bytes) -> bool:
    if not rule.triggers or not _all_found(rule.triggers, data):
        return False
    return rule.candidate is None or rule.candidate(data)


def _all_found(patterns: tuple[str, ...], data: bytes) -> bool:
    return all(matches(pattern, data) for pattern in patterns)


def matches(pattern: str, data: bytes) -> bool:
    """Whether a rule's pattern is found in a file."""
    words, expression = _compiled(pattern)
    if words and not any(word in data for word in words):
        return False
    if not pattern.startswith(UNCOMMENTED):
        return expression.search(data) is not None
    return any(
        b"#" not in data[data.rfind(b"\n", 0, match.start()) + 1 : match.start()]
        for match in expression.finditer(data)
    )


@cache
def _compiled(pattern: str) -> tuple[tuple[bytes, ...], re.Pattern[bytes]]:
    """Plain words to look for first, since that is far quicker, and the expression itself."""
    words = needles(pattern) or ()
    expression = re.compile(pattern.removeprefix(UNCOMMENTED).encode())
    return tuple(word.encode() for word in sorted(words)), expression


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
