"""From measured blocks and compared numbers to verdicts on the whole change and each fix."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from torchlint.experiment.subject import AGAIN, CHANGED, ORIGINAL
from torchlint.verify.counts.differences import with_counters
from torchlint.verify.fix_variants import variant_with
from torchlint.verify.judge.verdict import margin_of, noise, undecided, verdicts
from torchlint.verify.result import Agreement, Comparison, FixMeasurement, FixPlace, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torchlint.experiment.first_look import FirstLook
    from torchlint.experiment.request import Design
    from torchlint.experiment.rounds import Pairs, Rounds
    from torchlint.runtime.survey_reader import Survey
    from torchlint.verify.compared.measured_fixes import Fixes, MeasuredFix
    from torchlint.verify.result import Counters, Noise, Numerics

_NO_PAIR: Final = "no pair was measured"
_LANES: Final = {
    "data": "data loading",
    "forward": "the forward pass",
    "backward": "the backward pass",
    "optimizer": "the optimizer",
    "other": "other code",
}


class Judge:
    """Judges what is known at each look.

    Args:
        ids: the fixes that are measured, in order.
        gpu_only: those of them whose saving shows only on a GPU.
        on_gpu: whether the program computes on one.
    """

    def __init__(
        self,
        rounds: Rounds,
        design: Design,
        ids: Sequence[str],
        *,
        per_fix: bool,
        gpu_only: frozenset[str],
        on_gpu: bool,
    ) -> None:
        self._rounds = rounds
        self._design = design
        self.ids = tuple(ids)
        self._per_fix = per_fix and len(ids) > 1
        self._hopeless = frozenset() if on_gpu else gpu_only

    def leave_parts_out(self) -> None:
        """From now on judge the whole change only."""
        self._per_fix = False

    def noise(self) -> Noise | None:
        """The original against itself; None before a pair is measured."""
        pairs = self._rounds.pairs(ORIGINAL, AGAIN)
        return noise(pairs, self._design) if pairs else None

    def total(self) -> Comparison:
        """The original against the changed program."""
        only_gpu = bool(self.ids) and self._hopeless.issuperset(self.ids)
        found = self._judged({CHANGED: self._rounds.pairs(ORIGINAL, CHANGED)})[CHANGED]
        return _not_here(found) if only_gpu else found

    def alone(self) -> dict[str, Comparison]:
        """Each fix against the original, judged as a family."""
        if len(self.ids) == 1:
            return {self.ids[0]: self.total()}
        if not self._per_fix:
            measured = self._rounds.pairs(ORIGINAL, CHANGED)
            why = "it was measured only together with the others" if measured else _NO_PAIR
            unknown = dict.fromkeys(self.ids, Comparison(Verdict.UNRESOLVED, why=why))
            return self._where_it_shows(unknown)
        found = self._judged(
            {fix: self._rounds.pairs(ORIGINAL, variant_with(self.ids, (fix,))) for fix in self.ids}
        )
        return self._where_it_shows(found)

    def after(self) -> dict[str, Comparison]:
        """What each fix adds when all the others are made; empty for a single fix, and before one
        was measured."""
        if not self._per_fix:
            return {}
        effects = {
            fix: self._rounds.pairs(
                variant_with(self.ids, [other for other in self.ids if other != fix]), CHANGED
            )
            for fix in self.ids
        }
        return self._where_it_shows(self._judged(effects)) if any(effects.values()) else {}

    def undecided(self) -> bool:
        """Whether a coming look has a chance to settle something, or to find the machine fit."""
        floor = self.noise()
        if floor is None or not floor.fit:
            return True
        margin = margin_of(self._design, floor)
        families = [{CHANGED: self.total()}, self.alone() if self._per_fix else {}]
        return any(undecided(family, margin, self._design) for family in families)

    def _where_it_shows(self, found: dict[str, Comparison]) -> dict[str, Comparison]:
        return {
            fix: _not_here(each) if fix in self._hopeless else each for fix, each in found.items()
        }

    def _judged(self, effects: Mapping[str, Pairs]) -> dict[str, Comparison]:
        floor = self.noise()
        judged = dict.fromkeys(effects, Comparison(Verdict.UNRESOLVED, why=_NO_PAIR))
        measured = {key: pairs for key, pairs in effects.items() if pairs}
        if floor is None or not measured:
            return judged
        judged.update(verdicts(measured, margin_of(self._design, floor), self._design))
        if floor.fit:
            return judged
        return {
            key: replace(each, verdict=Verdict.UNRESOLVED, why=floor.why)
            if each.estimate is not None
            else each
            for key, each in judged.items()
        }


def _not_here(found: Comparison) -> Comparison:
    if found.verdict in (Verdict.CONFIRMED, Verdict.SLOWER):
        return found
    why = "it avoids waiting for a GPU, and this run has none"
    return replace(found, verdict=Verdict.NOT_MEASURABLE, why=why)


def fix_results(
    fixes: Fixes,
    look: FirstLook,
    judge: Judge | None = None,
    numerics: Mapping[str, Numerics] | None = None,
    counters: Mapping[str, Counters] | None = None,
) -> tuple[FixMeasurement, ...]:
    """One result for each fix of a file that the program imports.

    Args:
        judge: knows the measured fixes; None if nothing was measured.
        numerics, counters: by variant.
    """
    counted = counters or {}
    measured = judge.ids if judge else ()
    alone = judge.alone() if judge else {}
    after = judge.after() if judge else {}
    results: list[FixMeasurement] = []
    for fix in fixes.fixes:
        if fix.id not in measured:
            why = "none of its lines ran in the steps that were looked at"
            results.append(_result(fixes, fix, look, Comparison(Verdict.NOT_EXERCISED, why=why)))
            continue
        name = variant_with(measured, (fix.id,))
        mine = replace(alone[fix.id], numerics=(numerics or {}).get(name))
        mine = with_counters(mine, counted.get(ORIGINAL), counted.get(name))
        more = after.get(fix.id)
        result = _result(fixes, fix, look, mine, more)
        results.append(replace(result, hidden_by=_hidden_by(mine, more, look.changed)))
    return tuple(results)


def _result(
    fixes: Fixes,
    fix: MeasuredFix,
    look: FirstLook,
    alone: Comparison,
    after: Comparison | None = None,
) -> FixMeasurement:
    places = tuple(
        FixPlace(finding.path, finding.start.row, look.exercised(fix.id, number))
        for number, finding in enumerate(fix.findings)
    )
    return FixMeasurement(
        id=fix.id,
        code=fix.code,
        name=fix.name,
        applicability=fix.applicability.value,
        message=fix.message,
        places=places,
        alone=alone,
        after=after,
        diff=fixes.diff((fix.id,)),
    )


def _hidden_by(alone: Comparison, after: Comparison | None, changed: Survey) -> str | None:
    """What the program waits for instead, where a fix is worth much less after the others."""
    if after is None or alone.estimate is None or after.estimate is None:
        return None
    gain, rest = alone.estimate.ratio - 1, after.estimate.ratio - 1
    if alone.verdict is not Verdict.CONFIRMED or rest > gain / 2:
        return None
    if changed.device != "cpu":
        return None  # The lanes are the host's, and the GPU may be behind it.
    lanes = changed.lanes.medians()
    return _LANES[max(lanes, key=lambda name: lanes[name])] if any(lanes.values()) else None


def conclusion(
    noise: Noise | None, total: Comparison, fixes: Sequence[FixMeasurement], *, late: bool
) -> tuple[int, str]:
    """Exit code and one sentence.

    Args:
        noise: None if no pair was measured.
        late: the time budget ended the measurement.
    """
    compared = [("The change as a whole", total), *((f"{fix.id}", fix.alone) for fix in fixes)]
    for who, each in compared:
        if each.numerics is not None and each.numerics.agreement is Agreement.DIFFERS:
            return 1, f"{who} computes other numbers: {each.numerics.why}"
    for who, each in compared:
        if each.verdict is Verdict.SLOWER:
            return 1, f"{who} makes the step slower."
    less = next(
        (f"{who} does less work: {each.less_work}." for who, each in compared if each.less_work), ""
    )
    unsettled = total.verdict is Verdict.UNRESOLVED or any(
        each.estimate and each.verdict is Verdict.UNRESOLVED for _, each in compared
    )
    unfit = noise.why if noise is not None and not noise.fit else ""
    if late and unsettled:
        ended = "The time budget has no room to settle the rest; give more with --budget."
        return 7, f"{ended} Until then, {unfit}." if unfit else ended
    if unfit:
        return 3, f"No verdict on speed: {unfit}."
    return 0, less
