"""Where a file uses the AMP classes of `torch.cuda.amp` and `torch.cpu.amp`, and how each place is
written with those of `torch.amp`.

The old `autocast` takes `enabled` first, the new one the device and then `dtype`. The old one
computes in float16 on a GPU unless it is told otherwise, the new one in the type of an autocast
region around it.
"""

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from torchlint.analysis.names import Binding, How, dotted_text
from torchlint.analysis.uses import occurrences
from torchlint.rule import Edit, Module, edits

_DTYPES = {"cuda": "float16", "cpu": "bfloat16"}
_PACKAGES = frozenset({"torch.cuda.amp", "torch.cpu.amp"})
NAMES = ("autocast", "GradScaler", "custom_fwd", "custom_bwd")
_OLD = {
    f"torch.{device}.amp.{file}{name}": (device, name)
    for device in _DTYPES
    for file in ("", "autocast_mode.", "grad_scaler.")
    for name in NAMES
}
"""The dotted names of the old API, with their device and their name in `torch.amp`."""
_POSITIONS = ("enabled", "dtype", "cache_enabled")
_MOST_PLACES = 20
"""An import that is used in more places stays as it is."""


class Use(NamedTuple):
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


class Rewritten(NamedTuple):
    """The edits for a use. With `imports`, they change an import and all that uses it."""

    edits: tuple[Edit, ...]
    imports: bool


def is_old(callee: cst.BaseExpression, module: Module) -> bool:
    """Whether an expression may name a part of the old API."""
    return any(name in _OLD for name in module.resolve(callee))


def uses_of(module: Module) -> list[Use]:
    """The uses in a file; none that may also be something else, such as the new API, or a
    replacement of the project's own where torch has none."""
    calls = {id(call): call for name in _OLD for call in module.calls_by_name.get(name, ())}
    named: list[tuple[cst.BaseExpression, cst.Call | None]] = [
        *((call.func, call) for call in calls.values()),
        *((each.decorator, None) for each in module.nodes(cst.Decorator)),
    ]
    found = []
    for callee, call in named:
        names = module.resolve(callee)
        if names and all(name in _OLD for name in names):
            found.append(Use(callee, call, *_OLD[names[0]]))
    return [use for use in found if all(map(_is_known, _bindings(use.start, module)))]


def _bindings(start: cst.BaseExpression, module: Module) -> list[Binding]:
    return module.names.lookup(start) if isinstance(start, cst.Name) else []


def _is_known(binding: Binding) -> bool:
    """Whether a name is imported, is another name for something, or None where that fails."""
    return binding.dotted is not None or isinstance(binding.value, cst.Name | cst.Attribute)


def rewritten(use: Use, module: Module) -> Rewritten | str:
    """The use with `torch.amp`, or the reason why it cannot be written."""
    for binding in _bindings(use.start, module):
        if binding.how is How.IMPORT:
            together = module.once(_with_import, binding.node)
            if together is not None:
                return Rewritten(together, imports=True)
    here = _edits_at(use, f"{_torch_of(use, module)}.amp.{use.name}", module)
    return here if isinstance(here, str) else Rewritten(here, imports=False)


def _torch_of(use: Use, module: Module) -> str:
    """The name of torch at a use: the one that its callee begins with, or one that is imported."""
    if "torch" in module.resolve(use.start):
        return module.source(use.start)
    return module.names.imported_as("torch", use.callee) or "torch"


def _edits_at(use: Use, callee: str, module: Module) -> tuple[Edit, ...] | str:
    """The edits at the use itself, and an import of torch if they need it."""
    if use.call is None:
        here: tuple[Edit, ...] | str = ()
        callee += f'(device_type="{use.device}")'
    else:
        here = _arguments(use, use.call, module)
    if isinstance(here, str):
        return here
    if callee != module.source(use.callee):
        here = (edits.replace(module, use.callee, callee), *here)
    needed = any("torch." in edit.content for edit in here)
    known = module.names.imported_as("torch", use.callee) is not None
    return (*edits.add_import(module, "torch"), *here) if needed and not known else here


def _arguments(use: Use, call: cst.Call, module: Module) -> tuple[Edit, ...] | str:
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


def _with_import(module: Module, node: cst.CSTNode) -> tuple[Edit, ...] | None:
    """The edits of an import and of all places that use what it brings; None if one of them must
    stay as it is."""
    source = _new_source(node)
    places = [] if source is None else list(_places(node, module))
    if source is None or len(places) > _MOST_PLACES:
        return None
    found = [edits.replace(module, *source)]
    uses = module.once(_by_start)
    for place in places:
        if module.enclosing(place, cst.Annotation) is not None:
            continue  # the new class is the base of the old one
        use = uses.get(id(place))
        here = "unknown" if use is None else _edits_at(use, module.source(use.callee), module)
        if isinstance(here, str) or len(_bindings(place, module)) > 1:
            return None
        found += here
    return tuple(found)


def _by_start(module: Module) -> dict[int, Use]:
    return {id(use.start): use for use in module.once(uses_of)}


def _new_source(node: cst.CSTNode) -> tuple[cst.BaseExpression, str] | None:
    """What an import names, and what it names instead; None if it also brings something else."""
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
    """Where the names that an import brings are used."""
    for alias in module.within(node):
        if not isinstance(alias, cst.ImportAlias):
            continue
        name = alias.name if alias.asname is None else alias.asname.name
        assert isinstance(name, cst.Name)
        for place in occurrences(name, module):
            imported = isinstance(module.parent(place), cst.ImportAlias | cst.AsName)
            if not imported and any(each.node is node for each in _bindings(place, module)):
                yield place
