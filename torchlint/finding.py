"""What the linter says: findings, the text edits that fix them, and what waits for the project."""

# Without postponed annotations: named tuples would compile each of them at every start.

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple


class Tier(str, Enum):
    """How sure a rule is of its cost, which decides who gets to see it."""

    DEFAULT = "default"
    """Shown, and makes `check` exit with 1."""
    HINT = "hint"
    """Shown with `--hints`; never changes the exit code."""
    PEDANTIC = "pedantic"
    """Shown only with `--pedantic` or when the rule is selected by its code."""


class Applicability(str, Enum):
    """Who may apply a fix."""

    SAFE = "safe"
    """Same values for every program that the rule matches; `fix` applies it."""
    UNSAFE = "unsafe"
    """May change results, memory or checkpoints; applied only with `fix --unsafe`."""
    SUGGEST = "suggest"
    """Shown, never applied."""


class Position(NamedTuple):
    """A place in a file: 1-based row, 1-based column in characters.

    In what is reported of a notebook, `cell` is the code cell, from 1, and the row counts in it.
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

    An insertion has `start == end`. Places count in characters of the decoded file.
    `content` uses the newline style of the file it goes into.
    """

    start: Position
    end: Position
    content: str


class Fix(NamedTuple):
    """Edits that mend one finding; applied whole or not at all."""

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...]


class Related(NamedTuple):
    """Another place that explains a finding, such as the loop that makes a helper hot."""

    path: str
    position: Position
    message: str


class Finding(NamedTuple):
    """One thing that a rule says about one place in one file.

    `withheld` says why there is no fix where the rule usually has one. `group` is equal for
    findings that belong to one loop, so that a report for people can fold them together.
    `scope` is the class and function around the place, such as `Trainer.step`, and `fingerprint`
    stands for the code there, however it is laid out: both stay when lines move.
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

    @property
    def sort_key(self) -> tuple[str, int, Position, str, str]:
        return (self.path, self.start.cell or 0, self.start, self.code, self.message)

    @property
    def url(self) -> str:
        """The page of its rule."""
        return rule_url(self.name)


Value = str | int | bool | None | tuple[str, ...]
"""What travels between processes and into the cache beside a finding."""


class HotPlace(NamedTuple):
    """A place that is hot if the project says so.

    Args:
        function: the qualified name of the function that it is in; empty at the top level.
        loops: the loops around it in that function, by their number in the file, innermost first.
        parameters: of the function, those that the value comes from that is read there.
        tensor: the value is a tensor whatever is passed for them.
        rare: it lies in a loop that its function runs only now and then.
    """

    function: str
    loops: tuple[int, ...]
    parameters: tuple[str, ...] = ()
    tensor: bool = True
    rare: bool = False


class Waiting(NamedTuple):
    """A finding that holds only if the project says so.

    Args:
        contexts: the names of the contexts that must hold; see `torchlint.ruleapi.contexts`.
        hints: contexts without which it is a hint.
        place: where it must be hot, if that is one of the contexts.
        needs: what the rule's own settler goes by.
    """

    finding: Finding
    contexts: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    place: HotPlace | None = None
    needs: Mapping[str, Value] = {}


class Fact(NamedTuple):
    """Something that one file tells the project, such as "cudnn.benchmark is set here"."""

    name: str
    path: str
    value: Value = None


Said = Finding | Waiting | Fact


class Diagnostic(NamedTuple):
    """Something that could not be done: a file that cannot be read or parsed, a rule that
    crashed, a fix that was dropped. Makes the command exit with 2."""

    path: str
    message: str
    position: Position | None = None
    kind: str = "error"
    """One of `unreadable`, `undecodable`, `syntax`, `rule`, `fix`, `write`, `worker`."""

    @property
    def sort_key(self) -> tuple[str, int, Position, str]:
        place = self.position or Position(0, 0)
        return (self.path, place.cell or 0, place, self.message)


def rule_url(name: str) -> str:
    """The page of the rule with this name."""
    return f"https://torchlint.readthedocs.io/rules/{name}/"
