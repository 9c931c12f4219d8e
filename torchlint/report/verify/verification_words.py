"""How the parts of a verification are put into words, for the terminal and for the page."""

from __future__ import annotations

import math
import os
from collections import Counter
from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import (
    TIMES,
    UNKNOWN,
    difference,
    interval,
    megabytes,
    milliseconds,
    percent,
    ratio,
)
from torchlint.experiment.machine import UNKNOWN_DEVICE
from torchlint.report.measured.measured_words import next_command, processors
from torchlint.report.terminal.safe_text import plural
from torchlint.verify.result import Agreement, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchlint.experiment.machine import Environment
    from torchlint.experiment.plan import DeclaredPlan
    from torchlint.verify.result import Comparison, FixResult, Noise, Numerics, Result

CPU_BANNER: Final = "CPU ratios do not predict GPU ratios."
SESSION_ONLY: Final = (
    "An interval covers this session only: another day, machine or set of arguments may give "
    "another ratio."
)
_JSON: Final = "verify.json"
MEANINGS: Final = {
    Verdict.CONFIRMED: "faster by more than the margin",
    Verdict.NEUTRAL: "within the margin",
    Verdict.SLOWER: "slower by more than the margin",
    Verdict.UNRESOLVED: "the interval reaches over the margin's edge; more pairs would tell",
    Verdict.NOT_EXERCISED: "none of the changed lines ran in the measured part",
    Verdict.NOT_MEASURABLE: "what it saves cannot show on this machine or in this window",
}
LEVELS: Final = (
    "Both programs were seeded alike.",
    "Both programs were seeded alike, again at each epoch and step.",
    "Both programs began with the same weights and were seeded again at each epoch and step.",
    "Both programs began with the same weights, and each sample drew random numbers of its own.",
)
"""How far random numbers were realigned to compare two programs."""
_AGAINST: Final = (Verdict.SLOWER.value, Agreement.DIFFERS.value)


def apply_command(result: Result) -> str:
    """What writes the fixes that came out well; empty if none did, or they are being written."""
    given = result.given
    if given is None or not any(fix.is_proven for fix in result.fixes):
        return ""
    finished = given.json or (_JSON if given.others else None)
    options = [*given.rules, *(["--from", finished] if finished else given.time)]
    return next_command("fix --verified", result.argv, options=options, last=["--apply"])


def before_apply(result: Result) -> str:
    """What has to be done before that command; empty if nothing has."""
    if result.given is None or result.given.json or not result.given.others:
        return ""
    return f"Add --json {_JSON} to this command and run it again, then:"


def on_cpu(result: Result) -> bool:
    """Whether the program computed on a CPU."""
    return result.environment.device.startswith("cpu")


# parts -------------------------------------------------------------------------------------


def machine(environment: Environment) -> list[str]:
    """What the programs ran on, fact by fact."""
    threads = (
        "threads as they are"
        if environment.threads is None
        else plural(environment.threads, "thread")
    )
    facts = [
        *_device(environment),
        f"{threads} on {processors(environment)}",
        f"torch {environment.torch}",
        f"Python {environment.python}",
    ]
    if environment.load:
        facts.append(f"load {environment.load[0]:.2g}")
    if environment.processes > 1:
        facts.append(f"{environment.processes} processes train")
    if environment.settings:
        facts.append(f"set: {', '.join(sorted(environment.settings))}")
    return facts


def _device(environment: Environment) -> list[str]:
    """The device with its model, if a run got as far as to show it."""
    if environment.device == UNKNOWN_DEVICE:
        return []
    gpu = (environment.gpu or {}).get("name")
    return [f"{environment.device} ({gpu})" if gpu else environment.device]


def machine_in_short(result: Result) -> list[str]:
    """What the figures hold for, in one line."""
    gpu = (result.environment.gpu or {}).get("name")
    here = plural(result.environment.processors, "processor")
    facts = [gpu or ", ".join([*_device(result.environment), here])]
    if result.aa is not None and math.isfinite(result.aa.floor):
        facts.append(f"noise {percent(result.aa.floor)}")
    if on_cpu(result) and (result.aa or result.total):
        facts.append(CPU_BANNER.rstrip("."))
    return facts


def plan(declared: DeclaredPlan) -> list[str]:
    """The plan, declared before anything was measured, fact by fact."""
    looks = ", ".join(str(look) for look in declared.looks)
    return [
        f"{looks} pairs",
        f"{plural(declared.blocks, 'block')} of {plural(declared.steps, 'step')}",
        f"warm-up {declared.warmup}",
        f"margin {percent(declared.margin)}",
        f"alpha {declared.alpha:g}",
        f"seed {declared.seed}",
        f"a step ends at {declared.step}",
    ]


def step(result: Result) -> list[str]:
    """Where the host's time in a median step of the original goes, the largest part first; empty
    if that is not known."""
    parts = result.lanes.medians()
    whole = sum(parts.values())
    if not whole > 0:
        return []
    ordered = sorted(parts, key=lambda name: -parts[name])
    shares = [f"{name} {parts[name] / whole:.0%}" for name in ordered if parts[name] > 0]
    whose = "" if on_cpu(result) else " of the host"
    return [f"{milliseconds(1e3 * whole)}{whose}: {', '.join(shares)}"]


def noise(found: Noise) -> list[str]:
    """The original against itself, and whether claims can be made."""
    facts = [f"against itself {against_itself(found)}"]
    floor = percent(found.floor)
    facts.append("floor unknown" if floor == UNKNOWN else f"floor {floor}")
    facts.append("fit for claims" if found.fit else "UNFIT for claims")
    if found.why:
        facts.append(found.why)
    if found.numerics is not None:
        why = found.numerics.why if found.numerics.agreement is Agreement.UNKNOWN else ""
        facts.append(f"its numbers: {why or found.numerics.agreement.value}")
    return facts


def apart(found: Noise | None) -> str:
    """One sentence if identical programs lay further apart than chance explains, else empty."""
    if found is None or found.why or found.estimate.ci[0] <= 1 <= found.estimate.ci[1]:
        return ""
    return (
        f"The original against itself came to {against_itself(found)}, which does not hold 1; a "
        f"claim here has to exceed {percent(found.floor)}."
    )


def against_itself(found: Noise) -> str:
    """The ratio of identical programs with the 95 % interval that the floor is read off."""
    return f"{TIMES}{ratio(found.estimate.ratio)} {interval(found.estimate.ci)}"


def witnesses(total: Comparison | None) -> list[str]:
    """What else was measured beside the time of a step."""
    estimate = total.estimate if total else None
    facts = [plural(estimate.pairs, "pair")] if estimate else []
    if estimate is not None and estimate.cpu_ratio is not None:
        facts.append(f"CPU time of the training process {TIMES}{ratio(estimate.cpu_ratio)}")
    if estimate is not None and estimate.memory_mb is not None:
        facts.append(f"peak memory {megabytes(estimate.memory_mb)}")
    return facts


def changed_program(result: Result) -> str:
    """`all 4 fixes`, or what stands in their place."""
    measured = sum(fix.alone.verdict is not Verdict.NOT_EXERCISED for fix in result.fixes)
    if not result.fixes:
        return "the changed program"
    if measured < len(result.fixes):
        return f"the {_fixes(measured)} that {'was' if measured == 1 else 'were'} measured"
    return {1: "the fix", 2: "both fixes"}.get(measured, f"all {_fixes(measured)}")


def names(result: Result) -> dict[str, str]:
    """A short name for each fix by its id: its code, with the file where that alone is not
    enough."""
    codes = Counter(fix.code for fix in result.fixes)
    files = Counter((fix.code, _file(fix)) for fix in result.fixes)
    found = {}
    for fix in result.fixes:
        if codes[fix.code] == 1:
            found[fix.id] = fix.code
        elif files[fix.code, _file(fix)] == 1:
            found[fix.id] = f"{fix.code} in {_file(fix)}"
        else:
            found[fix.id] = f"{fix.code} in {fix.places[0].path if fix.places else fix.id}"
    return found


def _file(fix: FixResult) -> str:
    return os.path.basename(fix.places[0].path) if fix.places else ""


def _fixes(number: int) -> str:
    return plural(number, "fix", "fixes")


def agreement(numerics: Numerics | None) -> Agreement:
    """Its word; an absent comparison is not compared."""
    return Agreement.UNKNOWN if numerics is None else numerics.agreement


def numbers(numerics: Numerics | None) -> str:
    """The word on the numbers, and over how many steps it was found."""
    found = agreement(numerics)
    if numerics is None or found is Agreement.UNKNOWN:
        return "numbers not compared"
    if found is Agreement.DIFFERS and numerics.first_step is not None:
        return f"{found.value} from step {numerics.first_step} on"
    return f"{found.value} over {plural(numerics.steps, 'step')}"


def coverage(steps: int, unreached: Sequence[str]) -> str:
    """What a word on the numbers covers, in one sentence; empty if none were compared."""
    if not steps:
        return ""
    beyond = f"; not reached: {', '.join(unreached)}" if unreached else ""
    return f"The numbers were compared over {plural(steps, 'step')}{beyond}."


def notes(result: Result) -> list[str]:
    """What else there is to know, sentence by sentence."""
    numerics = result.total.numerics if result.total else None
    steps = numerics.steps if numerics and result.unreached else 0
    found = (apart(result.aa), coverage(steps, result.unreached), *result.notes)
    return [note for note in found if note]


def place(fix: FixResult) -> str:
    """`train.py:31 +2`: the first place, and how many more there are."""
    if not fix.places:
        return UNKNOWN
    first = fix.places[0]
    more = f" +{len(fix.places) - 1}" if len(fix.places) > 1 else ""
    return f"{first.path}:{first.row}{more}"


def conclusion(result: Result) -> list[str]:
    """What there is to say beside the verdict on the whole change: why the command did not end with
    0, with the last lines of a failed script behind it, or how many fixes are good; may be empty if
    there is a verdict."""
    if result.summary.strip():
        return [line for line in result.summary.splitlines() if line.strip()]
    if len(result.fixes) > 1 and any(fix.alone.estimate for fix in result.fixes):
        well = sum(fix.is_proven for fix in result.fixes)
        return [f"{well} of {_fixes(len(result.fixes))} confirmed, with numbers that stay right."]
    return [] if result.total is not None else ["Nothing was measured."]


# why ---------------------------------------------------------------------------------------


def reasons(result: Result) -> list[tuple[str, list[str], str]]:
    """Words that need a reason: the word, of which fixes (by id, or `total`) it is said, and why;
    each reason once, what counts against a fix first. That the machine is unfit is not among them:
    it is the result's summary."""
    unfit = result.aa.why if result.aa else ""
    found: dict[tuple[str, str], list[str]] = {}
    named = [(fix.id, fix.alone, fix.after) for fix in result.fixes]
    if result.total is not None:
        named.append(("total", result.total, None))
    for name, alone, after in named:
        for key in (*_speed_reasons(alone), *_number_reasons(alone), *_after_reasons(after)):
            if not unfit or not key[1].startswith(unfit):
                found.setdefault(key, []).append(name)
    for fix in result.fixes:
        if fix.hidden_by:
            key = ("hidden", f"after the others, the step waits for {fix.hidden_by}")
            found.setdefault(key, []).append(fix.id)
    ordered = sorted(found, key=lambda key: key[0] not in _AGAINST)
    return [(word, found[word, why], why) for word, why in ordered]


def unmeasured(result: Result) -> list[tuple[Verdict, str, list[FixResult]]]:
    """The fixes that were not measured, by their verdict and the reason for it."""
    found: dict[tuple[Verdict, str], list[FixResult]] = {}
    for fix in result.fixes:
        if not fix.is_measured:
            found.setdefault((fix.alone.verdict, why_verdict(fix.alone)), []).append(fix)
    return [(verdict, why, fixes) for (verdict, why), fixes in found.items()]


def why_verdict(found: Comparison) -> str:
    """Why the verdict is not a plain one; empty if it is."""
    needed = found.estimate.pairs_needed if found.estimate else None
    if found.verdict is Verdict.UNRESOLVED:
        more = f"about {plural(needed, 'pair')} would tell" if needed else ""
        return "; ".join(filter(None, (found.why, more))) or "the interval reaches over the margin"
    if found.verdict is Verdict.NOT_MEASURABLE:
        return found.why or "what it saves cannot show on this machine"
    if found.verdict is Verdict.NOT_EXERCISED:
        return found.why or "none of its lines ran in the measured part"
    return found.why


def why_numbers(numerics: Numerics) -> str:
    """What is behind the word: the reason, and how far the numbers are apart."""
    facts = [numerics.why]
    if numerics.first_step is not None:
        facts.append(f"from step {numerics.first_step} on, by up to {difference(numerics.largest)}")
    if numerics.envelope_ratio is not None and math.isfinite(numerics.envelope_ratio):
        facts.append(f"{numerics.envelope_ratio:.2g} times the spread of a last-place change")
    return "; ".join(filter(None, facts))


def numbers_sentence(numerics: Numerics) -> str:
    """What was compared and how, and what came out."""
    level = LEVELS[min(max(numerics.level, 0), len(LEVELS) - 1)]
    found = "; ".join(filter(None, (numerics.agreement.value, why_numbers(numerics))))
    return f"{level} Their losses and parameters: {found}."


def _speed_reasons(found: Comparison) -> Iterator[tuple[str, str]]:
    why = why_verdict(found)
    if why:
        yield found.verdict.value, why


def _number_reasons(found: Comparison) -> Iterator[tuple[str, str]]:
    numerics = found.numerics
    if numerics is None or numerics.agreement.is_good:
        return
    if numerics.agreement is Agreement.DIFFERS:
        yield numerics.agreement.value, why_numbers(numerics) or "the computed numbers differ"
    elif numerics.why:
        yield numerics.agreement.value, numerics.why


def _after_reasons(found: Comparison | None) -> Iterator[tuple[str, str]]:
    if found is not None and found.verdict is Verdict.SLOWER:
        yield found.verdict.value, "when the other fixes are made"
    if found is not None and agreement(found.numerics) is Agreement.DIFFERS:
        yield Agreement.DIFFERS.value, "when the other fixes are made"


def not_measured(result: Result) -> list[str]:
    """What a reader might look for and not find; empty if nothing at all was measured."""
    estimates = [fix.alone.estimate for fix in result.fixes]
    if result.aa is None and result.total is None and not any(estimates):
        return []
    missing = []
    if result.aa is None:
        missing.append("the noise of this machine")
    if result.total is None:
        missing.append("the whole change")
    tried = [fix for fix in result.fixes if fix.alone.verdict is not Verdict.NOT_EXERCISED]
    if tried and all(fix.alone.estimate is None for fix in tried):
        missing.append("each fix alone")
    if len(tried) > 1 and all(fix.after is None for fix in tried):
        missing.append("each fix after the others")
    compared = [result.total, *(fix.alone for fix in tried)]
    if not any(
        each is not None and agreement(each.numerics) is not Agreement.UNKNOWN for each in compared
    ):
        missing.append("the computed numbers")
    return missing
