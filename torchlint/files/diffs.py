"""A unified diff that `git apply` takes, over bytes: no encoding is guessed."""

from __future__ import annotations

import os
import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

_T = TypeVar("_T")
_H = TypeVar("_H", bound="Hashable")
_CONTEXT = 3
_ESCAPES = {
    7: b"\\a",
    8: b"\\b",
    9: b"\\t",
    10: b"\\n",
    11: b"\\v",
    12: b"\\f",
    13: b"\\r",
    34: b'\\"',
    92: b"\\\\",
}
_SIGNS = {escape: bytes([byte]) for byte, escape in _ESCAPES.items()}
_ESCAPE = re.compile(rb'\\(?:[0-7]{3}|[abtnvfr"\\])')
Change = tuple[int, int, int, int]
"""Lines `i:j` of the old file become lines `k:l` of the new one."""


def unified(path: str, before: bytes, after: bytes, *, context: int = _CONTEXT) -> bytes:
    """The diff of one file, with the names `a/path` and `b/path`; empty if nothing differs.

    Args:
        context: how many equal lines to show around what differs.
    """
    old, new = _lines(before), _lines(after)
    groups = _groups(changed_lines(old, new), context)
    hunks = b"".join(_hunk(group, old, new, context) for group in groups)
    if not hunks:
        return b""
    name = os.path.normpath(path).replace(os.sep, "/").lstrip("/")
    a, b = _quoted(f"a/{name}"), _quoted(f"b/{name}")
    # git ends a name that holds a blank with a tab, since it looks for a time stamp after it.
    tab = b"\t" if " " in name and not a.startswith(b'"') else b""
    # Without a line `diff --git`, below which git takes names from the top of the repository, and
    # skips without a word what it does not find in the folder where it runs.
    return b"--- %b%b\n+++ %b%b\n%b" % (a, tab, b, tab, hunks)


def rows_before(rows: Iterable[int], before: bytes, after: bytes) -> list[int]:
    """The rows in the old file of rows of the new one, from 1; for a changed line, that of the
    line that it was made of."""
    changes = changed_lines(before.splitlines(keepends=True), after.splitlines(keepends=True))
    return [_row_before(row, changes) for row in rows]


def _row_before(row: int, changes: Sequence[Change]) -> int:
    shift = 0
    for first, end, start, stop in changes:
        if row <= start:
            break
        if row <= stop:
            return max(1, min(first + row - start, end))
        shift = end - stop
    return row + shift


def _lines(data: bytes) -> list[bytes]:
    """Lines as git has them: they end at a newline and nowhere else."""
    lines = data.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def changed_lines(old: Sequence[_H], new: Sequence[_H]) -> list[Change]:
    """What differs; fixes touch a few lines of a file, so the ends are cut off first."""
    head, tail = common_ends(old, new)
    matcher = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail])
    return [
        (i + head, j + head, k + head, m + head)
        for tag, i, j, k, m in matcher.get_opcodes()
        if tag != "equal"
    ]


def common_ends(old: Sequence[_T], new: Sequence[_T]) -> tuple[int, int]:
    """How many items at the beginning, and of the others at the end, are the same."""
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    rest = range(shorter - head)
    tail = next((at for at in rest if old[-1 - at] != new[-1 - at]), shorter - head)
    return head, tail


def _groups(changes: Sequence[Change], context: int) -> Iterator[list[Change]]:
    """Changes that are near enough to share a hunk."""
    group: list[Change] = []
    for change in changes:
        if group and change[0] - group[-1][1] > 2 * context:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _hunk(
    group: Sequence[Change], old: Sequence[bytes], new: Sequence[bytes], context: int
) -> bytes:
    first, last = group[0], group[-1]
    lead = min(context, first[0])
    start, end = first[0] - lead, min(last[1] + context, len(old))
    other_start, other_end = first[2] - lead, last[3] + end - last[1]
    parts = [b"@@ -%b +%b @@\n" % (_range(start, end), _range(other_start, other_end))]
    here = start
    for i, j, k, m in group:
        parts += _marked(b" ", old[here:i])
        parts += _marked(b"-", old[i:j])
        parts += _marked(b"+", new[k:m])
        here = j
    parts += _marked(b" ", old[here:end])
    return b"".join(parts)


def _range(start: int, end: int) -> bytes:
    count = end - start
    first = start + 1 if count else start
    return b"%d" % first if count == 1 else b"%d,%d" % (first, count)


def _marked(sign: bytes, lines: Sequence[bytes]) -> Iterator[bytes]:
    for line in lines:
        yield sign + line
        if not line.endswith(b"\n"):
            yield b"\n\\ No newline at end of file\n"


def _quoted(name: str) -> bytes:
    """A name as git writes it with `core.quotePath` at its default."""
    data = os.fsencode(name)
    if all(32 <= byte < 127 and byte not in b'"\\' for byte in data):
        return data
    signs = (
        _ESCAPES.get(byte) or (b"\\%03o" % byte if byte < 32 or byte > 126 else bytes([byte]))
        for byte in data
    )
    return b'"' + b"".join(signs) + b'"'


def unquoted(name: bytes) -> bytes:
    """What stands between the quotes of a name that git has quoted, as it is."""

    def sign(found: re.Match[bytes]) -> bytes:
        escape = found[0]
        return _SIGNS.get(escape) or bytes([int(escape[1:], 8) & 0xFF])

    return _ESCAPE.sub(sign, name)
