"""The reduce step: joins the summaries of all files and answers what no single file can."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from torchlint.analysis.callables import is_dotted
from torchlint.analysis.training.chosen_branches import ANYTHING, GIVEN, refused
from torchlint.analysis.values.kinds import sounds_like_tensors
from torchlint.finding import Related
from torchlint.project.calls import CALL_DEPTH, FARTHEST_CALL, received
from torchlint.project.option_defaults import is_zero_by_default
from torchlint.project.programs import Programs
from torchlint.project.symbols import Key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from torchlint.analysis.summary import CallSite, FunctionSummary, Summary
    from torchlint.analysis.training.chosen_branches import Given
    from torchlint.finding import Position
    from torchlint.project.calls import Calls
    from torchlint.project.imports import Imports
    from torchlint.project.symbols import Index
    from torchlint.project.word_search import WordSearch
    from torchlint.reported import Clue, Fact, HotPlace

_STEP_DEPTH = 2
_MOST_WAYS = 3
"""In how many ways callers may pass a parameter before it may be anything."""
_MOST_CALLS = 8
"""How many calls of a step are named that lead to one place."""
_LOSS = re.compile(r"(?:Loss|Criterion)\w{0,20}\.forward$")
_CALLED = "a training step calls it here"


class By(str, Enum):
    """What runs a hot function on each step."""

    LOOP = "this loop runs it on each step"
    FRAMEWORK = "a framework calls this on each step"
    ITSELF = "this does a training step, and no loop was found that calls it"
    CHOSEN = "this runs it on each step if it is the one whose name is chosen"
    LOSS = "this computes a loss, as each training step does"
    MODEL = "this runs on each step if a training step calls the model"


@dataclass(frozen=True, slots=True)
class Heat:
    """Why a function is hot: what runs it and where that is, the number of calls in between, which
    of its parameters receive device or host tensors, and what they are given; None if that is not
    known."""

    path: str
    position: Position
    depth: int
    device: frozenset[str]
    host: frozenset[str]
    by: By = By.LOOP
    given: frozenset[Given] | None = None

    @property
    def certain(self) -> bool:
        """Whether the calls from a training step to the function are known."""
        return self.by not in (By.MODEL, By.CHOSEN)

    @property
    def near(self) -> bool:
        """Whether few calls lead there, so that no condition on the way was overlooked."""
        return self.depth <= CALL_DEPTH

    def related(self) -> Related:
        return Related(self.path, self.position, self.by.value)


class Project:
    """All checked files, joined. Paths are as shown to the user.

    Args:
        index: the files that were parsed.
        calls: the calls in these files.
        imports: which checked files import which.
    """

    def __init__(
        self,
        index: Index,
        calls: Calls,
        facts: Iterable[Fact],
        imports: Imports,
        word_search: WordSearch,
        clues: Mapping[str, str],
    ) -> None:
        self.index = index
        self.calls = calls
        self.summaries: Mapping[str, Summary] = index.summaries
        self._imports = imports
        self._word_search = word_search
        self._clues = clues
        self._programs = Programs(self.summaries, imports, word_search)
        self._callers: dict[Key, dict[tuple[Key, int], CallSite]] = defaultdict(dict)
        """The calls on each step that lead to a hot function, by caller and number."""
        self._facts: dict[str, list[Fact]] = defaultdict(list)
        for fact in facts:
            self._facts[fact.name].append(fact)

    # imports -----------------------------------------------------------------------------

    def imported(self, path: str) -> set[str]:
        """The file and everything it imports, directly or indirectly."""
        return self._imports.from_([path])

    def importers(self, path: str) -> set[str]:
        """The file and everything that imports it, directly or indirectly."""
        return self._imports.to([path])

    def programs(self, path: str) -> set[str]:
        """The files of every program that uses this file: its importers and what they import."""
        return self._programs.of(path)

    def beside(self, path: str) -> set[str]:
        """The files in the folder of `path` and below, which it may import by computed names."""
        folder = os.path.join(os.path.dirname(path), "")
        return {other for other in self._word_search.paths() if other.startswith(folder)}

    # facts -------------------------------------------------------------------------------

    def has_clue(self, name: str, paths: Iterable[str]) -> bool:
        """Whether one of the files matches a clue that a rule declared."""
        pattern = self._clues[name]
        return any(self._word_search.matches(path, pattern) for path in paths)

    def is_zero_by_default(self, path: str, option: str, *, fallback: bool) -> bool:
        """Whether the programs of a file have an option that is 0 unless it is given.

        Args:
            fallback: it is 0 where no file says so.
        """
        files = self.programs(path)
        return is_zero_by_default(option, files, self._word_search, fallback=fallback)

    def place_of(self, clue: Clue) -> tuple[str, int] | None:
        """The first file that matches a clue, and the row of the match."""
        pattern = self._clues[clue.name]
        for path in sorted(clue.paths):
            if self._word_search.matches(path, pattern):
                row = self._word_search.row_of(path, pattern)
                if row is not None:
                    return path, row
        return None

    def row_of(self, key: Key) -> int | None:
        """The row of a function, as far as the text of its file shows."""
        return self._word_search.row_of_function(key.path, key.name.rpartition(".")[2])

    def facts(self, name: str, paths: Iterable[str]) -> list[Fact]:
        """The facts with this name that rules recorded in these files."""
        wanted = set(paths)
        return [fact for fact in self._facts[name] if fact.path in wanted]

    def uses_cuda(self, path: str) -> bool:
        """Whether a program that uses this file runs on an accelerator."""
        return self._programs.uses_accelerator(path)

    def kept_on_cpu(self, path: str) -> str | None:
        """The file that keeps the programs of this file on the CPU, if one does."""
        return self._programs.kept_on_cpu(path)

    def trains(self, path: str) -> bool:
        """Whether a program that uses this file trains a model."""
        return self._programs.trains(path)

    # steps -------------------------------------------------------------------------------

    def does_step(self, key: Key, depth: int = 0) -> bool:
        """Whether a function performs one training step, itself or through its calls."""
        function = self.index.functions.get(key)
        if function is None or function.evaluation:
            return False
        if function.steps:
            return True
        if depth >= _STEP_DEPTH:
            return False
        return any(
            self.does_step(target, depth + 1)
            for number, site in enumerate(function.calls)
            if not site.loops
            for target in self.calls.callees(key, number)
            if target != key
        )

    @cached_property
    def step_loops(self) -> set[tuple[str, int]]:
        """The loops, by path and index, that train on each iteration, also through calls."""
        loops = {
            (path, index)
            for path, summary in self.summaries.items()
            for index, loop in summary.loops.items()
            if loop.steps
        }
        for key, number, site in self.calls.sites():
            if not site.loops or site.quiet or (key.path, site.loops[0]) in loops:
                continue
            if any(self.does_step(target) for target in self.calls.callees(key, number)):
                loops.add((key.path, site.loops[0]))
        return loops

    @property
    def shows_steps(self) -> bool:
        """Whether a file that was parsed has a training step, in a loop or in a function, or has a
        framework take them."""
        functions = self.index.functions.values()
        return (
            bool(self.step_loops)
            or any(each.steps or each.hook for each in functions)
            or any(each.starts for each in self.summaries.values())
        )

    def step_loop(self, path: str, loops: Iterable[int]) -> Heat | None:
        """The first of these loops of a file that is a step loop."""
        for index in loops:
            if (path, index) in self.step_loops:
                position = self.summaries[path].loops[index].position
                return Heat(path, position, 0, frozenset(), frozenset())
        return None

    def hot(self, path: str, site: HotPlace) -> Heat | None:
        """Why a place in a function runs on each step with a device tensor, or None.

        A place in a step loop is hot. A place in a helper is hot if a step loop calls the helper
        and passes device tensors for the parameters that the value comes from.
        """
        loop = self.step_loop(path, site.loops)
        heat = loop or self.heat(path, site.function)
        if heat is None or self.is_refused(path, site):
            return None
        if not site.parameters:
            return heat
        received = self._heats.get(Key(path, site.function))
        known = received or heat
        if known.device.intersection(site.parameters):
            return heat
        if known.host.issuperset(site.parameters) or not site.tensor:
            return None
        return heat if heat.certain or not site.guessed else None

    def is_guess(self, path: str, site: HotPlace) -> bool:
        """Whether nothing shows that the tensor at a place is on the device."""
        passed = self._heats.get(Key(path, site.function))
        known = frozenset() if passed is None else passed.device
        return site.guessed and known.isdisjoint(site.parameters)

    def is_refused(self, path: str, site: HotPlace) -> bool:
        """Whether no caller of a function passes what the place in it demands."""
        if not site.demands:
            return False
        key = Key(path, site.function)
        heat = self._heats.get(key)
        if heat is None or self.step_loop(path, site.loops) is not None:
            return refused(site.demands, self._given_to.get(key))
        if heat.given is None and any(demand == GIVEN for _, demand in site.demands):
            return True
        return refused(site.demands, heat.given)

    @cached_property
    def _given_to(self) -> dict[Key, frozenset[Given] | None]:
        """What the functions with a step loop are passed, by all of their callers that were
        parsed."""
        wanted = {key for key, function in self.index.functions.items() if function.trains}
        given_by_key: dict[Key, frozenset[Given] | None] = {}
        for key, callers in self.calls.callers(wanted).items() if wanted else ():
            for caller, site in callers:
                if not self._only_tested(caller, key):
                    given = _given(self.index.functions[key], site, None)
                    given_by_key[key] = (
                        given if key not in given_by_key else _either(given_by_key[key], given)
                    )
        return given_by_key

    def runs(self, caller: Key, site: CallSite, heat: Heat) -> bool:
        """Whether a call in a hot function runs, by what that function is passed."""
        own = self.step_loop(caller.path, site.loops) is not None
        return not refused(site.demands, self._given_to.get(caller) if own else heat.given)

    def calls_from_steps(self, path: str, site: HotPlace) -> tuple[Related, ...]:
        """The calls in training steps that lead to a hot place, in its file and others; without
        those that pass only what is on the host."""
        start = Key(path, site.function)
        if self._is_step(start):
            return ()
        found: set[tuple[str, Position]] = set()
        seen, waiting = {start}, deque([start])
        while waiting:
            key = waiting.popleft()
            for (caller, _), call in self._callers.get(key, {}).items():
                if key == start and self._keeps_to_host(call, key, site.parameters):
                    continue
                looped = self.step_loop(caller.path, call.loops) is not None
                if call.position is not None and (looped or self._is_step(caller)):
                    found.add((caller.path, call.position))
                elif not looped and caller not in seen:
                    seen.add(caller)
                    waiting.append(caller)
        return tuple(Related(*place, _CALLED) for place in sorted(found)[:_MOST_CALLS])

    def _is_step(self, key: Key) -> bool:
        """Whether a function is a part of a training step by itself, or the model in it."""
        function = self.index.functions[key]
        by_itself = key in self._heats and self._heats[key].by in (By.MODEL, By.LOSS)
        return function.steps or function.hook or by_itself

    def _keeps_to_host(self, call: CallSite, key: Key, parameters: Iterable[str]) -> bool:
        """Whether a call passes nothing from the device for some parameters."""
        given = dict(received(self.index.functions[key], call.arguments))
        passed = [given[name] for name in parameters if name in given]
        return bool(passed) and all(each.host and not each.device for each in passed)

    # hot functions -----------------------------------------------------------------------

    def heat(self, path: str, function: str) -> Heat | None:
        """Why a function runs on each step, or None if nothing shows that it does."""
        return self._heats.get(Key(path, function))

    @cached_property
    def _heats(self) -> dict[Key, Heat]:
        heats: dict[Key, Heat] = {}
        queue: deque[Key] = deque()
        for key, heat in self._steps():
            self._warm(heats, queue, key, heat)
        for key in self._models():
            model = self.index.functions[key]
            device = frozenset(filter(sounds_like_tensors, model.parameters))
            by = By.LOSS if _LOSS.search(key.name) else By.MODEL
            heat = Heat(key.path, model.position, 0, device, frozenset(), by)
            self._warm(heats, queue, key, heat)
        for key, number, site in self.calls.sites():
            loop = None if site.quiet else self.step_loop(key.path, site.loops)
            if loop is not None and self.runs(key, site, loop):
                for target in self.run_by(key, number, loop):
                    self._callers[target][key, number] = site
                    self._warm(heats, queue, target, self._passed_heat(site, target, loop, None))
                for target in self.calls.guesses(key, number):
                    passed = self._passed_heat(site, target, loop, None)
                    self._warm(heats, queue, target, replace(passed, by=By.CHOSEN))
        while queue:
            key = queue.popleft()
            heat = heats[key]
            if heat.depth >= FARTHEST_CALL:
                continue
            for number, site in enumerate(self.index.functions[key].calls):
                if site.quiet or site.rare or not self.runs(key, site, heat):
                    continue
                for target in self.run_by(key, number, heat):
                    if target != key:
                        self._callers[target][key, number] = site
                        passed = self._passed_heat(site, target, heat, heat)
                        self._warm(heats, queue, target, passed)
                for target in self.calls.guesses(key, number):
                    passed = self._passed_heat(site, target, heat, heat)
                    by = By.CHOSEN if heat.certain else heat.by
                    if target != key:
                        self._warm(heats, queue, target, replace(passed, by=by))
        return heats

    def _models(self) -> Iterator[Key]:
        """`forward` of the modules in programs that train: few models are made where a call of
        theirs can be followed."""
        files = self.training_programs
        for class_ in self.index.classes:
            key = Key(class_.path, f"{class_.name}.forward")
            if (
                class_.path in files
                and key in self.index.functions
                and self.index.is_module(class_)
            ):
                yield key

    @cached_property
    def training_programs(self) -> set[str]:
        """The files of programs with training code that was parsed."""
        training = {
            path
            for path, summary in self.summaries.items()
            if summary.trains and not summary.is_test
        }
        return self._imports.from_(self._imports.to(training))

    def run_by(self, key: Key, number: int, heat: Heat) -> Iterable[Key]:
        """What a call on each step runs; of several overrides those that train, if some do.

        Only what certainly runs, and is near to the step, makes files be parsed.
        """
        loads = heat.certain and heat.depth < CALL_DEPTH
        callees = self.calls.callees(key, number, load=loads)
        targets = [target for target in callees if not self._only_tested(key, target)]
        if len(targets) < 2:
            return targets
        return [target for target in targets if self.does_step(target)] or targets

    def _steps(self) -> Iterator[tuple[Key, Heat]]:
        """The functions that are a whole step, or that a framework calls on each one."""
        steps = {
            key: function
            for key, function in self.index.functions.items()
            if function.hook or (function.whole_step and not function.evaluation)
        }
        callers = self.calls.callers(steps) if steps else {}
        once = self._run_once(steps, callers)
        for key, function in steps.items():
            if key not in once:
                yield key, self._own_heat(key, function, callers.get(key, ()))

    def _own_heat(
        self, key: Key, function: FunctionSummary, callers: Iterable[tuple[Key, CallSite]]
    ) -> Heat:
        heats = [
            self._passed_heat(site, key, loop, None, 0)
            for caller, site in callers
            if (loop := self.step_loop(caller.path, site.loops[:1])) is not None
            and not self._only_tested(caller, key)
        ]
        if heats:
            return min(heats, key=lambda heat: (heat.path, heat.position))
        by = By.FRAMEWORK if function.hook else By.ITSELF
        return Heat(key.path, function.position, 0, frozenset(), frozenset(), by)

    def _run_once(
        self,
        steps: Mapping[Key, FunctionSummary],
        callers: Mapping[Key, Sequence[tuple[Key, CallSite]]],
    ) -> set[Key]:
        """Those that no framework and no loop calls, only the top level of files, be it through one
        other function: demonstrations of a step."""
        called = {
            key: {caller for caller, _ in callers[key]}
            for key, function in steps.items()
            if callers.get(key) and not function.hook and not _in_loop(callers[key])
        }
        between = {caller for each in called.values() for caller in each if caller.name}
        above = self.calls.callers(between) if between else {}
        tops = {
            key
            for key in between
            if (sites := above.get(key))
            and not _in_loop(sites)
            and not any(caller.name for caller, _ in sites)
        }
        return {
            key
            for key, found in called.items()
            if all(not caller.name or caller in tops for caller in found)
        }

    def _only_tested(self, caller: Key, target: Key) -> bool:
        """Whether a test calls what is not a test: its few steps are not worth being fast."""
        return self.summaries[caller.path].is_test and not self.summaries[target.path].is_test

    def _warm(self, heats: dict[Key, Heat], queue: deque[Key], key: Key, heat: Heat) -> None:
        function = self.index.functions.get(key)
        if function is None or function.evaluation:
            return
        old = heats.get(key)
        if old is None:
            heats[key] = heat
            queue.append(key)
            return
        device, host = old.device | heat.device, old.host & heat.host
        given = _either(old.given, heat.given)
        nearer = min(
            old, heat, key=lambda each: (not each.certain, each.depth, each.path, each.position)
        )
        merged = replace(nearer, device=device, host=host, given=given)
        if merged != old:
            heats[key] = merged
            queue.append(key)

    def _passed_heat(
        self,
        site: CallSite,
        target: Key,
        loop: Heat,
        caller: Heat | None,
        depth: int | None = None,
    ) -> Heat:
        device, host = set(), set()
        for parameter, passed in received(self.index.functions[target], site.arguments):
            given = caller.device if caller else frozenset()
            known_host = caller.host if caller else frozenset()
            if passed.device or any(name in given for name in passed.parameters):
                device.add(parameter)
            elif passed.host or (
                passed.parameters and all(name in known_host for name in passed.parameters)
            ):
                host.add(parameter)
        if depth is None:
            depth = loop.depth + 1
        gets = _given(self.index.functions[target], site, caller)
        return replace(
            loop, depth=depth, device=frozenset(device), host=frozenset(host), given=gets
        )

    def warm_up(self) -> None:
        """Compute the expensive properties; `index.missing` then has the files to load."""
        _ = self.calls.passed_objects, self.step_loops, self._heats

    def training_code(self) -> dict[str, set[str]]:
        """The files with training code, each with the top-level names that train: themselves,
        by calling such a name, or by inheriting from one."""
        names: dict[str, set[str]] = defaultdict(set)
        for key, function in self.index.functions.items():
            looped = any(
                (key.path, loop) in self.step_loops
                for site in function.calls
                for loop in site.loops
            )
            if key.name and (function.steps or function.trains or looped):
                names[key.path].add(key.name.partition(".")[0])
        for _ in range(CALL_DEPTH):
            self._spread(names)
        return names

    def _spread(self, found: dict[str, set[str]]) -> None:
        """Add the names that use those in `found`."""
        calls = (
            (key, site.target)
            for key, function in self.index.functions.items()
            if key.name
            for site in function.calls
            if site.target not in ("self", "super") and is_dotted(site.target)
        )
        bases = ((key, base) for key, class_ in self.index.classes.items() for base in class_.bases)
        for key, dotted in chain(calls, bases):
            used = self.index.symbol(key.path, dotted)
            if used is not None and used.name.partition(".")[0] in found.get(used.path, ()):
                found[key.path].add(key.name.partition(".")[0])


def _given(function: FunctionSummary, site: CallSite, caller: Heat | None) -> frozenset[Given]:
    """What a call gives the parameters of a function.

    Args:
        caller: why the function around the call is hot, if that is what it passes on.
    """
    found = dict.fromkeys(function.parameters, ANYTHING)
    if not any(passed.name.startswith("*") for passed in site.arguments):
        found.update(function.defaults)
    given = {(name, what) for name, what in found.items()}
    for parameter, passed in received(function, site.arguments):
        given -= {each for each in given if each[0] == parameter}
        given |= {(parameter, what) for what in _passed_on(passed.what, caller)}
    return frozenset(given)


def _in_loop(sites: Iterable[tuple[Key, CallSite]]) -> bool:
    return any(site.loops for _, site in sites)


def _passed_on(what: str, caller: Heat | None) -> Iterable[str]:
    """What an argument is, or what the parameter was given that is passed on."""
    if not what.startswith("$"):
        return (what,)
    given = None if caller is None else caller.given
    return {each for name, each in given or () if name == what[1:]} or (ANYTHING,)


def _either(
    one: frozenset[Given] | None, other: frozenset[Given] | None
) -> frozenset[Given] | None:
    """What is given by one caller or another; what they pass in many ways may be anything."""
    if one is None or other is None or one == other:
        return None if one is None or other is None else one
    both = one | other
    ways = Counter(name for name, _ in both)
    many = {name for name, what in both if what == ANYTHING or ways[name] > _MOST_WAYS}
    return frozenset(each for each in both if each[0] not in many) | {(n, ANYTHING) for n in many}
