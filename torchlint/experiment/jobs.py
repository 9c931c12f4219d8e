"""Turns a variant of the program into a job that a process can run."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from torchlint.experiment.errors import ExperimentError
from torchlint.runtime.launchers.python import Python
from torchlint.runtime.launchers.torchrun import Torchrun
from torchlint.runtime.probe.run_settings import RunSettings
from torchlint.runtime.run import Job
from torchlint.runtime.run_variables import malloc_settings
from torchlint.runtime.sandbox import overlayfs
from torchlint.workers.pool import processors

if TYPE_CHECKING:
    from contextlib import ExitStack

    from torchlint.experiment.request import Request
    from torchlint.experiment.subject import Subject, Variant
    from torchlint.runtime.nodes.nodes import Nodes
    from torchlint.runtime.workspace import Workspace


class Watcher(Protocol):
    """Follows the progress of an experiment."""

    def stage(self, name: str, *, of: int | None = None) -> None: ...


class Jobs:
    """Makes jobs; the changed sources are written once for each variant.

    `sandbox` is `overlayfs` or `redirect`; with `own_network` each run has a loopback of its own.
    `nodes` are the machines that runs are spread over, if there are several.
    """

    def __init__(
        self,
        request: Request,
        subject: Subject,
        workspace: Workspace,
        sandbox: str,
        *,
        own_network: bool = False,
        nodes: Nodes | None = None,
    ) -> None:
        self.threads = _threads(request, nodes)
        self.nodes = nodes
        self.environment = _environment(request)
        self._request = request
        self._subject = subject
        self._workspace = workspace
        self.sandbox = sandbox
        self._own_network = own_network
        self._stdin = ""
        self._served: dict[tuple[str, ...], dict[str, str]] = {}

    def job(self, variant: Variant, mode: str, **settings: object) -> Job:
        """A run of this variant; `settings` are more fields of `RunSettings`."""
        program = self._subject.program_of(variant)
        base = RunSettings(
            main=program.main,
            project=program.root,
            mode=mode,
            name=variant.name,
            as_module=program.as_module,
            argv=program.argv,
            sources=self._sources(variant),
            sandbox=self.sandbox,
            seed=self._request.seed,
            threads=self.threads,
            device=self._request.device,
            played=self._request.played,
        )
        nproc, nodes = self._request.nproc, self._request.nodes
        return Job(
            settings=replace(base, **settings),  # type: ignore[arg-type]
            launcher=Torchrun(nproc, nodes) if nproc * nodes > 1 else Python(),
            environment=self.environment,
            cwd=os.getcwd(),
            stdin=self._input(),
            own_network=self._own_network,
            nodes=self.nodes,
        )

    def _input(self) -> str:
        if self._request.stdin is not None and not self._stdin:
            self._stdin = os.path.join(self._workspace.folder("input"), "stdin")
            with open(self._stdin, "wb") as stream:
                stream.write(self._request.stdin)
        return self._stdin

    def _sources(self, variant: Variant) -> dict[str, str]:
        key = (variant.name, *variant.fixes)
        cached = self._served.get(key)
        if cached is None:
            served = self._subject.served(variant)
            folder = self._workspace.folder("served") if served else ""
            cached = {}
            for number, (path, data) in enumerate(sorted(served.items())):
                cached[path] = os.path.join(folder, f"{number}.py")
                with open(cached[path], "wb") as stream:
                    stream.write(data)
            self._served[key] = cached
        return cached


def sandbox_for(request: Request, workspace: Workspace) -> str:
    """How the project's files are kept as they are. What one machine writes, the others have to see
    in the folder that they share, and not below an overlay of their own."""
    if request.spread is not None:
        return overlayfs.REDIRECT
    return overlayfs.available(request.program.root, workspace.root)


def gathered(
    request: Request, workspace: Workspace, stack: ExitStack, watcher: Watcher
) -> Nodes | None:
    """The machines that runs are spread over, until the stack is closed; None: this one alone.

    Raises:
        ExperimentError: they do not come together.
    """
    if request.spread is None:
        return None
    from torchlint.runtime.nodes.meeting import NodeError
    from torchlint.runtime.nodes.nodes import Nodes

    watcher.stage(f"Waiting for the agents of {request.nodes} nodes")
    try:
        return stack.enter_context(Nodes(request.spread, workspace))
    except NodeError as error:
        raise ExperimentError(error.message) from None


def _threads(request: Request, nodes: Nodes | None) -> int | None:
    """Fewer threads than processors: a thread that waits for a processor costs the whole step.
    With several machines, those of the one that has the fewest count."""
    if request.threads is not None or request.keep_env:
        return request.threads
    usable = processors() if nodes is None else nodes.processors
    return max(1, usable // (2 * request.nproc))


def _environment(request: Request) -> dict[str, str]:
    found = {} if request.keep_env else malloc_settings()
    if request.device == "cpu":
        found["CUDA_VISIBLE_DEVICES"] = ""
    if request.played is not None:
        found["TORCHDYNAMO_DISABLE"] = "1"  # what is compiled runs as it is written, and is seen
    return found
