"""Use what `torch.compile` returns; the model itself stays as it is.

## What it does
Reports `torch.compile(model)` whose result nobody uses: as a statement of its own, or given to a
name that is never read. As a hint also a compiled model of which only methods and parts are used,
`model.compute_loss(batch)` or `model.encoder(images)`, and which is never called itself.

## Why it is slow
`torch.compile` does not change what it is given. It returns a wrapper, and only calls of that
wrapper are compiled. So the model runs as before, without a warning. Other methods and layers of
the wrapper are those of the model, which are not compiled either.

## Example
```python
torch.compile(model, mode="max-autotune")
for images, labels in loader:
    train_step(model, images.to(device), labels.to(device))
```

## Use instead
```python
model = torch.compile(model, mode="max-autotune")
for images, labels in loader:
    train_step(model, images.to(device), labels.to(device))
```
`model.compile(mode="max-autotune")`, a method of every `nn.Module` since torch 2.2, compiles the
model in place and leaves the names of its parameters as they are. Up to torch 2.13 it compiles only
what a `forward` of your own runs, so that a bare `nn.Sequential` stays as it is, without a word. To
compile another method, give that to `torch.compile`:
`model.compute_loss = torch.compile(model.compute_loss)`.

## When it is silent
For decorators; where the result is returned, passed on or stored in an attribute or a list; for
names at the top level of a file that others may import them from; in tests; if the project supports
a torch older than 2.0. Where methods are used: if anything else in the file takes the compiled
model, and for methods that set up, save or describe it.

## Fix safety
**Unsafe**: the fix gives the result to the name that was compiled, so the training now runs
compiled code, which takes a while to compile and may round differently. The keys of its
`state_dict` begin with `_orig_mod.`, which matters for checkpoints. There is no fix if the name
belongs to another function or file, or is a parameter whose new value the caller does not see.

## How verify confirms it
It measures the assignment, on the CPU as well as on a GPU. The first steps, which compile, are
warm-up. Numbers are equal up to rounding.

## References
- `torch.compile`, `torch.nn.Module.compile`
- ostris/ai-toolkit#729, where such a call left the model uncompiled
"""

import re
from collections.abc import Iterator

import libcst as cst

from torchlint.analysis.compiled import COMPILE_TEXT
from torchlint.analysis.names import dotted_text
from torchlint.analysis.uses import occurrences
from torchlint.rule import (
    Applicability,
    Change,
    Effect,
    Match,
    Module,
    Rule,
    Tier,
    because,
    calls,
    edits,
    once,
)


def _is_unused(match: Match) -> bool:
    """Whether the result is a statement of its own, or given to a name that is never read."""
    statement = match.module.parent(match.node)
    if isinstance(statement, cst.Expr):
        decorates = "without a model this makes a decorator"
        return bool(match.call.args) or because(False, decorates)
    if not isinstance(statement, cst.Assign) or len(statement.targets) > 1:
        return because(False, "the compiled model is used where it is made")
    name = statement.targets[0].target
    if not isinstance(name, cst.Name) or not _is_private(name, match.module):
        return because(False, "code elsewhere may read {:code}", name)
    reads = match.module.reads(statement, name.value)
    return not reads or because(False, "{:code} is used in {:line}", name, reads[0])


def _is_private(name: cst.Name, module: Module) -> bool:
    """Whether no other function or file can read what a name is given here."""
    scope = module.names.scope(name).node
    if isinstance(scope, cst.Module):
        return module.main_guard is not None or None in module.loops.training_functions
    return isinstance(scope, cst.FunctionDef)


# methods of a compiled model ------------------------------------------------------------------


_ARE_COMPILED = frozenset({"__call__", "forward", "_orig_mod"})
_COMPUTES_NOTHING = re.compile(
    r"^(?:add|apply|build|config|convert|count|create|debug|export|extra|freeze|from|get|half|init|"
    r"is|load|log|make|num|print|push|register|requires|reset|save|set|share|setup|summar|to|to_empty|"
    r"train|type|unfreeze|update|with)(?:_|$)|param|state|optim|checkpoint|buffer|modules|children|"
    r"cache|hook|^(?:eval|cpu|cuda|float|double|bfloat16|compile|generate)$"
)


def _runs_methods_only(match: Match) -> str:
    """The first method or part that computes, of a compiled model that nothing calls or takes."""
    module, assign = match.module, match.module.parent(match.node)
    target = assign.targets[0].target if isinstance(assign, cst.Assign) else None
    is_local = isinstance(target, cst.Name) and _is_private(target, module)
    if target is None or not (is_local or isinstance(target, cst.Attribute)):
        return because("", "code elsewhere may call what is compiled")
    methods = []
    for use in _uses(target, module):
        parent = module.parent(use)
        if isinstance(parent, cst.AssignTarget) or _is_earlier(use, match):
            continue
        if not isinstance(parent, cst.Attribute) or parent.attr.value in _ARE_COMPILED:
            if module.enclosing(use, cst.Lambda) is None:
                return because("", "{:line} uses the compiled model itself", use)
        elif name := _computed_by(parent, module):
            methods.append(name)
    return methods[0] if methods else because("", "no method of {:code} computes here", target)


def _uses(target: cst.BaseExpression, module: Module) -> Iterator[cst.BaseExpression]:
    """The uses of what holds the compiled model; of an attribute also its calls elsewhere."""
    yield from occurrences(target, module)
    for name in module.spelled(target.attr.value) if isinstance(target, cst.Attribute) else ():
        call = module.parent(owner) if (owner := module.parent(name)) is not None else None
        if isinstance(owner, cst.Attribute) and isinstance(call, cst.Call) and call.func is owner:
            yield owner


def _is_earlier(use: cst.BaseExpression, match: Match) -> bool:
    """Whether a use comes before the call in its function, or in the call."""
    same = match.module.function(use) is match.module.function(match.node)
    end = match.module.within(match.node)[-1]
    return same and match.module.order(use) <= match.module.order(end)


def _computed_by(part: cst.Attribute, module: Module) -> str:
    """`encoder.embed` for `model.encoder.embed(x)`, if that may compute something."""
    outer = part
    while isinstance(above := module.parent(outer), cst.Attribute):
        outer = above
    names = dotted_text(outer).rpartition(dotted_text(part))[2] or outer.attr.value
    call = above if isinstance(above, cst.Call) and above.func is outer else None
    if call is None or not call.args or isinstance(module.parent(call), cst.Expr):
        return ""
    if _COMPUTES_NOTHING.search(outer.attr.value):
        return ""
    return names if names.startswith(part.attr.value) else f"{part.attr.value}{names}"


def _parts_message(match: Match) -> str:
    return (
        "Only calls of the compiled model itself are compiled, but "
        f"`{match.found(str)}` runs instead; compile that."
    )


def _assign(match: Match) -> Change | str:
    module = match.module
    compiled = match.call.args[0].value
    text = dotted_text(compiled)
    if isinstance(compiled, cst.Name):
        if not _is_used_later(compiled, module):
            return "nothing here uses the model; return it, or compile it where it is used"
    elif not text.startswith("self."):
        return "what is compiled has no name of its own"
    statement = module.small_statement(match.node)
    assert isinstance(statement, cst.Expr | cst.Assign)
    if isinstance(statement, cst.Assign):
        edit = edits.replace(module, statement.targets[0].target, text)
    else:
        edit = edits.put_before(module, statement, f"{text} = ")
    return f"Give the result to `{text}`", edit


def _is_used_later(compiled: cst.Name, module: Module) -> bool:
    """Whether a name belongs to the function, or file, that compiles it and is read there later."""
    if compiled.value not in module.names.scope(compiled).bindings:
        return False
    last = _last_use(module, module.function(compiled), compiled.value)
    return last > module.order(compiled)


@once
def _last_use(module: Module, function: cst.FunctionDef | None, name: str) -> int:
    first = module.spelled(name, near=function)[0]
    return max(module.order(use) for use in occurrences(first, module))


rule = Rule(
    code="TL510",
    effect=Effect.LARGE,
    summary="the compiled model is dropped, and the other one is used",
    fix=Applicability.UNSAFE,
    finds=(
        calls("torch.compile", where=(_is_unused,)),
        calls(
            "torch.compile",
            where=(_runs_methods_only,),
            tier=Tier.HINT,
            message=_parts_message,
            change="which methods can be compiled is not known",
        ),
    ),
    message="`torch.compile` returns the compiled model and leaves the other as it is; use what it "
    "returns.",
    change=_assign,
    since=(2, 0),
    triggers=(COMPILE_TEXT,),
    may_change="compiled code may round differently",
)
