"""What an experiment runs: a program, and the forms of it that are compared."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from torchlint.runtime.probe.run_settings import FixLines

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from torchlint.finding import Finding
    from torchlint.runtime.program import Program

ORIGINAL: Final = "original"
AGAIN: Final = "original again"
CHANGED: Final = "changed"

Watched = dict[str, tuple[FixLines, ...]]
"""Real path → the lines about which a run says whether they ran."""
_S = TypeVar("_S", bound="Subject")


@dataclass(frozen=True, slots=True)
class Variant:
    """One form of the program: its name, and the fixes in it."""

    name: str
    fixes: tuple[str, ...] = ()


class Subject(Protocol):
    """What the jobs and the first look ask of a program and its forms."""

    more_words: str
    """What a second look adds, for the progress line."""

    @property
    def program(self) -> Program:
        """The program as it is."""

    @property
    def changed(self) -> Variant | None:
        """The form with the whole change; None: nothing is compared."""

    def program_of(self, variant: Variant) -> Program:
        """Which program this form starts."""

    def served(self, variant: Variant) -> Mapping[str, bytes]:
        """Real path → the bytes that this form sees in its place."""

    def places(self) -> tuple[Watched, Watched]:
        """The lines to watch in the original and in the changed program."""

    def parts(self) -> Mapping[str, Variant]:
        """The parts of the change that can be made alone, by what people call them."""

    def with_loaded(self: _S, files: Collection[str], deadline: float | None) -> _S:
        """With what is found in files that a run has loaded; equal if that changes nothing.

        Args:
            files: real paths.
            deadline: by `time.monotonic`.

        Raises:
            OutOfTime: to search them took until then.
        """


@dataclass(frozen=True, slots=True)
class Linted:
    """A program that is run as it is, with what `check` finds in it.

    Args:
        findings: hints included; a run says which of their lines ran. The id of a place is the
            number of the finding.
        search: gives `findings` with those of files that a run has loaded.
    """

    program: Program
    findings: tuple[Finding, ...] = ()
    search: Callable[[Collection[str], float | None], tuple[Finding, ...]] | None = None
    more_words = "what is found in the files that it loads"

    @property
    def changed(self) -> Variant | None:
        return None

    def program_of(self, variant: Variant) -> Program:
        return self.program

    def served(self, variant: Variant) -> Mapping[str, bytes]:
        return {}

    def places(self) -> tuple[Watched, Watched]:
        watched: dict[str, list[FixLines]] = {}
        for number, each in enumerate(self.findings):
            place = FixLines(str(number), each.start.row, max(each.start.row, each.end.row))
            watched.setdefault(os.path.realpath(each.path), []).append(place)
        return {path: tuple(places) for path, places in watched.items()}, {}

    def parts(self) -> Mapping[str, Variant]:
        return {}

    def with_loaded(self, files: Collection[str], deadline: float | None) -> Linted:
        return self if self.search is None else replace(self, findings=self.search(files, deadline))
