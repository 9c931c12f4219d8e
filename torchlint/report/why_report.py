"""Why rules did or did not report a line, for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchlint.finding import Tier
from torchlint.report.terminal.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchlint.explain.rule_answers import Answer
    from torchlint.explain.why import Explanation
    from torchlint.report.terminal.safe_text import Paint

_SAID = {
    Tier.DEFAULT: "reported",
    Tier.HINT: "reported as a hint",
    Tier.PEDANTIC: "reported with --pedantic",
}


def render(found: Explanation, place: str, paint: Paint, *, all_rules: bool) -> Iterator[str]:
    """The line, and a block for each rule.

    Args:
        place: the file and line, as the user gave them.
        all_rules: also those that did not come close to reporting it.
    """
    yield f"{paint.bold(visible(place))}  {visible(found.line)}"
    answers = [each for each in found.answers if each.near or all_rules]
    for answer in answers:
        yield ""
        said = "not reported" if answer.reported is None else _SAID[answer.reported]
        yield f"{paint.red(answer.code)} {paint.bold(answer.name)}: {said}"
        yield from _reasons(answer, paint)
    if not answers:
        yield ""
        yield "No rule came close to reporting this line. Name one to see what it asked:"
        yield f"  torchlint why {visible(place)} TL201"


def _reasons(answer: Answer, paint: Paint) -> Iterator[str]:
    for reason in answer.reasons:
        yield f"  {visible(reason.why)}"
        if reason.change:
            yield f"    {paint.dim(visible(reason.change))}"


def as_json(found: Explanation, place: str) -> str:
    """The answers of all rules that were asked."""
    import json

    answers: Sequence[object] = [
        {
            "code": each.code,
            "name": each.name,
            "reported": None if each.reported is None else each.reported.value,
            "came_close": each.near,
            "reasons": [{"why": reason.why, "change": reason.change} for reason in each.reasons],
        }
        for each in found.answers
    ]
    content = {"version": 1, "place": place, "line": found.line, "rules": answers}
    return json.dumps(content, indent=2)
