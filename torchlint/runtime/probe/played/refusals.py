"""What only a real device has, in one sentence."""

from __future__ import annotations

import os

from torchlint.runtime.probe.played.state import PLAYED


class NotPlayedError(RuntimeError):
    """The script asks the device for something that only a real one has."""


def refusal(name: str, what: str) -> NotPlayedError:
    """The error that names it, with the user's line.

    Args:
        name: of the function that was called.
        what: it is, as the beginning of a sentence.
    """
    place = PLAYED.ledger.line()
    at = f" in {os.path.relpath(place[0])}:{place[1]}" if place else ""
    return NotPlayedError(
        f"{what} ({name}{at}) cannot be rehearsed; leave it out for the rehearsal."
    )
