"""What has changed since an earlier profile."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, TypeVar

from torchlint.profile.earlier_profile import kinds_of, machine_of
from torchlint.profile.evidence import CUT
from torchlint.profile.profile_result import Change, Compared

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from torchlint.profile.earlier_profile import EarlierFinding, EarlierProfile
    from torchlint.profile.profile_result import Profile, RunFinding

    Pair = tuple[EarlierFinding, RunFinding]

_F = TypeVar("_F")


def compare(before: EarlierProfile, now: Profile) -> Compared:
    """What a profile shows that an earlier one does not, and the other way round.

    Findings are the same if code and path are, those that read the same kinds first, then the
    nearest rows, since lines move. Of codes that only one of the two has watched nothing is said.
    """
    both = set(before.watched) & set(now.watched)
    old = [each for each in (*before.findings, *before.census, *before.below) if each.code in both]
    new = [each for each in (*now.findings, *now.census, *now.below) if each.code in both]
    pairs = _paired(old, new)
    # What is below the cut in one of the two and missing in the other has hardly changed.
    small = {id(each) for each in (*before.below, *now.below)}
    gone = _without(old, small, (each for each, _ in pairs))
    come = _without(new, small, (each for _, each in pairs))
    ratio, beyond = _step(before, now)
    then = before.timing
    played = before.rehearsal, now.rehearsal
    least = max(CUT, now.cut, then.noise if then else 0.0)
    return Compared(
        date=before.date,
        step_s=then.step_s if then else None,
        noise=then.noise if then else None,
        ratio=ratio,
        beyond_noise=beyond,
        elsewhere=tuple(_elsewhere(before, now)),
        only_once=tuple(sorted(set(before.watched) ^ set(now.watched))),
        gone=tuple(Change(each.code, each.path, each.row, before=each.share) for each in gone),
        new=tuple(Change(each.code, each.path, each.row, now=each.share) for each in come),
        changed=tuple(
            Change(one.code, other.path, other.row, one.share, other.share)
            for one, other in pairs
            if one.share is not None
            and other.share is not None
            and abs(one.share - other.share) >= least
        ),
        waits=(played[0].waits, played[1].waits) if played[0] and played[1] else None,
    )


def _step(before: EarlierProfile, now: Profile) -> tuple[float | None, bool]:
    """The step time of before over that of now, and whether that is more than the noise of both."""
    if before.timing is None or now.timing is None:
        return None, False
    ratio = before.timing.step_s / now.timing.step_s
    noise = math.hypot(before.timing.noise, now.timing.noise)
    return ratio, abs(math.log(ratio)) > math.log1p(noise)


def _paired(old: Iterable[EarlierFinding], new: Iterable[RunFinding]) -> list[Pair]:
    """Findings of both, each once, in the order of the later ones."""
    olds: dict[tuple[str, str], list[EarlierFinding]] = defaultdict(list)
    for each in old:
        olds[each.code, each.path].append(each)
    candidates = [
        (one.kinds != kinds_of(other.values), abs(one.row - other.row), number, at, one, other)
        for number, other in enumerate(new)
        for at, one in enumerate(olds.get((other.code, other.path), ()))
    ]
    taken_old: set[int] = set()
    taken_new: set[int] = set()
    pairs: list[tuple[int, Pair]] = []
    for _, _, number, _, one, other in sorted(candidates, key=lambda each: each[:4]):
        if id(one) in taken_old or number in taken_new:
            continue
        taken_old.add(id(one))
        taken_new.add(number)
        pairs.append((number, (one, other)))
    return [pair for _, pair in sorted(pairs, key=lambda each: each[0])]


def _without(findings: Sequence[_F], small: Collection[int], others: Iterable[_F]) -> list[_F]:
    known = {*small, *(id(each) for each in others)}
    return [each for each in findings if id(each) not in known]


def _elsewhere(before: EarlierProfile, now: Profile) -> Iterable[str]:
    """What else has changed that the time of a step depends on."""
    if now.environment is None:
        return
    here = machine_of(now.environment)
    for name, was in machine_of(before.environment).items():
        if was != here[name]:
            yield f"{name} {was or 'unknown'}, now {here[name] or 'unknown'}"
