"""Profile a few steps, not the whole training.

## What it does
Reports a profiler that records all steps of a training: `with torch.profiler.profile()` or
`torch.autograd.profiler.profile()` around the loop over epochs, without a schedule, and
`emit_nvtx()`; Lightning's `Trainer(profiler="advanced")` and `"pytorch"`; and `gradcheck` on each
step. As hints it reports a profiler around a single step loop, and
`torch.cuda.memory._record_memory_history()` that stays on.

## Why it is slow
A profiler takes the time of each operation and keeps it until the end. With torch 2.13 on a CPU,
the steps of a network of ten small layers took two to three times as long, the evaluation at the
end included, and 500 of them took 446 MB of memory. `gradcheck` computes its function twice for
each number of the input.

## Example
```python
with torch.profiler.profile() as profiler:
    for epoch in range(epochs):
        for images, labels in loader:
            loss = criterion(model(images.to(device)), labels.to(device))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
```

## Use instead
```python
few = torch.profiler.schedule(wait=10, warmup=2, active=3, repeat=1)
with torch.profiler.profile(schedule=few) as profiler:
    for epoch in range(epochs):
        for images, labels in loader:
            loss = criterion(model(images.to(device)), labels.to(device))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            profiler.step()
```

## When it is silent
With `schedule=…`, `**options`, or `enabled=…` that is not a literal; under any condition, such as
`if args.profile`; in a function that the file does not use, or only under a condition; for a loop
that `break` ends or that has at most 1000 rounds by a literal; if the name of the file or function
says that it measures (`profile`, `bench`, …); in tests. For a memory history, if the file also
stops it. `record_function` and Lightning's `"simple"` profiler cost little.

## Fix safety
There is no fix: only you know which steps to profile.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against plain.py` compares with your own
version, on the CPU as well as on a GPU. The numbers are bitwise equal.

## References
- `torch.profiler.profile`, `torch.profiler.schedule`
- PyTorch performance tuning guide, "Disable debugging APIs"
"""

import re
from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.rule import Context, Effect, Match, Module, Rule, Tier, because, calls, configures

from ._debug_switches import is_optional

_HISTORY = "torch.cuda.memory._record_memory_history"
_CHECKS = ("torch.autograd.gradcheck", "torch.autograd.gradgradcheck")
_MEASURES: Final = re.compile(r"prof|bench|measure|nvtx|trace", re.IGNORECASE)
_SHORT: Final = 1000


def _trains_under(match: Match) -> list[bool]:
    """For each step loop that runs under a profiler, whether that repeats it."""
    said = "no whole training runs in the `with` block of this profiler, as far as the file shows"
    return list(_trainings(match)) or because([], said)


def _takes_one_pass(match: Match) -> bool:
    """Whether the steps under it are those of one loop, not of one epoch after the other."""
    one = not any(match.found(list))
    return one and because(True, "it records one pass over the data, and not all epochs")


def _is_to_measure(match: Match) -> bool:
    """Whether the file or the function is there to measure."""
    function = match.module.function(match.node)
    names = [match.module.path.replace("\\", "/").rpartition("/")[2]]
    names += [function.name.value] if function else []
    for name in names:
        if _MEASURES.search(name):
            return because(True, "the name `{}` says that this is there to measure", name)
    return False


def _records_all(match: Match) -> bool:
    """Whether a profiler is not told which steps to record, or whether to record at all."""
    module, call = match.module, match.call
    enabled = module.argument(call, "enabled", 0)
    if module.argument(call, "schedule") is not None:
        return because(False, "a `schedule` chooses the steps that it records")
    if module.has_star_kwargs(call):
        return because(False, "`**` of this call may choose the steps that it records")
    if enabled is None or module.literal(enabled) is True:
        return True
    return because(False, "`enabled` is {:code} here", enabled)


def _runs_each_step(match: Match) -> bool:
    around = match.module.step_loop(match.node)
    return around is not None or because(False, "no loop around it trains")


def _stays_on(match: Match) -> bool:
    """Whether no call switches the history of the memory off again."""
    module = match.module
    for call in module.calls_by_name.get(_HISTORY, ()):
        if module.literal(module.argument(call, "enabled", 0)) in (None, False):
            return because(False, "the history is stopped again, by {}", call)
    return True


rule = Rule(
    code="TL703",
    effect=Effect.LARGE,
    summary="a profiler records the whole training",
    finds=(
        calls(
            "torch.profiler.profile",
            "torch.autograd.profiler.profile",
            "torch.autograd.profiler.emit_nvtx",
            where=(_records_all, _trains_under),
            hint_if=(_takes_one_pass,),
        ),
        calls(
            *_CHECKS,
            where=(_runs_each_step,),
            message="`gradcheck` computes its function twice for each input number; move it to a "
            "test.",
        ),
        calls(
            _HISTORY,
            tier=Tier.HINT,
            where=(_stays_on,),
            message="Each allocation records where it was made; stop that after a few steps.",
        ),
        configures(
            "profiler",
            "advanced",
            "pytorch",
            message="This profiler records the whole training; choose it by an option of the "
            "script.",
        ),
    ),
    unless=(_is_to_measure, is_optional),
    message="The profiler records all steps; pass it a `schedule`, or profile a few steps.",
    change="only you know which steps to profile",
    contexts=(Context.TRAINS,),
)


# what is profiled ---------------------------------------------------------------------------------


def _trainings(match: Match) -> Iterator[bool]:
    """For each step loop that runs in the `with` block of a profiler, whether it repeats it."""
    module = match.module
    item = module.parent(match.node)
    around = module.parent(item) if isinstance(item, cst.WithItem) else None
    if not isinstance(around, cst.With):
        return
    for loop in _long_loops(around.body, module):
        yield _loops_between(loop, around, module)
    for call in module.calls_within(around.body):
        called = module.definitions.callee(call)
        for loop in _long_loops(called.body, module) if isinstance(called, cst.FunctionDef) else ():
            yield _loops_between(call, around, module) or _loops_between(loop, None, module)


def _long_loops(body: cst.BaseSuite, module: Module) -> list[cst.CSTNode]:
    """The step loops in a block that nothing keeps short."""
    return [
        loop
        for loop in module.loops.step_loops
        if body in module.ancestors(loop) and not _is_short(loop, module)
    ]


def _is_short(loop: cst.For | cst.While, module: Module) -> bool:
    """Whether a loop ends early, or says that it has few rounds."""
    if any(isinstance(each, cst.Break | cst.Return) for each in module.within(loop.body)):
        return True
    if isinstance(loop, cst.While):
        return False
    counts = [each for each in module.within(loop.iter) if isinstance(each, cst.Integer)]
    numbers = map(module.literal, counts)
    return any(isinstance(number, int) and 1 < number <= _SHORT for number in numbers)


def _loops_between(node: cst.CSTNode, around: cst.With | None, module: Module) -> bool:
    """Whether another loop runs a node more than once, inside of `around`."""
    loops = module.loops.loops_around(node)
    return any(around is None or around in module.ancestors(loop) for loop in loops)
