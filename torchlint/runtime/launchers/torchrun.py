"""Several ranks, started by torchrun: on this machine, or by one torchrun on each of several."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

# Not `-m`, which would put the current folder of the user before the standard library.
_TORCHRUN: Final = (
    "import sys; sys.path[:] = filter(None, sys.path)\n"
    "from torch.distributed.run import main; main()"
)
_RANK_EXIT: Final = re.compile(r"^(?:\s*rank\s*:\s*(\d+).*\n)?\s*exitcode\s*:\s*(-?\d+)", re.M)
"""In what torchrun writes when ranks have failed, each after its number; its own code is 1."""


@dataclass(frozen=True, slots=True)
class Torchrun:
    """`torchrun --standalone --nproc-per-node PROCESSES SCRIPT`, or the same on several nodes.

    Args:
        on_a_node: processes on each machine.
        nodes: machines.
    """

    on_a_node: int
    nodes: int = 1

    @property
    def processes(self) -> int:
        """All ranks together."""
        return self.on_a_node * self.nodes

    def command(self, arguments: Sequence[str]) -> list[str]:
        return self._torchrun(["--standalone"], arguments)

    def command_on(self, node: int, host: str, port: int, arguments: Sequence[str]) -> list[str]:
        """The command of one of several machines.

        The rendezvous is the static one: that of c10d starts the ranks again if a machine is late
        with a heartbeat.

        Args:
            node: counted from 0.
            host: of node 0, as this machine reaches it.
            port: that is free there.
        """
        where = ["--nnodes", str(self.nodes), "--node-rank", str(node)]
        where += ["--master-addr", host, "--master-port", str(port)]
        return self._torchrun(where, arguments)

    def ended(self, code: int, stderr: str, rank: int | None) -> tuple[int, int | None]:
        found = _RANK_EXIT.finditer(stderr)
        exits = [(int(each[2]), int(each[1]) if each[1] else None) for each in found]
        # torchrun ends the others, and names the first that failed at the end.
        return ([each for each in exits if each[1] == rank] or exits[-1:] or [(code, rank)])[0]

    def _torchrun(self, where: Sequence[str], arguments: Sequence[str]) -> list[str]:
        count = str(self.on_a_node)
        options = [*where, "--nproc-per-node", count]
        return [sys.executable, "-c", _TORCHRUN, *options, *arguments]
