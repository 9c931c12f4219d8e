"""The forms of a program that a verification runs: each fix alone, all of them, all but one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.experiment.subject import AGAIN, CHANGED, ORIGINAL, Variant

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_AT_ONCE: Final = 12


def only(fix: str) -> str:
    """The variant with this fix alone."""
    return f"only {fix}"


def without(fix: str) -> str:
    """The variant with every fix but this one."""
    return f"without {fix}"


def variants_of(fixes: Sequence[str], *, per_fix: bool) -> tuple[Variant, ...]:
    """The variants to run, each once: a single fix alone is the same as all fixes together."""
    variants = [Variant(ORIGINAL, ()), Variant(AGAIN, ()), Variant(CHANGED, tuple(fixes))]
    if not per_fix or len(fixes) < 2:
        return tuple(variants)
    variants += [Variant(only(fix), (fix,)) for fix in fixes]
    if len(fixes) > 2:
        variants += [
            Variant(without(fix), tuple(other for other in fixes if other != fix)) for fix in fixes
        ]
    return tuple(variants)


def compared(variants: Sequence[Variant]) -> tuple[Variant, ...]:
    """Those whose numbers are compared with the original's: all fixes together, and each alone."""
    return tuple(each for each in variants if each.name == CHANGED or len(each.fixes) == 1)


def variant_with(fixes: Sequence[str], chosen: Sequence[str]) -> str:
    """The name of the variant that holds just the chosen ones of all fixes."""
    if not chosen:
        return ORIGINAL
    if len(chosen) == len(fixes):
        return CHANGED
    if len(chosen) == 1:
        return only(chosen[0])
    return without(next(fix for fix in fixes if fix not in chosen))


def rotations(variants: Sequence[Variant], *, room: int) -> tuple[tuple[str, ...], ...]:
    """Which variants run side by side: all of them if there is room, else several groups that
    each hold the original and the changed program to compare with.

    Args:
        room: how many runs the memory holds, as `room_for_runs` says.
    """
    room = max(3, min(_MOST_AT_ONCE, room))
    names = [variant.name for variant in variants]
    base, rest = names[:3], names[3:]
    if len(names) <= room:
        return (tuple(names),)
    share = max(1, room - 2)
    shares = [rest[start : start + share] for start in range(0, len(rest), share)]
    return (tuple(base), *((ORIGINAL, CHANGED, *each) for each in shares))
