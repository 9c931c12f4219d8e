"""How the parts of a rehearsal are put into words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.experiment.figures import listed, mebibytes, milliseconds, scaled
from torchlint.report.profile.profile_words import place
from torchlint.report.terminal.safe_text import plural, visible_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.profile.profile_result import Profile, Rehearsal

NOT_TIMED: Final = "Rehearsed: no GPU was used. Counts are exact, per step; nothing was timed."
NOT_USED: Final = (
    "The script does not use the GPU: it moves nothing there and orders nothing, though one is "
    "there. Look at how it chooses its device."
)
_NAMED: Final = 3
"""Lines in one sentence."""
_MIB: Final = 2**20
_OF: Final = {
    "arithmetic": "arithmetic",
    "memory": "memory traffic",
    "launches": "ordering operations",
}
_HELD: Final = ("parameters", "gradients", "optimizer")


def nothing_found(seen: Rehearsal) -> str:
    """What is said in place of findings."""
    often = " in more than one of them" if seen.waits else ""
    return f"No finding: in the counted steps, no line makes the host wait{often}."


def rare(result: Profile) -> str:
    """Lines that wait in a single step, as in an evaluation or a rollout, and are no findings."""
    seen = result.rehearsal
    if seen is None or result.suppressed:  # one that a comment silences is no such line
        return ""
    found = {(each.path, each.row) for each in result.findings}
    lines = [each for each in seen.lines if each.waits and (each.path, each.row) not in found]
    lines.sort(key=lambda each: -each.waits)
    named = [f"{visible_path(each.path)}:{each.row} ({count(each.waits)} a step)" for each in lines]
    return f"waits in one of the counted steps: {listed(named, _NAMED)}" if named else ""


def steps(seen: Rehearsal) -> str:
    """`10 steps after 2`."""
    return f"{plural(seen.steps, 'step')} after {seen.skipped}"


def count(value: float) -> str:
    """An average per step: `3`, `0.4`, `312`."""
    return f"{value:.0f}" if value >= 99.5 or value == round(value) else f"{value:.2g}"


def step(seen: Rehearsal) -> Iterator[tuple[str, str]]:
    """What a step asks for, as labels with sentences."""
    yield "a step", "; ".join(filter(None, (_waits(seen), _copies(seen), _launches(seen))))
    yield "bound", _bound(seen)
    yield "memory", _memory(seen)


def _waits(seen: Rehearsal) -> str:
    if not seen.waits:
        return "the host waits for nothing"
    before = f" ({count(seen.before_backward)} before backward)" if seen.before_backward else ""
    return f"the host waits {_times(seen.waits)}{before}{_idle(seen)}"


def _idle(seen: Rehearsal) -> str:
    """Reads that cost nothing as long as another one comes just before, with their lines."""
    if seen.idle < 0.05:
        return ""
    lines = [f"{visible_path(each.path)}:{each.row}" for each in seen.lines if each.idle >= 0.05]
    where = f" ({listed(lines, _NAMED)})" if lines else ""
    return f", and {count(seen.idle)} more find an empty queue while those come first{where}"


def _times(value: float) -> str:
    return "once" if value == 1 else f"{count(value)} times"


def _copies(seen: Rehearsal) -> str:
    if not seen.copies:
        return ""
    word = "copy" if seen.copies == 1 else "copies"
    waits = f", {count(seen.awaited_copies)} of which it waits for" if seen.awaited_copies else ""
    return f"{count(seen.copies)} {word} to the GPU ({scaled(seen.copied, 'B')}){waits}"


def _launches(seen: Rehearsal) -> str:
    small = f", {seen.small:.0%} on fewer than 4,096 elements" if seen.small >= 0.005 else ""
    return f"{count(seen.launches)} operations{small}"


def _bound(seen: Rehearsal) -> str:
    """Which of the three is largest, and the others."""
    if not any(seen.bounds.values()):
        return ""
    first, *others = sorted(seen.bounds.items(), key=lambda each: -each[1])
    rest = ", ".join(f"{_OF[name]} {milliseconds(1e3 * value)}" for name, value in others)
    return (
        f"{_OF[first[0]]}, at least {milliseconds(1e3 * first[1])} a step on this card "
        f"(at least {rest}); lower bounds from counts, not times"
    )


def _memory(seen: Rehearsal) -> str:
    memory = seen.memory
    if not memory["peak"]:
        return ""
    held = [f"{name} {size(memory[name])}" for name in _HELD if memory[name]]
    held.append(f"activations and batches {size(memory['rest'])}")
    at = f", most at {visible_path(place_of(seen))}" if seen.fullest is not None else ""
    fits = "fits" if memory["peak"] <= 0.95 * memory["card"] else "does NOT fit"
    return (
        f"{size(memory['peak'])} of tensors at most ({', '.join(held)}){at}; {fits} "
        f"into {size(memory['card'])}"
    )


def size(number: float) -> str:
    """Bytes, `12.5 GiB`."""
    return mebibytes(number / _MIB) if number >= 0.1 * _MIB else scaled(number, "B")


def place_of(seen: Rehearsal) -> str:
    """`model.py:33`."""
    return f"{seen.fullest.path}:{seen.fullest.row}" if seen.fullest is not None else ""


def places(result: Profile, status: str) -> list[str]:
    """The findings of `check` with this status: `TL201 train.py:99`."""
    return [f"{each.code} {place(each)}" for each in result.static if each.status == status]


def agreement(result: Profile) -> str:
    """What was seen of the findings of `check`."""
    if not result.static:
        return ""
    confirmed = {(each.code, each.path, each.row) for one in result.findings for each in one.static}
    own = sum(not each.static for each in result.findings)
    parts = [f"{plural(len(confirmed), 'finding')} confirmed"] if confirmed else []
    wrong = len(places(result, "contradicted"))
    parts += [f"{wrong} contradicted"] if wrong else []
    parts += [f"{plural(own, 'line')} that only a run shows"] if own else []
    return ", ".join(parts)
