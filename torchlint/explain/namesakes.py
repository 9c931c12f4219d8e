"""Why a name on a line is not what a rule looks for although it is spelled the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.names import How

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.analysis.module import Module
    from torchlint.explain.code_words import CodeWords
    from torchlint.ruleapi.rule_definition import Rule

_BRING_NAMES = (How.IMPORT, How.DEFINITION)
_STARRED = "`{}` may come from `from {} import *` in {}"


def why_another(rule: Rule, rows: range, words: CodeWords) -> str:
    """Why a call or a setting in these rows is another one than that of the rule, by what its name
    refers to; empty if nothing is spelled like one."""
    wanted: dict[str, list[str]] = {}
    for name in (name for each in rule.finds for name in each.dotted):
        wanted.setdefault(name.rpartition(".")[2], []).append(name)
    module = words.module
    for node in _named(module, rows) if wanted else ():
        last = node.attr.value if isinstance(node, cst.Attribute) else node.value
        dotted = wanted.get(last, [])
        if not dotted or _is_of_a_value(node, dotted, module):
            continue
        if set(dotted).isdisjoint(module.resolve(node)):
            return _said(node, dotted[0], words)
    return ""


def _named(module: Module, rows: range) -> Iterator[cst.Name | cst.Attribute]:
    """What is called or set by its name."""
    named: list[cst.BaseExpression] = [call.func for call in module.nodes(cst.Call)]
    named += [target.target for target in module.nodes(cst.AssignTarget)]
    for node in named:
        if isinstance(node, cst.Name | cst.Attribute) and module.span(node)[0].row in rows:
            yield node


def _is_of_a_value(node: cst.Name | cst.Attribute, wanted: list[str], module: Module) -> bool:
    """Whether only the last word is that of the rule, as in `history.append` for `numpy.append`:
    what is in front of it is not a module, but something that the file made or was given."""
    if isinstance(node, cst.Name):
        return False
    owners = {name.rpartition(".")[0].rpartition(".")[2] for name in wanted}
    start: cst.BaseExpression = node.value
    while isinstance(start, cst.Attribute) and start.attr.value not in owners:
        start = start.value
    if isinstance(start, cst.Attribute):
        return False  # `self.torch.cat`
    if not isinstance(start, cst.Name):
        return True
    bindings = [] if start.value in owners else module.names.lookup(start)
    return bool(bindings) and all(each.how not in _BRING_NAMES for each in bindings)


def _said(node: cst.Name | cst.Attribute, wanted: str, words: CodeWords) -> str:
    module = words.module
    code = module.source(node)
    start: cst.BaseExpression = node
    while isinstance(start, cst.Attribute):
        start = start.value
    bindings = module.names.lookup(start) if isinstance(start, cst.Name) else []
    if isinstance(start, cst.Name) and not bindings:
        star = next(_stars(module), None)
        if star is not None:
            source = "." * len(star.relative) + module.source(star.module) if star.module else "."
            return _STARRED.format(start.value, source, words.line(star))
        return f"nothing in the file says what `{start.value}` is"
    defined = next((each for each in bindings if each.how is How.DEFINITION), None)
    if defined is not None:
        return f"`{code}` is defined in this file, in {words.line(defined.node)}"
    others = [name for name in module.resolve(node) if not name.startswith(":")]
    if code in others:
        return f"`{code}` is something else than `{wanted}`"
    if others:
        at = f" ({words.line(bindings[0].node)})" if bindings else ""
        return f"`{code}` is `{others[0]}` here{at}, not `{wanted}`"
    return f"the file does not show that `{code}` is `{wanted}`"


def _stars(module: Module) -> Iterator[cst.ImportFrom]:
    for each in module.nodes(cst.ImportFrom):
        if isinstance(each.names, cst.ImportStar):
            yield each
