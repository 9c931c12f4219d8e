"""What a file shows of the program that it is part of: that it runs on an accelerator, and what
trains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import libcst as cst

from torchlint.analysis.frameworks.frameworks import runners
from torchlint.analysis.training.guards import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlint.analysis.frameworks.adapter import Runner
    from torchlint.analysis.module import Module

CERTAIN: Final = "moved"
"""Evidence that nothing takes back: the code itself moves something to an accelerator."""
AGAINST: Final = "not "
"""Prefix of what a framework was told: to stay on the CPU."""


def accelerators(module: Module) -> frozenset[str]:
    """What shows that the program runs on an accelerator, or that it does not; for `accelerated`.

    A framework counts unless another file of the program tells it to stay on the CPU.
    """
    found = set()
    if any(_moves(call, module) for call in module.nodes(cst.Call)) or any(
        text.value.strip("\"'").startswith("cuda") for text in module.nodes(cst.SimpleString)
    ):
        found.add(CERTAIN)
    for framework, runner, call in _runners(module):
        if runner.accelerates:
            against = call is not None and _stays_on_the_host(call, runner, module)
            found.add(f"{AGAINST}{framework}" if against else str(framework))
    return frozenset(found)


def accelerated(shown: frozenset[str]) -> bool:
    """Whether what the files of a program show, together, is that it runs on an accelerator."""
    return any(
        each == CERTAIN or f"{AGAINST}{each}" not in shown
        for each in shown
        if not each.startswith(AGAINST)
    )


def trainers(module: Module) -> list[cst.Call]:
    """The calls that make or configure what takes the training steps of a framework:
    `Trainer(model, args)`."""
    found = (call for _, runner, call in _runners(module) if runner.trains)
    return [call for call in dict.fromkeys(found) if call is not None]


def _runners(module: Module) -> Iterator[tuple[int, Runner, cst.Call | None]]:
    """The frameworks that calls and base classes belong to, by number; and the call."""
    definitions = module.definitions
    for class_ in module.nodes(cst.ClassDef):
        for number, runner in runners(definitions.bases(class_)) if class_.bases else ():
            yield number, runner, None
    for name, calls in module.calls_by_name.items():
        own = definitions.class_named(name)
        found = runners([name] if own is None else definitions.bases(own))
        yield from ((number, runner, call) for number, runner in found for call in calls)


def _stays_on_the_host(call: cst.Call, runner: Runner, module: Module) -> bool:
    values = {arg.keyword.value: module.literal(arg.value) for arg in call.args if arg.keyword}
    return any(
        type(values.get(name)) is type(bad) and values[name] == bad
        for name, host in runner.host
        for bad in host
    )


def _moves(call: cst.Call, module: Module) -> bool:
    method = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
    return method == "cuda" or (method == "to" and _moves_to_device(call, module))


def _moves_to_device(call: cst.Call, module: Module) -> bool:
    target = module.argument(call, "device", 0)
    if target is None or module.literal(target) == "cpu":
        return False
    if not any("dev" in word.lower() or "gpu" in word.lower() for word in words(target)):
        return False
    return not module.values.is_cpu(target)
