"""A look at the bytes of a file: can it make a layer with a bias, and a norm?"""

from __future__ import annotations

import re

_LAYER = rb"(?:Lazy)?(?:Conv(?:Transpose)?[123]d|Linear)"
_NORM = rb"(?:(?:Lazy)?(?:Batch|Instance)Norm[123]d|SyncBatchNorm|GroupNorm)"
_TOKEN = re.compile(
    rb"""[()\[\]{}] | \#[^\n]* | '''.*?''' | \"""(?s:.*?)\""" | '(?:[^'\\\n]|\\.)*'
    | "(?:[^"\\\n]|\\.)*" | \*\* | \bbias\s*=\s*(?P<off>(?!=|True\b))?""",
    re.VERBOSE,
)
_LONGEST_CALL = 4000


def may_have_biased_layer(data: bytes) -> bool:
    """False if the file makes no norm, or if all its layers are told about their bias."""
    return _made(_NORM, data) is not None and _any_biased(data)


def _names(kind: bytes, data: bytes) -> bytes:
    """A pattern for a kind of layer and for what this file calls it: `import Conv2d as C`,
    `conv = nn.Conv2d`, `norm = BN`."""
    known: set[bytes] = set()
    pattern = kind
    while True:
        imported = re.findall(rb"\b" + pattern + rb"\s+as\s+(\w+)", data)
        bound = re.findall(
            rb"^[ \t]*(\w+)[ \t]*(?::[^=\n]*)?=[^=\n(]*\(?[^=\n(]*\b" + pattern + rb"\b(?!\s*[(.,])",
            data,
            re.MULTILINE,
        )
        found = known | {*imported, *bound}
        if found == known:
            return pattern
        known = found
        pattern = rb"(?:" + b"|".join([kind, *map(re.escape, sorted(known))]) + rb")"


def _made(kind: bytes, data: bytes) -> re.Match[bytes] | None:
    return re.search(rb"(?<!class )\b" + _names(kind, data) + rb"\s*\(", data)


def _any_biased(data: bytes) -> bool:
    calls = re.compile(rb"(?<!class )(?<!def )\b" + _names(_LAYER, data) + rb"\s*\(")
    return any(_is_biased(data, call.end()) for call in calls.finditer(data))


def _is_biased(data: bytes, start: int) -> bool:
    """Whether the arguments that begin at `start` leave the bias on, as far as one can see."""
    depth = 1
    for token in _TOKEN.finditer(data, start, start + _LONGEST_CALL):
        text = token.group()
        if text in (b"(", b"[", b"{"):
            depth += 1
        elif text in (b")", b"]", b"}"):
            depth -= 1
            if depth == 0:
                return True
        elif depth == 1 and (text == b"**" or token.group("off") is not None):
            return False
    return True
