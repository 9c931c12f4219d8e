"""The tree of hot code, for people and for programs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from torchlint.explain.hot import State
from torchlint.report.terminal.safe_text import plural, visible, visible_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchlint.explain.hot import HotTree, Node
    from torchlint.finding import Position
    from torchlint.report.terminal.safe_text import Paint

_SAID = {
    State.LIKELY: "likely",
    State.GUARDED: "not on each step",
    State.EVALUATION: "evaluation",
    State.UNKNOWN: "unknown",
    State.TOO_FAR: "not followed",
}


def render(tree: HotTree, paint: Paint) -> Iterator[str]:
    """A block for each file with what begins there, and a line of counts."""
    path = None
    for root in tree.roots:
        node = root.node
        if node.path != path:
            if path is not None:
                yield ""
            path = node.path
            scripts = [each for each in root.scripts if each != path]
            run = f" {paint.dim('run by ' + _listed(scripts))}" if scripts else ""
            yield f"{paint.bold(visible_path(path))}{run}"
        yield f"{node.position.line:>6}  {paint.bold(visible(node.code))}{_reason(node, paint)}"
        yield from _branches(node.inside, "        ", node.path, paint)
    if path is not None:
        yield ""
    yield _summary(tree)


def _listed(paths: Sequence[str], most: int = 3) -> str:
    names = ", ".join(map(visible_path, paths[:most]))
    return names if len(paths) <= most else f"{names} and {len(paths) - most} more"


def _branches(nodes: Sequence[Node], indent: str, path: str, paint: Paint) -> Iterator[str]:
    for node in nodes:
        last = node is nodes[-1]
        branch, below = ("└─ ", "   ") if last else ("├─ ", "│  ")
        line = f"{node.position.line}  {visible(node.code)}"
        target = ""
        if node.target is not None and node.state in (State.HOT, State.LIKELY):
            name, file, place = node.target
            where = f"line {place.line}" if file == path else f"{visible_path(file)}:{place.line}"
            target = f" → {paint.cyan(visible(name))} {paint.dim(where)}"
        again = paint.dim(" (elsewhere)") if node.seen and node.target else ""
        yield f"{indent}{paint.dim(branch)}{line}{target}{again}{_reason(node, paint)}"
        inner = path if node.target is None else node.target[1]
        yield from _branches(node.inside, indent + paint.dim(below), inner, paint)


def _reason(node: Node, paint: Paint) -> str:
    said = _SAID.get(node.state, "")
    why = visible(node.why)
    text = f"{said}: {why}" if said and why else said or why
    return f"  {paint.dim(text)}" if text else ""


def _summary(tree: HotTree) -> str:
    if not tree.roots:
        return (
            f"No training step in {plural(tree.files, 'file')}: no loop calls `.backward()` or "
            "`optimizer.step()`, and no framework runs a step. Only files that are given are read: "
            "give the folder of the whole project."
        )
    counts: Counter[State] = Counter()
    functions = set()
    for root in tree.roots:
        for node in _all(root.node):
            counts[node.state] += 1
            if node.state is State.HOT and node.target is not None:
                functions.add(node.target[:2])
    certain = sum(root.node.state is State.HOT for root in tree.roots)
    parts = [
        f"{plural(certain, 'training loop or step', 'training loops or steps')}",
        f"{plural(len(functions), 'function')} that they call",
        f"{counts[State.GUARDED]} guarded",
        f"{counts[State.EVALUATION]} in evaluation",
        f"{counts[State.UNKNOWN]} unknown",
    ]
    return ", ".join(parts) + "."


def _all(node: Node) -> Iterator[Node]:
    yield node
    for each in node.inside:
        yield from _all(each)


def as_json(tree: HotTree) -> str:
    """The tree with all that is known of each node."""
    import json

    roots = [{**_plain(root.node), "scripts": list(root.scripts)} for root in tree.roots]
    return json.dumps({"version": 1, "files": tree.files, "roots": roots}, indent=2)


def _plain(node: Node) -> dict[str, Any]:
    place: dict[str, Any] = {"path": node.path, **_place(node.position)}
    target = None
    if node.target is not None:
        name, path, position = node.target
        target = {"function": name, "path": path, **_place(position)}
    return {
        "code": node.code,
        **place,
        "state": node.state.value,
        "why": node.why,
        "target": target,
        "shown_elsewhere": node.seen,
        "inside": [_plain(each) for each in node.inside],
    }


def _place(position: Position) -> dict[str, int | None]:
    return {"cell": position.cell, "row": position.row, "column": position.column}
