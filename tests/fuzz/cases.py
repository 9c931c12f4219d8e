"""The kinds of cases to fuzz with, and how one is held against what must be true of it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, Protocol

from tests.fuzz.configurations import configured
from tests.fuzz.damage import damaged
from tests.fuzz.notebooks import notebooks
from tests.fuzz.properties import checked, fixed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hypothesis.strategies import SearchStrategy


class Case(Protocol):
    """Plain data that says what to try."""

    @property
    def files(self) -> Mapping[str, bytes]:
        """What the case puts into an empty folder."""

    def hold(self, folder: Path) -> None:
        """Raises where torchlint does something in this folder that it must not do."""


KINDS: Final[Mapping[str, Callable[[Sequence[str]], SearchStrategy[Case]]]] = {
    "check": checked,
    "fix": fixed,
    "cache": damaged,
    "config": configured,
    "notebook": notebooks,
}
"""Each takes real programs, and may make cases of them."""


def hold(case: Case) -> None:
    """Try a case in a folder of its own.

    Raises:
        Exception: what must be true is not.
    """
    with TemporaryDirectory(prefix="torchlint-fuzz-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        write(case, folder)
        case.hold(folder)


def write(case: Case, folder: Path) -> None:
    for name, data in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
