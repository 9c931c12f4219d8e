"""A search as a comment on a pull request: a table in Markdown."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import duration, percent
from torchlint.report.terminal.safe_text import visible
from torchlint.report.tune import tune_words as words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlint.tune.tune_result import TuneResult

_SIGNS: Final = re.compile(r"([\\`*_{}\[\]<>()#+!|~@&])")
_MOST: Final = 20
"""Changes that did not help."""


def render(result: TuneResult) -> str:
    """The comment. What comes from the program is escaped, so that it makes no markup and calls
    nobody."""
    program = f"`torchlint tune {_code(shlex.join(result.argv))}`"
    spent = f" took {duration(result.seconds)}" if result.seconds >= 1 else ""
    facts = " · ".join(words.answer(result))
    lines = [f"**{facts}**", ""] if facts and result.is_faster else []
    summary = result.summary.partition("\n")[0]
    lines += [_text(summary), ""] if summary else []
    kept = [
        [words.worth(result, each), _place(each.path, each.row), _text(each.message)]
        for each in result.kept
    ]
    lines += _table(("slower without it", "place", "change"), kept)
    vain = words.tried_in_vain(result)
    rows = [[_text(each.name), _text(words.why_not(each))] for each in vain[:_MOST]]
    if rows:
        lines += ["<details><summary>Tried, and not kept</summary>", ""]
        lines += [*_table(("change", "what became of it"), rows), "</details>", ""]
    noise = f", noise {percent(result.noise.floor)}" if result.noise is not None else ""
    machine = f"{result.environment.processors} processors, {_text(result.environment.device)}"
    return "\n".join([*lines, f"{program}{spent} on {machine}{noise}.", ""])


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    if not rows:
        return []
    head = [titles, ["---"] * len(titles)]
    return [*(f"| {' | '.join(row)} |" for row in (*head, *rows)), ""]


def _place(path: str, row: int) -> str:
    return f"`{_code(path)}:{row}`"


def _text(text: str) -> str:
    """Text of which no sign is markup, on one line."""
    return _SIGNS.sub(r"\\\1", " ".join(visible(text).split()))


def _code(text: str) -> str:
    """Text between backticks, without any of its own; a bar would end a cell of a table."""
    return " ".join(visible(text).replace("`", "'").replace("|", "¦").split())
