"""What a kind of run-time finding declares, and one finding."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torchlint.ruleapi.maker import maker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from torchlint.profile.evidence import Evidence

    Judge = Callable[[Evidence], Iterable["Observed"]]
    Teller = Callable[[Evidence], Iterable["Told"]]


@dataclass(frozen=True, slots=True)
class Observed:
    """Something that a run has shown.

    Args:
        place: real path and row of the user's code; None: it has no line.
        fact: what was seen, with its unit: `3 reads a step, the host waits 6.1 ms`.
        action: what to do, as a clause that follows a semicolon: `keep the sum on the device`.
        share: of the step, from 0 to below 1, that it costs at most; None: the run cannot tell.
        rules: codes of the static rules that are about the same thing.
        values: the numbers behind the fact, for programs.
        certain: it was tested against chance, so the noise of the step does not hide it.
        made: where the object that it is about was made, as the loader that a loop waits for; those
            rules may report there.
    """

    place: tuple[str, int] | None
    fact: str
    action: str
    share: float | None
    rules: tuple[str, ...] = ()
    values: Mapping[str, object] = field(default_factory=dict)
    made: tuple[str, int] | None = None
    certain: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """Something that a run has shown and that is not a finding: it is there to be read.

    Args:
        label: one or two words, `memory`.
        text: what was seen, with its units, in one sentence without its dot.
        values: the numbers behind it, for programs.
    """

    label: str
    text: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(eq=False, kw_only=True)
class FindingKind:
    """A kind of run-time finding. Its page is the docstring of the file that makes it, and its
    name that of the file.

    Args:
        code: `TR` and three digits; the first digit is the family of the static rules.
        summary: what it reports, in lists.
        instruments: names of `runtime.probe.instruments` whose windows it judges. If one of them
            is missing, it is not asked.
        also: instruments that it asks as well, if they saw something.
        census: it counts what waits for a GPU, so its findings have no ceiling without one, and
            are listed under a heading of their own.
    """

    code: str
    summary: str
    instruments: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    census: bool = False
    name: str = ""
    page: str = ""
    judge: Judge | None = None
    teller: Teller | None = None

    def __post_init__(self) -> None:
        home = maker(2)  # 1 is `__init__`
        self.name = self.name or home.name
        self.page = self.page or home.page

    def judges(self, judge: Judge) -> Judge:
        """Register the function that gives the findings of a run."""
        self.judge = judge
        return judge

    def tells(self, teller: Teller) -> Teller:
        """Register the function that gives what is not a finding, if its instruments saw
        something."""
        self.teller = teller
        return teller
