"""What people write next to code about it."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.once import once
from torchlint.analysis.places import line_end, line_start, next_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.analysis.module import Module

_COMMENT = re.compile(r"#(?!\s*(?:torchlint|noqa|type|pylint|pyright|fmt|ruff|yapf|pragma)\b)")
"""A comment for people, not one for a tool."""
_TEXTS = (cst.SimpleString, cst.FormattedStringText, cst.TemplatedStringText)


def has_comment(node: cst.CSTNode, module: Module) -> bool:
    """Whether there is a comment on the lines of a node, or right above: somebody gives a
    reason."""
    start, end = module.offsets(node)
    start = line_start(module, start)
    above = module.text[line_start(module, max(0, start - 1)) : start]
    if above.lstrip().startswith("#"):
        start -= len(above)
    return _COMMENT.search(module.text, start, next_line(module, end)) is not None


def is_for_people(comment: str) -> bool:
    """Whether a comment says something that is true without the code that it follows."""
    return _COMMENT.match(comment) is not None


def comments_in(module: Module, start: int, end: int) -> Iterator[str]:
    """The comments that begin between two offsets."""
    here = start
    while (here := module.text.find("#", here, end)) >= 0:
        text = _texts(module)
        last = bisect_right(text, (here, len(module.text))) - 1
        if last >= 0 and here < text[last][1]:
            here = text[last][1]
            continue
        yield module.text[here : line_end(module, here)].rstrip()
        here = line_end(module, here)


@once
def _texts(module: Module) -> list[tuple[int, int]]:
    """The offsets of all text in strings."""
    return sorted(map(module.offsets, module.nodes(*_TEXTS)))
