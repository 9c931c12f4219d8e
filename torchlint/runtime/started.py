"""The processes of one run, wherever they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import psutil

    from torchlint.runtime.failures import Failed
    from torchlint.runtime.processes.process_tree import ProcessTree
    from torchlint.runtime.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Exit:
    """How a launcher ended.

    Args:
        code: as in `Popen.returncode`.
        node: name of its machine; empty for this one.
        tail: the last lines written to its standard error; None: the run's folder has them.
    """

    code: int
    node: str = ""
    tail: str | None = None


class Started(Protocol):
    """What a `Run` needs of the processes that it consists of."""

    @property
    def exit_code(self) -> int | None:
        """Of what started them; None while it runs."""

    def exit_on(self, node: str) -> Exit | None:
        """The same on one of several machines, or where it failed first; None while it runs."""

    def trouble(self, name: str) -> Failed | None:
        """What went wrong with a machine and not with the script of this name, if something did."""

    def look(self) -> set[psutil.Process]:
        """Those that are alive and on this machine."""

    def freeze(self) -> None:
        """Stop them where they are, if they are all on this machine."""

    def thaw(self) -> None:
        """Let them continue."""

    def end(self) -> None:
        """End them all."""


@dataclass(frozen=True, slots=True)
class Here:
    """Those of a run on this machine alone."""

    tree: ProcessTree
    workspace: Workspace

    @property
    def exit_code(self) -> int | None:
        return self.tree.exit_code

    def exit_on(self, _node: str) -> Exit | None:
        code = self.tree.exit_code
        return None if code is None else Exit(code)

    def trouble(self, _name: str) -> Failed | None:
        return None

    def look(self) -> set[psutil.Process]:
        return self.tree.look()

    def freeze(self) -> None:
        self.tree.freeze()

    def thaw(self) -> None:
        self.tree.thaw()

    def end(self) -> None:
        self.workspace.end(self.tree)
