"""Where a script runs: on this machine, on several that the user has, or in a Slurm job."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Any, Final

import click

from torchlint.cli.command import Count, WordChoice, together
from torchlint.cli.duration import seconds
from torchlint.cli.printing import print_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torchlint.runtime.nodes.nodes import Spread

    Function = Callable[..., Any]

_LOCAL: Final = "local"
_TORCHRUN: Final = "torchrun"
_SLURM: Final = "slurm"
AGREED: Final = "TORCHLINT_AGREED"
"""Variable of a command that the user has already said yes to, on another machine."""
_MEETING: Final = "torchlint-nodes.json"
_WAIT_S: Final = 300.0
"""For the user to start the command on the other nodes."""


def _queue_time(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    return None if value is None else max(1, round(seconds(ctx, param, value)))


launch_options = together(
    click.option(
        "--nproc-per-node",
        "nproc",
        type=Count(1),
        metavar="N",
        help="Start the script through torchrun with N processes on each node. Default: 1, or "
        "in a Slurm job one for each GPU of a node.",
    ),
    click.option(
        "--launcher",
        type=WordChoice([_LOCAL, _TORCHRUN, _SLURM]),
        default=_LOCAL,
        show_default=True,
        help="Where it runs: on this machine; through torchrun on several nodes, on each of "
        "which you start this command; or in a Slurm job.",
    ),
    click.option(
        "--nnodes",
        type=Count(1),
        metavar="N",
        help="Number of nodes. Default: those of the Slurm job around this command, or 1.",
    ),
    click.option(
        "--node-rank",
        type=Count(0),
        metavar="K",
        help="With --launcher torchrun: the number of this node. Node 0 measures and reports, "
        "the others do what it asks.",
    ),
    click.option(
        "--shared",
        metavar="FOLDER",
        help="A folder that all nodes see at the same path, for the files of the runs. "
        "Default: torchlint in your cache folder.",
    ),
    click.option(
        "--slurm",
        "slurm_options",
        multiple=True,
        metavar="OPTION",
        help="An option of salloc for a new job, as --slurm=--partition=gpu or "
        "--slurm=--gpus-per-node=4; may be repeated.",
    ),
    click.option(
        "--queue-time",
        callback=_queue_time,
        metavar="TIME",
        help="With --launcher slurm: take the job back if it has not started by then.",
    ),
)
"""Adds the options that say on which machines a script runs."""


def help_another_node(given: Mapping[str, Any]) -> None:
    """If this is not node 0, do what node 0 asks until it is done, and end the command.

    Raises:
        click.ClickException: the options do not fit together, or there is no node 0.
        click.exceptions.Exit: node 0 is done.
    """
    launcher, nodes, rank = given["launcher"], given["nnodes"], given["node_rank"]
    if rank is not None and launcher != _TORCHRUN:
        raise click.UsageError("--node-rank needs --launcher torchrun.")
    if launcher == _LOCAL and (nodes or 1) > 1:
        raise click.UsageError("--nnodes needs --launcher torchrun or slurm.")
    if launcher == _TORCHRUN and (nodes or 1) > 1 and rank is None:
        raise click.UsageError(
            "Give this node's number with --node-rank, and start the same command on the others."
        )
    if not rank:
        return
    from torchlint.runtime.nodes import node_agent
    from torchlint.runtime.nodes.meeting import NodeError

    path = os.path.join(_shared(given["shared"]), _MEETING)
    print_lines([f"Node {rank} waits for node 0."], err=True)

    def joined(_meeting: object) -> None:
        print_lines(["It has joined node 0, which runs the script here as well."], err=True)

    try:
        node_agent.serve(path, rank, wait_s=_WAIT_S, joined=joined)
    except NodeError as error:
        raise click.ClickException(error.message) from None
    print_lines(["Node 0 is done."], err=True)
    raise click.exceptions.Exit(0)


def run_in_a_job(given: Mapping[str, Any], agreed: Callable[[str], object]) -> None:
    """If this is to run in a Slurm job and is not on a node of one, run the command there, and end
    it here.

    Args:
        agreed: asks the user, who gets to know where it runs.

    Raises:
        click.ClickException: there is no Slurm, or no such folder.
        click.exceptions.Exit: it has run, or the user does not want it; with its exit code.
    """
    from torchlint.runtime.launchers import slurm

    job = slurm.allocation(os.environ)
    if given["launcher"] != _SLURM or (job is not None and job.inside):
        return
    tool = slurm.missing_tool()
    if tool:
        raise click.ClickException(
            f"There is no {tool} here; --launcher slurm needs the commands of Slurm."
        )
    _shared(given["shared"])
    nodes = given["nnodes"] or (1 if job is None else job.nodes)
    which = f"a new Slurm job of {nodes} nodes" if job is None else f"the Slurm job {job.job}"
    agreed(f" in {which.replace(' of 1 nodes', ' of 1 node')}")
    columns = shutil.get_terminal_size((100, 40)).columns
    environment = {**os.environ, "COLUMNS": str(columns), AGREED: "1"}
    if sys.stdout.isatty() and "NO_COLOR" not in environment:
        environment["FORCE_COLOR"] = "1"
    code, sentence = slurm.run_in_a_job(
        [*slurm.python(), *sys.argv[1:]],
        nodes=nodes,
        on_a_node=given["nproc"] or 1,
        options=given["slurm_options"],
        wait_s=given["queue_time"],
        environment=environment,
        stderr=sys.stderr,
    )
    if sentence:
        print_lines([sentence], err=True)
    raise click.exceptions.Exit(code)


def spread_from(given: Mapping[str, Any]) -> Spread | None:
    """How the runs are spread over machines; None: over this one alone.

    Raises:
        click.ClickException: there is no such folder, or the job has too few nodes.
    """
    from torchlint.runtime.launchers import slurm
    from torchlint.runtime.nodes.nodes import SLURM, TORCHRUN, Spread

    nodes = given["nnodes"]
    if given["launcher"] == _TORCHRUN and (nodes or 1) > 1:
        return Spread(TORCHRUN, nodes, _shared(given["shared"]), _MEETING, _WAIT_S)
    job = slurm.allocation(os.environ)
    if given["launcher"] != _SLURM or job is None:
        return None
    if nodes is not None and nodes > job.nodes:
        raise click.ClickException(
            f"The job has {job.nodes} nodes; ask for no more than that with --nnodes."
        )
    return Spread(SLURM, nodes or job.nodes, _shared(given["shared"]))


def processes_on_a_node(given: Mapping[str, Any]) -> int:
    """How many the user wants, or the job was given."""
    if given["nproc"] is not None:
        return int(given["nproc"])
    if given["launcher"] != _SLURM:
        return 1
    from torchlint.runtime.launchers import slurm

    job = slurm.allocation(os.environ)
    return (job.on_a_node if job is not None else None) or 1


def _shared(folder: str | None) -> str:
    """The folder that all nodes see."""
    if folder is None:
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        folder = os.path.join(cache, "torchlint")
        os.makedirs(folder, mode=0o700, exist_ok=True)
    elif not os.path.isdir(folder):
        raise click.ClickException(
            f"{folder} is not a folder; give one that all nodes share with --shared."
        )
    return os.path.realpath(folder)
