"""What users see: findings, the edits that fix them, and what could not be checked."""

# No postponed annotations here: named tuples would compile each one at start-up.

from enum import Enum
from typing import NamedTuple

from torchlint.version import rule_url


class Tier(str, Enum):
    """How certain a rule is of the cost, which decides when a finding is shown."""

    DEFAULT = "default"
    """Always shown; makes `check` exit with 1."""
    HINT = "hint"
    """Shown with `--hints`; does not change the exit code."""
    PEDANTIC = "pedantic"
    """Shown only with `--pedantic` or when the rule is selected by its code."""


class Effect(str, Enum):
    """What a rule's findings usually cost, of a training step or of an epoch. A single finding may
    cost more, or nothing; `verify` and `profile` measure that."""

    LARGE = "large"
    SMALL = "small"
    TINY = "tiny"
    NONE = "none"

    @property
    def meaning(self) -> str:
        """What it says, in words."""
        return _MEANINGS[self]

    @classmethod
    def of_share(cls, share: float) -> "Effect":
        """By the share of a step or an epoch that would be saved, from 0 to 1."""
        return cls.LARGE if share >= 0.05 else cls.SMALL if share >= 0.005 else cls.TINY

    @property
    def rank(self) -> int:
        """0 for the largest."""
        return _EFFECTS.index(self)


_EFFECTS = tuple(Effect)
_MEANINGS = {
    Effect.LARGE: "usually more than 5 % of a step, an epoch or the memory",
    Effect.SMALL: "usually up to 5 % of a step",
    Effect.TINY: "hardly measurable in most programs",
    Effect.NONE: "it is about right numbers or current code, not about time",
}


class Applicability(str, Enum):
    """When a fix may be applied."""

    SAFE = "safe"
    """Computes the same values in every program that the rule matches; `fix` applies it."""
    UNSAFE = "unsafe"
    """May change results, memory or checkpoints; applied only with `fix --unsafe`."""
    SUGGEST = "suggest"
    """Shown, never applied."""

    @property
    def words(self) -> str:
        """`safe fix`, `unsafe fix` or `suggested fix`."""
        return "suggested fix" if self is Applicability.SUGGEST else f"{self.value} fix"


class Position(NamedTuple):
    """A place in a file: 1-based row, 1-based column in characters.

    In reports about a notebook, `cell` is the number of the code cell, from 1, and `row` counts
    within that cell.
    """

    row: int
    column: int
    cell: int | None = None

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"

    @property
    def line(self) -> str:
        """`12`, or `cell 3:12` in a notebook."""
        return str(self.row) if self.cell is None else f"cell {self.cell}:{self.row}"


class Edit(NamedTuple):
    """Replace the text from `start` up to `end` (exclusive) by `content`.

    An insertion has `start == end`. Positions count characters of the decoded file.
    `content` uses the newline style of that file.
    """

    start: Position
    end: Position
    content: str


class Fix(NamedTuple):
    """Edits that fix one finding; applied all together or not at all."""

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...]


class Related(NamedTuple):
    """Another place that explains a finding, such as the loop that calls a helper on each step."""

    path: str
    position: Position
    message: str


class Finding(NamedTuple):
    """What a rule reports at one place in one file.

    `withheld` is the reason why there is no fix where the rule usually has one. Findings of one
    loop have the same `group`, so that a report can fold them together. `scope` is the class and
    function around the place, such as `Trainer.step`; `fingerprint` is a hash of the code there
    without its formatting. Neither changes when lines move. `until` is the last day, such as
    `2027-01-31`, on which a comment silences it; a check reports it after that day.
    """

    code: str
    name: str
    tier: Tier
    message: str
    path: str
    start: Position
    end: Position
    fix: Fix | None = None
    withheld: str | None = None
    related: tuple[Related, ...] = ()
    group: str | None = None
    scope: str = ""
    fingerprint: str = ""
    until: str = ""
    effect: Effect = Effect.SMALL

    @property
    def sort_key(self) -> tuple[str, int, Position, str, str]:
        return (self.path, self.start.cell or 0, self.start, self.code, self.message)

    @property
    def by_effect(self) -> tuple[int, bool]:
        """What it is sorted by for people: the largest cost first, and what is certain first."""
        return (self.effect.rank, self.tier is not Tier.DEFAULT)

    @property
    def url(self) -> str | None:
        """The documentation page of its rule, if there is a site."""
        return rule_url(self.code, self.name)

    @property
    def help(self) -> str:
        """The command that prints that page."""
        return f"torchlint rule {self.code}"


class Diagnostic(NamedTuple):
    """A problem that is not a finding: a file that cannot be read or parsed, a rule that
    crashed, a fix that was dropped. The command then exits with 2."""

    path: str
    message: str
    position: Position | None = None
    kind: str = "error"
    """One of `unreadable`, `undecodable`, `syntax`, `rule`, `fix`, `write`, `worker`."""

    @property
    def sort_key(self) -> tuple[str, int, Position, str]:
        place = self.position or Position(0, 0)
        return (self.path, place.cell or 0, place, self.message)


class Results(NamedTuple):
    """The outcome of a check.

    Args:
        stepless: rules about code that runs on each step were asked, and no training step was seen.
    """

    findings: tuple[Finding, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    stepless: bool = False
