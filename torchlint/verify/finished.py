"""A finished verification, read from its JSON, and whether it still holds."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from torchlint.experiment.earlier_run import EarlierRun, read_earlier
from torchlint.experiment.errors import ExperimentError
from torchlint.experiment.session import BY_CTRL_C
from torchlint.verify.result import SCHEMA, Agreement, Verdict

if TYPE_CHECKING:
    from torchlint.runtime.program import Program
    from torchlint.verify.compared.measured_fixes import Fixes

_AGAIN: Final = "run `torchlint verify` again"


class _Numbers(Struct, frozen=True):
    agreement: str
    steps: int


class _Fix(Struct, frozen=True):
    id: str
    diff: str
    verdict: str
    numerics: _Numbers | None

    @property
    def is_proven(self) -> bool:
        good = {each.value for each in Agreement if each.is_good}
        right = self.numerics is not None and self.numerics.agreement in good
        return right and self.verdict == Verdict.CONFIRMED.value


class _Given(Struct, frozen=True):
    rules: tuple[str, ...] = ()


class Finished(EarlierRun, frozen=True):
    """What `verify --json` wrote, as far as it is needed to make the fixes."""

    exit: int
    fixes: tuple[_Fix, ...]
    unreached: tuple[str, ...]
    diff: str
    given: _Given | None = None

    @property
    def steps(self) -> int:
        """Over how many steps the numbers were compared, at least."""
        return min((fix.numerics.steps for fix in self.fixes if fix.numerics), default=0)

    def proven(self) -> tuple[str, ...]:
        """The fixes that are faster by themselves and compute the same numbers up to rounding."""
        return tuple(fix.id for fix in self.fixes if fix.is_proven)


def read_finished(path: str) -> Finished:
    """The verification in a file.

    Raises:
        ExperimentError: it cannot be read, or `verify --json` did not write it.
    """
    finished = read_earlier(path, Finished, SCHEMA, "torchlint verify --json")
    if finished.diff and not finished.fixes:
        raise ExperimentError(
            f"{path} measured a change of your own and no fixes; write one without --with and "
            "--against."
        )
    if finished.exit == BY_CTRL_C and not finished.proven():
        raise ExperimentError(f"{path} is from a verification that was stopped; {_AGAIN}.")
    return finished


def require_current(finished: Finished, path: str, program: Program, fixes: Fixes) -> None:
    """Check that a verification is one of this program, on this machine, as it is now.

    Args:
        path: where it was read.
        fixes: those that the project has now.

    Raises:
        ExperimentError: it is not; the message says what has changed.
    """
    why = _difference(finished, program, fixes)
    if why:
        raise ExperimentError(f"{path} does not hold here: {why}; {_AGAIN}.")


def _difference(finished: Finished, program: Program, fixes: Fixes) -> str:
    changed = finished.changed_since(program.words)
    if changed:
        return changed
    diffs = {fix.id: fix.diff for fix in finished.fixes}
    gone = [id_ for id_ in finished.proven() if id_ not in fixes.ids]
    if gone:
        rules = shlex.join(finished.given.rules) if finished.given else ""
        return f"there is no fix {gone[0]} now{f', and it was run with {rules}' if rules else ''}"
    other = [id_ for id_ in fixes.ids if id_ in diffs and fixes.diff((id_,)) != diffs[id_]]
    return f"{other[0]} is another fix now" if other else ""
