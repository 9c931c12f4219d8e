"""What a parsed file shows of the runs of its program: the device, and who takes the steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import libcst as cst

from torchlint.analysis.frameworks.frameworks import ANY
from torchlint.analysis.frameworks.runners import (
    START_METHODS,
    Device,
    is_one_of,
    may_have_runners,
    runner_of,
    sounds_like_starter,
    uses_accelerator,
)
from torchlint.analysis.literals import argument, has_star_kwargs, literal
from torchlint.analysis.names import How, dotted_text
from torchlint.analysis.steps.guards import words
from torchlint.analysis.torch_api import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.analysis.frameworks.adapter import Keeps, Runner
    from torchlint.analysis.module import Module

_SOUNDS_LIKE_DEVICE: Final = ("dev", "gpu", "rank")


# the device --------------------------------------------------------------------------------


def device_of(module: Module) -> Device:
    """Where a file shows that its program runs."""
    if _names_accelerator(module):
        return Device.ACCELERATOR
    device = max(_by_runners(module), default=Device.UNSAID)
    if device is Device.ACCELERATOR or not _moves(module):
        return device
    # `self.device` of a framework's module is what the framework has chosen.
    return max(device, Device.CHOSEN) if device else Device.ACCELERATOR


def _names_accelerator(module: Module) -> bool:
    """`x.cuda()`, `torch.cuda.Stream()`, `"cuda:0"`."""
    return (
        "cuda" in module.calls_by_method
        or any(map(uses_accelerator, module.calls_by_name))
        or any(
            text.value.strip("\"'").startswith("cuda") for text in module.nodes(cst.SimpleString)
        )
    )


def _moves(module: Module) -> bool:
    """`x.to(device)`, if the device is not the CPU."""
    return any(_moves_to_device(call, module) for call in module.calls_by_method.get("to", ()))


def _moves_to_device(call: cst.Call, module: Module) -> bool:
    target = argument(call, "device", 0)
    if target is None or literal(target) == "cpu":
        return False
    if not any(part in word.lower() for word in words(target) for part in _SOUNDS_LIKE_DEVICE):
        return False
    return not module.values.is_cpu(target)


def _by_runners(module: Module) -> Iterator[Device]:
    if not may_have_runners(module.imported):
        return
    for name in (*_imported(module), *_bases(module)):
        used = runner_of(name)
        if used is not None and not used.told:
            yield Device.CHOSEN
    for name, calls in module.calls_by_name.items():
        for runner in _runners_behind(name, module):
            yield from (_chosen(runner, call, module) for call in calls)


def _imported(module: Module) -> Iterator[str]:
    """The dotted names of what a file imports."""
    for scope in module.names.scopes():
        for bindings in scope.bindings.values():
            for binding in bindings:
                if binding.how is How.IMPORT and binding.dotted is not None:
                    yield canonical(binding.dotted)


def _bases(module: Module) -> Iterator[str]:
    for class_ in module.nodes(cst.ClassDef):
        yield from module.definitions.bases(class_)


def _runners_behind(name: str, module: Module) -> Iterator[Runner]:
    """The runners that decide in a call of a dotted name: a class of this file may inherit it."""
    class_ = module.definitions.class_named(name)
    for each in (name,) if class_ is None else module.definitions.bases(class_):
        runner = runner_of(each)
        if runner is not None and is_one_of(each, runner.decides):
            yield runner


def _chosen(runner: Runner, call: cst.Call, module: Module) -> Device:
    """Where a call lets a program run."""
    if any(_is_kept(each, call, module) for each in runner.keeps):
        return Device.CPU
    if runner.told and argument(call, runner.told) is None:
        return Device.UNSAID
    open_ = has_star_kwargs(call) or any(
        argument(call, each.keyword, each.position) is not None for each in runner.keeps
    )
    return Device.CHOSEN if open_ else Device.ACCELERATOR


def _is_kept(keeps: Keeps, call: cst.Call, module: Module) -> bool:
    """Whether an argument, or an entry of a dict among them, keeps a run on the CPU."""
    given = argument(call, keeps.keyword, keeps.position)
    entries = (
        each.value
        for each in module.within(call)
        if isinstance(each, cst.DictElement) and literal(each.key) == keeps.keyword
    )
    return any(
        _is_value(each, keeps.value, module) for each in (given, *entries) if each is not None
    )


def _is_value(node: cst.BaseExpression, value: object, module: Module) -> bool:
    given = literal(node)
    if value == "cpu" and module.values.is_cpu(node):
        return True
    return type(given) is type(value) and given == value


# training ----------------------------------------------------------------------------------


def trains(module: Module) -> bool:
    """Whether a file shows that its program trains: it takes steps, or has them taken."""
    return (
        bool(module.loops.anchors)
        or any(module.spelled(name) for name in ANY.step_methods)
        or any(True for _ in _starts(module))
    )


def framework_starts(module: Module) -> list[cst.Call]:
    """The calls that have a framework take the training steps, `trainer.fit(model)`: the first of
    each function, in source order."""
    if not may_have_runners(module.imported):
        return []
    found: dict[cst.CSTNode | None, cst.Call] = {}
    for call in sorted(_starts(module), key=module.order):
        found.setdefault(module.function(call), call)
    return list(found.values())


def _starts(module: Module) -> Iterator[cst.Call]:
    for method in START_METHODS:
        for call in module.calls_by_method.get(method, ()):
            if _is_starter(call, method, module):
                yield call
    for name, calls in module.calls_by_name.items():
        runner = runner_of(name)
        if runner is not None and is_one_of(name, runner.trains):
            yield from calls


def _is_starter(call: cst.Call, method: str, module: Module) -> bool:
    """Whether a method is that of a runner, by the class of its object or what it is called."""
    assert isinstance(call.func, cst.Attribute)
    owner = call.func.value
    named = owner.func if isinstance(owner, cst.Call) else owner
    if sounds_like_starter(dotted_text(named).rpartition(".")[2]):
        return True
    for name in module.value(owner).classes:
        class_ = module.definitions.class_named(name)
        for each in (name,) if class_ is None else module.definitions.bases(class_):
            runner = runner_of(each)
            if runner is not None and method in runner.starts:
                return True
    return False
