"""Collect tensors in a list, and concatenate them once.

## What it does
Reports a tensor or an array that grows in a loop by being concatenated with itself:
`outputs = torch.cat([outputs, output])`, also by `torch.vstack`, `torch.hstack`, `np.concatenate`
and `np.append`, if it starts empty before the loop.

## Why it is slow
Each round allocates a new tensor and copies all that was collected so far. The copies of n rounds
add up to n²/2 pieces, where one concatenation at the end copies each piece once. Measured on a CPU
for 300 small pieces: 317 times as slow.

## Example
```python
features = torch.empty(0, 512, device=device)
with torch.no_grad():
    for images, _ in loader:
        features = torch.cat([features, model(images.to(device))])
```

## Use instead
```python
parts = []
with torch.no_grad():
    for images, _ in loader:
        parts.append(model(images.to(device)))
features = torch.cat(parts)
```

## When it is silent
Where the loop also reads what was collected so far, as a decoder does that feeds its output back to
the model; for a tensor that does not start empty, such as a skip connection; for a loop that is
known to be short, or about which nothing is known; in tests and documentation. A loop over a
loader, a training loop and `range(100)` give a finding. A loop over `range(n)` and a `while` loop
give a hint, since they may be short.

## Fix safety
There is no fix: an empty result needs another shape, and the list a name.

## How verify confirms it
There is no fix to measure. Give it your own change: `torchlint verify train.py --with
change.patch`.

## References
- NumPy documentation, `numpy.append`: "Note that append does not occur in-place: a new array is
  allocated and filled"
"""

import ast
import math
import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

import libcst as cst

from torchlint.analysis.names import Binding, dotted_text
from torchlint.analysis.steps.loops import Loop
from torchlint.analysis.uses import receiver
from torchlint.analysis.values.iteration import is_over_loader
from torchlint.rule import Match, Module, Outline, Rule, Triggers, because, calls, outlines

_MAKE = ("empty", "zeros", "tensor", "Tensor", "FloatTensor", "array")
_EMPTY = frozenset(f"{package}.{name}" for package in ("torch", "numpy") for name in _MAKE)
_JOINS = ("cat", "concat", "concatenate", "vstack", "hstack")
_JOINERS = (
    *(f"torch.{each}" for each in _JOINS),
    *(f"numpy.{each}" for each in (*_JOINS, "append")),
)
_NOT_GROWING = "nothing in the file begins empty and grows in a loop"
_LONG = 8
_LONG_JOIN = 300
_JOIN = re.compile(rb"\b(?:%b|n(?:um)?py?\.append)\(" % "|".join(_JOINS).encode())
_ASSIGNED = re.compile(rb"(\w{1,80})[ \t]{0,40}(?:,[^=\n]{0,80})?=(?!=)")
_WORD = re.compile(rb"\w+")
_LOOP = re.compile(rb"(?m)^([ \t]*)(?:async )?(?:for|while)\b")
_EMPTY_TEXT = re.compile(
    rb"\bNone\b|\[\]|\(\)|(?:%b)\([(\[ \t]{0,40}(?:size=\(?)?[0)\]]" % "|".join(_MAKE).encode()
)


def _has_words_of_growing(text: bytes) -> bool:
    """Whether a name before a join in a loop, and in the join, may begin empty on some line."""
    loops = [(loop.start(), len(loop[1])) for loop in _LOOP.finditer(text)]
    grown: set[bytes] = set()
    shallowest, passed = math.inf, 0
    for join in _JOIN.finditer(text) if loops else ():
        head = _head(text, join.start())
        line = join.start() - len(head)
        while passed < len(loops) and loops[passed][0] < join.start():
            shallowest, passed = min(shallowest, loops[passed][1]), passed + 1
        is_on_the_line = passed > 0 and loops[passed - 1][0] >= line
        if is_on_the_line or shallowest < len(head) - len(head.lstrip()):
            before = text[max(0, join.start() - _LONG_JOIN) : join.start()]
            after = text[join.end() : join.end() + _LONG_JOIN]
            grown |= set(_ASSIGNED.findall(before)) & set(_WORD.findall(after))
    heads = (_head(text, empty.start()) for empty in (_EMPTY_TEXT.finditer(text) if grown else ()))
    grows = any(b"=" in head and not grown.isdisjoint(_WORD.findall(head)) for head in heads)
    return grows or because(False, _NOT_GROWING)


def _head(text: bytes, at: int) -> bytes:
    """What a line has before a place in it, as far as that is looked at."""
    return text[max(text.rfind(b"\n", 0, at) + 1, at - _LONG_JOIN) : at]


def _may_have_growing(outline: Outline) -> bool:
    """Whether a loop assigns to a name what it joins with it, and the name may begin empty."""
    joins = set(outline.calls(*_JOINERS))
    rows = {
        row
        for loop in (outline.nodes(ast.For, ast.AsyncFor, ast.While) if joins else ())
        for row in range(loop.lineno, (loop.end_lineno or loop.lineno) + 1)
    }
    names = {
        name
        for each in outline.nodes(ast.Assign)
        if each.lineno in rows
        for call in _either(each.value)
        if call in joins
        for name in _names_of(each.targets[0]) & _names_of(_first(call))
    }
    grows = any(map(_may_be_empty, outline.assigned(*names)))
    return grows or because(False, _NOT_GROWING)


def _either(value: ast.expr) -> Iterator[ast.Call]:
    values = (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)
    yield from (each for each in values if isinstance(each, ast.Call))


def _names_of(node: ast.expr | None) -> set[str]:
    """The name that a node is, or those in the list that it is."""
    parts = node.elts if isinstance(node, ast.List | ast.Tuple) else (node,)
    return {each.id for each in parts if isinstance(each, ast.Name)}


def _first(call: ast.Call) -> ast.expr | None:
    return next(iter((*call.args, *(each.value for each in call.keywords))), None)


def _may_be_empty(value: ast.expr) -> bool:
    """As `_is_empty`, of what CPython reads."""
    while isinstance(value, ast.Call) and outlines.chain(value.func).split(".")[-1] not in _MAKE:
        if not isinstance(value.func, ast.Attribute):
            return False
        value = value.func.value
    if not isinstance(value, ast.Call):
        return outlines.literal(value) in (None, ())
    first = _first(value)
    if isinstance(first, ast.Tuple | ast.List) and first.elts:
        first = first.elts[0]
    return first is None or outlines.literal(first) in (0, ())


class _Rounds(Enum):
    """How many rounds a loop has."""

    MANY = "many"
    UNKNOWN = "unknown"
    FEW = "few"


def _is_read_meanwhile(match: Match) -> bool:
    """Whether a loop reads what was collected so far, other than to ask whether it is empty."""
    name, growing = match.found(_Growing)
    module, statement, loops = match.module, match.module.small_statement(match.call), set(growing)
    assert statement is not None
    for read in module.reads(statement, name.value):
        if (
            not loops.isdisjoint(module.ancestors(read))
            and module.small_statement(read) is not statement
            and not _is_asked_about(read, module)
        ):
            return because(True, "the loop reads what {:code} has so far, in {:line}", read, read)
    return False


class _Growing(NamedTuple):
    """The name of a tensor that grows, and the loops in which it does and that begin after it is
    empty."""

    name: cst.Name
    loops: list[Loop]


def _grows(match: Match) -> _Growing | None:
    name, module = _grown(match), match.module
    if name is None:
        return because(None, "the result is not assigned to one of the names that it joins")
    made = module.flow.reaching(name)
    starts = [each.node for each in made if _is_empty(_part(each), module)]
    around = module.loops.loops_around(match.call)
    loops = [each for each in around if any(each not in module.ancestors(at) for at in starts)]
    if any(_rounds(loop, module) is not _Rounds.FEW for loop in loops):
        return _Growing(name, loops)
    if loops:
        return because(None, "nothing shows that {} has many rounds", loops[0])
    if not starts:
        return because(None, "{:code} is not known to begin empty", name)
    return because(
        None, "no loop runs between this and {:line}, where {:code} is empty", starts[0], name
    )


def _may_stay_small(match: Match) -> bool:
    loops = match.found(_Growing).loops
    small = all(_rounds(loop, match.module) is not _Rounds.MANY for loop in loops)
    return small and because(True, "nothing shows how many rounds {} has", loops[0])


rule = Rule(
    code="TL212",
    summary="a tensor grows in a loop by being copied as a whole on every round",
    finds=(
        calls(
            *_JOINERS,
            where=(_grows,),
            hint_if=(_may_stay_small,),
        ),
    ),
    unless=(_is_read_meanwhile,),
    message="Each round copies all that was collected so far; append to a list, and concatenate it "
    "once after the loop.",
    triggers=Triggers(check=_has_words_of_growing, outline=_may_have_growing),
)


# what grows ---------------------------------------------------------------------------------------


def _grown(match: Match) -> cst.Name | None:
    """`outputs` in `outputs = torch.cat([outputs, output])`."""
    statement = match.module.parent(match.call)
    if isinstance(statement, cst.IfExp):
        statement = match.module.parent(statement)
    if not isinstance(statement, cst.Assign) or not match.call.args:
        return None
    joined, target = match.call.args[0].value, dotted_text(statement.targets[0].target)
    listed = joined.elements if isinstance(joined, cst.List | cst.Tuple) else ()
    for part in (joined, *(each.value for each in listed)):
        if isinstance(part, cst.Name) and part.value == target:
            return part
    return None


def _part(start: Binding) -> cst.BaseExpression | None:
    """What a name is given, also by `a, b = None, []`."""
    value = start.value
    for index in start.path:
        elements = value.elements if isinstance(value, cst.Tuple) else ()
        value = elements[index].value if index < len(elements) else None
    return value


def _is_empty(value: cst.BaseExpression | None, module: Module) -> bool:
    """`None`, `[]`, `torch.tensor([])`, `torch.empty(0, 512)`, `np.zeros((0, 3)).cuda()`."""
    while isinstance(value, cst.Call) and _EMPTY.isdisjoint(module.resolve(value.func)):
        value = receiver(value)
    if not isinstance(value, cst.Call):
        return module.literal(value) in (None, ())
    first = value.args[0].value if value.args else None
    if isinstance(first, cst.Tuple | cst.List) and first.elements:
        first = first.elements[0].value
    return first is None or module.literal(first) in (0, ())


def _is_asked_about(read: cst.Name, module: Module) -> bool:
    """Whether a name occurs in the condition of an `if`."""
    condition = module.enclosing(read, cst.If)
    return condition is not None and read in module.within(condition.test)


def _rounds(loop: Loop, module: Module) -> _Rounds:
    """Many for a training loop, batches and `range(100)`; few if nothing shows that there are
    more."""
    if loop in module.loops.step_loops:
        return _Rounds.MANY
    if isinstance(loop, cst.While):
        return _Rounds.UNKNOWN
    if is_over_loader(loop.iter, module.values):
        return _Rounds.MANY
    ranges = (
        each for each in module.calls_within(loop.iter) if module.calls(each, "builtins.range")
    )
    counts = [module.literal(arg.value) for call in ranges for arg in call.args]
    known = [count for count in counts if isinstance(count, int)]
    if len(known) < len(counts):
        return _Rounds.UNKNOWN
    return _Rounds.MANY if max(known, default=0) >= _LONG else _Rounds.FEW
