"""Functions that are registered with a training engine, which calls them on each step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.frameworks.frameworks import ANY
from torchlint.analysis.literals import literal
from torchlint.analysis.names import dotted_text

if TYPE_CHECKING:
    from torchlint.source.tree import Tree


def registered_hooks(tree: Tree) -> frozenset[str]:
    """Names of the functions in `engine.hooks["on_forward"]` of torchnet, or registered for
    ignite's `Events.ITERATION_COMPLETED` by `add_event_handler` or `@engine.on`."""
    return frozenset({*_in_tables(tree), *_handlers(tree), *_decorated(tree)})


def _in_tables(tree: Tree) -> set[str]:
    handlers = set()
    for assign in tree.nodes(cst.Assign):
        target = assign.targets[0].target
        if isinstance(target, cst.Subscript) and dotted_text(target.value).endswith(
            ANY.hook_tables
        ):
            key = target.slice[0].slice
            name = literal(key.value) if isinstance(key, cst.Index) else None
            if name in ANY.table_keys and isinstance(assign.value, cst.Name):
                handlers.add(assign.value.value)
    return handlers


def _handlers(tree: Tree) -> set[str]:
    handlers = set()
    for call in tree.nodes(cst.Call):
        if _ends(call.func, ANY.handler_calls) and len(call.args) > 1:
            event, handler = call.args[0].value, call.args[1].value
            if _is_iteration_event(event) and isinstance(handler, cst.Name):
                handlers.add(handler.value)
    return handlers


def _decorated(tree: Tree) -> set[str]:
    handlers = set()
    for decorator in tree.nodes(cst.Decorator):
        call = decorator.decorator
        if isinstance(call, cst.Call) and call.args and _ends(call.func, ANY.handler_decorators):
            owner = tree.parent(decorator)
            if _is_iteration_event(call.args[0].value) and isinstance(owner, cst.FunctionDef):
                handlers.add(owner.name.value)
    return handlers


def _ends(node: cst.CSTNode, names: frozenset[str]) -> bool:
    return isinstance(node, cst.Attribute) and node.attr.value in names


def _is_iteration_event(event: cst.CSTNode) -> bool:
    return dotted_text(event).rpartition(".")[2] in ANY.step_events
