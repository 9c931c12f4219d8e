"""One process, started by this Python."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Python:
    """`python SCRIPT`."""

    processes: int = 1

    def command(self, arguments: Sequence[str]) -> list[str]:
        return [sys.executable, *arguments]

    def ended(self, code: int, stderr: str, rank: int | None) -> tuple[int, int | None]:
        return code, None
