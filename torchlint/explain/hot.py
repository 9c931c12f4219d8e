"""The tree of what runs on each training step: loops, the functions that they call, and what is
left out because it is guarded, evaluates, or cannot be followed."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from torchlint.engine.check import read
from torchlint.engine.map_project import Mapper
from torchlint.engine.project_findings import join
from torchlint.explain.file_sketch import FileSketch, sketch_files
from torchlint.memory.store import Store
from torchlint.project.calls import FARTHEST_CALL
from torchlint.project.project import By, Heat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from torchlint.analysis.summary import CallSite
    from torchlint.explain.file_sketch import CallSketch, FunctionSketch
    from torchlint.finding import Diagnostic, Position
    from torchlint.project.project import Project
    from torchlint.project.symbols import Key
    from torchlint.project.target import Target
    from torchlint.workers.pool import Pool

    _Site = tuple[Key, int, CallSite]


class State(str, Enum):
    """What torchlint believes about a loop, a function or a call."""

    HOT = "hot"
    """Runs on each training step."""
    LIKELY = "likely"
    """Runs on each step if a training step calls the model; findings there are hints."""
    GUARDED = "guarded"
    """Runs now and then."""
    EVALUATION = "evaluation"
    """Runs only when the model evaluates."""
    UNKNOWN = "unknown"
    """It is not known what the call runs."""
    TOO_FAR = "too far"
    """More calls away from a training step than torchlint follows."""


@dataclass(frozen=True, slots=True)
class Node:
    """A loop, a function that a framework calls, or a call.

    Args:
        code: what the source says, on one line.
        why: what shows the state; empty where the place in the tree does.
        target: the function that a call runs, and where it begins.
        seen: its calls are shown at another place of the tree.
        inside: the calls in it.
    """

    code: str
    path: str
    position: Position
    state: State
    why: str = ""
    target: tuple[str, str, Position] | None = None
    seen: bool = False
    inside: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class TreeRoot:
    """A node that nothing in the tree calls, and the scripts that run its file."""

    node: Node
    scripts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HotTree:
    """What runs on each step in `files` files, by path and line; and what could not be read."""

    roots: tuple[TreeRoot, ...]
    diagnostics: tuple[Diagnostic, ...]
    files: int


def hot_tree(
    targets: Sequence[Target],
    *,
    pool: Pool,
    progress: Callable[[int, int], None] | None = None,
) -> HotTree:
    """The tree of some files, which are read as one project.

    Args:
        progress: called with the number of files done and the total.
    """
    files, diagnostics = read(targets)
    mapper = Mapper(files, pool=pool, progress=progress, store=Store())
    project, _ = join(mapper)
    for result in mapper.results.values():
        diagnostics += result.diagnostics
    builder = _Builder(project)
    wanted = [mapper.files[path].target for path in sorted(builder.paths) if path in mapper.files]
    sizes = {path: known.size for path, known in mapper.files.items()}
    for target, sketch in pool.map(sketch_files, wanted, weigh=lambda each: sizes[each.path]):
        if sketch is not None:
            builder.sketches[target.path] = sketch
    roots = tuple(builder.roots())
    ordered = tuple(sorted(set(diagnostics), key=lambda each: each.sort_key))
    return HotTree(roots, ordered, len(targets))


@dataclass
class _Builder:
    """Builds the tree; set `sketches` for `paths` before."""

    project: Project
    sketches: dict[str, FileSketch] = field(default_factory=dict)
    _shown: set[Key] = field(default_factory=set)

    def __post_init__(self) -> None:
        project = self.project
        self._in_loops: dict[tuple[str, int], list[_Site]] = defaultdict(list)
        for key, number, site in project.calls.sites():
            for index in site.loops:
                if (key.path, index) in project.step_loops:
                    self._in_loops[key.path, index].append((key, number, site))
                    break
        self._hot = {
            key: heat
            for key in project.index.functions
            if (heat := project.heat(key.path, key.name)) is not None
        }
        steps = {path for path, _ in project.step_loops}
        steps |= {key.path for key, heat in self._hot.items() if heat.certain and not heat.depth}
        self._starting = {
            path
            for path, summary in project.summaries.items()
            if summary.starts and steps.isdisjoint(project.imported(path))
        }
        """The files that have a framework train, and lead to no step that the project names."""
        self.paths = steps | self._starting | {key.path for key in self._hot}

    def roots(self) -> Iterator[TreeRoot]:
        found = [*self._loops(), *self._functions(certain=True), *self._functions(certain=False)]
        found += self._starts()
        for node in sorted(found, key=lambda node: (node.path, node.position)):
            summaries = self.project.summaries
            importers = sorted(self.project.importers(node.path))
            scripts = [path for path in importers if path in summaries and summaries[path].is_entry]
            yield TreeRoot(node, tuple(scripts))

    def _loops(self) -> Iterator[Node]:
        for path, index in sorted(self.project.step_loops):
            sketch = self.sketches.get(path)
            if sketch is None or index not in sketch.loops:
                continue
            loop = sketch.loops[index]
            heat = self.project.step_loop(path, [index])
            assert heat is not None
            sites = self._in_loops[path, index]
            inside = self._inside(sites, heat)
            anchor = loop.anchor or self._training_call(sites)
            yield Node(loop.code, path, loop.position, State.HOT, anchor, inside=inside)

    def _training_call(self, sites: Iterable[_Site]) -> str:
        """The call of a loop that does the training step, in words."""
        for key, number, _ in sites:
            if any(map(self.project.does_step, self.project.calls.callees(key, number))):
                function = self._sketch(key)
                if function is not None and number < len(function.calls):
                    call = function.calls[number]
                    return f"`{call.code}` in line {call.position.row}"
        return ""

    def _functions(self, *, certain: bool) -> Iterator[Node]:
        """The functions that a framework calls on each step; else those of models."""
        for key, heat in sorted(self._hot.items()):
            function = self._sketch(key)
            begins = heat.depth == 0 and heat.by is not By.LOOP
            if not begins or heat.certain is not certain or key in self._shown or function is None:
                continue
            self._shown.add(key)
            inside = self._inside(self._sites(key), heat)
            state = State.HOT if certain else State.LIKELY
            code = f"def {key.name}"
            yield Node(code, key.path, function.position, state, heat.by.value, inside=inside)

    def _starts(self) -> Iterator[Node]:
        for path in self._starting & self.sketches.keys():
            for call in self.sketches[path].starts:
                why = "a framework takes the training steps here"
                yield Node(call.code, path, call.position, State.HOT, why)

    def _sites(self, key: Key) -> list[_Site]:
        calls = self.project.index.functions[key].calls
        return [(key, number, site) for number, site in enumerate(calls)]

    def _inside(self, sites: Iterable[_Site], heat: Heat, depth: int = 0) -> tuple[Node, ...]:
        return tuple(sorted(self._calls(sites, heat, depth), key=lambda node: node.position))

    def _calls(self, sites: Iterable[_Site], heat: Heat, depth: int) -> Iterator[Node]:
        """The calls into the project, and those that may lead there, in no order."""
        seen: set[tuple[Position, Key | None]] = set()
        followed: set[Position] = set()
        unknown: dict[Position, Node] = {}
        for key, number, site in sites:
            function = self._sketch(key)
            if function is None or number >= len(function.calls):
                continue  # the file has changed since it was checked
            call, calls = function.calls[number], self.project.calls
            targets = [*self.project.run_by(key, number, heat), *calls.guesses(key, number)]
            if targets:
                followed.add(call.position)
            elif not call.silence and calls.may_lead_somewhere(key, site):
                why = f"nothing shows what `{call.code.removesuffix('(…)').removesuffix('()')}` is"
                unknown[call.position] = Node(
                    call.code, key.path, call.position, State.UNKNOWN, why
                )
            for target in targets:
                if target != key and (call.position, target) not in seen:
                    seen.add((call.position, target))
                    runs = self.project.runs(key, site, heat)
                    yield self._call(key.path, call, target, depth, runs=runs)
        yield from (node for position, node in unknown.items() if position not in followed)

    def _call(self, path: str, call: CallSketch, target: Key, depth: int, *, runs: bool) -> Node:
        """A call of a function of the project, with the calls in that function.

        Args:
            runs: some caller passes what the conditions around the call ask for.
        """
        sketch, summary = self._sketch(target), self.project.index.functions[target]
        position = call.position if sketch is None else sketch.position
        place = (target.name, target.path, position)
        if call.silence:
            state = State(call.silence)
            return Node(call.code, path, call.position, state, call.why, place)
        if summary.evaluation:
            why = f"`{target.name}` evaluates, by its name or its first statements"
            return Node(call.code, path, call.position, State.EVALUATION, why, place)
        if not runs:
            why = "no caller passes what the condition around it asks for"
            return Node(call.code, path, call.position, State.GUARDED, why, place)
        heat = self._hot.get(target)
        if heat is None:
            why = f"more than {FARTHEST_CALL} calls from the step"
            return Node(call.code, path, call.position, State.TOO_FAR, why, place)
        state = State.HOT if heat.certain else State.LIKELY
        if target in self._shown or depth > FARTHEST_CALL:
            return Node(call.code, path, call.position, state, "", place, seen=True)
        self._shown.add(target)
        inside = self._inside(self._sites(target), heat, depth + 1)
        return Node(call.code, path, call.position, state, "", place, inside=inside)

    def _sketch(self, key: Key) -> FunctionSketch | None:
        sketch = self.sketches.get(key.path)
        return None if sketch is None else sketch.functions.get(key.name)
