"""What an earlier run wrote, and whether it is of the same program, on the same machine."""

from __future__ import annotations

import os
import shlex
from typing import TypeVar

from msgspec import Struct, ValidationError, convert

from torchlint.experiment.earlier_json import digests, parsed
from torchlint.experiment.errors import ExperimentError
from torchlint.experiment.machine import hardware
from torchlint.files.reading import SourceError, read_bytes


class EarlierHardware(Struct, frozen=True):
    """What a run was measured on; see `experiment.machine.Hardware`."""

    torch: str
    python: str
    processors: int
    processor: str


class EarlierRun(Struct, frozen=True):
    """What every command that measures a program writes about it.

    Attributes:
        argv: the program and its arguments.
        sources: path → SHA-256 of the files that it ran.
    """

    schema: int
    tool: str
    argv: tuple[str, ...]
    environment: EarlierHardware
    sources: dict[str, str]

    def changed_since(self, words: tuple[str, ...]) -> str:
        """What has changed since it was measured, in words; empty if nothing has.

        Args:
            words: the program and its arguments now.
        """
        if _of_program(self.argv) != _of_program(words):
            return f"it ran `{shlex.join(self.argv)}`, and this is `{shlex.join(words)}`"
        now = hardware()
        for name in ("torch", "python", "processor", "processors"):
            before, here = getattr(self.environment, name), getattr(now, name)
            if before != here:
                return f"it was measured with {name} {before}, and here it is {here}"
        current = digests(self.sources)
        changed = [path for path, digest in self.sources.items() if current.get(path) != digest]
        if changed:
            missing = changed[0] not in current
            return f"{changed[0]} {'cannot be read here' if missing else 'has changed'}"
        return ""


_Run = TypeVar("_Run", bound=EarlierRun)


def read_earlier(path: str, kind: type[_Run], schema: int, command: str) -> _Run:
    """The result in a file.

    Args:
        schema: the one that this torchlint writes.
        command: what writes such a result.

    Raises:
        ExperimentError: it cannot be read, or that command did not write it.
    """
    try:
        earlier = convert(parsed(read_bytes(path)), kind)
    except SourceError as error:
        raise ExperimentError(f"{path}: {error.message}") from None
    except ValidationError:
        earlier = None
    if earlier is None or earlier.tool != "torchlint" or earlier.schema != schema:
        raise ExperimentError(
            f"{path} is not a result of this torchlint; write one with `{command}`."
        )
    return earlier


def _of_program(words: tuple[str, ...]) -> tuple[str, ...]:
    """The script, by whatever spelling of its path, and its arguments."""
    return words if words[:1] in ((), ("-m",)) else (os.path.realpath(words[0]), *words[1:])
