"""Which loops of a file go over the batches of a loader that it builds, and how often."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from torchlint.analysis.frameworks.frameworks import ANY
from torchlint.analysis.loading.loader_reads import loop_over
from torchlint.analysis.once import once
from torchlint.analysis.uses import calls_of, method_name, occurrences, receiving_parameter
from torchlint.because import because

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.analysis.module import Module
    from torchlint.analysis.steps.loops import Loop

_DEEPEST = 4
_MOST_LOADERS = 100
"""In a file with more, which is generated, none is followed."""
_LOADER = "torch.utils.data.DataLoader"
_ASK = ("builtins.len", "builtins.print", "builtins.isinstance", "builtins.type")
_READS = re.compile(r"train|epoch|fit|eval|valid|test|^iter$", re.IGNORECASE)
"""Functions of other files that read the loader which they are given."""


class LoaderUse(NamedTuple):
    """One use of a loader.

    Args:
        loop: the loop over its batches; None where other code gets the loader.
        built: the calls that return the loader, from its class to the function that reads it.
        through: the calls that hand it on from there, nearest first.
    """

    loop: cst.For | None
    built: tuple[cst.Call, ...]
    through: tuple[cst.Call, ...] = ()


@once
def readings(call: cst.Call, module: Module) -> list[LoaderUse]:
    """What reads the loader that a call builds, through names, `self.loader`, functions of the
    file that return it or get it, and methods such as Accelerate's `prepare`."""
    if len(module.calls_by_name.get(_LOADER, ())) > _MOST_LOADERS:
        return []
    return list(_Follower(module).follow(call, None, LoaderUse(None, ())))


class _Follower:
    """Follows a loader from use to use; none is followed twice."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._seen: set[cst.CSTNode] = set()

    def follow(self, made: cst.Call, index: int | None, so_far: LoaderUse) -> Iterator[LoaderUse]:
        """The readings of what a call returns, or of one of several values that it returns."""
        so_far = so_far._replace(built=(*so_far.built, made))
        if len(so_far.built) <= _DEEPEST:
            for use in self._uses(made, index):
                yield from self._read(use, so_far)

    def _uses(self, made: cst.Call, index: int | None) -> Iterator[cst.BaseExpression]:
        parent = self._module.parent(made)
        if not isinstance(parent, cst.Assign):
            yield from () if index is not None else (made,)
            return
        for each in parent.targets:
            target: cst.BaseExpression = each.target
            if index is not None and isinstance(target, cst.Tuple):
                target = target.elements[index].value if index < len(target.elements) else target
            if isinstance(target, cst.Name):
                yield from self._module.reads(parent, target.value)
            else:
                yield from (use for use in occurrences(target, self._module) if use is not target)

    def _read(self, use: cst.BaseExpression, so_far: LoaderUse) -> Iterator[LoaderUse]:
        if use in self._seen:
            return
        self._seen.add(use)
        loop, call = loop_over(use, self._module), self._module.call_with(use)
        if loop is not None:
            yield so_far._replace(loop=loop)
        elif call is None:
            yield from self._returned(use, so_far)
        elif method_name(call) in ANY.prepares:
            several = len(call.args) > 1
            index = next(i for i, arg in enumerate(call.args) if arg.value is use)
            yield from self.follow(call, index if several else None, so_far)
        elif not self._module.calls(call, *_ASK):
            yield from self._given(use, call, so_far)

    def _returned(self, use: cst.BaseExpression, so_far: LoaderUse) -> Iterator[LoaderUse]:
        """What the callers of a function do with the loader that it returns."""
        parent, index = self._module.parent(use), None
        if isinstance(parent, cst.Element):
            several = self._module.parent(parent)
            parent = None if several is None else self._module.parent(several)
            if isinstance(several, cst.Tuple):
                index = next(i for i, each in enumerate(several.elements) if each.value is use)
        function = self._module.function(use)
        if isinstance(parent, cst.Return) and function is not None:
            for call in calls_of(function, self._module):
                yield from self.follow(call, index, so_far)

    def _given(
        self, use: cst.BaseExpression, call: cst.Call, so_far: LoaderUse
    ) -> Iterator[LoaderUse]:
        so_far = so_far._replace(through=(call, *so_far.through))
        function = self._module.definitions.callee(call)
        param = None if function is None else receiving_parameter(call, use, function)
        if param is None or len(so_far.through) > _DEEPEST:
            yield so_far
            return
        for each in self._module.reads(param, param.name.value):
            yield from self._read(each, so_far)


# epochs ------------------------------------------------------------------------------------


def read_again(call: cst.Call, module: Module) -> Loop | None:
    """The loop that reads the loader that a call builds again in each round, as one over epochs
    does; None if there is none, if each round builds a loader, or if few rounds read it."""
    why = "no loop of the file, as one over epochs, is known to read this loader in each round"
    places: tuple[Loop, ...] = ()
    for reading in readings(call, module):
        for loop, denied in _around(reading, module):
            if not denied:
                return loop
            why, places = denied, (loop,)
    return because(None, why, *places)


def _around(reading: LoaderUse, module: Module) -> Iterator[tuple[Loop, str]]:
    """The loops around a use, each with why it does not read the loader again in each round; that
    is empty for one that does."""
    rebuilding = {above for each in reading.built for above in module.ancestors(each)}
    for each in reading.built:
        function = module.function(each)
        for made in calls_of(function, module) if function is not None else ():
            rebuilding.update(module.ancestors(made))
    if reading.loop is None and not _READS.search(_spelled(reading.through[0])):
        return
    read = reading.loop or reading.through[0]
    places: list[cst.CSTNode] = [read, *reading.through]
    function = module.function(read)
    if not reading.through and function not in map(module.function, reading.built):
        places += [] if function is None else calls_of(function, module)  # `self.loader`
    for place in places:
        for loop in module.loops.loops_around(place):
            if module.loops.guard(place, loop) is not None:
                yield loop, "the loop around its use reads it only now and then: {}"
            elif loop in rebuilding:
                yield loop, "each round of this loop builds the loader again: {}"
            else:
                yield loop, "{} has a single round" if _has_one_round(loop, module) else ""


def _spelled(call: cst.Call) -> str:
    return call.func.value if isinstance(call.func, cst.Name) else method_name(call)


def _has_one_round(loop: Loop, module: Module) -> bool:
    """`for epoch in range(1)`."""
    made = loop.iter if isinstance(loop, cst.For) else None
    return (
        isinstance(made, cst.Call)
        and module.calls(made, "builtins.range")
        and len(made.args) == 1
        and module.literal(made.args[0].value) == 1
    )
