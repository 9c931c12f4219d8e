"""The page of a search: how much faster, the ladder of changes, where a step goes, the patch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from torchlint.experiment.figures import milliseconds
from torchlint.report.measured import measured_page
from torchlint.report.measured.axes import StepLane
from torchlint.report.tune import tune_words as words
from torchlint.report.tune.tune_json import document
from torchlint.report.verify.verification_page import diff_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.tune.tune_result import TriedChange, TuneResult


def render(result: TuneResult) -> str:
    """The page. All that comes from the program is escaped, and its hidden characters are shown."""
    lines, more = diff_lines(result.diff)
    return measured_page.render(
        "tune",
        "tune.html.jinja",
        document(result),
        result=result,
        measured=True,
        following=words.following(result),
        words=words,
        ladder=list(_ladder(result)),
        steps=list(_steps(result)),
        lines=lines,
        more=more,
        in_vain=words.tried_in_vain(result),
        not_tried=words.not_tried(result),
        first_step=_first_step(result),
    )


def _ladder(result: TuneResult) -> Iterator[tuple[TriedChange, float]]:
    """Each change that is kept, with its share of the whole gain in logarithms."""
    logs = [max(0.0, math.log(words.gain(result, each) or 1.0)) for each in result.kept]
    whole = max([*logs, 1e-9])
    yield from zip(result.kept, (each / whole for each in logs), strict=True)


def _steps(result: TuneResult) -> Iterator[tuple[str, list[StepLane]]]:
    """A step before and after, by what it goes into."""
    for name, parts in zip(("before", "after"), result.parts, strict=True):
        whole = sum(parts.values())
        if whole > 0 and (name == "before" or result.kept):
            yield (
                name,
                [
                    StepLane(part, seconds / whole, milliseconds(1e3 * seconds))
                    for part, seconds in parts.items()
                ],
            )


def _first_step(result: TuneResult) -> str:
    if result.first_s is None:
        return ""
    before, after = result.first_s
    return f"{before:.1f} s before, {after:.1f} s after"
