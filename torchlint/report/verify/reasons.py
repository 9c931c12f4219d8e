"""The reasons behind verdicts, and what was not measured at all."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import difference
from torchlint.report.terminal.safe_text import plural
from torchlint.report.verify.verification_words import agreement
from torchlint.verify.result import Agreement, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.verify.result import Comparison, FixResult, Numerics, Result

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
