"""What the rest of the program decides about a finding, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from torchlint.explain.rule_answers import Reason
from torchlint.explain.silences import NEEDS
from torchlint.finding import Position
from torchlint.project.symbols import Key
from torchlint.reported import Clue
from torchlint.ruleapi.contexts import HAS, LACKS, Context

if TYPE_CHECKING:
    from torchlint.explain.sentences import Sentences
    from torchlint.project.project import Heat, Project
    from torchlint.reported import HotPlace

_ELSEWHERE: Final = "check the folder with the training script; `torchlint hot` shows what it sees"
_MOST_CALLERS: Final = 3


class Joined:
    """Reasons from the joined project, about one of its files."""

    def __init__(self, project: Project, sentences: Sentences) -> None:
        self._project = project
        self._sentences = sentences
        self._words = sentences.words
        self._path = sentences.words.module.path

    def runs(self, place: HotPlace) -> Reason | None:
        """What runs a place on each step."""
        heat = self._project.hot(self._path, place)
        if heat is None:
            return None
        at = self._sentences.place(heat.path, heat.position)
        in_loop = self._project.step_loop(self._path, place.loops) is not None
        return Reason(f"{heat.by.value}: {at}{'' if in_loop else _through(heat)}")

    def missing(self, name: str, place: HotPlace | None) -> Reason:
        """Why a context that the project decides does not hold.

        Args:
            name: that of the context, as in `Waiting.contexts`.
            place: the place that must be hot, if that is one of the contexts.
        """
        if name == Context.HOT and place is not None:
            return self._not_hot(place)
        clue = name.partition(" ")[2]
        what = clue.partition(" ")[2]
        if name == HAS.format(clue):
            return Reason(f"no file of the program has {what}, which the rule needs")
        if name == LACKS.format(clue):
            files = self._project.programs(self._path)
            at = self._sentences.elsewhere(Clue(clue, files))
            return Reason(f"the rule is silent in programs with {what}, as in {at}")
        by = self._project.kept_on_cpu(self._path) if name == Context.ACCELERATOR else None
        if by is not None:
            return Reason(f"{by} keeps its framework on the CPU", "with a GPU it may be reported")
        return Reason(f"nothing shows {NEEDS[Context(name)]}")

    def _not_hot(self, place: HotPlace) -> Reason:
        """Why a place that its own file would allow is not hot."""
        project, path = self._project, self._path
        if project.is_refused(path, place):
            names = " and ".join(dict.fromkeys(f"`{name}`" for name, _ in place.demands))
            return Reason(f"no caller takes this branch: none passes what it asks of {names}")
        heat = project.step_loop(path, place.loops) or project.heat(path, place.function)
        if heat is not None and place.parameters:
            names = " and ".join(f"`{name}`" for name in place.parameters)
            return Reason(f"nothing shows that callers pass a device tensor for {names}")
        if place.rare:
            return Reason(f"`{place.function}` runs the loop around it only now and then")
        around = self._around_training(place)
        if around:
            return Reason(f"the loop around it is not a training loop: {around}")
        where = self._beside_training(place)
        if where:
            return Reason(f"it is outside of the training loop, which is in {where}")
        if not place.function:
            return Reason("no loop around it trains", _ELSEWHERE)
        callers = project.calls.callers({Key(path, place.function)})
        named = sorted({key for key, _ in callers.get(Key(path, place.function), ())})
        if not named:
            return Reason(f"no call of `{place.function}` was found", _ELSEWHERE)
        said = ", ".join(map(self._caller, named[:_MOST_CALLERS]))
        left = len(named) - _MOST_CALLERS
        more = f" and {left} more" if left > 0 else ""
        why = f"no training step calls `{place.function}`; it is called by {said}{more}"
        return Reason(why, _ELSEWHERE)

    def _caller(self, key: Key) -> str:
        """`report` (log.py:9), or the top level of a file."""
        if not key.name:
            here = key.path == self._path
            return "the top level of " + ("this file" if here else key.path)
        row = self._project.row_of(key)
        at = key.path if row is None else self._sentences.place(key.path, Position(row, 1))
        return f"`{key.name}` ({at})"

    def _beside_training(self, place: HotPlace) -> str:
        """The function with a training loop that the function of a place is, or calls, in words;
        empty if there is none."""
        functions = self._project.index.functions
        own = Key(self._path, place.function)
        training = {key for key, each in functions.items() if each.trains and key.name}
        if own in training:
            return self._caller(own)
        callers = self._project.calls.callers(training)
        called = (key for key, calls in callers.items() if any(by == own for by, _ in calls))
        return next(map(self._caller, sorted(called)), "")

    def _around_training(self, place: HotPlace) -> str:
        """The loop around a place, in words, if it runs around a training loop, as one over epochs
        does; else nothing."""
        loops, words = self._words.module.loops, self._words
        for inner in loops.step_loops:
            for outer in loops.loops_around(inner):
                if loops.index(outer) in place.loops:
                    return f"{words.quoted(outer)} runs around {words.quoted(inner)}"
        return ""


def _through(heat: Heat) -> str:
    calls = "1 call" if heat.depth == 1 else f"{heat.depth} calls"
    return f", through {calls}" if heat.depth else ""
