"""The first steps of a profile in the format of Chrome's traces, for Perfetto and its like.

The format is that of the document "Trace Event Format" of the Chromium project: complete events
(`ph` is `X`) with `ts` and `dur` in microseconds.
"""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any, Final

from torchlint.profile.step_timeline import STEP, gaps
from torchlint.version import __version__

if TYPE_CHECKING:
    from torchlint.profile.profile_result import Profile
    from torchlint.profile.step_timeline import Span

MOST_BYTES: Final = 1_000_000
_PROCESS: Final = 1
_STEPS, _PARTS = 1, 2
"""Rows of the picture."""


def render(result: Profile) -> str:
    """A JSON object in ASCII, smaller than `MOST_BYTES`; what comes after that is left out."""
    head = [
        _named("process_name", shlex.join(result.argv)[:200], 0),
        _named("thread_name", "steps", _STEPS),
        _named("thread_name", "what the host does", _PARTS),
    ]
    lines = [json.dumps(each) for each in head]
    size = sum(map(len, lines))
    for event in _events(result.trace):
        line = json.dumps(event)
        size += len(line) + 2
        if size > MOST_BYTES - 1000:
            break
        lines.append(line)
    about = {"tool": "torchlint", "version": __version__, "clock": "host"}
    events = ",\n".join(lines)
    return (
        f'{{"traceEvents":[\n{events}\n],"displayTimeUnit":"ms","otherData":{json.dumps(about)}}}\n'
    )


def _events(spans: tuple[Span, ...]) -> list[dict[str, Any]]:
    """Steps in a row of their own, above what they consist of."""
    steps = [each for each in spans if each.kind == STEP]
    parts = [each for each in spans if each.kind != STEP]
    last = max((each.stop for each in steps), default=0.0)
    every = sorted([*parts, *gaps(parts, 0.0, last)], key=lambda each: (each.start, -each.seconds))
    rows = [(f"step {number}", each, _STEPS) for number, each in enumerate(steps, 1)]
    rows += [(each.name or each.kind, each, _PARTS) for each in every]
    rows.sort(key=lambda row: (row[1].start, row[2]))
    return [_complete(*row) for row in rows]


def _complete(name: str, span: Span, row: int) -> dict[str, Any]:
    event: dict[str, Any] = {
        "name": name,
        "cat": span.kind,
        "ph": "X",
        "ts": round(1e6 * span.start, 3),
        "dur": round(1e6 * span.seconds, 3),
        "pid": _PROCESS,
        "tid": row,
    }
    if span.path:
        event["args"] = {"line": f"{span.path}:{span.row}"}
    return event


def _named(what: str, name: str, row: int) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": _PROCESS, "tid": row, "args": {"name": name}}
