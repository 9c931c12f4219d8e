"""Use what `torch.compile` returns; the model itself stays as it is.

## What it does
Reports `torch.compile(model)` whose result nobody uses: as a statement of its own, or given to a
name that is never read.

## Why it is slow
`torch.compile` does not change what it is given. It returns a wrapper, and only calls of that
wrapper are compiled. So the model runs as before, without a warning.

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
model in place and leaves the names of its parameters as they are.

## When it is silent
For decorators; where the result is returned, passed on or stored in an attribute or a list; for
names at the top level of a file that others may import them from; in tests; if the project supports
a torch older than 2.0.

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
    finds=(calls("torch.compile", where=(_is_unused,)),),
    message="`torch.compile` returns the compiled model and leaves the other as it is; use what it "
    "returns.",
    change=_assign,
    since=(2, 0),
    triggers=(COMPILE_TEXT,),
    may_change="compiled code may round differently",
)
