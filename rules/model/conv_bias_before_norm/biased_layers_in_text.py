"""A quick check of the bytes of a file: can it create a layer with a bias, and a norm?"""

import re
from collections.abc import Iterator

from torchlint.rule import because

_LAYER = re.compile(rb"(?:Conv(?:Transpose)?[123]d|Linear)\b")
_NORM = re.compile(rb"(?:(?:Batch|Instance)Norm[123]d|SyncBatchNorm|GroupNorm)\b")
_AFTER = re.compile(rb"[ \t]*(?:(?P<call>\()|as[ \t]+(?P<alias>\w+)|(?P<other>[.,)]))?")
_DEFINES = re.compile(rb"\b(?:class|def)[ \t]+$")
_WORD_BEFORE = re.compile(rb"\w*$")
_ASSIGNS = re.compile(rb"[ \t]*(\w+)[ \t]*(?::[^=]*)?=[^=].*$", re.DOTALL)
_DEFAULT = re.compile(rb"(\w{1,60})[ \t]{0,9}(?::[^=,()]{0,60})?=[ \t]{0,9}[\w.]{0,60}$")
_GOES_ON = re.compile(rb"[(=\\][ \t]*\r?\n\Z")
_UNPACKS = re.compile(rb"[(,]\s*\Z")
_BIAS = re.compile(rb"\bbias\s*=(?!=)\s*(True\b)?")
_TOKEN = re.compile(
    rb"""[()\[\]{}] | \#[^\n]* | '(?:[^'\\\n]|\\.)*' | "(?:[^"\\\n]|\\.)*" | \*\* | \bbias\b""",
    re.VERBOSE,
)
_LONGEST_CALL = 4000
_LONGEST_LINE = 400


def may_have_biased_layer(data: bytes) -> bool:
    """False if the file creates no norm, or passes `bias` to every layer.

    Other names for a layer count: `import Conv2d as C`, `conv = nn.Conv2d`, and parameters that it
    is passed for or that have it as their default.
    """
    if next(_calls(_NORM, data), None) is None:
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
        before = _line_before(data, mention.start())
        word = _WORD_BEFORE.search(before)
        if word is not None and word.group() not in (b"", b"Lazy"):
            continue
        if after["call"] is not None:
            if not _DEFINES.search(before):
                yield after.end()
        elif after["alias"] is not None:
            aliases.add(after["alias"])
        else:
            is_whole = after["other"] is None
            assigned = _ASSIGNS.match(before) if is_whole else _DEFAULT.search(before)
            if assigned is not None:
                aliases.add(assigned[1])
    for alias in sorted(aliases - seen):
        yield from _calls(re.compile(re.escape(alias) + rb"\b"), data, seen | aliases)


def _line_before(data: bytes, end: int) -> bytes:
    """The statement before `end`, including continued lines."""
    start = data.rfind(b"\n", max(end - _LONGEST_LINE, 0), end) + 1
    while _GOES_ON.search(data, max(start - _LONGEST_LINE, 0), start):
        if end - start > _LONGEST_LINE:
            break
        start = data.rfind(b"\n", 0, start - 1) + 1
    return data[max(start, end - _LONGEST_LINE) : end]


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
