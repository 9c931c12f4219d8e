"""Start a loader once, and let a loop take its batches.

## What it does
Reports `next(iter(loader))` on every training step, and a `DataLoader` that every step, or every
epoch, builds again from the same dataset. As a hint, it reports a loader with workers that a
function builds and reads, if a loop calls that function in each of its rounds.

## Why it is slow
`iter(loader)` begins a pass over the data: it shuffles the indices of the whole dataset and starts
the worker processes, which each load several batches. `next` takes the first batch, and the rest is
thrown away. With two workers, five batches took 4.4 times as long this way as from one iterator;
without workers 1.1 times, measured on a CPU with a small dataset. A loader that is built in each
epoch starts its workers in each epoch too, even with `persistent_workers=True`.

## Example
```python
for step in range(10000):
    images, labels = next(iter(loader))
    train_step(model, images, labels)
    optimizer.step()
```

## Use instead
```python
def forever(loader):
    while True:
        yield from loader


batches = forever(loader)
for step in range(10000):
    images, labels = next(batches)
    train_step(model, images, labels)
    optimizer.step()
```

## When it is silent
- For one batch outside of loops, or once per epoch, and under `if step % 100 == 0`.
- For `iter(loader)` with a name, as in `except StopIteration: batches = iter(loader)`.
- If the loop makes what it iterates over, if the name is that of a generator, and in tests.
- For a loader in a loop if anything that it is given changes there, such as the indices of a fold,
  a batch size, or a dataset that other code gets; if the loop also makes an optimizer, as for
  several runs; and without worker processes, since then it costs nothing to build.

It is a hint if only a name such as `loader` says what is iterated over, in a loop that does not
train, if the loader neither shuffles nor has workers, and for a loader built in each epoch without
`persistent_workers=True`.

## Fix safety
There is no fix. With one iterator, each epoch sees each sample once, while `next(iter(loader))` may
draw a sample again on the next step, and only you know what is to happen at the end of the data.

## How verify confirms it
It cannot: there is no fix. `torchlint verify train.py --against fixed.py` compares with your own
version.

## References
- PyTorch documentation, `torch.utils.data`, "Single- and Multi-process Data Loading"
- PyTorch issue 91252, on pinned loaders with persistent workers that are built again
"""

import re

import libcst as cst

from torchlint.analysis.loading.loader_loops import readings
from torchlint.analysis.loading.loaders import has_workers
from torchlint.analysis.names import Binding, dotted_text
from torchlint.analysis.steps.loops import Loop
from torchlint.analysis.torch_api import OPTIMIZERS
from torchlint.analysis.training.batches import runs_per_batch
from torchlint.analysis.uses import calls_of, method_behind, occurrences, passed_by
from torchlint.rule import Effect, Match, Module, Rule, Tier, because, calls, once

_LOADER = "torch.utils.data.DataLoader"
_LOADER_WORDS = re.compile(r"(?:loader|_dl)s?$", re.IGNORECASE)
_ENDLESS_WORDS = re.compile(r"cycle|endless|infinite|forever|repeat", re.IGNORECASE)


def _loop(match: Match) -> Loop | None:
    return next(match.module.loops.loops_around(match.node), None)


def _is_cold(match: Match) -> bool:
    cold = not runs_per_batch(match.node, match.module)
    return cold and because(True, "nothing shows that this runs on each training step")


# next(iter(loader)) ------------------------------------------------------------------------


def _restarted(match: Match) -> cst.BaseExpression | None:
    """`loader` in `next(iter(loader))`."""
    made = match.call.args[0].value if match.call.args else None
    if not isinstance(made, cst.Call) or not match.module.calls(made, "builtins.iter"):
        return None
    return made.args[0].value if made.args else None


def _origins(match: Match) -> list[Binding]:
    """What gives the loader its name."""
    loader, module = _restarted(match), match.module
    if isinstance(loader, cst.Attribute):
        return module.values.assigned(module.definitions.class_of(loader.value), loader.attr.value)
    return module.flow.reaching(loader)


def _made(match: Match) -> list[cst.Call]:
    return [each.value for each in _origins(match) if isinstance(each.value, cst.Call)]


def _is_unsure(match: Match) -> bool:
    unsure = not any(match.module.calls(each, _LOADER) for each in _made(match))
    named = "only its name says that {:code} is a loader"
    return unsure and because(True, named, _restarted(match))


def _is_cheap(match: Match) -> bool:
    """Whether a pass neither shuffles nor starts workers, and gives the same batch each time."""
    module, costly = match.module, ("shuffle", "sampler", "batch_sampler", "num_workers")
    passed = [
        module.argument(each, name, position)
        for each in _made(match)
        for position, name in enumerate(costly, 2)
    ]
    cheap = all(each is None or module.literal(each) in (None, False, 0) for each in passed)
    return cheap and because(True, "nothing shows that a pass shuffles, or starts workers")


def _is_loader(match: Match) -> bool:
    loader = _restarted(match)
    if loader is None:
        return because(False, "this continues with an iterator, and starts no pass over the data")
    word = dotted_text(loader).rpartition(".")[2]
    if _LOADER_WORDS.search(word) or not _is_unsure(match):
        return True
    return because(False, "nothing shows that {:code} is a loader", loader)


def _takes_one_batch(match: Match) -> bool:
    """Whether a loop begins a pass for a single batch: on each step, or in a loop without another
    one in it, as that of epochs has."""
    loop = _loop(match)
    if not _is_cold(match):
        return True
    if loop is None:
        return because(False, "this takes one batch outside of loops")
    if _holds_loop(match.module, loop):
        outer = "this takes one batch in each round of an outer loop, as once per epoch"
        return because(False, outer)
    guard = match.module.loops.guard(match.node, loop)
    return guard is None or because(False, "this does not run in each round of its loop: {}", guard)


@once
def _holds_loop(module: Module, loop: Loop) -> bool:
    return any(isinstance(each, cst.For | cst.While) for each in module.within(loop.body))


def _is_made_here(match: Match) -> bool:
    """Whether the loop makes what it iterates over."""
    for each in _origins(match):
        if _is_inside(each.node, _loop(match), match.module):
            return because(
                True, "the loop makes what it takes the batch from, in {:line}", each.node
            )
    return False


def _goes_on(match: Match) -> bool:
    """Whether the name is that of a generator, which `iter` does not restart."""
    for each in _made(match):
        if _ENDLESS_WORDS.search(dotted_text(each.func)) or _is_generator(each, match):
            return because(True, "{} gives an iterator, which `iter` does not restart", each)
    return False


def _is_generator(call: cst.Call, match: Match) -> bool:
    function = match.module.definitions.callee(call)
    parts = [] if function is None else match.module.within(function.body)
    return any(isinstance(each, cst.Yield) for each in parts)


# a loader built in a loop ------------------------------------------------------------------


def _is_built_again(match: Match) -> bool:
    """Whether a loader with workers is given the same dataset and options on each round. A loop
    that also makes an optimizer is one of runs, not of epochs."""
    call, loop, module = match.call, _loop(match), match.module
    if loop is None:
        return because(False, "no loop builds this loader again")
    if not has_workers(call, module):
        return False
    parts = [part for arg in call.args for part in module.within(arg.value)]
    for part in parts:
        if isinstance(part, cst.Call):
            return because(False, "{:code} may give something else in each round", part)
    for part in parts:
        place = _set_in(loop, part, module)
        if place is not None:
            return because(False, "{:code} is set in the loop, in {:line}", part, place)
    dataset = module.argument(call, "dataset", 0)
    if not isinstance(dataset, cst.Name):
        return because(False, "its dataset is not a plain name, and may change in the loop")
    use = _touched_in(loop, dataset, module)
    if use is not None:
        return because(False, "the loop may change {:code}, in {:line}", dataset, use)
    optimizer = _made_optimizer(module, loop)
    runs = "each round is a run of its own, with a new optimizer: {}"
    return optimizer is None or because(False, runs, optimizer)


def _is_built_per_epoch(match: Match) -> bool:
    """Whether a function that a loop calls builds a loader with workers, and reads it, from a
    dataset that neither of them changes."""
    call, module = match.call, match.module
    function, dataset = module.function(call), module.argument(call, "dataset", 0)
    if function is None or not isinstance(dataset, cst.Name):
        return because(False, "no function of the file is given the dataset")
    if _loop(match) is not None or not has_workers(call, module):
        return because(False, "it has no workers that the file shows, or is built in a loop")
    if not any(each.loop is not None for each in readings(call, module)):
        return because(False, "the function does not read the loader itself")
    for use in occurrences(dataset, module):
        changes = method_behind(use, module)
        if changes is not None and module.function(use) is function:
            return because(False, "{:code} may change the dataset", changes)
    return any(_hands_on_the_same(each, dataset, function, module) for each in _calls(match))


def _calls(match: Match) -> list[cst.Call]:
    function = match.module.function(match.call)
    return [] if function is None else list(calls_of(function, match.module))


def _hands_on_the_same(
    caller: cst.Call, dataset: cst.Name, function: cst.FunctionDef, module: Module
) -> bool:
    """Whether a loop calls a function in each of its rounds with the same dataset."""
    loop = next(module.loops.loops_around(caller), None)
    if loop is None or module.loops.guard(caller, loop) is not None:
        return because(False, "no loop calls {:code} in each of its rounds", function.name)
    if _made_optimizer(module, loop) is not None:
        return because(False, "each round is a run of its own, with a new optimizer: {}", loop)
    passed = passed_by(caller, dataset.value, function)
    parts = [] if passed is None else list(module.within(passed))
    other = any(isinstance(each, cst.Call) or _set_in(loop, each, module) for each in parts)
    touched = isinstance(passed, cst.Name) and _touched_in(loop, passed, module)
    if passed is None or other or touched:
        return because(False, "each round may give {:code} another dataset", function.name)
    return True


def _ends_its_workers(match: Match) -> bool:
    """Whether the workers would end with each epoch anyway."""
    persistent = match.module.argument(match.call, "persistent_workers")
    ends = _is_cold(match) and match.module.literal(persistent) is not True
    alone = "without `persistent_workers=True` its workers end with each epoch anyway"
    return ends and because(True, alone)


rule = Rule(
    code="TL104",
    effect=Effect.LARGE,
    summary="a loop starts a DataLoader again on each of its rounds",
    triggers=(r"[lL]oader|_dl\b", r"\bnext\(\s{0,40}iter\(|DataLoader\w{0,9}\("),
    finds=(
        calls(
            "builtins.next",
            where=(_is_loader, _takes_one_batch),
            hint_if=(_is_cold, _is_unsure, _is_cheap),
            message="`next(iter(…))` begins a new pass over the data for a single batch; call "
            "`iter` once and take the batches from it.",
        ),
        calls(
            _LOADER,
            where=(_is_built_again,),
            hint_if=(_ends_its_workers,),
            message="Each round builds this loader again from the same dataset and starts its "
            "workers; build it before the loop.",
        ),
        calls(
            _LOADER,
            tier=Tier.HINT,
            where=(_is_built_per_epoch,),
            message="A loop calls this function in each of its rounds, which builds this loader "
            "again and starts its workers; build it once, with `persistent_workers=True`.",
        ),
    ),
    unless=(_is_made_here, _goes_on),
)


# what is built again ------------------------------------------------------------------------------


@once
def _made_optimizer(module: Module, loop: Loop) -> cst.Call | None:
    made = (each for each in module.calls_within(loop.body) if module.calls(each, *OPTIMIZERS))
    return next(made, None)


def _is_inside(node: cst.CSTNode, loop: Loop | None, module: Module) -> bool:
    return loop in (node, *module.ancestors(node))


def _set_in(loop: Loop, part: cst.CSTNode, module: Module) -> cst.CSTNode | None:
    """Where the loop gives a name its value."""
    bindings = module.names.lookup(part) if isinstance(part, cst.Name) else []
    return next((each.node for each in bindings if _is_inside(each.node, loop, module)), None)


def _touched_in(loop: Loop, dataset: cst.Name, module: Module) -> cst.BaseExpression | None:
    """Where the loop uses a dataset for more than this loader and its length."""
    for use in occurrences(dataset, module):
        call = module.call_with(use)
        counts = call is not None and module.calls(call, "builtins.len")
        if use is not dataset and not counts and _is_inside(use, loop, module):
            return use
    return None
