"""What starting a script can run: its own training, and which imports it leads to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.syntax.names import How, dotted_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.syntax.module import Module

_Definition = cst.FunctionDef | cst.ClassDef


@dataclass(frozen=True, slots=True)
class Reach:
    """`trains`: a training step of the file itself can run; `uses`: the dotted names of the
    imports that the code mentions."""

    trains: bool
    uses: tuple[str, ...]


def reach_of(module: Module) -> Reach:
    """Follows names from the code at the top level through the file's own definitions.

    A name that is mentioned counts as used, so the answer errs on the side of too much.
    """
    defined: dict[str, list[_Definition]] = {}
    for kind in (cst.FunctionDef, cst.ClassDef):
        for definition in module.nodes(kind):
            defined.setdefault(definition.name.value, []).append(definition)
    seen: set[cst.CSTNode] = set()
    names: set[str] = set()
    todo: list[cst.CSTNode] = [
        each for each in module.tree.body if not isinstance(each, _Definition)
    ]
    while todo:
        for node in module.within(todo.pop()):
            if isinstance(node, cst.Name) and node.value not in names:
                names.add(node.value)
                todo += [each for each in defined.get(node.value, ()) if each not in seen]
                seen.update(defined.get(node.value, ()))
    uses = dict.fromkeys(_imports(module, names))
    return Reach(_trains(module, seen), tuple(uses))


def _trains(module: Module, seen: set[cst.CSTNode]) -> bool:
    training = {module.function(loop) for loop in module.loops.step_loops}
    training |= set(module.loops.stepping_functions)
    return any(
        function is None or function in seen or not seen.isdisjoint(module.ancestors(function))
        for function in training
    )


def _imports(module: Module, names: set[str]) -> Iterator[str]:
    for scope in module.names.scopes():
        yield from (f"{star}.*" for star in scope.stars)
        for name in names & scope.bindings.keys():
            for binding in scope.bindings[name]:
                if isinstance(binding.node, cst.Import):
                    yield from _whole_names(binding.node, name)
                elif binding.how is How.IMPORT and binding.dotted is not None:
                    yield binding.dotted


def _whole_names(node: cst.Import, bound: str) -> Iterator[str]:
    """`a.b.c` of `import a.b.c`, which binds `a` only."""
    for alias in node.names:
        dotted = dotted_text(alias.name)
        if alias.asname is not None or dotted.partition(".")[0] == bound:
            yield dotted
