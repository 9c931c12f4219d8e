"""The blocks that `# torchlint: disable[...]` and `# torchlint: enable[...]` stand around."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torchlint.suppressions.comments import Comment, LogicalLine

    _Open = dict[int, dict[frozenset[str], list[Comment]]]
    """The comments without an end so far, by their indentation and what they silence."""

_PAIR: Final = ("disable", "enable")


def pair(comments: Iterable[Comment], lines: Sequence[LogicalLine]) -> None:
    """Finds where the block of each `disable` ends, and what is wrong with those and `enable`.

    The block ends at the `enable` with the same rules and the same indentation, else with the
    block of code around it.
    """
    open_: _Open = {}
    indents = [0]
    done = 0
    ends = lines[-1].last if lines else 0
    for comment in comments:
        if comment.word not in _PAIR or comment.fault is not None:
            continue
        if not comment.alone or comment.nested:
            comment.fault = "place"
            continue
        while done < len(lines) and lines[done].first < comment.row:
            _close_deeper(open_, lines[done], indents)
            done += 1
        below = lines[done].indent if done < len(lines) else 0
        if comment.indent < below or comment.indent not in (below, *indents):
            comment.fault = "indent"
            continue
        same = open_.setdefault(comment.indent, {}).setdefault(comment.selectors, [])
        if comment.word == "disable":
            same.append(comment)
        elif same:
            begun = same.pop()
            begun.last, begun.partner = comment.row, comment
            comment.partner = begun
        else:
            comment.fault = "unopened"
    for line in lines[done:]:
        _close_deeper(open_, line, indents)
    for names in open_.values():
        _close(names, ends)


def _close_deeper(open_: _Open, line: LogicalLine, indents: list[int]) -> None:
    """Ends the blocks of code that a line is no longer part of."""
    for indent in [each for each in open_ if each > line.indent]:
        _close(open_.pop(indent), line.first - 1)
    while indents[-1] > line.indent:
        indents.pop()
    if indents[-1] < line.indent:
        indents.append(line.indent)


def _close(names: dict[frozenset[str], list[Comment]], last: int) -> None:
    for comments in names.values():
        for comment in comments:
            comment.last, comment.fault = max(last, comment.row), "unclosed"
