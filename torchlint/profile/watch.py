"""Runs a window of steps under some instruments, and reads what they saw."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from torchlint.profile.evidence import Window
from torchlint.runtime.decoding import MalformedError, converted
from torchlint.runtime.probe.instrument_messages import INSTRUMENTS
from torchlint.runtime.probe.messages import WindowSeen
from torchlint.runtime.run import Run

if TYPE_CHECKING:
    from collections.abc import Collection

    from torchlint.runtime.channel import Peer
    from torchlint.runtime.run import Job
    from torchlint.runtime.workspace import Workspace


def watch(job: Job, workspace: Workspace, *, timeout_s: float) -> dict[str, Window[Any]]:
    """What each instrument of the job saw, by its name, on the rank whose window took longest, and
    next to it on the others.

    Args:
        timeout_s: a run that sends nothing for this many seconds has failed.

    Raises:
        Failed: the script failed, or ended before the window began.
    """
    with Run(job, workspace) as run:
        run.greet(timeout_s)
        run.start()
        heard: dict[Peer, WindowSeen] = {}
        try:
            for peer, message in run.reports("window", timeout_s, "end its window of steps"):
                heard[peer] = message.read(WindowSeen)
                if _are_all_there(run, heard, peer):
                    break
            return _slowest(heard, job.settings.instruments)
        except MalformedError as error:
            raise run.malformed(error) from error


def _are_all_there(run: Run, heard: Collection[Peer], last: Peer) -> bool:
    """Whether every process that takes steps has reported, as far as they can be expected."""
    return all(each in heard or each.gone for each in run.peers) or last.hello.world == len(heard)


def _slowest(heard: dict[Peer, WindowSeen], instruments: tuple[str, ...]) -> dict[str, Window[Any]]:
    by_time = sorted(heard.items(), key=lambda each: each[1].seconds, reverse=True)
    slowest, *others = [_windows(*each, instruments) for each in by_time]
    return {
        name: replace(window, others=tuple(each[name] for each in others if name in each))
        for name, window in slowest.items()
    }


def _windows(peer: Peer, seen: WindowSeen, instruments: tuple[str, ...]) -> dict[str, Window[Any]]:
    """Of one rank."""
    if seen.steps < 1 or seen.seconds <= 0:
        raise MalformedError(f"a window of {seen.steps} steps in {seen.seconds} s")
    return {
        name: Window(
            seen.steps,
            seen.seconds,
            converted(seen.found[name], INSTRUMENTS[name], name),
            rank=peer.rank,
            node=peer.hello.node,
            held_s=seen.held_s,
        )
        for name in instruments
        if name in seen.found
    }
