"""What both reports of a search say in the same words."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import TIMES, before_and_after, times
from torchlint.experiment.session import BY_CTRL_C
from torchlint.report.measured.measured_words import next_command
from torchlint.tune.fate import Fate
from torchlint.verify.result import Agreement

if TYPE_CHECKING:
    from torchlint.tune.tune_result import TriedChange, TuneResult
    from torchlint.verify.result import Numerics

_EQUAL: Final = {
    Agreement.BITWISE: "numbers bitwise equal",
    Agreement.ROUNDING: "numbers equal to rounding",
    Agreement.DECLARED: "numbers differ as declared",
    Agreement.DIFFERS: "numbers differ as declared",
    Agreement.UNKNOWN: "numbers not compared",
}
_PARTS: Final = {"data": "input"}


def answer(result: TuneResult) -> list[str]:
    """The facts of the first line: how many times faster, a step before and after, how many
    changes, and what the numbers are."""
    total = result.total
    if total is None or total.estimate is None:
        return []
    facts = [times(total.estimate), f"{before_and_after(total.estimate.ms)} a step"]
    many = len(result.kept)
    facts.append(f"{many} change" + ("s" if many != 1 else ""))
    facts.append(numbers(total.numerics))
    return facts


def numbers(found: Numerics | None) -> str:
    """How the numbers of the faster program compare with the original's."""
    return _EQUAL[found.agreement if found is not None else Agreement.UNKNOWN]


def worth(result: TuneResult, change: TriedChange) -> str:
    """What a change adds to the others that are kept; alone, if it is the only one."""
    value = gain(result, change)
    return "" if value is None else f"{TIMES}{value:.2f}"


def gain(result: TuneResult, change: TriedChange) -> float | None:
    """The same as a ratio; None if that was not measured."""
    return change.adds or (change.alone if len(result.kept) == 1 else None)


def why_not(change: TriedChange) -> str:
    """Why a change is not kept: `no gain`, `failed: …`, with the ratio."""
    figure = f" ({TIMES}{change.alone:.2f})" if change.alone is not None else ""
    why = f": {change.why}" if change.why else ""
    return f"{change.outcome.value}{figure}{why}"


def tried_in_vain(result: TuneResult) -> list[TriedChange]:
    """What was tried and is not kept; those of one kind come together."""
    return [
        each for each in result.changes if each.outcome is not Fate.KEPT and each.outcome.was_tried
    ]


def not_tried(result: TuneResult) -> dict[str, list[TriedChange]]:
    """What was not tried, by the reason."""
    found: dict[str, list[TriedChange]] = {}
    for each in result.changes:
        if not each.outcome.was_tried:
            stopped = each.outcome is Fate.NO_TIME and result.exit == BY_CTRL_C
            reason = each.why or ("stopped before" if stopped else each.outcome.value)
            found.setdefault(reason, []).append(each)
    return found


def shares(parts: dict[str, float]) -> str:
    """`input 60%, forward 25%`: where a step goes, the largest part first; no more than three."""
    whole = sum(parts.values())
    if not whole:
        return ""
    ordered = sorted(parts.items(), key=lambda each: -each[1])
    large = [(name, value / whole) for name, value in ordered if value >= 0.02 * whole][:3]
    return ", ".join(f"{_PARTS.get(name, name)} {share:.0%}" for name, share in large)


def following(result: TuneResult) -> str:
    """The command that writes what is kept; empty if nothing is, or it is written."""
    changed = {each.path for each in result.kept}
    if not result.is_faster or changed <= set(result.written):
        return ""
    if result.patch:
        return shlex.join(["git", "apply", result.patch])
    return next_command("tune", result.argv, options=result.given, last=("--apply",))


def confirming(result: TuneResult) -> str:
    """The command that measures the patch once more; empty if none was written, or the files are
    changed already."""
    if not result.patch or not following(result):
        return ""
    options = ("--with", result.patch, *result.how)
    return next_command("verify", result.argv, options=options)
