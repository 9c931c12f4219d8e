"""What may be written inside formatted strings, in every version of Python."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.once import once

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

_NEW_IN_3_12 = "\\\r\n#"


def requoted(module: Module, offset: int, content: str) -> str:
    """The code with the quotes that it can have at an offset: others than those of an f-string
    around it."""
    quotes = _quotes_around(module, offset)
    if len(quotes) == 1:
        (other,) = set("\"'") - quotes
        if other not in content:
            return content.replace(min(quotes), other)
    return content


def fits_in_string(module: Module, offset: int, content: str) -> bool:
    """Whether code can be put at an offset: f-strings hold their own quotes since Python 3.12."""
    quotes = _quotes_around(module, offset)
    return not quotes or quotes.union(_NEW_IN_3_12).isdisjoint(content)


def _quotes_around(module: Module, offset: int) -> set[str]:
    """The quotes of the f-string around an offset, and of those inside it."""
    strings = _formatted(module)
    last = bisect_left(strings, offset, key=lambda each: each[0]) - 1
    return strings[last][2] if last >= 0 and offset < strings[last][1] else set()


@once
def _formatted(module: Module) -> list[tuple[int, int, set[str]]]:
    """Where each f-string that is in no other one starts and ends, and which quotes it has."""
    spans: list[tuple[int, int, set[str]]] = []
    every: list[cst.FormattedString | cst.TemplatedString] = [
        *module.nodes(cst.FormattedString),
        *module.nodes(cst.TemplatedString),
    ]
    for node in sorted(every, key=module.order):
        start, end = module.offsets(node)
        if spans and start < spans[-1][1]:
            spans[-1][2].add(node.end[0])
        else:
            spans.append((start, end, {node.end[0]}))
    return spans
