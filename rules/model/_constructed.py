"""A quick check of the bytes of a file: can it create a layer with a bias, and a norm?"""

from __future__ import annotations

import re


def _made(kinds: bytes) -> re.Pattern[bytes]:
    """A pattern for calls of these classes (group 1 is the bracket), and for other mentions that
    may give them another name: `import Conv2d as C`, `conv = nn.Conv2d`."""
    return re.compile(
        rb"(?<!\w)(?<!class )(?<!def )(?:Lazy)?(?:%s)\b(?:[ \t]*(\()|(?![ \t]*[.,)]))" % kinds
    )


_LAYER = _made(rb"Conv(?:Transpose)?[123]d|Linear")
_NORM = _made(rb"(?:Batch|Instance)Norm[123]d|SyncBatchNorm|GroupNorm")
_UNPACKS = re.compile(rb"[(,]\s*\Z")
_BIAS = re.compile(rb"\bbias\s*=(?!=)\s*(True\b)?")
_TOKEN = re.compile(
    rb"""[()\[\]{}] | \#[^\n]* | '(?:[^'\\\n]|\\.)*' | "(?:[^"\\\n]|\\.)*" | \*\* | \bbias\b""",
    re.VERBOSE,
)
_LONGEST_CALL = 4000


def may_have_biased_layer(data: bytes) -> bool:
    """False if the file makes no norm, or if it tells every layer about its bias."""
    if _NORM.search(data) is None:
        return False
    return any(made[1] is None or _is_biased(data, made.end()) for made in _LAYER.finditer(data))


def _is_biased(data: bytes, start: int) -> bool:
    """Whether the arguments that begin at `start` leave the bias on, as far as the text shows."""
    depth = 1
    for token in _TOKEN.finditer(data, start, start + _LONGEST_CALL):
        text = token.group()
        if text in (b"(", b"[", b"{"):
            depth += 1
        elif text in (b")", b"]", b"}"):
            depth -= 1
            if depth == 0:
                return True
        elif depth == 1 and text == b"**":
            if _UNPACKS.search(data, start - 1, token.start()):
                return False
        elif depth == 1 and text == b"bias":
            passed = _BIAS.match(data, token.start())
            if passed is not None and passed[1] is None:
                return False
    return True
