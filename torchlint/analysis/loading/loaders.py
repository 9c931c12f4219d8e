"""Calls that build a `DataLoader`: how many workers, of which dataset, and who reads it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.analysis.literals import (
    argument,
    has_star_args,
    has_star_kwargs,
    literal,
)
from torchlint.analysis.loading.keyword_dicts import spelled_out
from torchlint.analysis.loading.loader_reads import Reads, feeds_nothing, reads_of
from torchlint.analysis.loading.worker_counts import KNOWN, Workers, no_workers, some_workers
from torchlint.analysis.names import How
from torchlint.analysis.uses import calls_of, method_name, reads_of_targets
from torchlint.because import because

if TYPE_CHECKING:
    from torchlint.analysis.module import Module

LOADER = "torch.utils.data.DataLoader"
LOADERS_OF_LIBRARIES = frozenset(
    {
        *(f"torch_geometric.{each}.DataLoader" for each in ("data", "loader")),
        *(f"torch_geometric.{each}.DataListLoader" for each in ("data", "loader")),
        "torch_geometric.loader.dataloader.DataLoader",
        "torch_geometric.loader.data_list_loader.DataListLoader",
        "dgl.dataloading.DataLoader",
        "dgl.dataloading.GraphDataLoader",
        "torchdata.stateful_dataloader.StatefulDataLoader",
    }
)
"""Loaders that pass their keyword arguments on to a `DataLoader`."""
_GRAPHS = ("torch_geometric.", "dgl.")
_WORKERS = 5
_MAY_BE_PASSED = "`*` or `**` of this call may pass `num_workers`"
_ON_PURPOSE = re.compile(
    r"^[^#]*#.*(?:debug|windows|\bmac\b|macos|hdf5|h5py|fork|pickl|deadlock|hang|determin|"
    r"main process|single process)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, eq=False)
class Loader:
    """A call that builds a loader which loads in the training process.

    `zero` is the literal 0 that says so, if there is one; `dataset` and `collate` are what the
    call passes for them. `imported` is the dotted name of a class of another file: whether that
    is a loader is still open. `option` is what asks for no workers unless it is given.
    """

    call: cst.Call
    dataset: cst.BaseExpression
    zero: cst.BaseExpression | None
    collate: cst.BaseExpression | None
    imported: str = ""
    workers: Workers = KNOWN


def loader_without_workers(call: cst.Call, module: Module) -> Loader | None:
    """The call as a loader that has `num_workers` missing, literally 0, or from an option of the
    file that is 0 unless it is given.

    None if it is not a loader, or where `*args` or `**kwargs` may set workers.
    """
    kind = _kind(call, module)
    if kind is None:
        return None
    extra = None if has_star_args(call) else spelled_out(call, module)
    if extra is None:
        return because(None, _MAY_BE_PASSED)
    given = argument(call, "num_workers", kind.position)
    passed = [*extra.get("num_workers", ()), *([given] if given is not None else [])]
    workers = KNOWN
    for each in passed:
        found = no_workers(each, module)
        if found is None:
            return because(None, "`num_workers` is {:code} here", each)
        workers = found if found.option else workers
    if not passed and kind.imported.startswith(_GRAPHS):
        return because(None, "graphs are mostly in memory, where workers pay off less")
    dataset = argument(call, "dataset", 0)
    if dataset is None:
        return because(None, "no dataset is passed here")
    collate = argument(call, "collate_fn", 6) or next(iter(extra.get("collate_fn", ())), None)
    zero = passed[0] if passed else None
    return Loader(call, dataset, zero, collate, kind.imported, workers)


def loader_of(call: cst.Call, module: Module) -> cst.Call | None:
    """The call, if it builds a loader, whatever its workers; None where `*args` or `**kwargs` may
    set what is not seen."""
    if _kind(call, module) is None or has_star_args(call) or has_star_kwargs(call):
        return None
    return call


def training_loaders(module: Module) -> list[cst.Call]:
    """The calls that build a loader whose batches training takes, as far as anybody can see."""
    return [
        call
        for call in module.nodes(cst.Call)
        if loader_of(call, module) is not None
        and not feeds_nothing(call, module)
        and reads_of(call, module) is Reads.OTHER
    ]


def has_workers(call: cst.Call, module: Module) -> bool:
    """Whether the file shows that a loader has workers, at least unless an option asks for none."""
    passed = argument(call, "num_workers", _WORKERS)
    if passed is None:
        starred = has_star_args(call) or has_star_kwargs(call)
        none = "this loader has no worker processes, since `num_workers` is not passed"
        return because(False, _MAY_BE_PASSED if starred else none)
    if literal(passed) == 0:
        return because(False, "`num_workers` is {:code} here", passed)
    unknown = "the file does not show how many workers there are: `num_workers` is {:code}"
    return some_workers(passed, module) is not None or because(False, unknown, passed)


def _is_zero(node: cst.BaseExpression | None) -> bool:
    return literal(node) == 0


# which calls build loaders -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Kind:
    """A class whose objects are loaders: DataLoader, or one of the project that passes its
    arguments on. `position` is where it takes `num_workers`, None if only by keyword."""

    position: int | None
    imported: str = ""


def _kind(call: cst.Call, module: Module) -> _Kind | None:
    for name in module.resolve(call.func):
        if name == LOADER:
            return _Kind(_WORKERS)
        if name.startswith(":"):
            class_ = module.definitions.class_named(name)
            return None if class_ is None else _subclass(class_, module)
        if name in LOADERS_OF_LIBRARIES or (
            name.endswith("DataLoader") and not name.startswith("torch.")
        ):
            return _Kind(None, imported=name)
    return None


def _subclass(class_: cst.ClassDef, module: Module) -> _Kind | None:
    if LOADER not in module.definitions.bases(class_):
        return None
    init = module.definitions.methods(class_).get("__init__")
    if init is None:
        return _Kind(_WORKERS)
    names = [param.name.value for param in init.params.params][1:]
    if "num_workers" in names:
        default = init.params.params[names.index("num_workers") + 1].default
        if default is not None and not _is_zero(default):
            said = "{:code} makes {:code} workers where no number is passed"
            return because(None, said, class_, default)
        return _Kind(names.index("num_workers"))
    if _hands_on(init, module):
        return _Kind(None)
    return because(None, "{:code} does not hand `num_workers` on to `DataLoader`", class_)


def forwarding_loader(class_: cst.ClassDef, module: Module) -> bool:
    """Whether a class is a DataLoader that takes `num_workers` and has none by default."""
    return _subclass(class_, module) is not None


def _hands_on(init: cst.FunctionDef, module: Module) -> bool:
    """Whether `__init__` passes its keyword arguments to the DataLoader, and no workers."""
    for node in module.within(init.body):
        if isinstance(node, cst.Call) and method_name(node) == "__init__":
            starred = any(arg.star == "**" for arg in node.args)
            return starred and argument(node, "num_workers") is None
    return False


# who reads the loader ----------------------------------------------------------------------


def is_left_alone(loader: Loader, module: Module) -> bool:
    """Whether workers would not pay, or the author wants none: a loader that nothing is read from
    or a few batches, a batch that is the whole dataset, a comment next to the 0."""
    if feeds_nothing(loader.call, module):
        return True
    if _whole_dataset(loader, module):
        return because(True, "one batch is the whole dataset here, by `batch_size`")
    commented = loader.zero is not None and _has_reason(loader, module)
    return commented and because(True, "a comment says why there are no workers")


def _whole_dataset(loader: Loader, module: Module) -> bool:
    size = argument(loader.call, "batch_size", 1)
    if isinstance(size, cst.Name):
        bindings = module.flow.reaching(size)
        if len(bindings) == 1 and bindings[0].how is How.ASSIGNMENT:
            size = bindings[0].value
    return isinstance(size, cst.Call) and module.calls(size, "builtins.len")


def _has_reason(loader: Loader, module: Module) -> bool:
    """Whether a comment on the lines of the call or of a constant, or right above, says why there
    are none."""
    named = module.flow.reaching(loader.zero) if isinstance(loader.zero, cst.Name) else ()
    for node in (loader.call, *(each.node for each in named)):
        first, last = module.span(node)
        above = module.lines[first.row - 2] if first.row > 1 else ""
        here = module.lines[first.row - 1 : last.row]
        if above.lstrip().startswith("#"):
            here = [above, *here]
        if any(_ON_PURPOSE.search(line) for line in here):
            return True
    return False


# import time -------------------------------------------------------------------------------


def runs_when_imported(loader: Loader, module: Module) -> bool:
    """Whether a worker process that imports this file again would reach the loop over the
    loader: there is no `if __name__ == "__main__"` before it. No process imports a notebook."""
    if module.main_guard is not None or module.is_notebook:
        return False
    function = module.function(loader.call)
    if function is not None:
        return _runs_at_import(function, module, set())
    loop = module.enclosing(loader.call, cst.For)
    if loop is not None and loader.call in module.within(loop.iter):
        return True
    return any(
        _runs_at_import(module.function(use), module, set())
        for use in reads_of_targets(module.parent(loader.call), module)
    )


def _runs_at_import(
    function: cst.FunctionDef | None, module: Module, seen: set[cst.FunctionDef]
) -> bool:
    """Whether a function is called at the top level, directly or through other functions."""
    if function is None:
        return True
    if function in seen:
        return False
    seen.add(function)
    callers = (module.function(call) for call in calls_of(function, module))
    return any(_runs_at_import(caller, module, seen) for caller in callers)
