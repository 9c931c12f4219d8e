"""Use `torch.amp` instead of `torch.cuda.amp` and `torch.cpu.amp`.

## What it does
Reports calls of `autocast` and `GradScaler`, and the decorators `custom_fwd` and `custom_bwd`, from
`torch.cuda.amp` or `torch.cpu.amp`. They are deprecated since torch 2.4.

## Why it is slow
The old classes only call the new ones, and issue a `FutureWarning` each time, so each autocast
region of each step makes a warning for Python to filter. The cost is small: on a CPU, entering and
leaving a region took 17 µs with the old class and 11 µs with the new one. The warning also hides
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

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import libcst as cst

from torchlint.analysis.names import Binding, How, dotted_text
from torchlint.analysis.uses import occurrences
from torchlint.analysis.versions import depends_on_version
from torchlint.rule import (
    Applicability,
    Edit,
    Effect,
    Finding,
    Fix,
    Module,
    Project,
    Reported,
    Rule,
    Tier,
    because,
    edits,
    once,
    without_fix,
)

_DTYPES = {"cuda": "float16", "cpu": "bfloat16"}
_PACKAGES = frozenset({"torch.cuda.amp", "torch.cpu.amp"})
_NAMES = ("autocast", "GradScaler", "custom_fwd", "custom_bwd")
_OLD = {
    f"torch.{device}.amp.{file}{name}": (device, name)
    for device in _DTYPES
    for file in ("", "autocast_mode.", "grad_scaler.")
    for name in _NAMES
}
"""The dotted names of the old API, with their device and their name in `torch.amp`."""
_POSITIONS = ("enabled", "dtype", "cache_enabled")
_MOST_PLACES = 20
"""An import that is used in more places stays as it is."""


class _Use(NamedTuple):
    """A call of the old API, or a decorator that is not called.

    Args:
        callee: what names it, such as `autocast` or `torch.cuda.amp.autocast`.
    """

    callee: cst.BaseExpression
    call: cst.Call | None
    device: str
    name: str

    @property
    def node(self) -> cst.BaseExpression:
        return self.call or self.callee

    @property
    def start(self) -> cst.BaseExpression:
        """The name that the callee begins with."""
        start = self.callee
        while isinstance(start, cst.Attribute):
            start = start.value
        return start


_ANY_NAME = rf"\b(?:{'|'.join(_NAMES)}|amp)\b"


rule = Rule(
    code="TL503",
    effect=Effect.TINY,
    summary="`torch.cuda.amp` is deprecated and warns on every use",
    tier=Tier.HINT,
    fix=Applicability.SAFE,
    since=(2, 4),
    triggers=(r"\bamp\b|import \*", rf"\b(?:{'|'.join(_NAMES)})\b", r"\b(?:cuda|cpu)\b"),
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
    if _OLD.keys().isdisjoint(module.resolve(named)):
        return ()
    use = _uses_of(module).get(named)
    if use is None:
        return because((), "{:code} may be something else here", named)
    if _chooses(use, module):
        return ()
    old = f"torch.{use.device}.amp.{use.name}"
    new = f"torch.amp.{use.name}"
    given = f'"{use.device}"' if use.name in _NAMES[:2] else f'device_type="{use.device}"'
    message = f"`{old}` is deprecated and warns on each use; use `{new}({given})`."
    together = _with_its_import(use, module)
    changes = together or _edits_at(use, f"{_torch_of(use, module)}.amp.{use.name}", module)
    if isinstance(changes, str):
        return rule.report(module, use.node, message, fix=changes)
    said = f"Use `{new}`{', and import it' if together else ''}"
    fix = Fix(Applicability.SAFE, said, changes)
    needs = Changed(bool(together), use.name == "GradScaler")
    return rule.report(module, use.node, message, fix=fix, needs=needs)


def _chooses(use: _Use, module: Module) -> bool:
    """Whether the code chooses between the old API and the new one."""
    if depends_on_version(use.callee, module):
        return True
    function, conditional = _place(use.callee, module)
    new = _places_of_the_new(module, use.name)
    chooses = (function, True) in new or (conditional and (function, False) in new)
    said = "a condition chooses between this and `torch.amp.{}`, which is called here too"
    return chooses and because(True, said, use.name)


def _place(node: cst.CSTNode, module: Module) -> tuple[cst.FunctionDef | None, bool]:
    """The function around a node, and whether a condition decides about it."""
    return module.function(node), next(module.conditions(node), None) is not None


@once
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


# uses of the old names ----------------------------------------------------------------------------


@once
def _uses_of(module: Module) -> dict[cst.BaseExpression, _Use]:
    """The uses in a file, by what names them; none that may also be something else, such as the new
    API, or a replacement of the project's own where torch has none."""
    calls = [call for name in _OLD for call in module.calls_by_name.get(name, ())]
    named: dict[cst.BaseExpression, cst.Call | None] = {call.func: call for call in calls}
    named |= {each.decorator: None for each in module.nodes(cst.Decorator)}
    uses = {}
    for callee, call in named.items():
        names = module.resolve(callee)
        if names and all(name in _OLD for name in names):
            use = _Use(callee, call, *_OLD[names[0]])
            # A name is imported, is another name for something, or None where that fails.
            if all(
                each.dotted is not None or isinstance(each.value, cst.Name | cst.Attribute)
                for each in _bindings(use.start, module)
            ):
                uses[callee] = use
    return uses


def _bindings(start: cst.BaseExpression, module: Module) -> list[Binding]:
    return module.names.lookup(start) if isinstance(start, cst.Name) else []


def _with_its_import(use: _Use, module: Module) -> tuple[Edit, ...] | None:
    """The edits that change the import of what is used, and all that uses it."""
    bindings = _bindings(use.start, module)
    imports = (each.node for each in bindings if each.how is How.IMPORT)
    return next(filter(None, (_with_import(module, each) for each in imports)), None)


def _torch_of(use: _Use, module: Module) -> str:
    """The name of torch at a use: the one that its callee begins with, or one that is imported."""
    if "torch" in module.resolve(use.start):
        return module.source(use.start)
    return module.names.imported_as("torch", use.callee) or "torch"


def _edits_at(use: _Use, callee: str, module: Module) -> tuple[Edit, ...] | str:
    """The edits at the use itself, and an import of torch if they need it."""
    here = () if use.call is None else _arguments(use, use.call, module)
    callee += f'(device_type="{use.device}")' if use.call is None else ""
    if isinstance(here, str):
        return here
    if callee != module.source(use.callee):
        here = (edits.replace(module, use.callee, callee), *here)
    needed = any("torch." in edit.content for edit in here)
    known = module.names.imported_as("torch", use.callee) is not None
    return (*edits.add_import(module, "torch"), *here) if needed and not known else here


def _arguments(use: _Use, call: cst.Call, module: Module) -> tuple[Edit, ...] | str:
    device = f'"{use.device}"'
    if use.name.startswith("custom"):
        return (edits.add_argument(module, call, f"device_type={device}"),)
    if use.name == "GradScaler":
        return _with_first(device, call, [module.source(arg) for arg in call.args], module)
    named = {
        arg.keyword.value if arg.keyword else position: arg.value
        for arg, position in zip(call.args, _POSITIONS, strict=False)
    }
    if any(arg.star for arg in call.args) or len(named) < len(call.args):
        return "`torch.amp.autocast` takes its arguments in another order than what `*` or `**` has"
    if "dtype" not in named and module.literal(named.get("enabled")) is not False:
        device += f", dtype={_torch_of(use, module)}.{_DTYPES[use.device]}"
    texts = [f"{name}={edits.value(module, value)}" for name, value in named.items()]
    return _with_first(device, call, texts, module)


def _with_first(first: str, call: cst.Call, texts: list[str], module: Module) -> tuple[Edit, ...]:
    """The edits that write these texts for the arguments, and one more before them."""
    if not call.args:
        return (edits.add_argument(module, call, first),)
    texts = [f"{first}, {texts[0]}", *texts[1:]]
    return tuple(
        edits.replace_argument(module, arg, text)
        for arg, text in zip(call.args, texts, strict=True)
    )


# imports -------------------------------------------------------------------------------------


@once
def _with_import(module: Module, node: cst.CSTNode) -> tuple[Edit, ...] | None:
    """The edits of an import and of all places that use the names it binds; None if one of them
    must stay as it is."""
    source = _new_source(node)
    places = [] if source is None else list(_places(node, module))
    if source is None or len(places) > _MOST_PLACES:
        return None
    changes = [edits.replace(module, *source)]
    uses = _by_start(module)
    for place in places:
        if module.enclosing(place, cst.Annotation) is not None:
            continue  # the new class is the base of the old one
        use = uses.get(id(place))
        here = "unknown" if use is None else _edits_at(use, module.source(use.callee), module)
        if isinstance(here, str) or len(_bindings(place, module)) > 1:
            return None
        changes += here
    return tuple(changes)


@once
def _by_start(module: Module) -> dict[int, _Use]:
    return {id(use.start): use for use in _uses_of(module).values()}


def _new_source(node: cst.CSTNode) -> tuple[cst.BaseExpression, str] | None:
    """What an import names, and what it names instead; None if it also binds something else."""
    if isinstance(node, cst.ImportFrom):
        assert node.module is not None
        assert not isinstance(node.names, cst.ImportStar)
        brought = [f"{dotted_text(node.module)}.{dotted_text(each.name)}" for each in node.names]
        if all(name in _OLD for name in brought):
            return node.module, "torch.amp"
        return (node.module, "torch") if _PACKAGES.issuperset(brought) else None
    assert isinstance(node, cst.Import)
    alone = len(node.names) == 1 and node.names[0].asname is not None
    package = node.names[0].name
    return (package, "torch.amp") if alone and dotted_text(package) in _PACKAGES else None


def _places(node: cst.CSTNode, module: Module) -> Iterator[cst.BaseExpression]:
    """Where the names that an import binds are used."""
    for alias in module.within(node):
        if not isinstance(alias, cst.ImportAlias):
            continue
        name = alias.name if alias.asname is None else alias.asname.name
        assert isinstance(name, cst.Name)
        for place in occurrences(name, module):
            imported = isinstance(module.parent(place), cst.ImportAlias | cst.AsName)
            if not imported and any(each.node is node for each in _bindings(place, module)):
                yield place
