"""What was counted in a rehearsal, as the kinds of findings read it, and per step."""

from __future__ import annotations

import os
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from torchlint.experiment.earlier_json import digests
from torchlint.profile.kinds.created_on_host import is_made
from torchlint.profile.profile_result import Line, Rehearsal, RehearsedLine, RehearsedPart
from torchlint.rehearse.bounds import bounds
from torchlint.runtime.probe.instrument_messages import HostCall, ReadsSeen

if TYPE_CHECKING:
    from torchlint.runtime.probe.messages import CountedCall, Rehearsed, Stretch
    from torchlint.runtime.probe.played.cards import Card

_COPY: Final = "copy, "
"""Begins the kinds of waits that belong to a copy to the device."""
_UNHURRIED: Final = "pinned, non-blocking"
_LATE: Final = "pageable, non-blocking"
_BETWEEN: Final = "between devices"


def reads_of(seen: Rehearsed) -> ReadsSeen:
    """The reads, and the copies of batches; without those that wait for nothing."""
    reads, copies = [], []
    for call in seen.calls:
        if call.what == "wait" and not call.kind.startswith(_COPY) and call.calls > call.idle:
            reads.append(_host_call(call, call.calls - call.idle))
        elif call.what == "copy" and call.kind not in (_UNHURRIED, _BETWEEN) and not is_made(call):
            copies.append(_host_call(call, call.calls))
    return ReadsSeen(reads, copies)


def _host_call(call: CountedCall, calls: int) -> HostCall:
    return HostCall(
        call.place,
        call.kind,
        call.via,
        calls,
        steps=call.steps,
        backward=calls if call.backward else 0,
        size=call.size,
        before=min(call.before, calls),
        queued=call.queued,
        loader=call.loader,
        same=call.same,
    )


def per_step(seen: Rehearsed, card: Card, devices: int) -> Rehearsal:
    """All of it, divided by the steps."""
    steps = max(1, seen.steps)
    of = defaultdict(list)
    for call in seen.calls:
        of[call.what].append(call)
    flops: dict[str, float] = defaultdict(float)
    for call in of["flops"]:  # of forward and of backward
        flops[call.kind] += call.flops / steps
    launches = sum(each.calls for each in of["launch"]) / steps
    traffic = sum(each.size for each in of["launch"]) / steps
    small = sum(each.small for each in of["launch"]) / steps
    waits = [each for each in of["wait"] if each.calls > each.idle]
    awaited = [each for each in of["copy"] if each.kind not in (_UNHURRIED, _LATE, _BETWEEN)]
    memory = seen.memory
    place = memory.place
    return Rehearsal(
        card=card.name,
        devices=devices,
        steps=seen.steps,
        skipped=seen.skipped,
        waits=sum(each.calls - each.idle for each in waits) / steps,
        before_backward=sum(min(each.before, each.calls - each.idle) for each in waits) / steps,
        idle=sum(each.idle for each in of["wait"]) / steps,
        copies=sum(each.calls for each in of["copy"]) / steps,
        copied=sum(each.size for each in of["copy"]) / steps,
        awaited_copies=sum(each.calls for each in awaited) / steps,
        launches=launches,
        small=small / launches if launches else 0.0,
        flops=flops,
        traffic=traffic,
        exchanged=sum(each.size for each in of["collective"]) / steps,
        bounds=bounds(card, flops, traffic, launches),
        memory={
            "peak": memory.peak,
            "parameters": memory.parameters,
            "gradients": memory.gradients,
            "optimizer": memory.optimizer,
            "rest": max(0, memory.peak - memory.parameters - memory.gradients - memory.optimizer),
            "card": card.memory,
        },
        fullest=None if place is None else Line(os.path.relpath(place[0]), place[1]),
        lines=_lines(seen),
        ran={os.path.relpath(path): tuple(rows) for path, rows in sorted(seen.ran.items())},
        files=digests(map(os.path.relpath, sorted(seen.ran))),
        used=seen.launches > 0,
        strip=tuple(map(_part, seen.strip)),
    )


def _part(stretch: Stretch) -> RehearsedPart:
    path, row = stretch.place or ("", 0)
    shown = os.path.relpath(path) if path else ""
    return RehearsedPart(stretch.what, shown, row, stretch.calls, stretch.memory)


def _lines(seen: Rehearsed) -> tuple[RehearsedLine, ...]:
    """What each line asks for, per step, in the order of files and rows."""
    found: dict[tuple[str, int], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for call in seen.calls:
        if call.place is None or call.what not in ("launch", "wait", "copy"):
            continue
        counted = found[call.place]
        calls = call.calls - call.idle if call.what == "wait" else call.calls
        counted[call.what] += calls / max(1, seen.steps)
        counted["idle"] += call.idle / max(1, seen.steps)
        if call.what == "copy":
            counted["bytes"] += call.size / max(1, seen.steps)
    return tuple(
        RehearsedLine(
            os.path.relpath(path),
            row,
            each["launch"],
            each["wait"],
            each["copy"],
            each["bytes"],
            each["idle"],
        )
        for (path, row), each in sorted(found.items())
        if any(each.values())
    )
