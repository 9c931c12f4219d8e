"""A quick check of the bytes of a file: can it create a layer with a bias, and a norm?"""

import re
from collections.abc import Iterator

from torchlint.rule import because

_LAYER = re.compile(rb"(?:Conv(?:Transpose)?[123]d|Linear)\b")
_NORMS = rb"(?:(?:Batch|Instance)Norm[123]d|SyncBatchNorm|GroupNorm)"
_NORM = re.compile(_NORMS + rb"\b")
_AFTER = re.compile(rb"[ \t]*(?:(\()|as[ \t]+(\w+))?")
_DEFINES = re.compile(rb"\b(?:class|def)[ \t]+\Z")
_WORD_BEFORE = re.compile(rb"\w*\Z")
_NAMED = re.compile(
    rb"(?<![\w.])(\w{1,60})[ \t]{0,9}(?::[^=,()\n]{0,60})?=[ \t(\\\r\n]{0,40}[\w.]{0,60}\Z"
)
_UNPACKS = re.compile(rb"[(,]\s*\Z")
_BIAS = re.compile(rb"\bbias\s*=(?!=)[\s(]*(True\b|#)?")
_PASSED = re.compile(rb"[(,]\s*[\w.]{0,60}" + _NORMS + rb"\s*[,)]")
_TOKEN = re.compile(
    rb"""[()\[\]{}] | \#[^\n]* | '(?:[^'\\\n]|\\.)*' | "(?:[^"\\\n]|\\.)*" | \*\* | \bbias\b""",
    re.VERBOSE,
)
_LONGEST_CALL = 4000
_LONGEST_NAME = 240


def may_have_biased_layer(data: bytes) -> bool:
    """False if the file neither creates a norm nor passes the class of one by its position, or
    passes `bias` to every layer.

    Other names for a layer count: `import Conv2d as C`, `conv = nn.Conv2d`, and parameters that
    have it as their default.
    """
    if next(_calls(_NORM, data), None) is None and _PASSED.search(data) is None:
        return because(False, "the file creates no norm that subtracts the mean of a channel")
    if any(_is_biased(data, start) for start in _calls(_LAYER, data)):
        return True
    return because(False, "the file passes `bias` to each convolution and linear layer")


def _calls(
    kind: re.Pattern[bytes], data: bytes, seen: frozenset[bytes] = frozenset()
) -> Iterator[int]:
    """Where the arguments of each call begin, also under aliases in the file."""
    aliases: set[bytes] = set()
    for mention in kind.finditer(data):
        after = _AFTER.match(data, mention.end())
        assert after is not None
        before = data[max(0, mention.start() - _LONGEST_NAME) : mention.start()]
        word, named = _WORD_BEFORE.search(before), _NAMED.search(before)
        if word is not None and word.group() not in (b"", b"Lazy"):
            continue
        if after[1] is not None:
            if not _DEFINES.search(before):
                yield after.end()
        elif after[2] is not None or named is not None:
            aliases.add(after[2] or (named[1] if named else b""))
    for alias in sorted(aliases - seen):
        yield from _calls(re.compile(re.escape(alias) + rb"\b"), data, seen | aliases)


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
