"""How the parts of a profile are put into words, for the terminal, the page and other tools."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import (
    TIMES,
    TO,
    UNKNOWN,
    before_and_after,
    listed,
    milliseconds,
    percent,
    scaled,
)
from torchlint.finding import Tier
from torchlint.profile.planned_runs import COMMUNICATION, DIAGNOSTICS
from torchlint.profile.profile_result import NOT_REACHED
from torchlint.profile.ranks import summary
from torchlint.report.measured.measured_words import next_command, processors, told
from torchlint.report.terminal.safe_text import plural, visible_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchlint.profile.evidence import Timing
    from torchlint.profile.layer_table import Row
    from torchlint.profile.profile_result import Change, Compared, Profile, RunFinding, Static

ON_A_GPU = "On a GPU the host would wait here; this machine has none to wait for"
_LIMITS: Final = {"input": "input", "ranks": COMMUNICATION, "messages": COMMUNICATION}
"""By what the limit names, the run that watches it."""
_ROUGH: Final = 0.2
"""Noise of a step with which its parts are not to be trusted."""
_NAMED: Final = 3
"""Findings of each sort that has changed."""
_MOST: Final = 0.5
"""Of a step: where it is in no finding, a line says where to look."""
_BESIDE: Final = 0.2
"""Of a step: what the loop does apart from the model, if it counts for the backward pass too."""
_WHERE: Final = {
    "data": "the loader and its dataset",
    "forward": "the layers (`--details`)",
    "backward": "the layers (`--details`)",
    "optimizer": "what the line `kernels` says about it",
    "other": "what the loop does apart from the model, such as a loss in Python",
}


def step(timing: Timing) -> str:
    """`41.2 ms a step (± 1.8%)`."""
    return f"{milliseconds(1e3 * timing.step_s)} a step (± {percent(timing.noise)})"


def steps(timing: Timing) -> str:
    """How many steps were timed."""
    return f"{plural(timing.steps, 'step')} after {timing.warmup} of warm-up"


def machine(result: Profile) -> str:
    """`2 GPUs`; empty if nothing is known of it."""
    here = result.environment
    if here is None:
        return ""
    if here.gpu is not None:
        return plural(here.processes, "GPU")
    return f"no GPU, {processors(here)}"


def ranks(result: Profile) -> str:
    """What the ranks did in a step: `step 40 / 41 / 42 ms (rank 3 on node2)`."""
    return summary(result.ranks)


def nothing_found(result: Profile, *, details: bool = False) -> str:
    """What it means that there are no findings: in what, and apart from what the limit names.

    Args:
        details: smaller costs are listed below it.
    """
    if not result.costs:
        return "No finding: only the time of a step was measured."
    small = f"; {smaller(result, details=details)}" if result.small else ""
    whole = {each.about for each in DIAGNOSTICS if not each.alters and each.name != COMMUNICATION}
    partly = not whole <= result.costs.keys()
    of_what = "nothing that was watched"
    if partly:
        of_what = f"of what was watched ({'; '.join(result.costs)}), nothing"
    run = _LIMITS.get(result.limit.partition(":")[0], "")
    if run and run in result.costs:
        of_what = f"apart from what the limit names, {of_what}"
    said = f"No finding: {of_what} costs {percent(result.cut)} of a step{small}."
    if run and run not in result.costs:
        said += f" What the limit names was not watched; add {run} to --only, or leave it out."
    return said


def rough(result: Profile) -> str:
    """That the times of steps are far apart; empty if they are not."""
    if result.timing is None or result.timing.noise < _ROUGH:
        return ""
    spread = f"± {percent(result.timing.noise)}"
    return (
        f"The time of a step varies by {spread}, so shares of it are rough; run it again when the "
        "machine is quiet."
    )


def instruments(result: Profile) -> str:
    """What watching cost; empty if nothing was watched."""
    if not result.costs:
        return ""
    run, cost = max(result.costs.items(), key=lambda each: each[1])
    noise = 0.0 if result.timing is None else result.timing.noise
    if cost <= 1.0 + noise:
        return "in runs of their own; what they cost is lost in the noise"
    return f"in runs of their own; the costliest ({run}) {TIMES}{cost:.2f} a step"


def unexplained(result: Profile) -> str:
    """Where most of a step is that no finding names, and where to look; empty if they name it, or
    the step waits for something else."""
    rest = 1.0 - sum(each.share or 0.0 for each in result.findings)
    named = {"data"} if any(each.code.startswith("TR1") for each in result.findings) else set()
    parts = {name: share for name, share in result.lanes.items() if name not in named}
    if rest < _MOST or not parts or not result.limit.startswith("processor"):
        return ""
    phase = max(parts, key=lambda name: parts[name])
    rest_of_loop = parts.get("other", 0.0)
    where = _WHERE[phase]
    if phase == "backward" and rest_of_loop >= _BESIDE:
        where += f", and {_WHERE['other']} ({rest_of_loop:.0%})"
    return (
        f"{rest:.0%} of a step is in no finding; its largest part is {phase} "
        f"({parts[phase]:.0%}): look at {where}."
    )


def place(each: RunFinding | Static | Row) -> str:
    """`train.py:88`, or a dash where there is no line."""
    return f"{each.path}:{each.row}" if each.path else UNKNOWN


def ceiling(each: RunFinding) -> str:
    """The most that a step gets faster, in words; empty if the run cannot tell."""
    return "" if each.ceiling is None else f"at most {TIMES}{each.ceiling:.2f}"


def confirmed(each: RunFinding) -> str:
    """The rules of `check` that say the same: `TL201, fix available`, `TL101 at data.py:12`."""
    if not each.static:
        return ""
    codes = ", ".join(dict.fromkeys(_rule(static, each) for static in each.static))
    return f"{codes}, fix available" if any(found.has_fix for found in each.static) else codes


def _rule(static: Static, each: RunFinding) -> str:
    if each.made is None or (static.path, static.row) == (each.path, each.row):
        return static.code
    return f"{static.code} at {os.path.basename(static.path)}:{static.row}"


def smaller(result: Profile, *, details: bool) -> str:
    """How many costs are below the cut, and where they are."""
    where = "listed below" if details else "--details lists them"
    return f"{plural(result.small, 'smaller cost')} below {percent(result.cut)}, {where}"


def below(result: Profile, *, details: bool = False) -> list[str]:
    """What there is to say below the findings, part by part.

    Args:
        details: smaller costs are listed below it.
    """
    silent, together = result.suppressed, result.together
    return told(
        together is not None and f"together at most {TIMES}{together:.2f} (they overlap)",
        result.small and smaller(result, details=details),
        silent and f"{plural(silent, 'finding')} silenced by a comment",
    )


def layer(row: Row) -> list[str]:
    """What a module is, in addition to its name; that is its class where it has no other. FLOPs are
    told where there are some."""
    return told(
        row.name not in ("", row.kind) and row.kind,
        f"{row.parameters:,} {'parameter' if row.parameters == 1 else 'parameters'}",
        row.flops and scaled(row.flops, "FLOP"),
    )


def not_reached(result: Profile) -> list[Static]:
    """Findings of `check` in lines that the first steps did not reach, and no other run either, as
    far as it shows."""
    return [each for each in result.static if each.status == NOT_REACHED]


def reached_in(places: str) -> str:
    """What was not reached, with the run that this is known of; empty if there is nothing."""
    return f"in the first steps: {places}" if places else ""


def following(result: Profile) -> str:
    """The command to continue with; empty if there is none."""
    fixable = [each for found in result.findings for each in found.static if each.has_fix]
    if not fixable:
        return ""
    codes = ",".join(dict.fromkeys(each.code for each in fixable))
    hints = ["--hints"] if any(each.tier == Tier.HINT for each in fixable) else []
    last = [*result.options, "--select", codes, *hints]
    return next_command("verify", result.argv, last=last)


# changes -----------------------------------------------------------------------------------


def changes(result: Profile) -> list[str]:
    """What has changed, part by part; none if nothing was compared."""
    compared = result.compared
    if compared is None:
        return []
    said = [_step_since(result, compared)]
    if compared.elsewhere:
        differs = "; ".join(compared.elsewhere)
        said.append(f"  not the same machine or torch: {differs}")
    said += _sort("gone", compared.gone)
    said += _sort("new", compared.new)
    said += _sort("changed", compared.changed)
    if not (compared.gone or compared.new or compared.changed):
        said.append("  the findings are the same")
    if compared.only_once:
        codes = ", ".join(compared.only_once)
        said.append(f"  watched in one of the two only, not compared: {codes}")
    return said


def _step_since(result: Profile, found: Compared) -> str:
    what = "profile" if found.waits is None else "rehearsal"
    since = f"since the {what} of {found.date}" if found.date else f"since the earlier {what}"
    if found.waits is not None:
        then_and_now = f" {TO} ".join(f"{each:.3g}" for each in found.waits)
        return f"{since}: the host waits {then_and_now} times a step"
    if found.ratio is None or result.timing is None or found.step_s is None:
        return f"{since}: one of the two has no time of a step"
    times = before_and_after((1e3 * found.step_s, 1e3 * result.timing.step_s))
    verdict = f"{TIMES}{found.ratio:.2f} as fast" if found.beyond_noise else "no more than noise"
    then, now = (f"± {percent(each)}" for each in (found.noise or 0.0, result.timing.noise))
    return f"{since}: {times} a step, {verdict} ({then} then, {now} now)"


def _sort(name: str, changes: Sequence[Change]) -> list[str]:
    if not changes:
        return []
    return [f"  {name}: {listed([_change(each) for each in changes], _NAMED)}"]


def _change(each: Change) -> str:
    place = visible_path(f"{each.path}:{each.row}") if each.path else "-"
    shares = [share for share in (each.before, each.now) if share is not None]
    if not shares:
        return f"{place} {each.code}"
    ceilings = " to ".join(f"{TIMES}{1.0 / (1.0 - share):.2f}" for share in shares)
    return f"{place} {each.code} (at most {ceilings})"
