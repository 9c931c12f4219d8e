"""Several ranks on this machine, started by torchrun."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

# Not `-m`, which would put the folder that the user stands in before the standard library.
_TORCHRUN: Final = (
    "import sys; sys.path[:] = filter(None, sys.path)\n"
    "from torch.distributed.run import main; main()"
)
_RANK_EXIT: Final = re.compile(r"exitcode\s*:\s*(-?\d+)")
"""In what torchrun writes when a rank has failed; its own code is always 1."""


@dataclass(frozen=True, slots=True)
class Torchrun:
    """`torchrun --standalone --nproc-per-node PROCESSES SCRIPT`."""

    processes: int

    def command(self, arguments: Sequence[str]) -> list[str]:
        count = str(self.processes)
        options = ["--standalone", "--nproc-per-node", count]
        return [sys.executable, "-c", _TORCHRUN, *options, *arguments]

    def exit_code(self, code: int, stderr: str) -> int:
        rank = _RANK_EXIT.search(stderr)
        return int(rank[1]) if rank else code
