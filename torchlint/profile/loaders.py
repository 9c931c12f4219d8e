"""What the instrument `input` saw of the loaders, checked."""

from __future__ import annotations

import os
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchlint.runtime.messages import MalformedError, Message

if TYPE_CHECKING:
    from torchlint.profile.evidence import Evidence, Window

_TRUST: Final = 1.1
"""How much more than the wait that was seen may be gained."""
_ALONE_TIMES: Final = 2.0
"""As long as the other ranks waits one that is named."""


@dataclass(frozen=True, slots=True)
class Loader:
    """One loader, as one place of the user's code asks it for batches.

    Args:
        place: of that line.
        made: where the user's code made the loader, if the run saw it.
        dataset: name of its class.
        samples: row of the `def` that makes samples, if it is the user's.
        collate: row of the `def` that makes batches of them, if it is the user's.
        workers: processes.
        persistent: the workers outlive an epoch.
        length: batches of an epoch, if known.
        batches: handed out in the window.
        wait_s: seconds in `next`, without the first batches of epochs.
        firsts: first batches of epochs in the window.
        first_s: seconds until they were there, with the start of the workers.
        samples_s: seconds in the dataset, in the training process.
        collate_s: seconds in the collate function, in the training process.
        held_s: seconds in `next` for which the thread had no processor; in none of the others.
    """

    place: tuple[str, int] | None
    made: tuple[str, int] | None
    dataset: str
    samples: tuple[str, int] | None
    collate: tuple[str, int] | None
    workers: int
    persistent: bool
    length: int | None
    batches: int
    wait_s: float
    firsts: int
    first_s: float
    samples_s: float
    collate_s: float
    held_s: float

    @property
    def blocked_s(self) -> float:
        """Seconds of the window that were spent waiting for batches. The first of an epoch is like
        the others unless it waits for workers."""
        return self.wait_s if self.workers else self.wait_s + self.first_s


def loaders_of(window: Window) -> tuple[Loader, ...]:
    """All of a window.

    Raises:
        MalformedError: something is missing, or of another type.
    """
    return tuple(map(_loader, objects(window.found, "loaders")))


def objects(message: Message, key: str) -> tuple[Message, ...]:
    """A list of objects.

    Raises:
        MalformedError: it is something else.
    """
    values = message.values.get(key)
    if not isinstance(values, list) or not all(isinstance(each, dict) for each in values):
        raise MalformedError(f"{message.type}: {key} is no list of objects")
    return tuple(Message(f"{message.type}.{key}", each) for each in values)


def place_or_none(message: Message, key: str) -> tuple[str, int] | None:
    """A path and a row.

    Raises:
        MalformedError: it is something else.
    """
    value = message.values.get(key)
    if value is None:
        return None
    if isinstance(value, (list, tuple)) and len(value) == 2:
        path, row = value
        if isinstance(path, str) and isinstance(row, int):
            return path, row
    raise MalformedError(f"{message.type}: {key} is no path with a row")


def shown(place: tuple[str, int]) -> str:
    """A place as in a message: `data.py:31`."""
    return f"{os.path.basename(place[0])}:{place[1]}"


def processors_of_a_rank(evidence: Evidence) -> int:
    """How many each process that trains has for itself and its workers."""
    return max(1, evidence.processors * evidence.nodes // max(1, evidence.ranks))


def _loader(each: Message) -> Loader:
    length = each.number_or_none("length")
    return Loader(
        place=place_or_none(each, "place"),
        made=place_or_none(each, "made"),
        dataset=each.text("dataset"),
        samples=place_or_none(each, "samples"),
        collate=place_or_none(each, "collate"),
        workers=each.integer("workers"),
        persistent=each.flag("persistent"),
        length=None if length is None else int(length),
        batches=each.integer("batches"),
        wait_s=each.number("wait_s"),
        firsts=each.integer("firsts"),
        first_s=each.number("first_s"),
        samples_s=each.number("samples_s"),
        collate_s=each.number("collate_s"),
        held_s=each.number("held_s"),
    )


def waited_s(window: Window) -> float:
    """Seconds of a step that one rank waits for batches."""
    return sum(each.blocked_s for each in loaders_of(window)) / window.steps


def others_wait_s(window: Window) -> float | None:
    """Seconds of a step that the other ranks wait for batches, if that is clearly less than what
    the one that waits longest does; None if it is not, or there is one rank."""
    slowest = window.slowest(waited_s)
    others = [waited_s(each) for each in window.ranks if each is not slowest]
    middle = statistics.median(others) if others else None
    return None if middle is None or _ALONE_TIMES * middle > waited_s(slowest) else middle


def waited_share(loader: Loader, evidence: Evidence, window: Window) -> float:
    """What a step is shorter at most if this loader's batches cost nothing, as a share of it. A
    thread that need not wait is not left without a processor after it, either.

    Args:
        window: of the rank that it was seen on.
    """
    blocked = evidence.at_most(loader.blocked_s + loader.held_s, window)
    return min(evidence.saved["replay"], _TRUST * blocked)
