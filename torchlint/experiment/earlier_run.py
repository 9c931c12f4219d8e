"""Whether what was measured earlier is of the same program, on the same machine."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from msgspec import Struct

from torchlint.experiment.earlier_json import digests
from torchlint.experiment.machine import hardware

if TYPE_CHECKING:
    from collections.abc import Mapping


class EarlierHardware(Struct, frozen=True):
    """What a run was measured on; see `experiment.machine.Hardware`."""

    torch: str
    python: str
    processors: int
    processor: str


def changed_since(
    argv: tuple[str, ...],
    then: EarlierHardware,
    sources: Mapping[str, str],
    words: tuple[str, ...],
) -> str:
    """What has changed since a program was measured, in words; empty if nothing has.

    Args:
        argv: the program and its arguments, as it was measured.
        sources: path → SHA-256 of the files that it ran.
        words: the program and its arguments now.
    """
    if _of_program(argv) != _of_program(words):
        return f"it ran `{shlex.join(argv)}`, and this is `{shlex.join(words)}`"
    now = hardware()
    for name in ("torch", "python", "processor", "processors"):
        before, here = getattr(then, name), getattr(now, name)
        if before != here:
            return f"it was measured with {name} {before}, and here it is {here}"
    current = digests(sources)
    changed = [path for path, digest in sources.items() if current.get(path) != digest]
    if changed:
        missing = changed[0] not in current
        return f"{changed[0]} {'cannot be read here' if missing else 'has changed'}"
    return ""


def _of_program(words: tuple[str, ...]) -> tuple[str, ...]:
    """The script, by whatever spelling of its path, and its arguments."""
    return words if words[:1] in ((), ("-m",)) else (os.path.realpath(words[0]), *words[1:])
