"""What the tests of kinds share: evidence made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.profile.conftest import survey, timing
from torchlint.profile.evidence import Evidence, Window
from torchlint.runtime.probe.instrument_messages import INSTRUMENTS

if TYPE_CHECKING:
    from torchlint.profile.kind import FindingKind, Observed

NAMES = {seen: name for name, seen in INSTRUMENTS.items()}


def evidence(*seen: Any, step_s: float | None = None, device: str = "cpu", **more: Any) -> Evidence:
    """Windows of 100 steps, which take as long as those of the timing run, 10 ms, unless `step_s`
    says otherwise.

    Args:
        seen: what each instrument saw; of several ranks by their numbers, of the slowest first.
        more: of `Evidence`.
    """
    clock = more.pop("timing", timing())
    seconds, windows = 100 * (step_s or clock.step_s), {}
    for each in seen:
        ranks = each if isinstance(each, dict) else {0: each}
        first, *others = (Window(100, seconds, it, rank=number) for number, it in ranks.items())
        windows[NAMES[type(first.seen)]] = replace(first, others=tuple(others))
    return Evidence(survey(device=device), clock, windows, **more)


def findings(kind: FindingKind, seen: Evidence) -> list[Observed]:
    """The findings of a kind."""
    assert kind.judge is not None
    return list(kind.judge(seen))


def facts(kind: FindingKind, seen: Evidence) -> list[str]:
    """The texts of its facts."""
    assert kind.teller is not None
    return [each.text for each in kind.teller(seen)]
