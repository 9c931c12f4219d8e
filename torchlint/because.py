"""Why a question about code has its answer, for a user who asks `torchlint why`."""

from __future__ import annotations

from typing import TypeVar

_T = TypeVar("_T")


class Unlike(str):
    """A sentence about code that is clearly not what a rule looks for: it is shown if that rule is
    asked for, and does not count as a near miss."""

    __slots__ = ()


def because(answer: _T, sentence: str, *places: object) -> _T:  # noqa: ARG001
    """`answer`, unchanged: a check pays for the call and nothing else.

    `torchlint why` watches the calls of this function while it asks a rule about a line, and says
    the sentence of the last one before the rule fell silent. So call it where the answer is given,
    and not in what is computed once per file (`analysis.once`, a cached property), which the second
    line that is asked about does not compute again.

    Args:
        sentence: one fact in the words of users, without code of torchlint: `"the sum starts again
            in each round, in {:line}"`. Each `{}` is replaced by one of the places: code in the
            file with its line (`{:code}` and `{:line}`: only one of them), a text or a number as it
            is, or a `Fact` or a `Clue` with its file and line.
        places: the nodes, texts, numbers, facts and clues that the sentence mentions, in order.
    """
    return answer
