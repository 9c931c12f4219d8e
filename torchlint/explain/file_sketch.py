"""What the tree of hot code shows of a file: its functions, loops and calls in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.analysis.summary import call_sites
from torchlint.analysis.training.runs import framework_starts
from torchlint.engine.map_file import module_of
from torchlint.explain.code_words import CodeWords
from torchlint.explain.silences import silence_at
from torchlint.files.reading import SourceError
from torchlint.finding import Position
from torchlint.source.deep_stack import with_deep_stack

if TYPE_CHECKING:
    from torchlint.analysis.steps.loops import Loop
    from torchlint.project.target import Target


class CallSketch(NamedTuple):
    """A call: where it is and its code without arguments; if it does not run on each step, whether
    it is `guarded` or in an `evaluation`, and why."""

    position: Position
    code: str
    silence: str = ""
    why: str = ""


class FunctionSketch(NamedTuple):
    """A function: where it begins, and its calls in the order of `FunctionSummary.calls`."""

    position: Position
    calls: tuple[CallSketch, ...]


class LoopSketch(NamedTuple):
    """A loop: where it begins, its first line, and the call in it that trains."""

    position: Position
    code: str
    anchor: str | None


class FileSketch(NamedTuple):
    """The functions of a file by qualified name, its loops by index, and the calls that have a
    framework train."""

    functions: dict[str, FunctionSketch]
    loops: dict[int, LoopSketch]
    starts: tuple[CallSketch, ...] = ()


def sketch_files(targets: list[Target]) -> list[FileSketch]:
    """The sketch of each file; an empty one where it cannot be read any more."""
    return with_deep_stack(lambda: [_sketch_file(target) for target in targets])


def _sketch_file(target: Target) -> FileSketch:
    try:
        data = target.read()
        module = module_of(target, data)
    except SourceError:
        return FileSketch({}, {})
    try:
        return _sketch(CodeWords(module, target.borders(data)))
    finally:
        module.release()


def _sketch(words: CodeWords) -> FileSketch:
    module = words.module
    functions: dict[str, FunctionSketch] = {}
    sites = call_sites(module)
    sketches: dict[cst.CSTNode, CallSketch] = {}  # a call may have several sites
    for node in (None, *module.nodes(cst.FunctionDef)):
        start = Position(1, 1) if node is None else words.position(node)
        calls = [call for call, _ in sites.get(node, ())]
        for call in calls:
            if call not in sketches:
                sketches[call] = _call(call, words)
        sketch = FunctionSketch(start, tuple(sketches[call] for call in calls))
        functions.setdefault(module.qualified_name(node), sketch)
    loops = {}
    nodes: list[Loop] = [*module.nodes(cst.For), *module.nodes(cst.While)]
    for loop in nodes:
        step = module.loops.step_loops.get(loop)
        anchor = None if step is None else words.quoted(step.anchor)
        start = words.position(loop)
        loops[module.loops.index(loop)] = LoopSketch(start, words.header(loop), anchor)
    starts = (
        CallSketch(words.position(call), words.called(call)) for call in framework_starts(module)
    )
    return FileSketch(functions, loops, tuple(starts))


def _call(call: cst.Call | cst.Decorator, words: CodeWords) -> CallSketch:
    place, code, silence = words.position(call), words.called(call), silence_at(call, words.module)
    if silence is None:
        return CallSketch(place, code)
    if silence.evaluation is not None:
        return CallSketch(place, code, "evaluation", f"by {words.quoted(silence.evaluation)}")
    assert silence.guard is not None
    if silence.loop is not None:
        how = "its loop runs only under"
    elif isinstance(silence.guard, cst.FunctionDef):
        how = "an optimizer calls"
    else:
        how = "under" if silence.guard in words.module.ancestors(call) else "after"
    return CallSketch(place, code, "guarded", f"{how} {words.quoted(silence.guard)}")
