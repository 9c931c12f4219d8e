"""What a rule reports for one file: findings, findings that the project must confirm, and facts.

Apart from the findings: a check that finds nothing changed does not import this.
"""

# No postponed annotations here: named tuples would compile each one at start-up.

from collections.abc import Collection, Mapping
from typing import NamedTuple

from torchlint.finding import Finding

Value = str | int | bool | None | tuple[str, ...]
"""Plain data that is sent between processes and cached with a finding."""


class HotPlace(NamedTuple):
    """A place that may run on each training step, as the whole project decides.

    Args:
        function: the qualified name of the function around it; empty at the top level.
        loops: the loops around it in that function, by their index in the file, innermost first.
        parameters: the function's parameters that the value read there comes from.
        tensor: the value is a tensor whatever is passed for these parameters.
        rare: it is in a loop that its function runs only occasionally.
        demands: what the function must be passed for the place to run, by parameter.
        guessed: nothing shows where the tensor is, unless a caller passes it from the device.
    """

    function: str
    loops: tuple[int, ...]
    parameters: tuple[str, ...] = ()
    tensor: bool = True
    rare: bool = False
    demands: tuple[tuple[str, str], ...] = ()
    guessed: bool = False


class Waiting(NamedTuple):
    """A finding that holds only if the whole project confirms it.

    Args:
        contexts: the names of the contexts that must hold; see `torchlint.ruleapi.contexts`.
        hints: contexts without which the finding is a hint.
        place: the place that must be hot, if that is one of the contexts.
        needs: the values that the rule's own settler takes.
    """

    finding: Finding
    contexts: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    place: HotPlace | None = None
    needs: Mapping[str, Value] = {}


class Fact(NamedTuple):
    """Something about one file that other files need, such as "sets cudnn.benchmark"."""

    name: str
    path: str
    value: Value = None


class Clue(NamedTuple):
    """What a rule searches for in the text of files, by the name that its `clues` give it."""

    name: str
    paths: Collection[str]


Reported = Finding | Waiting | Fact
"""What a rule may return for a file."""
