"""How the parts of a verification are put into words, for the terminal and for the page."""

from __future__ import annotations

import math
import os
from collections import Counter
from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import (
    TIMES,
    UNKNOWN,
    before_and_after,
    difference,
    interval,
    megabytes,
    milliseconds,
    percent,
    ratio,
)
from torchlint.report.measured.measured_words import known_device, next_command, processors, told
from torchlint.report.terminal.safe_text import plural
from torchlint.verify.counts.differences import UNITS, count_in_words, differing
from torchlint.verify.counts.differences import before_and_after as count_before_and_after
from torchlint.verify.result import COUNTERS, Agreement, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchlint.experiment.intervals import Estimate
    from torchlint.experiment.machine import Environment
    from torchlint.experiment.plan import DeclaredPlan
    from torchlint.verify.result import (
        Comparison,
        Counters,
        FixMeasurement,
        Noise,
        Numerics,
        Required,
        Result,
    )

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
_WHY: Final = {
    Verdict.NOT_MEASURABLE: "what it saves cannot show on this machine",
    Verdict.NOT_EXERCISED: "none of its lines ran in the measured part",
}
LEVELS: Final = (
    "Both programs were seeded alike.",
    "Both programs were seeded alike, again at each epoch and step.",
    "Both programs began with the same weights and were seeded again at each epoch and step.",
    "Both programs began with the same weights, and each sample drew random numbers of its own.",
)
"""How far random numbers were realigned to compare two programs."""
LESS_WORK: Final = "LESS WORK"
_AGAINST: Final = (Verdict.SLOWER.value, Agreement.DIFFERS.value, LESS_WORK)


def apply_command(result: Result) -> str:
    """What writes the fixes that came out well; empty if none did, or they are being written."""
    given = result.given
    if given is None or not any(fix.is_proven for fix in result.fixes):
        return ""
    finished = given.json or (_JSON if given.others else None)
    options = [*given.rules, *(["--from", finished] if finished else given.time)]
    said = next_command("fix --verified", result.argv, options=options, last=["--apply"])
    return f"{said} < FILE" if given.stdin else said


def before_apply(result: Result) -> str:
    """What has to be done before that command; empty if nothing has."""
    if result.given is None or result.given.json or not result.given.others:
        return ""
    return f"Add --json {_JSON} to this command and run it again, then:"


def on_cpu(result: Result) -> bool:
    """Whether the program computed on a CPU."""
    return result.environment.device.startswith("cpu")


# parts -------------------------------------------------------------------------------------


def machine(here: Environment) -> list[str]:
    """What the programs ran on, fact by fact."""
    as_given = here.threads is None
    threads = "threads as they are" if as_given else plural(here.threads or 0, "thread")
    return told(
        _device(here),
        f"{threads} on {processors(here)}",
        f"torch {here.torch}",
        f"Python {here.python}",
        here.load and f"load {here.load[0]:.2g}",
        here.processes > 1 and f"{here.processes} processes train",
        here.settings and f"set: {', '.join(sorted(here.settings))}",
    )


def _device(here: Environment) -> str:
    """The device with its model, if a run got as far as to show it."""
    gpu = (here.gpu or {}).get("name")
    device = known_device(here)
    return f"{device} ({gpu})" if device and gpu else device


def machine_in_short(result: Result) -> list[str]:
    """What the figures hold for, in one line."""
    here, noise = result.environment, result.aa
    gpu = (here.gpu or {}).get("name")
    return told(
        gpu or ", ".join(told(_device(here), plural(here.processors, "processor"))),
        noise and math.isfinite(noise.floor) and f"noise {percent(noise.floor)}",
        on_cpu(result) and (noise or result.total) and CPU_BANNER.rstrip("."),
    )


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
    floor, numerics = percent(found.floor), found.numerics
    return told(
        f"against itself {against_itself(found)}",
        "floor unknown" if floor == UNKNOWN else f"floor {floor}",
        found.clocks.mhz and f"GPU clock {_span(found.clocks.mhz)} MHz",
        "fit for claims" if found.fit else "UNFIT for claims",
        found.why,
        numerics and f"its numbers: {_why_unknown(numerics) or numerics.agreement.value}",
    )


def _span(ends: tuple[float, float]) -> str:
    low, high = (f"{each:.0f}" for each in ends)
    return low if low == high else f"{low} to {high}"


def _why_unknown(numerics: Numerics) -> str:
    return numerics.why if numerics.agreement is Agreement.UNKNOWN else ""


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


def counted(before: Counters | None, after: Counters | None = None) -> list[str]:
    """What a step does, fact by fact: of one program, or of two what differs."""
    if before is None:
        return []
    if after is not None:
        names = differing(before, after)
        return [f"{UNITS[name]} {count_before_and_after(name, before, after)}" for name in names]
    known = [name for name in COUNTERS if before.of(name) is not None]
    return [f"{UNITS[name]} {count_in_words(name, before.of(name))}" for name in known]


def uncounted(found: Counters | None) -> list[str]:
    """What was not counted and why, one reason after the other."""
    by_reason: dict[str, list[str]] = {}
    for name, why in (found.missing if found else {}).items():
        by_reason.setdefault(why, []).append(UNITS.get(name, name))
    return [f"{', '.join(names)} ({why})" for why, names in by_reason.items()]


def required(result: Result) -> list[str]:
    """The bounds of `--require`, and whether each holds."""
    words = {True: "holds", False: "DOES NOT HOLD", None: "is not known"}
    return [f"{each.bound} {words[each.held]}{_came_to(each)}" for each in result.required]


def _came_to(bound: Required) -> str:
    """The value of a bound that does not hold."""
    if bound.held is not False or bound.value is None:
        return ""
    return f" ({count_in_words(bound.counter, bound.value)})"


def witnesses(total: Comparison | None) -> list[str]:
    """What was measured in addition to the time of a step."""
    estimate = total.estimate if total else None
    if estimate is None:
        return []
    cpu, memory = estimate.cpu_ratio, estimate.memory_mb
    return told(
        plural(estimate.pairs, "pair"),
        cpu is not None and f"CPU time of the training process {TIMES}{ratio(cpu)}",
        memory and f"peak memory {megabytes(memory)}",
    )


def facts_of(estimate: Estimate) -> dict[str, str]:
    """What was measured of a fix, by what it is."""
    memory = estimate.memory_mb
    return {
        "ratio": ratio(estimate.ratio),
        "interval that decides": interval(estimate.strict),
        "95 % interval": interval(estimate.ci),
        "a step": before_and_after(estimate.ms),
        "CPU time of the training process": ratio(estimate.cpu_ratio),
        "peak memory": UNKNOWN if memory is None else megabytes(memory),
        "pairs": f"{estimate.pairs}, {plural(estimate.blocks, 'block')}",
    }


def changed_program(result: Result) -> str:
    """`all 4 fixes`, or what takes their place."""
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
    files = Counter((fix.code, os.path.basename(_file(fix))) for fix in result.fixes)
    names_by_id = {}
    for fix in result.fixes:
        path = _file(fix)
        base = os.path.basename(path)
        file = base if files[fix.code, base] == 1 else path
        names_by_id[fix.id] = fix.code if codes[fix.code] == 1 else f"{fix.code} in {file}"
    return names_by_id


def _file(fix: FixMeasurement) -> str:
    return fix.places[0].path if fix.places else fix.id


def _fixes(number: int) -> str:
    return plural(number, "fix", "fixes")


def agreement(numerics: Numerics | None) -> Agreement:
    """Its word; an absent comparison is not compared."""
    return Agreement.UNKNOWN if numerics is None else numerics.agreement


def numbers(numerics: Numerics | None) -> str:
    """The word on the numbers, and over how many steps it was found."""
    agreed = agreement(numerics)
    if numerics is None or agreed is Agreement.UNKNOWN:
        return "numbers not compared"
    if agreed is Agreement.DIFFERS and numerics.first_step is not None:
        return f"{agreed.value} from step {numerics.first_step} on"
    return f"{agreed.value} over {plural(numerics.steps, 'step')}"


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
    return told(apart(result.aa), coverage(steps, result.unreached), *result.notes)


def place(fix: FixMeasurement) -> str:
    """`train.py:31 +2`: the first place, and how many more there are."""
    if not fix.places:
        return UNKNOWN
    first = fix.places[0]
    more = f" +{len(fix.places) - 1}" if len(fix.places) > 1 else ""
    return f"{first.path}:{first.row}{more}"


def conclusion(result: Result) -> list[str]:
    """What there is to say in addition to the verdict on the whole change: why the command did not
    end with 0, with the last lines of a failed script behind it, or how many fixes are good; may be
    empty if there is a verdict."""
    if result.summary.strip():
        return [line for line in result.summary.splitlines() if line.strip()]
    if len(result.fixes) > 1 and any(fix.alone.estimate for fix in result.fixes):
        well = sum(fix.is_proven for fix in result.fixes)
        return [f"{well} of {_fixes(len(result.fixes))} confirmed, with numbers that stay right."]
    return [] if result.total is not None else ["Nothing was measured."]


# why ---------------------------------------------------------------------------------------


def reasons(result: Result) -> list[tuple[str, list[str], str]]:
    """Words that need a reason: the word, the fixes (by id, or `total`) it is about, and why;
    each reason once, what counts against a fix first. That the machine is unfit is not among them:
    it is the result's summary."""
    unfit = result.aa.why if result.aa else ""
    ids_by_reason: dict[tuple[str, str], list[str]] = {}
    compared = [(fix.id, fix.alone, fix.after) for fix in result.fixes]
    if result.total is not None:
        compared.append(("total", result.total, None))
    said = [(key, name) for name, alone, after in compared for key in _reasons(alone, after)]
    said = [(_but_for(unfit, key), name) for key, name in said]
    said = [each for each in said if each[0][1]]
    for fix in result.fixes:
        if fix.hidden_by:
            waits = f"after the others, the step waits for {fix.hidden_by}"
            said.append((("hidden", waits), fix.id))
    for key, name in said:
        ids_by_reason.setdefault(key, []).append(name)
    against_first = sorted(ids_by_reason, key=lambda key: key[0] not in _AGAINST)
    return [(word, ids_by_reason[word, why], why) for word, why in against_first]


def _but_for(unfit: str, key: tuple[str, str]) -> tuple[str, str]:
    """A word with its reason, less that the machine is unfit and what follows it."""
    word, why = key
    return word, why.partition(unfit)[0].rstrip("; ") if unfit and unfit in why else why


def unmeasured(result: Result) -> list[tuple[Verdict, str, list[FixMeasurement]]]:
    """The fixes that were not measured, by their verdict and the reason for it."""
    by_reason: dict[tuple[Verdict, str], list[FixMeasurement]] = {}
    for fix in result.fixes:
        if not fix.is_measured:
            by_reason.setdefault((fix.alone.verdict, why_verdict(fix.alone)), []).append(fix)
    return [(verdict, why, fixes) for (verdict, why), fixes in by_reason.items()]


def why_verdict(found: Comparison) -> str:
    """Why the verdict is not a plain one; empty if it is."""
    needed = found.estimate.pairs_needed if found.estimate else None
    if found.verdict is Verdict.UNRESOLVED:
        more = f"about {plural(needed, 'pair')} would tell" if needed else ""
        return "; ".join(told(found.why, more)) or "the interval reaches over the margin"
    return found.why or _WHY.get(found.verdict, "")


def why_numbers(numerics: Numerics) -> str:
    """What is behind the word: the reason, and how far the numbers are apart."""
    first, spread = numerics.first_step, numerics.envelope_ratio
    is_known = spread is not None and math.isfinite(spread)
    return "; ".join(
        told(
            numerics.why,
            first is not None and f"from step {first} on, by up to {difference(numerics.largest)}",
            is_known and f"{spread:.2g} times the spread of a last-place change",
        )
    )


def numbers_sentence(numerics: Numerics) -> str:
    """What was compared and how, and what came out."""
    level = LEVELS[min(max(numerics.level, 0), len(LEVELS) - 1)]
    found = "; ".join(told(numerics.agreement.value, why_numbers(numerics)))
    return f"{level} Their losses and parameters: {found}."


def _reasons(alone: Comparison, after: Comparison | None) -> Iterator[tuple[str, str]]:
    """The words on a fix that need a reason, with it."""
    why, numerics = why_verdict(alone), alone.numerics
    if why:
        yield alone.verdict.value, why
    if numerics is not None and numerics.agreement is Agreement.DIFFERS:
        yield numerics.agreement.value, why_numbers(numerics) or "the computed numbers differ"
    elif numerics is not None and numerics.why and not numerics.agreement.is_good:
        yield numerics.agreement.value, numerics.why
    if alone.less_work:
        yield LESS_WORK, alone.less_work
    if after is not None:
        for word in (after.verdict.value, agreement(after.numerics).value):
            if word in _AGAINST:
                yield word, "when the other fixes are made"


def not_measured(result: Result) -> list[str]:
    """What a reader might look for and not find; empty if nothing at all was measured."""
    estimates = [fix.alone.estimate for fix in result.fixes]
    if result.aa is None and result.total is None and not any(estimates):
        return []
    tried = [fix for fix in result.fixes if fix.alone.verdict is not Verdict.NOT_EXERCISED]
    compared = [each.numerics for each in (result.total, *(fix.alone for fix in tried)) if each]
    return told(
        result.aa is None and "the noise of this machine",
        result.total is None and "the whole change",
        tried and not any(fix.alone.estimate for fix in tried) and "each fix alone",
        len(tried) > 1 and not any(fix.after for fix in tried) and "each fix after the others",
        {agreement(each) for each in compared} <= {Agreement.UNKNOWN} and "the computed numbers",
    )
