"""Use `torch.amp` instead of `torch.cuda.amp` and `torch.cpu.amp`.

## What it does
Reports calls of `autocast` and `GradScaler`, and the decorators `custom_fwd` and `custom_bwd`, from
`torch.cuda.amp` or `torch.cpu.amp`. They are deprecated since torch 2.4.

## Why it is slow
The old classes only call the new ones, and issue a `FutureWarning` each time, so each autocast
region of each step makes a warning for Python to filter. The cost is small: on a CPU, to enter and
leave a region took 17 µs with the old class and 11 µs with the new one. The warning also hides
others in the log, and a later torch may remove what it warns of.

## Example
```python
scaler = torch.cuda.amp.GradScaler()
for images, labels in loader:
    with torch.cuda.amp.autocast():
        loss = criterion(model(images.to(device)), labels.to(device))
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
```

## Use instead
```python
scaler = torch.amp.GradScaler("cuda")
for images, labels in loader:
    with torch.amp.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(images.to(device)), labels.to(device))
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
```

## When it is silent
- If the project supports a torch older than 2.4.
- In code that chooses between both: an import in `except ImportError`, a condition that asks for a
  version or uses `hasattr`, a function that uses the one or the other under a condition.
- Where the name may also be something of your own, as after `except ImportError: autocast = Mine`.
- In tests.

It is a hint: the old names only warn, and a program that states no version of torch may run with an
older one.

Only calls and decorators are reported, since nothing else issues the warning: not imports, type
annotations or `isinstance(scaler, torch.cuda.amp.GradScaler)`.

## Fix safety
**Safe**: the new classes compute the same. The arguments have another order, so the fix turns
`autocast(False)` into `torch.amp.autocast("cuda", enabled=False)`. The old `autocast` uses float16
on a GPU whatever is around it, and the new one the type of the region around it, so the fix writes
`dtype=torch.float16` if no type is passed.

If a name is imported (`from torch.cuda.amp import autocast`), the fix changes the import and all
places that use it together. If one of them must stay, it writes `torch.amp.autocast` in full. There
is no fix for `autocast(*args)`, if another file imports the name from this one, or for a scaler
whose class the program asks for by `isinstance`: the old class inherits from the new one.

## How verify confirms it
It measures the fixed script. The difference is a few microseconds per step, so the ratio is usually
UNRESOLVED around 1. The numbers are bitwise equal.

## References
- `torch.amp`: "`torch.cuda.amp.autocast(args...)` is deprecated"
- PyTorch documentation, "Automatic Mixed Precision package"
"""

from collections.abc import Iterable
from typing import NamedTuple

import libcst as cst

from torchlint.analysis.versions import depends_on_version
from torchlint.rule import (
    Applicability,
    Finding,
    Fix,
    Module,
    Project,
    Reported,
    Rule,
    Tier,
    because,
    without_fix,
)

from ._amp_uses import NAMES, Use, is_old, rewritten, uses_of

_ANY_NAME = rf"\b(?:{'|'.join(NAMES)}|amp)\b"

rule = Rule(
    code="TL503",
    summary="`torch.cuda.amp` is deprecated and warns on every use",
    tier=Tier.HINT,
    fix=Applicability.SAFE,
    since=(2, 4),
    triggers=(r"\bamp\b|import \*", rf"\b(?:{'|'.join(NAMES)})\b", r"\b(?:cuda|cpu)\b"),
    clues={
        "AMP": _ANY_NAME,
        "asks for its class": r"\bisinstance\([^\n]{0,200}(?<!torch\.amp\.)\bGradScaler\b",
        "takes names from a file": r"(?m)^[ \t]*from[ \t]+(?!torch\b)[.\w]{1,200}[ \t]+import[ \t]*"
        rf"(?:\*|\([^)]{{0,300}}?{_ANY_NAME}|[^\n(]{{0,300}}?{_ANY_NAME})",
    },
)


class Changed(NamedTuple):
    """What the fix changes: an import, and the class of a scaler."""

    imports: bool
    scaler: bool


@rule.on(cst.Call, cst.Decorator)
def uses_the_old_api(node: cst.Call | cst.Decorator, module: Module) -> Iterable[Reported]:
    named = node.func if isinstance(node, cst.Call) else node.decorator
    if not is_old(named, module):
        return ()
    use = module.once(_uses_by_node).get(node)
    if use is None:
        return because((), "{:code} may be something else here", named)
    if _chooses(use, module):
        return ()
    old = f"torch.{use.device}.amp.{use.name}"
    new = f"torch.amp.{use.name}"
    given = f'"{use.device}"' if use.name in NAMES[:2] else f'device_type="{use.device}"'
    message = f"`{old}` is deprecated and warns on each use; use `{new}({given})`."
    found = rewritten(use, module)
    if isinstance(found, str):
        return rule.report(module, use.node, message, withheld=found)
    said = f"Use `{new}`{', and import it' if found.imports else ''}"
    fix = Fix(Applicability.SAFE, said, found.edits)
    needs = Changed(found.imports, use.name == "GradScaler")
    return rule.report(module, use.node, message, fix=fix, needs=needs)


def _uses_by_node(module: Module) -> dict[cst.CSTNode | None, Use]:
    """The uses by their calls, or by the decorators that are not called."""
    return {use.call or module.parent(use.callee): use for use in module.once(uses_of)}


def _chooses(use: Use, module: Module) -> bool:
    """Whether the code chooses between the old API and the new one."""
    if depends_on_version(use.callee, module):
        return True
    function, conditional = _place(use.callee, module)
    new = module.once(_places_of_the_new, use.name)
    chooses = (function, True) in new or (conditional and (function, False) in new)
    said = "a condition chooses between this and `torch.amp.{}`, which is called here too"
    return chooses and because(True, said, use.name)


def _place(node: cst.CSTNode, module: Module) -> tuple[cst.FunctionDef | None, bool]:
    """The function around a node, and whether a condition decides about it."""
    return module.function(node), next(module.conditions(node), None) is not None


def _places_of_the_new(module: Module, name: str) -> set[tuple[cst.FunctionDef | None, bool]]:
    """Where the new API is called by one of its names."""
    names = (f"torch.amp.{name}", f"torch.{name}")
    return {_place(call, module) for each in names for call in module.calls_by_name.get(each, ())}


@rule.settle(Changed)
def settle(finding: Finding, changed: Changed, project: Project) -> Finding:
    importers = project.importers(finding.path) - {finding.path}
    using = [path for path in importers if project.has_clue("AMP", [path])]
    if changed.imports and project.has_clue("takes names from a file", using):
        return without_fix(finding, "another file imports the name from this one")
    if changed.scaler and project.has_clue("asks for its class", project.programs(finding.path)):
        return without_fix(finding, "`isinstance` asks for the old class, which the new is not")
    return finding
