"""What the measured pairs say about the machine and about each change.

A verdict is read off a t interval over process pairs, at a level that leaves room for the other
looks (each spends an equal share of alpha) and for the other changes (Holm). CONFIRMED and SLOWER
have to clear the margin or the machine's own noise, whichever is wider. NEUTRAL has to fit into
the margin that was declared: if noise widened that one too, a busy machine would call a gain of
10 % nothing.

Each of the three kinds of false verdict then has a probability of at most alpha / 2, over all
looks and changes. Holm runs for each kind by itself. Its argument counts the hypotheses that are
true, and among three-way verdicts there is always a false one left to make about every change.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from torchlint.experiment.intervals import Sample, estimate, exp, pair_values
from torchlint.verify.judge.forecast import MOST_PAIRS, Outlook, pairs_for_margin, pairs_needed
from torchlint.verify.judge.gpu_clock import clocks, why_apart, why_unfit
from torchlint.verify.result import Comparison, Noise, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torchlint.experiment.intervals import Estimate
    from torchlint.experiment.request import Design
    from torchlint.experiment.rotation import Block

    Pairs = Sequence[tuple[Sequence[Block], Sequence[Block]]]

MOST_NOISE: Final = 0.25
"""Where identical programs differ by more than this, nothing is claimed."""
_FEW_STEPS: Final = 10
"""With fewer in a run, the script is too short rather than the machine too noisy."""
_WORTH_A_LOOK: Final = 0.05
"""A look that settles something less often than this is not worth its time."""


def noise(pairs: Pairs, design: Design) -> Noise:
    """The original against itself.

    The floor is half of the 95 % interval, or how far the identical programs lay apart where that
    is more: what happens to two that do the same can happen to a change as well.

    The machine is unfit if identical programs may differ by more than `MOST_NOISE`, or if they do
    differ and it may be by more than the margin. Whether they do is read off the interval that a
    verdict at this look needs. The one of 95 % would call an honest machine unfit at every
    twentieth look; this one did so in at most 3 of 100 draws from recorded pools, and an unfit
    machine gets the next look before it is given up. So does one whose GPU changed its clock.

    Raises:
        ValueError: there are no pairs, or a block has no time.
    """
    estimate = _estimate(pairs, design.look_alpha)
    sample = _sample(estimate)
    floor = exp(max(sample.half_width(0.05), abs(sample.mean))) - 1
    strict = sample.half_width(design.look_alpha)
    reach = exp(abs(sample.mean) + strict) - 1
    why = ""
    if len(pairs) < 2:
        why = "one pair of runs gives no interval; give more with --budget or --pairs"
    elif floor > MOST_NOISE and (steps := _steps(pairs)) < _FEW_STEPS:
        why = (
            f"a run measures only {steps} steps, over which identical programs may differ by "
            f"{floor:.0%}; let the script train longer, and raise --steps if you gave it"
        )
    elif floor > MOST_NOISE:
        needed = pairs_for_margin(sample, math.log1p(design.margin))
        many = f"about {needed}" if needed else f"more than {MOST_PAIRS}"
        why = (
            f"identical programs may differ by {floor:.0%}: {_cause(pairs, sample)}; as it is, a "
            f"margin of {design.margin:.2g} would take {many} pairs"
        )
    elif abs(sample.mean) > strict and reach > design.margin:
        why = f"identical programs differ, by up to {reach:.1%}: {_cause(pairs, sample)}"
    rates = clocks(pairs)
    why = why or why_unfit(rates)
    return Noise(estimate, floor=floor, fit=not why, why=why, clocks=rates)


def margin_of(design: Design, found: Noise) -> float:
    """What a claim of a difference has to clear: the margin, or the noise where that is wider."""
    return max(design.margin, found.floor)


def verdicts(effects: Mapping[str, Pairs], margin: float, design: Design) -> dict[str, Comparison]:
    """Judge changes that were measured together.

    Args:
        effects: by name, the blocks of the original and of the changed program, pair by pair.
        margin: what CONFIRMED and SLOWER have to clear, from `margin_of`.
        design: what was decided before measuring.

    Raises:
        ValueError: a change has no pairs, or a block has no time.
    """
    estimates = {key: _estimate(pairs, design.look_alpha) for key, pairs in effects.items()}
    claim, fit = math.log1p(max(margin, design.margin)), math.log1p(design.margin)
    samples = {key: _sample(found) for key, found in estimates.items()}
    kinds = {
        Verdict.CONFIRMED: {key: each.p_above(claim) for key, each in samples.items()},
        Verdict.SLOWER: {key: each.p_below(-claim) for key, each in samples.items()},
        Verdict.NEUTRAL: {
            key: max(each.p_above(-fit), each.p_below(fit)) for key, each in samples.items()
        },
    }
    settled: dict[str, Comparison] = {}
    for verdict, p_values in kinds.items():
        for key, level in holm(p_values, design.look_alpha / 2).items():
            judged = replace(estimates[key], strict=samples[key].interval(2 * level))
            is_slower = verdict is Verdict.NEUTRAL and judged.strict[1] < 1
            why = f"slower, but within the margin of {design.margin:.1%}" if is_slower else ""
            settled[key] = Comparison(verdict, judged, why=why)
    # Holm's first level, at which every kind of verdict is refused to what is left.
    alpha = design.look_alpha / max(1, len(effects))
    found = {
        key: settled.get(key)
        or _unresolved(estimates[key], Outlook(samples[key], claim, fit, alpha))
        for key in effects
    }
    return {key: _at_one_clock(each, effects[key]) for key, each in found.items()}


def undecided(found: Mapping[str, Comparison], margin: float, design: Design) -> tuple[str, ...]:
    """The changes that one of the coming looks has a chance to settle.

    Args:
        found: what `verdicts` said at this look.
        margin: as for `verdicts`.
        design: what was decided before measuring.
    """
    claim, fit = math.log1p(max(margin, design.margin)), math.log1p(design.margin)
    keys: list[str] = []
    for key, each in found.items():
        if each.verdict is not Verdict.UNRESOLVED or each.estimate is None:
            continue
        outlook = Outlook(_sample(each.estimate), claim, fit, design.look_alpha)
        coming = [look for look in design.looks if look > each.estimate.pairs]
        if any(outlook.chance(look, all_new=False) >= _WORTH_A_LOOK for look in coming):
            keys.append(key)
    return tuple(keys)


def holm(p_values: Mapping[str, float], alpha: float) -> dict[str, float]:
    """Which hypotheses fall, and the level at which each does.

    The chance that any true one is among them is at most `alpha` (Holm 1979).
    """
    fallen: dict[str, float] = {}
    for key in sorted(p_values, key=lambda key: p_values[key]):
        level = alpha / (len(p_values) - len(fallen))
        if p_values[key] > level:
            break
        fallen[key] = level
    return fallen


def _at_one_clock(found: Comparison, pairs: Pairs) -> Comparison:
    why = why_apart(clocks(pairs))
    return replace(found, verdict=Verdict.UNRESOLVED, why=why) if why else found


def _unresolved(found: Estimate, outlook: Outlook) -> Comparison:
    needed = pairs_needed(outlook)
    reasons = []
    sample = outlook.sample
    if found.pairs < 2:
        reasons.append("one pair gives no interval")
    elif abs(sample.mean) - sample.half_width(outlook.alpha) > outlook.margin:
        noisy = exp(outlook.floor) - 1
        reasons.append(f"beyond the margin, but not beyond the machine's own noise of {noisy:.1%}")
    elif sample.mean + sample.half_width(outlook.alpha) < 0:
        edge = exp(outlook.floor) - 1
        what = "margin" if outlook.floor <= outlook.margin else "machine's own noise"
        reasons.append(f"slower, but perhaps within the {what} of {edge:.1%}")
    if needed is None and found.pairs > 1:
        reasons.append(f"even {MOST_PAIRS} pairs might not settle it")
    strict = sample.interval(outlook.alpha)
    return Comparison(
        Verdict.UNRESOLVED,
        replace(found, strict=strict, pairs_needed=needed),
        why="; ".join(reasons),
    )


def _estimate(pairs: Pairs, alpha: float) -> Estimate:
    return estimate(
        [(_seconds(before), _seconds(after)) for before, after in pairs],
        strict_alpha=alpha,
        cpu=[(_cpu_seconds(before), _cpu_seconds(after)) for before, after in pairs],
        memory=[
            ([each.memory_mb for each in before], [each.memory_mb for each in after])
            for before, after in pairs
        ],
    )


def _sample(found: Estimate) -> Sample:
    return Sample(math.log(found.ratio), found.sd_between, found.pairs)


def _seconds(blocks: Sequence[Block]) -> list[float]:
    return [block.seconds for block in blocks]


def _cpu_seconds(blocks: Sequence[Block]) -> list[float]:
    return [block.cpu / block.steps for block in blocks]


def _steps(pairs: Pairs) -> int:
    """The steps that a run measures."""
    return min(sum(block.steps for block in blocks) for pair in pairs for blocks in pair)


def _cause(pairs: Pairs, sample: Sample) -> str:
    """What may be behind the noise, from what else the blocks say."""
    blocks = [block for pair in pairs for blocks in pair for block in blocks]
    throttled = sum(block.throttled is True for block in blocks)
    if throttled:
        return f"the GPU's clock was held back in {throttled} of {len(blocks)} blocks"
    try:
        cpu = pair_values([(_cpu_seconds(a), _cpu_seconds(b)) for a, b in pairs])
    except ValueError:
        return "look for other work on this machine"
    if any(block.gpu is not None for block in blocks):
        return "look for other work on this GPU"
    if Sample.of(cpu).sd < sample.sd / 2:
        return "their CPU time agrees, so other work takes the processors; stop it"
    return "their CPU time differs too: each process has a speed of its own (memory, caches)"
