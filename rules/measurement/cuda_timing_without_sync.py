"""Wait for the GPU before you read the clock.

## What it does
Reports a clock that is read before and after work for the GPU, for each batch or for one operation,
where nothing waits for the GPU before the second read.

## Why it is slow
Python only queues the work: `model(x)` returns before the GPU has begun. The clock then shows the
time to queue it, and the next place that waits, such as `.item()`, is charged for all of it. Who
optimizes by such numbers optimizes the wrong place.

## Example
```python
def measure(model, batches):
    for images in batches:
        start = time.perf_counter()
        scores = model(images.to("cuda"))
        print(f"forward pass: {time.perf_counter() - start:.4f} s")
```

## Use instead
```python
def measure(model, batches):
    for images in batches:
        torch.cuda.synchronize()
        start = time.perf_counter()
        scores = model(images.to("cuda"))
        torch.cuda.synchronize()
        print(f"forward pass: {time.perf_counter() - start:.4f} s")
```
In a training loop, where waiting costs time on each step, record two events,
`torch.cuda.Event(enable_timing=True)`, and ask for `elapsed_time` a few steps later.
`torch.utils.benchmark.Timer` waits by itself, and runs a warm-up.

## When it is silent
Where something waits in between, or may: `synchronize()`, `.item()`, `.cpu()`, `print(loss)`, a
barrier, `generate()`, also in a function of the same file, and any function of another file that
gets a tensor or a model; for the time of a whole epoch or run, where the error is small; for times
from the end of one batch to that of the next, and those that only go into an average,
`batch_time.update(…)`; where the program uses no accelerator; in tests.

## Fix safety
There is no fix: waiting in a training loop slows it, and only you know what to measure.

## How verify confirms it
It does not: no number but the time is wrong. On a GPU, compare the printed time with the one after
`torch.cuda.synchronize()`.

## References
- PyTorch documentation, "CUDA semantics: asynchronous execution"
- PyTorch recipe, "PyTorch Benchmark"
"""

import re

import libcst as cst

from torchlint.analysis.names import dotted_text, sounds_like_class
from torchlint.analysis.steps.guards import words
from torchlint.analysis.training.clocks import CLOCKS, Interval, interval_from
from torchlint.analysis.training.model_calls import is_module, runs_model
from torchlint.analysis.training.syncs import operand_of, shown, sync_of
from torchlint.analysis.uses import called_name, method_name, receiver
from torchlint.analysis.values.iteration import is_over_loader
from torchlint.analysis.values.kinds import Kind
from torchlint.rule import Context, Effect, Match, Module, Rule, because, calls

_WAITS = re.compile(
    r"sync|^(?:item|cpu|numpy|tolist|barrier|wait\w*|record|elapsed_time|generate|sample|step_env|"
    r"all_reduce|reduce\w*|gather\w*|nonzero|unique|isnan|isfinite|equal|allclose|do_bench)$"
)
"""Methods and functions that wait for the device, or may do so."""
_OPERATIONS = re.compile(
    r"^torch\.(?:nn\.functional\.\w+|matmul|mm|bmm|addmm|einsum|conv\dd|fft\.\w+|linalg\.\w+)$"
)
_WHOLE_RUN = re.compile(r"^(?:print|open|info|makedirs|imread|imwrite)$|save|load|export")
"""What is done around whole runs, not around one operation."""
_KNOWN = ("torch.", "builtins.", "functools.")
_ON_DEVICE = Kind.DEVICE | Kind.LIKELY
_CALLED_DEPTH = 2
_KEPT = (
    r"=[ \t]{0,9}(?:\(\s{0,40})?[\w.]{0,40}"
    r"(?:time|perf_counter|monotonic|process_time|_timer)(?:_ns)?\(\)"
)
"""A clock that is read into a name."""


# the work that is timed ---------------------------------------------------------------------------


def _times_unfinished_work(match: Match) -> bool:
    """Whether a clock that is read here is read again after work for the GPU, by which nothing
    waited for it, for each batch or for one operation."""
    module, interval = match.module, interval_from(match.call, match.module)
    if interval is None:
        return _is_no_start(match.call, module)
    if not _is_of_one_round(interval, module):
        said = "the time up to {:line} is not that of one batch or of one operation"
        return because(False, said, interval.end)
    calls = _calls_between(interval, module)
    if not any(_is_work(call, module) for call in calls):
        said = "nothing up to {:line} is known to be work for the GPU"
        return because(False, said, interval.end)
    for call in calls:
        if _may_wait(call, module, 0):
            return because(False, "{} may wait for the GPU before the clock is read again", call)
    updates = module.call_with(interval.elapsed)  # right on average, but for its first values
    if updates is not None and method_name(updates) == "update":
        return because(False, "the times are averaged, in {:line}", interval.elapsed)
    return True


rule = Rule(
    code="TL801",
    effect=Effect.NONE,
    summary="a clock is read before the GPU has done the work that is timed",
    finds=(calls(*CLOCKS, where=(_times_unfinished_work,)),),
    message="The time from here on is read before the GPU has done its work; call "
    "`torch.cuda.synchronize()` before both reads, or use `torch.cuda.Event`.",
    contexts=(Context.ACCELERATOR,),
    triggers=(_KEPT, r"\btorch\b"),
)


def _is_no_start(read: cst.Call, module: Module) -> bool:
    """False, and why no time is known that begins where a clock is read."""
    above = module.parent(read)
    uses: list[cst.BaseExpression] = [read]
    if isinstance(above, cst.Assign):
        target = above.targets[0].target
        if not isinstance(target, cst.Name):
            said = "the clock is read into {:code}; the rule follows what is read into a plain name"
            return because(False, said, target)
        uses += module.reads(above, target.value)
    for use in uses:
        elapsed = module.parent(use)
        if not isinstance(elapsed, cst.BinaryOperation):
            continue
        if not isinstance(elapsed.operator, cst.Subtract):
            continue
        if elapsed.left is not use:
            said = "nothing shows that {} is a read of the clock below this one"
            return because(False, said, elapsed.left)
        begun = module.flow.reaching(elapsed.right)
        if len(begun) == 1:
            said = "this read ends the time that begins in {:line}; the rule looks at its start"
            return because(False, said, begun[0].node)
        said = "this read ends the time since {:code}; the rule looks at its start"
        return because(False, said, elapsed.right)
    return because(False, "no time is computed from this read of the clock")


# the interval ------------------------------------------------------------------------------


def _calls_between(interval: Interval, module: Module) -> list[cst.Call]:
    start, end = module.order(interval.start), module.order(interval.end)
    function = module.function(interval.start)
    return [
        call
        for call in module.nodes(cst.Call)
        if start < module.order(call) < end and module.function(call) is function
    ]


def _is_of_one_round(interval: Interval, module: Module) -> bool:
    """Whether both reads are in the same round of the same loop, or outside of any, and not around
    a whole epoch: the loops of a training wait now and then, which hides the error."""
    loops = [next(module.loops.loops_around(each), None) for each in interval[:2]]
    block = module.enclosing(interval.start, cst.IndentedBlock, cst.Module)
    if loops[0] is not loops[1] or all(up is not block for up in module.ancestors(interval.end)):
        return False
    if isinstance(loops[0], cst.For) and is_over_loader(loops[0].iter, module.values):
        return True
    calls = _calls_between(interval, module)
    if loops[0] is None and any(_WHOLE_RUN.search(called_name(call)) for call in calls):
        return False
    return not any(_is_an_epoch(call, loops[0], module) for call in calls)


def _is_an_epoch(call: cst.Call, around: cst.CSTNode | None, module: Module) -> bool:
    """Whether a call is part of a loop over a loader, or of one that trains, within another; or
    calls a function that is such a loop."""
    for loop in module.loops.loops_around(call):
        if loop is around:
            break
        if loop in module.loops.step_loops:
            return True
        if isinstance(loop, cst.For) and (
            is_over_loader(loop.iter, module.values)
            or any("epoch" in word for word in words(loop.target))
        ):
            return True
    trains = module.loops.training_functions - module.loops.stepping_functions.keys()
    return module.definitions.callee(call) in trains - {None}


# the work ----------------------------------------------------------------------------------


def _is_work(call: cst.Call, module: Module) -> bool:
    """Whether a call queues work for the GPU: of a model, a backward pass, a step."""
    if call in module.loops.anchors or runs_model(call, module):
        return True
    steps = module.loops.stepping_functions.items()
    if module.definitions.callee(call) in [function for function, whole in steps if whole]:
        return True
    names = module.resolve(call.func)
    return any(map(_OPERATIONS.search, names)) and module.value(call).only(_ON_DEVICE)


def _may_wait(call: cst.Call, module: Module, depth: int) -> bool:
    """Whether a call waits for the GPU, or may: also by what a function of the file calls, and
    because it is of an unknown function that gets a tensor or a model."""
    if _WAITS.search(called_name(call)):
        return True
    sync = sync_of(call, module)
    if sync is not None and operand_of(sync, module) is not None:
        return True
    if any(module.value(each).has(_ON_DEVICE) for each in shown(call, module)):
        return True
    called = module.definitions.callee(call)
    if called is None:
        return depth == 0 and not _is_work(call, module) and _is_unknown(call, module)
    inside = module.calls_within(called.body) if depth < _CALLED_DEPTH else []
    return any(_may_wait(each, module, depth + 1) for each in inside)


def _is_unknown(call: cst.Call, module: Module) -> bool:
    """Whether a call is of a function that nobody knows and that gets a tensor of the device, or a
    model, whose gradients it may look at."""
    if is_module(call.func, module) or sounds_like_class(dotted_text(call.func)):
        return False
    if method_name(call) in ("append", "extend"):
        return False
    if any(name.startswith(_KNOWN) for name in module.resolve(call.func)):
        return False
    if method_name(call) and module.value(receiver(call)).has(_ON_DEVICE):
        return False
    return any(module.value(arg.value).has(_ON_DEVICE | Kind.MODULE) for arg in call.args)
