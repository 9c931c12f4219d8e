"""What Slurm says about a rank that it did not start itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import MutableMapping


def correct(environment: MutableMapping[str, str]) -> None:
    """Let Slurm's variables say about this rank what torchrun's do.

    Slurm has started one torchrun on each node, and counts one task there; a script that asks it
    for its rank would get the number of the node.
    """
    if "SLURM_PROCID" not in environment or "LOCAL_WORLD_SIZE" not in environment:
        return
    local, world = environment["LOCAL_WORLD_SIZE"], environment["WORLD_SIZE"]
    nodes = int(world) // max(1, int(local))
    environment.update(
        SLURM_PROCID=environment["RANK"],
        SLURM_LOCALID=environment["LOCAL_RANK"],
        SLURM_NTASKS=world,
        SLURM_NPROCS=world,
        SLURM_STEP_NUM_TASKS=world,
        SLURM_NTASKS_PER_NODE=local,
        SLURM_TASKS_PER_NODE=f"{local}(x{nodes})",
    )
